//! Why a command could not be started, by step and error number, so that nobody has to guess from a text.

use crate::confine::Fault;
use rustix::io::Errno;

/// The steps from plan to running command. The numbers are part of the journal format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Making a pipe or opening `/dev/null`.
    Pipe,
    /// Opening a PTY.
    Pty,
    /// Making the process.
    Fork,
    /// Making it a session leader with its terminal.
    Session,
    /// Connecting its standard descriptors.
    Descriptors,
    /// Entering the working directory.
    Cwd,
    /// Executing the program.
    Exec,
    /// Writing the start record.
    Journal,
    /// Reading the plan.
    Plan,
    /// Setting up its sandbox, and where in that.
    Confine(Fault),
    /// Setting the bounds of the process.
    Bounds,
}

/// A step and what the system said to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", self.what(), std::io::Error::from_raw_os_error(self.errno))]
pub struct StartError {
    /// The step that failed.
    pub stage: Stage,
    /// The system's error number.
    pub errno: i32,
}

impl Stage {
    pub(crate) fn failed(self) -> impl Fn(Errno) -> StartError {
        move |errno| StartError { stage: self, errno: errno.raw_os_error() }
    }

    /// The number that stands in journals and messages.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Pipe => 1,
            Self::Pty => 2,
            Self::Fork => 3,
            Self::Session => 4,
            Self::Descriptors => 5,
            Self::Cwd => 6,
            Self::Exec => 7,
            Self::Journal => 8,
            Self::Plan => 9,
            Self::Confine(_) => Self::CONFINE,
            Self::Bounds => 11,
        }
    }

    /// The number of every failure in a sandbox.
    pub(crate) const CONFINE: u8 = 10;

    /// The step back from its number; none for the sandbox, of which the number alone does not say enough.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        [
            Self::Pipe,
            Self::Pty,
            Self::Fork,
            Self::Session,
            Self::Descriptors,
            Self::Cwd,
            Self::Exec,
            Self::Journal,
            Self::Plan,
            Self::Bounds,
        ]
        .into_iter()
        .find(|stage| stage.number() == number)
    }
}

impl StartError {
    fn what(&self) -> &'static str {
        match self.stage {
            Stage::Pipe => "cannot make a pipe",
            Stage::Pty => "cannot open a PTY",
            Stage::Fork => "cannot make a process",
            Stage::Session => "cannot give the process its terminal",
            Stage::Descriptors => "cannot connect the process's descriptors",
            Stage::Cwd => "cannot enter the working directory",
            Stage::Exec => "cannot execute the program",
            Stage::Journal => "cannot write the journal",
            Stage::Plan => "cannot read the plan",
            Stage::Confine(_) => "cannot set up the sandbox",
            Stage::Bounds => "cannot set the limits of the process",
        }
    }

    /// A stable word for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match (self.stage, self.errno) {
            (Stage::Exec, libc::ENOENT | libc::ENOTDIR) => "not_found",
            (Stage::Exec, libc::E2BIG) => "too_large",
            (Stage::Exec, libc::ENOMEM | libc::EAGAIN) => "limit",
            (Stage::Exec, _) => "not_executable",
            (Stage::Cwd, _) => "bad_cwd",
            (Stage::Confine(_), _) => "sandbox",
            // The C library's interface, which rustix follows, says EAGAIN where the kernel says ENOSPC.
            (Stage::Pty, libc::ENOSPC | libc::EAGAIN) => "no_pty_left",
            (_, libc::EMFILE | libc::ENFILE | libc::EAGAIN | libc::ENOMEM) => "limit",
            (Stage::Journal, libc::ENOSPC | libc::EDQUOT) => "disk_full",
            _ => "system",
        }
    }
}
