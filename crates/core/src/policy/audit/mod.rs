//! The audit log: an append-only file of decisions and ends, a JSON object on each line.
//!
//! Every program of a user writes to the same file, each entry with a single `write` that the kernel appends as a whole;
//! nobody waits for anybody. The one lock is held while the file is renamed because it is full, and who does not get it
//! leaves that to the other. A decision that cannot be written must not be carried out: that is for those who write it.

mod entry;

pub use entry::{Decision, Entry, Ruling, Who};

use rustix::fs::{FileType, FlockOperation, Mode, OFlags, Stat};
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A file that has grown to this is renamed, and the one before it is gone.
const FULL: u64 = 32 << 20;
/// How often it is opened anew because somebody has just renamed it.
const TRIES: usize = 8;

/// A log that cannot be used, or an entry that is not in it.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The system said no.
    #[error("the audit log {path} cannot be written: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// Not a file, somebody else's, or one that others may change.
    #[error("the audit log {path} must be a file of yours that nobody else may write (mode 0600)")]
    Unsafe {
        /// The file.
        path: PathBuf,
    },
}

impl AuditError {
    /// A stable word for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "audit_io",
            Self::Unsafe { .. } => "audit_unsafe",
        }
    }
}

/// The log.
#[derive(Debug)]
pub struct Audit {
    path: PathBuf,
    full: u64,
    open: Mutex<Open>,
}

#[derive(Debug)]
struct Open {
    file: OwnedFd,
    /// Whether the last entry was not written to its end, which leaves the line open.
    torn: bool,
}

impl Audit {
    /// Opens it, or makes it. Its directory must exist.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, AuditError> {
        Self::with_full(path.into(), FULL)
    }

    fn with_full(path: PathBuf, full: u64) -> Result<Self, AuditError> {
        let file = open(&path)?;
        Ok(Self { path, full, open: Mutex::new(Open { file, torn: false }) })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds an entry. It is in the file when this returns, though not on the disk: what a power failure takes is not
    /// worth two disk writes for each command.
    pub fn write(&self, entry: &Entry) -> Result<(), AuditError> {
        let mut line = serde_json::to_vec(entry).map_err(|error| self.io(error.into()))?;
        line.push(b'\n');
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        self.settle(&mut open)?;
        if open.torn {
            line.insert(0, b'\n');
        }
        let written = rustix::io::retry_on_intr(|| rustix::io::write(&open.file, &line))
            .map_err(|errno| self.io(errno.into()))?;
        open.torn = written < line.len();
        if open.torn {
            return Err(self.io(io::ErrorKind::StorageFull.into()));
        }
        Ok(())
    }

    /// Sees to it that what is open is what the path names, and has room.
    fn settle(&self, open: &mut Open) -> Result<(), AuditError> {
        for _ in 0..TRIES {
            let here = rustix::fs::fstat(&open.file).map_err(|errno| self.io(errno.into()))?;
            if !self.names(&here) {
                *open = Open { file: self::open(&self.path)?, torn: false };
                continue;
            }
            let size = u64::try_from(here.st_size).unwrap_or(0);
            if size < self.full || !self.rotate(&open.file, &here)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether the path still means this file.
    fn names(&self, file: &Stat) -> bool {
        rustix::fs::lstat(&self.path)
            .is_ok_and(|named| (named.st_dev, named.st_ino) == (file.st_dev, file.st_ino))
    }

    /// Moves a full file out of the way; false if somebody else is at it.
    fn rotate(&self, file: &OwnedFd, here: &Stat) -> Result<bool, AuditError> {
        if rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(false);
        }
        // Whoever had the lock before may have done it. The lock goes with the descriptor, which is opened anew now.
        if self.names(here) {
            let mut before = OsString::from(&self.path);
            before.push(".1");
            rustix::fs::rename(&self.path, &before).map_err(|errno| self.io(errno.into()))?;
        }
        Ok(true)
    }

    fn io(&self, source: io::Error) -> AuditError {
        AuditError::Io { path: self.path.clone(), source }
    }
}

fn open(path: &Path) -> Result<OwnedFd, AuditError> {
    // Without waiting: a pipe that somebody has put there has no reader.
    let flags = OFlags::WRONLY
        | OFlags::APPEND
        | OFlags::CREATE
        | OFlags::NOFOLLOW
        | OFlags::NONBLOCK
        | OFlags::CLOEXEC;
    let io = |errno: rustix::io::Errno| AuditError::Io { path: path.to_owned(), source: errno.into() };
    let file = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR).map_err(io)?;
    let found = rustix::fs::fstat(&file).map_err(io)?;
    let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
    let is_ours = found.st_uid == rustix::process::geteuid().as_raw();
    if !is_file || !is_ours || found.st_mode & 0o022 != 0 {
        return Err(AuditError::Unsafe { path: path.to_owned() });
    }
    Ok(file)
}

#[cfg(test)]
mod tests;
