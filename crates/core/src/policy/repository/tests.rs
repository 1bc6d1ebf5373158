//! Real repositories, worktrees and submodules, and everything that a root could forge to be given more.

use super::*;
use std::fs;
use std::os::unix::fs::symlink;

/// A place with a repository `main` that has a worktree `tree` and a submodule `main/part`, and a home with a secret.
struct Field {
    _dir: tempfile::TempDir,
    base: PathBuf,
}

#[expect(clippy::disallowed_methods, reason = "real repositories are made by git itself")]
fn git(dir: &Path, args: &[&str]) {
    let mut command = std::process::Command::new("git");
    command.current_dir(dir).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", dir);
    command.env("GIT_CONFIG_NOSYSTEM", "1").args(["-c", "protocol.file.allow=always"]);
    let output =
        command.args(["-c", "user.name=U", "-c", "user.email=u@example.org"]).args(args).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

impl Field {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for name in ["main", "other", "home", "home/.ssh"] {
            fs::create_dir(base.join(name)).unwrap();
        }
        for name in ["other", "main"] {
            git(&base.join(name), &["init", "-q"]);
            git(&base.join(name), &["commit", "-q", "--allow-empty", "-m", "first"]);
        }
        git(&base.join("main"), &["worktree", "add", "-q", "../tree"]);
        git(&base.join("main"), &["submodule", "--quiet", "add", "../other", "part"]);
        Self { _dir: dir, base }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    /// The repository of the first of these roots, with every path relative to the place.
    fn look(&self, roots: &[&str]) -> Seen {
        let open = |name: &&str| Root::open(&self.at(name)).unwrap();
        let roots = Roots::new(roots.iter().map(open).collect());
        let places = Places { home: Some(self.at("home")), ..Places::default() };
        let found = look(roots.iter().next().unwrap(), &roots, &places);
        let short = |path: &PathBuf| path.strip_prefix(&self.base).unwrap().to_str().unwrap().to_owned();
        Seen {
            shape: found.shape,
            write: found.write.iter().map(|dir| short(&dir.path)).collect(),
            protect: found.protect.iter().map(short).collect(),
            pin: found.pin.iter().map(short).collect(),
            doubts: found.doubts.iter().map(word).collect(),
        }
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), text.replace("BASE", self.base.to_str().unwrap())).unwrap();
    }

    /// A directory with all that git looks for.
    fn fake(&self, name: &str) {
        for part in ["objects", "refs"] {
            fs::create_dir_all(self.at(name).join(part)).unwrap();
        }
        self.write(&format!("{name}/HEAD"), "ref: refs/heads/main\n");
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Seen {
    shape: Shape,
    write: Vec<String>,
    protect: Vec<String>,
    pin: Vec<String>,
    doubts: Vec<&'static str>,
}

fn word(doubt: &Doubt) -> &'static str {
    match doubt {
        Doubt::Unreadable(_) => "unreadable",
        Doubt::Missing { .. } => "missing",
        Doubt::Forged { .. } => "forged",
        Doubt::Outside { .. } => "outside",
        Doubt::Modules(_) => "modules",
        Doubt::Wide(_) => "wide",
    }
}

