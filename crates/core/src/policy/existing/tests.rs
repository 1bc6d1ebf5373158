//! Looking for many paths, against asking for each; above all after whatever can have happened since the last look.

use super::*;
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

/// Asked for one by one, as the kernel answers now.
fn asked(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut real: Vec<PathBuf> = paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
    real.sort();
    real.dedup_by(|later, earlier| later.starts_with(earlier));
    real
}

fn told(tree: &Tree) -> Vec<PathBuf> {
    let found = tree.look(|_| false);
    for found in &found {
        let meta = found.real.symlink_metadata().unwrap();
        assert_eq!((found.is.dev, found.is.ino), (meta.dev(), meta.ino()), "{}", found.real.display());
        assert_eq!(found.kind == FileType::Directory, meta.is_dir());
    }
    found.into_iter().map(|found| found.real).collect()
}

/// One that remembers what changed just now.
fn hasty(paths: &[PathBuf]) -> Tree {
    Tree { settled: Settled(-60), ..Tree::new(paths) }
}

/// Until the clock by which files are dated has gone on.
fn tick(dir: &Path) {
    let probe = dir.join("probe");
    let dated = || {
        fs::write(&probe, "x").unwrap();
        let meta = probe.metadata().unwrap();
        fs::remove_file(&probe).unwrap();
        (meta.ctime(), meta.ctime_nsec())
    };
    let first = dated();
    while dated() == first {}
}

fn base() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    (dir, base)
}

#[test]
fn those_that_exist_are_found_however_many_are_asked_for() {
    let (_dir, base) = base();
    for name in ["a", "b", "many/1", "many/4", "many/deep/x", "real/in"] {
        fs::create_dir_all(base.join(name)).unwrap();
    }
    symlink("nowhere", base.join("many/link")).unwrap();
    symlink("real", base.join("to-real")).unwrap();
    symlink("../a", base.join("real/to-a")).unwrap();
    fs::write(base.join("file"), "").unwrap();
    let names = "a b/c many/1 many/2 many/3 many/4 many/5 many/link many/deep/x missing/1 missing/2 missing/3 \
        missing/4 missing/deep/1 missing-too/x file/in to-real/in to-real/to-a to-real/missing";
    let all: Vec<PathBuf> = names.split_whitespace().map(|name| base.join(name)).collect();
    let tree = Tree::new(&all);
    assert_eq!(told(&tree), asked(&all));
    assert_eq!(told(&tree).len(), 5, "{:?}", told(&tree));
}

#[test]
fn what_is_left_out_is_left_out_and_what_is_in_it_is_not() {
    let (_dir, base) = base();
    fs::create_dir_all(base.join("outer/inner")).unwrap();
    let all = [base.join("outer"), base.join("outer/inner")];
    let tree = Tree::new(&all);
    assert_eq!(told(&tree), [base.join("outer")]);
    let left: Vec<PathBuf> =
        tree.look(|path| path == base.join("outer")).into_iter().map(|found| found.real).collect();
    assert_eq!(left, [base.join("outer/inner")]);
    assert_eq!(tree.holding(&base.join("outer/inner/x")), Some(all[0].as_path()));
    assert_eq!(tree.holding(&base), None);
    assert!(tree.reaches_into(&base) && tree.reaches_into(Path::new("/")));
    assert!(tree.reaches_into(&base.join("outer")) && !tree.reaches_into(&base.join("outer/inner")));
}

#[test]
fn what_changed_just_now_is_not_believed_the_next_time() {
    let (_dir, base) = base();
    fs::create_dir(base.join("a")).unwrap();
    let tree = Tree::new(&[base.join("a/b")]);
    tree.look(|_| false);
    let at = tree.nodes.iter().position(|node| node.path == base.join("a")).unwrap();
    assert!(tree.memory.lock().unwrap()[at].is_none());
    let hasty = hasty(&[base.join("a/b")]);
    hasty.look(|_| false);
    assert!(hasty.memory.lock().unwrap()[at].is_some());
}

/// Something that happens to the paths, by two numbers of names.
#[derive(Debug, Clone)]
enum Change {
    Make(usize),
    Remove(usize),
    Move(usize, usize),
    Link(usize, usize),
    Touch(usize),
}

fn change(names: usize) -> impl Strategy<Value = Change> {
    let one = 0..names;
    prop_oneof![
        one.clone().prop_map(Change::Make),
        one.clone().prop_map(Change::Remove),
        (one.clone(), one.clone()).prop_map(|(from, to)| Change::Move(from, to)),
        (one.clone(), one.clone()).prop_map(|(at, to)| Change::Link(at, to)),
        one.prop_map(Change::Touch),
    ]
}

/// What cannot be done is not done.
fn carry_out(change: &Change, paths: &[PathBuf]) {
    let _ = match change {
        Change::Make(at) => fs::create_dir_all(&paths[*at]),
        Change::Remove(at) => fs::remove_dir_all(&paths[*at]).or_else(|_| fs::remove_file(&paths[*at])),
        Change::Move(from, to) => fs::rename(&paths[*from], &paths[*to]),
        Change::Link(at, to) => symlink(&paths[*to], &paths[*at]),
        Change::Touch(at) => fs::write(&paths[*at], ""),
    };
}

const NAMES: [&str; 14] = [
    "a", "a/b", "a/b/c", "a/b/d", "a/x", "e", "e/1", "e/2", "e/3", "e/4", "e/5", "e/5/deep", "link", "link/b",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Whatever happens between two looks, the next one sees it.
    #[test]
    fn nothing_that_is_remembered_hides_a_change(
        changes in proptest::collection::vec(change(NAMES.len()), 1..25),
        wanted in proptest::sample::subsequence(NAMES.to_vec(), 3..NAMES.len()),
    ) {
        let (_dir, base) = base();
        let all = NAMES.map(|name| base.join(name));
        let wanted: Vec<PathBuf> = wanted.into_iter().map(|name| base.join(name)).collect();
        let tree = hasty(&wanted);
        for change in &changes {
            carry_out(change, &all);
            prop_assert_eq!(told(&tree), asked(&wanted), "after {:?}", change);
            tick(&base);
        }
    }
}
