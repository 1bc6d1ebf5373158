//! Why a command could not be started, by step and error number, so that nobody has to guess from a text.

use rustix::io::Errno;

/// The steps from plan to running command. The numbers are part of the journal format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Making a pipe or opening `/dev/null`.
    Pipe = 1,
    /// Opening a PTY.
    Pty = 2,
    /// Making the process.
    Fork = 3,
    /// Making it a session leader with its terminal.
    Session = 4,
    /// Connecting its standard descriptors.
    Descriptors = 5,
    /// Entering the working directory.
    Cwd = 6,
    /// Executing the program.
    Exec = 7,
    /// Writing the start record.
    Journal = 8,
    /// Reading the plan.
    Plan = 9,
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
        self as u8
    }

    /// The step back from its number.
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
            // The C library's interface, which rustix follows, says EAGAIN where the kernel says ENOSPC.
            (Stage::Pty, libc::ENOSPC | libc::EAGAIN) => "no_pty_left",
            (_, libc::EMFILE | libc::ENFILE | libc::EAGAIN | libc::ENOMEM) => "limit",
            (Stage::Journal, libc::ENOSPC | libc::EDQUOT) => "disk_full",
            _ => "system",
        }
    }
}
