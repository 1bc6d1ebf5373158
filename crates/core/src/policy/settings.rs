//! Settings in a project that make a program outside the sandbox run something: what of them is there, and what has been
//! made or changed since.
//!
//! Git may change such files like any other of a project, so most of them cannot be kept as they are; whoever runs
//! commands tells a person instead. That something changed while a command ran does not prove that the command did it.
//!
//! What surprises: a file counts as changed by its inode and the time of its last change, which no program can choose.

use super::below::Below;
use super::protected::{self, Protected};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many files of one name are looked at, and how deep they may lie in it.
const MOST: usize = 200;
const DEEPEST: usize = 3;

/// What git says of a hook.
const HOOK: &str = "git runs it";

/// Files of editors that change all the time and start nothing by themselves.
const IGNORED: [&str; 3] = [".idea/workspace.xml", ".idea/shelf", ".claude/worktrees"];

/// What is there at one moment.
#[derive(Debug, Clone)]
pub struct Settings {
    roots: Vec<PathBuf>,
    below: Arc<Below>,
    hooks: Vec<PathBuf>,
    seen: BTreeMap<PathBuf, Seen>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    stamp: (u64, i64, i64, u64),
    why: &'static str,
}

/// One file that is new or different.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// Where.
    pub path: PathBuf,
    /// What happened.
    pub kind: ChangeKind,
    /// What it can do.
    pub why: &'static str,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was not there before.
    Created,
    /// It was.
    Changed,
}

impl ChangeKind {
    /// A word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
        }
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (path, kind, why) = (self.path.display(), self.kind.word(), self.why);
        write!(f, "{path} was {kind} meanwhile: {why}")
    }
}

impl Settings {
    /// Those of these roots, of projects inside them, and of these directories of hooks, as they are now.
    pub(super) fn look(roots: Vec<PathBuf>, hooks: Vec<PathBuf>, below: Arc<Below>) -> Self {
        let mut settings = Self { roots, below, hooks, seen: BTreeMap::new() };
        settings.seen = settings.all();
        settings
    }

    /// What is new or different since, by path.
    #[must_use]
    pub fn changes(&self) -> Vec<Change> {
        self.compare(&self.all())
    }

    /// The same, and from now on that is what they are compared with.
    pub fn news(&mut self) -> Vec<Change> {
        let now = self.all();
        let changes = self.compare(&now);
        self.seen = now;
        changes
    }

    fn compare(&self, now: &BTreeMap<PathBuf, Seen>) -> Vec<Change> {
        let change = |(path, new): (&PathBuf, &Seen)| {
            let kind = match self.seen.get(path) {
                None => ChangeKind::Created,
                Some(old) if old != new => ChangeKind::Changed,
                Some(_) => return None,
            };
            Some(Change { path: path.clone(), kind, why: new.why })
        };
        now.iter().filter_map(change).collect()
    }

    fn all(&self) -> BTreeMap<PathBuf, Seen> {
        let mut seen = BTreeMap::new();
        for root in &self.roots {
            project(root, &mut seen);
            for inner in self.below.find(root) {
                project(&inner, &mut seen);
            }
        }
        for hooks in &self.hooks {
            walk(hooks, HOOK, 1, &mut MOST.clone(), &mut seen);
        }
        // Git puts these there itself, and runs none of them.
        seen.retain(|path, _| path.extension().is_none_or(|extension| extension != "sample"));
        seen
    }
}

/// The settings at the top of one project.
fn project(top: &Path, seen: &mut BTreeMap<PathBuf, Seen>) {
    for Protected { name, why, .. } in protected::protected() {
        walk(&top.join(name), why, DEEPEST, &mut MOST.clone(), seen);
    }
    seen.retain(|path, _| !IGNORED.iter().any(|name| path.starts_with(top.join(name))));
    // Also of a repository that was not there when the first command began.
    walk(&top.join(".git/hooks"), HOOK, 1, &mut MOST.clone(), seen);
    for module in fs::read_dir(top.join(".git/modules")).into_iter().flatten().flatten().take(MOST) {
        walk(&module.path().join("hooks"), HOOK, 1, &mut MOST.clone(), seen);
    }
}

fn walk(at: &Path, why: &'static str, deep: usize, left: &mut usize, seen: &mut BTreeMap<PathBuf, Seen>) {
    let Ok(meta) = fs::symlink_metadata(at) else { return };
    if !meta.is_dir() {
        let stamp = (meta.ino(), meta.ctime(), meta.ctime_nsec(), meta.size());
        seen.insert(at.to_owned(), Seen { stamp, why });
        return;
    }
    if deep == 0 {
        return;
    }
    for entry in fs::read_dir(at).into_iter().flatten().flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        walk(&entry.path(), why, deep - 1, left, seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(changes: Vec<Change>, root: &Path) -> Vec<(String, &'static str)> {
        let word = |change: Change| {
            (change.path.strip_prefix(root).unwrap().display().to_string(), change.kind.word())
        };
        changes.into_iter().map(word).collect()
    }

    #[test]
    fn what_is_made_or_changed_is_told_once_and_what_is_nobodys_business_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let write = |name: &str, text: &str| {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), text).unwrap();
        };
        write(".vscode/settings.json", "{}");
        write(".vscode/launch.json", "{}");
        fs::create_dir_all(root.join("part/inner/.git")).unwrap();
        let hooks = vec![root.join(".git/hooks")];
        let mut settings = Settings::look(vec![root.to_owned()], hooks, Arc::default());
        assert_eq!(settings.news(), []);
        write(".vscode/settings.json", "{ }");
        let inner = "part/inner/.git/hooks/post-checkout";
        for name in [".mcp.json", ".git/hooks/pre-commit", ".git/hooks/pre-push.sample", "src/main.rs", inner]
        {
            write(name, "x");
        }
        write(".idea/workspace.xml", "x");
        write(".claude/a/b/c/too/deep", "x");
        fs::remove_file(root.join(".vscode/launch.json")).unwrap();
        let expected = [
            (".git/hooks/pre-commit", "created"),
            (".mcp.json", "created"),
            (".vscode/settings.json", "changed"),
            (inner, "created"),
        ];
        let expected: Vec<_> = expected.map(|(name, kind)| (name.to_owned(), kind)).into();
        assert_eq!(words(settings.changes(), root), expected);
        let told = settings.news();
        assert!(told[1].to_string().ends_with(
            ".mcp.json was created meanwhile: names the programs that an agent starts as its servers"
        ));
        assert_eq!(words(told, root), expected);
        assert_eq!(settings.news(), []);
        // Replaced by the same text, as an editor does it.
        write("new", "x");
        fs::rename(root.join("new"), root.join(".mcp.json")).unwrap();
        assert_eq!(words(settings.news(), root), [(".mcp.json".to_owned(), "changed")]);
    }

    #[test]
    fn a_directory_without_end_is_looked_at_to_an_end() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".claude")).unwrap();
        for number in 0..500 {
            fs::write(dir.path().join(format!(".claude/{number}")), "").unwrap();
        }
        let settings = Settings::look(vec![dir.path().to_owned()], Vec::new(), Arc::default());
        assert_eq!(settings.seen.len(), MOST);
    }
}
