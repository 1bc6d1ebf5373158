//! How a command ended and what it printed, in a form that cannot be misread as success.

use agent_client_protocol::v1::schema::{TerminalExitStatus, TerminalOutputResponse};
use std::fmt;

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(u32),
    /// This signal ended it, by name as the client gave it: `SIGKILL`.
    Signal(String),
    /// It has ended, or is given up, and nobody can say how.
    Unknown,
}

impl Exit {
    /// Whether it exited with code 0. Everything else is no success, also what is not known. Whether it did so in time is
    /// another question: [`Finished::success`] asks both.
    #[must_use]
    pub fn success(&self) -> bool {
        *self == Self::Code(0)
    }

    /// The exit code, if it had one.
    #[must_use]
    pub fn code(&self) -> Option<u32> {
        match self {
            Self::Code(code) => Some(*code),
            Self::Signal(_) | Self::Unknown => None,
        }
    }

    /// The signal, if one ended it.
    #[must_use]
    pub fn signal(&self) -> Option<&str> {
        match self {
            Self::Signal(name) => Some(name),
            Self::Code(_) | Self::Unknown => None,
        }
    }
}

/// Clients differ: some send a code beside the signal, some the signal "0" after a normal exit. A signal with a name counts
/// more than a code, since a code of 0 beside it would be read as success.
impl From<TerminalExitStatus> for Exit {
    fn from(status: TerminalExitStatus) -> Self {
        match (status.signal, status.exit_code) {
            (Some(name), _) if !matches!(name.as_str(), "" | "0") => Self::Signal(name),
            (_, Some(code)) => Self::Code(code),
            (_, None) => Self::Unknown,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(name) => write!(f, "killed by {name}"),
            Self::Unknown => f.write_str("end unknown"),
        }
    }
}

/// What a terminal holds at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// The newest text, up to the limit the command was started with.
    pub text: String,
    /// Whether older text was dropped.
    pub truncated: bool,
    /// The end, once there is one; then the text is complete.
    pub exit: Option<Exit>,
}

impl From<TerminalOutputResponse> for Output {
    fn from(answer: TerminalOutputResponse) -> Self {
        Self { text: answer.output, truncated: answer.truncated, exit: answer.exit_status.map(Exit::from) }
    }
}

/// A command that is over, and everything there is to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finished {
    /// How it ended.
    pub exit: Exit,
    /// What it printed, the newest if it was too much.
    pub output: String,
    /// Whether older output was dropped.
    pub truncated: bool,
    /// Whether its time ran out, so that it was killed.
    pub timed_out: bool,
}

impl Finished {
    /// Whether it ended by itself, in time, with code 0.
    #[must_use]
    pub fn success(&self) -> bool {
        self.exit.success() && !self.timed_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(code: Option<u32>, signal: Option<&str>) -> TerminalExitStatus {
        TerminalExitStatus::new().exit_code(code).signal(signal.map(str::to_owned))
    }

    #[test]
    fn only_a_plain_zero_is_a_success_whatever_clients_send() {
        for (code, signal, expected) in [
            (Some(0), None, Exit::Code(0)),
            (Some(0), Some("0"), Exit::Code(0)),
            (Some(0), Some(""), Exit::Code(0)),
            (Some(0), Some("SIGTERM"), Exit::Signal("SIGTERM".into())),
            (Some(137), Some("SIGKILL"), Exit::Signal("SIGKILL".into())),
            (Some(1), Some("Killed"), Exit::Signal("Killed".into())),
            (None, Some("SIGKILL"), Exit::Signal("SIGKILL".into())),
            (None, None, Exit::Unknown),
            (None, Some("0"), Exit::Unknown),
        ] {
            let exit = Exit::from(status(code, signal));
            assert_eq!(exit, expected, "{code:?} {signal:?}");
            assert_eq!(exit.success(), expected == Exit::Code(0));
        }
    }

    #[test]
    fn a_command_that_ran_out_of_time_is_no_success_even_with_code_zero() {
        let finished =
            Finished { exit: Exit::Code(0), output: String::new(), truncated: false, timed_out: true };
        assert!(!finished.success());
    }
}
