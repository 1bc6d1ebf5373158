//! Who answers what programs ask their terminal: one follower of a shell, or one of those who sit at any other terminal,
//! however many there are.
//!
//! A program that asks for the cursor's position and gets two answers takes the second for typing. So the duty is an exclusive
//! lock; with whoever has it, it becomes free again, and the next follower that has something to answer takes it.

use crate::terminal::Terminal;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::Path;
use wharf_shim::journal::file::{self, Access};

/// The file that is locked, in the terminal's directory.
const NAME: &str = "duty";

/// The right to answer, for as long as this value lives.
#[derive(Debug)]
pub struct Duty {
    _lock: File,
}

impl Duty {
    /// Takes it; nothing if another one has it.
    ///
    /// # Errors
    ///
    /// The terminal's directory cannot be written, or is gone.
    pub fn try_take(terminal: &Terminal) -> io::Result<Option<Self>> {
        try_take_at(&terminal.dir().join(NAME))
    }
}

fn try_take_at(path: &Path) -> io::Result<Option<Duty>> {
    let lock = file::open(path, Access::Make)?;
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(Duty { _lock: lock })),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_until_it_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        let first = try_take_at(&path).unwrap();
        assert!(first.is_some());
        assert!(try_take_at(&path).unwrap().is_none());
        drop(first);
        assert!(try_take_at(&path).unwrap().is_some());
    }
}