fn seen(shape: Shape, write: &[&str], protect: &[&str], pin: &[&str], doubts: &[&'static str]) -> Seen {
    let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    Seen { shape, write: owned(write), protect: owned(protect), pin: owned(pin), doubts: doubts.to_vec() }
}

#[test]
fn what_git_itself_makes_is_understood() {
    let field = Field::new();
    let module = "main/.git/modules/part";
    let hooks = ["main/.git/hooks", "main/.git/modules/part/hooks"];
    let main = seen(Shape::Directory, &[], &hooks, &["main/.git"], &[]);
    assert_eq!(field.look(&["main"]), main);
    // A worktree needs the repository it belongs to; unless that is a root as well.
    let pins = ["tree/.git", "main/.git"];
    let tree = seen(Shape::File, &["main/.git"], &hooks, &pins, &[]);
    assert_eq!(field.look(&["tree"]), tree);
    let both = seen(Shape::File, &[], &hooks, &pins, &[]);
    assert_eq!(field.look(&["tree", "main"]), both);
    // A submodule needs its own part of the repository above, and no more.
    let pins = ["main/part/.git", module];
    let part = seen(Shape::File, &[module], &["main/.git/modules/part/hooks"], &pins, &[]);
    assert_eq!(field.look(&["main/part"]), part);
    // A worktree of a submodule.
    git(&field.at("main/part"), &["worktree", "add", "-q", "../../part-tree"]);
    assert_eq!(field.look(&["part-tree"]).write, [module]);
    // A part of a working tree gets the git directory of the whole; one of a worktree that of the repository.
    fs::create_dir_all(field.at("main/sub/deep")).unwrap();
    let sub = seen(Shape::Directory, &["main/.git"], &hooks, &["main/.git"], &[]);
    assert_eq!(field.look(&["main/sub/deep"]), sub);
    fs::create_dir_all(field.at("tree/sub")).unwrap();
    assert_eq!(field.look(&["tree/sub"]), tree);
    // Paths in the files relative, as newer versions of git write them.
    field.write("tree/.git", "gitdir: ../main/.git/worktrees/tree\n");
    field.write("main/.git/worktrees/tree/gitdir", "../../../../tree/.git\n");
    assert_eq!(field.look(&["tree"]), tree);
}

#[test]
fn a_root_without_a_repository_has_nothing_to_protect_and_a_bare_one_has() {
    let field = Field::new();
    assert_eq!(field.look(&["home"]), seen(Shape::None, &[], &[], &[], &[]));
    git(&field.at("."), &["init", "-q", "--bare", "bare"]);
    assert_eq!(field.look(&["bare"]), seen(Shape::Bare, &[], &["bare/hooks"], &[], &[]));
    // What a command can do to look like one makes nothing less protected.
    field.fake("main");
    let hooks = ["main/hooks", "main/.git/hooks", "main/.git/modules/part/hooks"];
    assert_eq!(field.look(&["main"]).protect, hooks);
}

/// A home with a repository for its settings is no working tree that projects belong to.
#[test]
fn what_lies_in_a_home_that_is_a_repository_does_not_belong_to_it() {
    let field = Field::new();
    git(&field.at("home"), &["init", "-q"]);
    fs::create_dir_all(field.at("home/project")).unwrap();
    assert_eq!(field.look(&["home/project"]), seen(Shape::None, &[], &[], &[], &[]));
}

#[test]
fn a_link_opens_nothing_and_its_hooks_are_protected_through_it() {
    let field = Field::new();
    fs::create_dir(field.at("linked")).unwrap();
    symlink("../main/.git", field.at("linked/.git")).unwrap();
    let outside = seen(Shape::Link, &[], &["linked/.git/hooks"], &[], &["outside"]);
    assert_eq!(field.look(&["linked"]), outside);
    let inside = seen(Shape::Link, &[], &["linked/.git/hooks"], &[], &[]);
    assert_eq!(field.look(&["linked", "main"]), inside);
    fs::rename(field.at("other/.git"), field.at("other/real")).unwrap();
    symlink("real", field.at("other/.git")).unwrap();
    let own = seen(Shape::Link, &[], &["other/.git/hooks"], &[], &[]);
    assert_eq!(field.look(&["other"]), own);
    for target in ["nothing", ".git", "/etc/passwd"] {
        fs::remove_file(field.at("other/.git")).unwrap();
        symlink(target, field.at("other/.git")).unwrap();
        assert_eq!(field.look(&["other"]).doubts, ["unreadable"], "{target}");
    }
    // Hooks that are a link are named like others; the link is kept as well as what it leads to.
    fs::rename(field.at("main/.git/hooks"), field.at("main/githooks")).unwrap();
    symlink("../githooks", field.at("main/.git/hooks")).unwrap();
    assert_eq!(field.look(&["main"]).protect[0], "main/.git/hooks");
}

/// Names and texts.
type Files = &'static [(&'static str, &'static str)];

/// What an agent could write in its root `r` to be given more, with what comes of it. Nothing is ever opened.
#[test]
fn a_forged_git_file_opens_nothing() {
    let cases: &[(&str, Files, &str)] = &[
        ("a secret", &[("r/.git", "gitdir: BASE/home/.ssh\n")], "forged"),
        ("the home", &[("r/.git", "gitdir: BASE/home\n")], "forged"),
        ("everything", &[("r/.git", "gitdir: /\n")], "forged"),
        ("what is above", &[("r/.git", "gitdir: ..\n")], "forged"),
        ("another repository", &[("r/.git", "gitdir: BASE/main/.git\n")], "forged"),
        ("the worktree of another", &[("r/.git", "gitdir: BASE/main/.git/worktrees/tree\n")], "forged"),
        ("the submodule of another", &[("r/.git", "gitdir: BASE/main/.git/modules/part\n")], "forged"),
        ("nothing", &[("r/.git", "gitdir: BASE/nothing\n")], "missing"),
        ("a file", &[("r/.git", "gitdir: BASE/main/.git/HEAD\n")], "missing"),
        ("no path", &[("r/.git", "gitdir: \n")], "unreadable"),
        ("no word", &[("r/.git", "BASE/main/.git\n")], "unreadable"),
        ("a NUL", &[("r/.git", "gitdir: BASE/main\0/.git\n")], "unreadable"),
        ("two lines", &[("r/.git", "gitdir: BASE/main/.git\nBASE\n")], "missing"),
        ("an empty file", &[("r/.git", "")], "unreadable"),
        (
            "its own forgery",
            &[
                ("r/.git", "gitdir: BASE/r/x\n"),
                ("r/x/gitdir", "BASE/r/.git\n"),
                ("r/x/commondir", "BASE/home/.ssh\n"),
            ],
            "forged",
        ),
        (
            "its own forgery in the right shape",
            &[
                ("r/.git", "gitdir: BASE/r/worktrees/x\n"),
                ("r/worktrees/x/gitdir", "BASE/r/.git\n"),
                ("r/worktrees/x/commondir", "BASE/home/.ssh\n"),
            ],
            "forged",
        ),
        (
            "a submodule of its own making",
            &[("r/.git", "gitdir: BASE/r/x\n"), ("r/x/config", "[core]\n\tworktree = BASE/r\n")],
            "forged",
        ),
    ];
    let field = Field::new();
    for (what, files, doubt) in cases {
        for (name, text) in *files {
            field.write(name, text);
        }
        let found = field.look(&["r"]);
        assert_eq!((found.write, found.doubts), (vec![], vec![*doubt]), "{what}");
        fs::remove_dir_all(field.at("r")).unwrap();
    }
}

#[test]
fn a_root_in_a_directory_named_like_gits_own_cannot_give_itself_what_is_above() {
    let field = Field::new();
    let root = "home/p/worktrees/r";
    field.write(&format!("{root}/.git"), "gitdir: .\n");
    field.write(&format!("{root}/gitdir"), &format!("BASE/{root}/.git\n"));
    field.write(&format!("{root}/commondir"), "../..\n");
    assert_eq!(field.look(&[root]).doubts, ["forged"]);
    // Not even if it looks right, because the proof lies where the root's commands may write.
    field.fake("home/p");
    assert_eq!(field.look(&[root]).write, Vec::<String>::new());
}

#[test]
fn a_proof_that_is_a_link_is_none() {
    let field = Field::new();
    field.fake("home/.ssh");
    field.write("r/.git", "gitdir: BASE/home/.ssh\n");
    field.write("r/config", "[core]\n\tworktree = BASE/r\n");
    symlink(field.at("r/config"), field.at("home/.ssh/config")).unwrap();
    assert_eq!(field.look(&["r"]).doubts, ["forged"]);
    // The same words in a file of its own are believed, so it is the link that was refused; and still it is hidden.
    fs::remove_file(field.at("home/.ssh/config")).unwrap();
    field.write("home/.ssh/config", "[core]\n\tworktree = BASE/r\n");
    let found = field.look(&["r"]);
    assert_eq!((found.write, found.doubts), (vec![], vec!["wide"]));
}

#[test]
fn a_worktree_that_was_opened_once_cannot_change_what_it_shares() {
    let field = Field::new();
    assert_eq!(field.look(&["tree"]).write, ["main/.git"]);
    field.fake("home/.ssh");
    field.write("main/.git/worktrees/tree/commondir", "BASE/home/.ssh\n");
    assert_eq!(field.look(&["tree"]).doubts, ["forged"]);
    // Nor can that of a submodule name the repository above, although it does lie in it.
    git(&field.at("main/part"), &["worktree", "add", "-q", "../../part-tree"]);
    assert_eq!(field.look(&["part-tree"]).write, ["main/.git/modules/part"]);
    field.write("main/.git/modules/part/worktrees/part-tree/commondir", "BASE/main/.git\n");
    assert_eq!(field.look(&["part-tree"]).doubts, ["forged"]);
    // A link in place of the directory of worktrees.
    field.write("main/.git/worktrees/tree/commondir", "../..\n");
    fs::rename(field.at("main/.git/worktrees"), field.at("tree/worktrees")).unwrap();
    symlink(field.at("tree/worktrees"), field.at("main/.git/worktrees")).unwrap();
    let found = field.look(&["tree"]);
    assert_eq!((found.write, found.doubts), (vec![], vec!["forged"]));
}

#[test]
fn what_is_no_file_or_too_long_is_not_read() {
    let field = Field::new();
    field.write("r/.git", &format!("gitdir: {}\n", "x".repeat(100_000)));
    assert_eq!(field.look(&["r"]).doubts, ["unreadable"]);
    fs::remove_file(field.at("r/.git")).unwrap();
    let mode = Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, field.at("r/.git"), FileType::Fifo, mode, 0).unwrap();
    assert_eq!(field.look(&["r"]), seen(Shape::Other, &[], &[], &[], &["unreadable"]));
    // A pipe where the proof should be is not waited for.
    field.write("s/.git", "gitdir: BASE/home\n");
    rustix::fs::mknodat(rustix::fs::CWD, field.at("home/gitdir"), FileType::Fifo, mode, 0).unwrap();
    assert_eq!(field.look(&["s"]).doubts, ["forged"]);
}

#[test]
fn the_setting_is_read_as_git_writes_it_and_not_otherwise() {
    let read = |text: &str| worktree_setting(text.as_bytes()).map(|path| path.to_str().unwrap().to_owned());
    assert_eq!(read("[core]\n\tbare = false\n\tworktree = ../x\n[remote \"o\"]\n"), Some("../x".into()));
    assert_eq!(read("[other]\n\tworktree = ../x\n"), None);
    assert_eq!(read("[core]\n[other]\n\tworktree = ../x\n"), None);
    assert_eq!(read("[core]\n\tworktree = \"../x\"\n"), None);
    assert_eq!(read("[core]\n\tworktree = \n"), None);
    assert_eq!(read(""), None);
}
