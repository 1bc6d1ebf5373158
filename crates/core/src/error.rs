//! What can go wrong, by what was being done. A command that fails, is killed or runs out of time is no error.

use crate::grant::SpecError;
use std::io;
use std::path::PathBuf;
use wharf_shim::journal::format::Damage;
use wharf_shim::launch::LaunchError;
use wharf_shim::wire::message::Refusal;

/// A store that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A directory cannot be made or read.
    #[error("cannot use {path}: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A directory that others may write or read, or that is somebody else's.
    #[error(
        "{path} must belong to you and be closed to others (mode 0700); it has owner {uid} and mode {mode:04o}"
    )]
    Unsafe {
        /// Which.
        path: PathBuf,
        /// Its owner.
        uid: u32,
        /// Its mode.
        mode: u32,
    },
}

/// A terminal that could not be created. Nothing is left of the attempt.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// What was asked for makes no sense.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The command could not be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// There is a terminal of that name, or somebody is just making one.
    #[error("there is a terminal of that name already")]
    Taken,
    /// The terminal's files could not be made.
    #[error("cannot make the terminal's files: {0}")]
    Files(#[from] io::Error),
    /// The file system of the journals holds no sockets, by which holders are reached.
    #[error("the file system of {dir} cannot hold sockets: {source}")]
    Socket {
        /// The directory.
        dir: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl CreateError {
    /// A stable word for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Spec(error) => error.code(),
            Self::Taken => "id_taken",
            Self::Launch(LaunchError::Start(error)) => error.code(),
            Self::Launch(LaunchError::Sandbox { .. }) => "sandbox",
            Self::Launch(LaunchError::Shim { source, .. }) => limit_or(source, "no_shim"),
            Self::Launch(LaunchError::Silent(error) | LaunchError::Gone(error)) => {
                limit_or(error, "shim_silent")
            }
            Self::Launch(LaunchError::Mute { .. }) => "shim_silent",
            Self::Launch(LaunchError::Version { .. }) => "shim_version",
            Self::Files(error) => limit_or(error, "files"),
            Self::Socket { .. } => "no_sockets",
        }
    }
}

/// Limits of the system have words of their own, wherever they are met.
pub(crate) fn limit_or(error: &io::Error, otherwise: &'static str) -> &'static str {
    // A read that waited too long says EAGAIN as well, and is no limit.
    if matches!(error.kind(), io::ErrorKind::WouldBlock) && otherwise == "shim_silent" {
        return otherwise;
    }
    match error.raw_os_error() {
        // ENOSPC, EDQUOT.
        Some(28 | 122) => "disk_full",
        // EAGAIN (processes), ENOMEM, ENFILE, EMFILE.
        Some(11 | 12 | 23 | 24) => "limit",
        _ => otherwise,
    }
}

/// A terminal that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is none of that name, or no longer.
    #[error("there is no such terminal")]
    NotFound,
    /// Its journal is damaged, or from a later wharf.
    #[error("the terminal's journal cannot be read: {0}")]
    Damaged(#[from] Damage),
    /// The system said no.
    #[error("the terminal's journal cannot be read: {0}")]
    Io(io::Error),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound,
            _ => Self::Io(error),
        }
    }
}

impl ReadError {
    /// A stable word for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Damaged(damage) => damage.code(),
            Self::Io(_) => "io",
        }
    }
}

/// A request that a terminal did not carry out.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The terminal cannot be found or read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Its holder refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Its holder is dead, and processes of it live on that could not be ended: another user's, or stuck in the kernel.
    #[error("processes of the terminal are left that could not be ended")]
    Survivors,
    /// Nothing of it is left, but that could not be written: the disk is full, and nothing on it could be given up for it.
    #[error("everything was ended, but that could not be written: {0}")]
    Unrecorded(io::Error),
    /// Nothing of it runs, but its files cannot be taken away.
    #[error("the terminal's files cannot be removed: {0}")]
    Kept(io::Error),
    /// Its holder cannot be reached or did not answer.
    #[error("the terminal's holder does not answer: {0}")]
    Unreachable(io::Error),
}

impl ControlError {
    /// A stable word for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Read(error) => error.code(),
            Self::Refused(refusal) => refusal.code(),
            Self::Survivors => "survivors",
            Self::Unrecorded(error) => limit_or(error, "unrecorded"),
            Self::Kept(_) => "files",
            Self::Unreachable(_) => "unreachable",
        }
    }
}

impl From<io::Error> for ControlError {
    fn from(error: io::Error) -> Self {
        Self::Read(error.into())
    }
}
