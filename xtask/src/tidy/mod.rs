//! `cargo xtask tidy`: the rules of this repository that no compiler knows.
//!
//! Every rule is a function from what is there to what is wrong with it, and every complaint says what to do.

mod direction;
mod journal;
mod source;
mod text;

use crate::{Failure, root};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A text file of the repository.
#[derive(Debug)]
struct File {
    /// Its path from the root, with slashes.
    path: String,
    text: String,
}

/// What is wrong, and where.
#[derive(Debug, PartialEq, Eq)]
enum Complaint {
    /// Must be put right.
    Wrong(String),
    /// Should be, before it gets worse.
    Soon(String),
}

impl Complaint {
    fn wrong(file: &File, what: &str) -> Self {
        Self::Wrong(format!("{}: {what}", file.path))
    }

    /// `line` counts from zero.
    fn at(file: &File, line: usize, what: &str) -> Self {
        Self::Wrong(format!("{}:{}: {what}", file.path, line + 1))
    }
}

/// A rule that looks at one file at a time.
type Rule = fn(&File) -> Vec<Complaint>;

const SOURCE_RULES: [Rule; 7] = [
    source::says_its_purpose,
    source::is_short,
    source::is_safe,
    source::is_quiet,
    source::has_a_telling_name,
    source::ignores_no_test,
    source::leaves_nothing_to_do,
];

pub(crate) fn run() -> Result<(), Failure> {
    eprintln!("\n── tidy");
    let files = files().map_err(|error| Failure::new(format!("the repository cannot be read: {error}")))?;
    let complaints = complaints(&files);
    let mut wrong = 0;
    for complaint in &complaints {
        match complaint {
            Complaint::Soon(what) => eprintln!("warning: {what}"),
            Complaint::Wrong(what) => {
                wrong += 1;
                eprintln!("wrong: {what}");
            }
        }
    }
    match wrong {
        0 => Ok(()),
        1 => Err(Failure::new("one thing is not as it must be here; see above")),
        n => Err(Failure::new(format!("{n} things are not as they must be here; see above"))),
    }
}

fn complaints(files: &[File]) -> Vec<Complaint> {
    let sources = files.iter().filter(|file| file.path.ends_with(".rs"));
    let of_sources = sources.flat_map(|file| SOURCE_RULES.iter().flat_map(move |rule| rule(file)));
    let of_texts = files.iter().flat_map(text::names_no_machine);
    let of_manifests = files.iter().flat_map(direction::of_crates);
    let of_reasons = files.iter().flat_map(text::gives_reasons);
    of_sources
        .chain(of_texts)
        .chain(of_manifests)
        .chain(of_reasons)
        .chain(journal::is_documented(files))
        .collect()
}

/// Every text file that is part of the repository, in order.
fn files() -> io::Result<Vec<File>> {
    let mut found = Vec::new();
    collect(root(), &mut found)?;
    found.sort();
    // What is not UTF-8 is not text.
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).ok()?;
        let path = path.strip_prefix(root()).ok()?.to_str()?.to_owned();
        Some(File { path, text })
    };
    Ok(found.into_iter().filter_map(read).collect())
}

fn collect(dir: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let (path, kind) = entry.map(|entry| (entry.path(), entry.file_type()))?;
        let kind = kind?;
        if kind.is_dir() && !is_made(&path) {
            collect(&path, found)?;
        // Of a worktree: where the repository is.
        } else if kind.is_file() && !path.ends_with(".git") {
            found.push(path);
        }
    }
    Ok(())
}

/// Whether a directory holds what tools made, and git does not keep.
fn is_made(dir: &Path) -> bool {
    let from_root = dir.strip_prefix(root()).unwrap_or(dir);
    dir.file_name().is_some_and(|name| name == ".git" || name == "target")
        || from_root == "fuzz/corpus"
        || from_root == "fuzz/artifacts"
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn this_repository_is_read_without_what_tools_made() {
        let files = files().unwrap();
        assert!(files.iter().any(|file| file.path == "xtask/src/tidy/mod.rs"));
        assert!(!files.iter().any(|file| file.path.starts_with("target/") || file.path.starts_with(".git/")));
    }
}
