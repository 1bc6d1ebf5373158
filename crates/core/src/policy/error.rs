//! What is wrong with a policy file, where, and what to do about it.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A policy file that is not used, as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from one, where it can be named.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
    /// What to write instead.
    pub fix: String,
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.what)
    }
}

impl std::error::Error for PolicyError {}

/// A file's text, to name places in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) file: &'a Path,
    pub(super) text: &'a str,
}

impl Source<'_> {
    /// An error at that place.
    pub(super) fn error(
        &self,
        at: Option<Range<usize>>,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> PolicyError {
        let line = at.map(|at| 1 + self.text.bytes().take(at.start).filter(|byte| *byte == b'\n').count());
        PolicyError { file: self.file.to_owned(), line, what: what.into(), fix: fix.into() }
    }
}
