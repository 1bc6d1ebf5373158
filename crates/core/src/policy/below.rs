//! Projects inside a project: directories some levels below a root that have a repository, or settings of editors, of
//! their own.
//!
//! They are looked for before and after every command, so what a directory held is remembered for as long as the kernel says
//! that nothing in it was made, removed or renamed, and only so many directories are looked at.

use super::protected;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// How many directories are looked at, and how far below a root.
const MOST: usize = 200;
const DEEPEST: usize = 3;

/// What tools fill by themselves; nobody opens these as a project.
const FILLED: [&str; 8] =
    ["node_modules", "target", "venv", "dist", "build", "__pycache__", "site-packages", "vendor"];

/// Remembers what directories held.
#[derive(Debug, Default)]
pub(super) struct Below {
    memory: Mutex<HashMap<PathBuf, Listed>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Listed {
    stamp: Stamp,
    /// Directories in it in which there may be more.
    dirs: Vec<OsString>,
    is_project: bool,
}

/// As long as it is the same, a directory holds the same names.
type Stamp = (u64, u64, i64, i64, i64, i64);

impl Below {
    /// The projects below a directory, without itself.
    pub(super) fn find(&self, root: &Path) -> Vec<PathBuf> {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut found, mut next, mut left) = (Vec::new(), vec![(root.to_owned(), 0)], MOST);
        while let Some((dir, depth)) = next.pop() {
            let Some(listed) = list(&dir, &mut memory).filter(|_| left > 0) else { continue };
            left -= 1;
            if listed.is_project && depth > 0 {
                found.push(dir.clone());
            }
            if depth < DEEPEST {
                next.extend(listed.dirs.iter().map(|name| (dir.join(name), depth + 1)));
            }
        }
        found.sort();
        found
    }
}

fn list(dir: &Path, memory: &mut HashMap<PathBuf, Listed>) -> Option<Listed> {
    let meta = fs::symlink_metadata(dir).ok().filter(Metadata::is_dir)?;
    let stamp = (meta.dev(), meta.ino(), meta.ctime(), meta.ctime_nsec(), meta.mtime(), meta.mtime_nsec());
    if let Some(known) = memory.get(dir).filter(|known| known.stamp == stamp) {
        return Some(known.clone());
    }
    let mut listed = Listed { stamp, dirs: Vec::new(), is_project: false };
    for entry in fs::read_dir(dir).ok()?.flatten() {
        let name = entry.file_name();
        listed.is_project |= name == ".git" || protected::protected().iter().any(|known| name == known.name);
        if is_worth_a_look(&name) && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            listed.dirs.push(name);
        }
    }
    // A time is only as good as its clock's tick: what changed just now is listed again.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    if meta.ctime().max(meta.mtime()) + 2 < i64::try_from(now).unwrap_or(0) {
        memory.insert(dir.to_owned(), listed.clone());
    }
    Some(listed)
}

fn is_worth_a_look(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    !name.starts_with('.') && !FILLED.contains(&name.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_in_a_project_are_found_and_what_tools_fill_is_not_looked_into() {
        let dir = tempfile::tempdir().unwrap();
        let below = Below::default();
        for name in ["a/.git", "b/c/.vscode", "b/c/d/e/.git", "node_modules/x/.git", ".hidden/.git", "plain"]
        {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        let find = || {
            let found = below.find(dir.path()).into_iter();
            found.map(|path| path.strip_prefix(dir.path()).unwrap().display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(find(), ["a", "b/c"]);
        fs::create_dir(dir.path().join("plain/.claude")).unwrap();
        assert_eq!(find(), ["a", "b/c", "plain"]);
    }

    #[test]
    fn a_project_without_end_is_looked_at_to_an_end() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..500 {
            fs::create_dir_all(dir.path().join(format!("{number}/.git"))).unwrap();
        }
        assert_eq!(Below::default().find(dir.path()).len(), MOST - 1);
    }
}
