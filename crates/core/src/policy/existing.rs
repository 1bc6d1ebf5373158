//! Which of many paths exist. The lists of secrets and caches name hundreds, of which a machine has a few; asking for each
//! of them before every command would take longer than starting it.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// So many in the same directory are found out by listing it.
const MANY: usize = 4;

/// Those that exist, links included, in the order of their directories.
pub(super) fn existing<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Vec<&'a PathBuf> {
    let mut by_parent: BTreeMap<&Path, Vec<&PathBuf>> = BTreeMap::new();
    for path in paths {
        by_parent.entry(path.parent().unwrap_or(path)).or_default().push(path);
    }
    let mut found = Vec::new();
    let mut missing: Vec<&Path> = Vec::new();
    for (parent, paths) in by_parent {
        // In their order, what is in a missing directory comes after it.
        if missing.last().is_some_and(|missing| parent.starts_with(missing)) {
            continue;
        }
        match names(parent, paths.len()) {
            Names::Missing => missing.push(parent),
            Names::Known(names) => {
                found.extend(
                    paths
                        .into_iter()
                        .filter(|path| path.file_name().is_some_and(|name| names.contains(name))),
                );
            }
            Names::Unknown => found.extend(paths.into_iter().filter(|path| path.symlink_metadata().is_ok())),
        }
    }
    found
}

/// What is in a directory, as far as that is worth knowing.
enum Names {
    Known(HashSet<OsString>),
    /// Each has to be asked for.
    Unknown,
    /// There is no such directory.
    Missing,
}

fn names(parent: &Path, wanted: usize) -> Names {
    let missing = |kind| matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory);
    if wanted < MANY {
        return match parent.metadata() {
            Err(error) if missing(error.kind()) => Names::Missing,
            _ => Names::Unknown,
        };
    }
    match fs::read_dir(parent) {
        Err(error) if missing(error.kind()) => Names::Missing,
        // It may still be possible to reach what is in it.
        Err(_) => Names::Unknown,
        // A name that cannot be read makes the list useless: something may be left out.
        Ok(entries) => match entries.map(|entry| entry.map(|entry| entry.file_name())).collect() {
            Ok(names) => Names::Known(names),
            Err(_) => Names::Unknown,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_exist_are_found_however_many_are_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "b", "many/1", "many/4", "many/deep/x"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        std::os::unix::fs::symlink("nowhere", dir.path().join("many/link")).unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        let all: Vec<PathBuf> = [
            "a",
            "b/c",
            "many/1",
            "many/2",
            "many/3",
            "many/4",
            "many/5",
            "many/link",
            "many/deep/x",
            "missing/1",
            "missing/2",
            "missing/3",
            "missing/4",
            "missing/deep/1",
            "missing-too/x",
            "file/in",
        ]
        .iter()
        .map(|name| dir.path().join(name))
        .collect();
        let mut found = existing(&all);
        let mut asked: Vec<&PathBuf> = all.iter().filter(|path| path.symlink_metadata().is_ok()).collect();
        found.sort();
        asked.sort();
        assert_eq!(found, asked);
        assert_eq!(found.len(), 5);
    }
}
