//! How a terminal ended, for those who ask.

use crate::policy::OPEN;
use std::time::Duration;
use wharf_shim::journal::record::{Cause, End, Entry, Lost, Status};
use wharf_shim::signal;

/// The one truthful end of a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// What became of the command.
    pub outcome: Outcome,
    /// What brought it about.
    pub cause: Cause,
    /// Who asked for it; empty if nobody did.
    pub author: String,
    /// When, in nanoseconds since 1970.
    pub at: u64,
    /// How long it ran; zero if lost.
    pub lasted: Duration,
    /// Processor time it used in user mode and in the kernel.
    pub cpu: (Duration, Duration),
    /// The largest resident size of one of its processes, in bytes.
    pub peak_memory: u64,
    /// Bytes it had printed. More may follow, from descendants.
    pub bytes: u64,
    /// Descendants alive at that moment.
    pub left: u32,
    /// How many of them held the output open.
    pub holding: u32,
    /// The limit that ended it, if one did whose value is on record.
    pub limit: Option<Limit>,
    /// The sandbox it ran in; `open` if it had none.
    pub sandbox: String,
}

/// A limit with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Time from the start.
    Time(Duration),
    /// Time without output and input.
    Idle(Duration),
    /// Bytes of output.
    Output(u64),
    /// Processes and threads at the same time.
    Processes(u64),
    /// Bytes of memory.
    Memory(u64),
    /// Processor time.
    Cpu(Duration),
    /// Bytes of one file.
    FileSize(u64),
}

impl Limit {
    fn new(cause: Cause, value: u64) -> Option<Self> {
        let time = Duration::from_nanos(value);
        Some(match cause {
            Cause::TimeLimit => Self::Time(time),
            Cause::IdleLimit => Self::Idle(time),
            Cause::OutputLimit => Self::Output(value),
            Cause::ProcessLimit => Self::Processes(value),
            Cause::MemoryLimit => Self::Memory(value),
            Cause::CpuLimit => Self::Cpu(time),
            Cause::FileSizeLimit => Self::FileSize(value),
            Cause::Exited | Cause::Killed | Cause::OwnerGone | Cause::Lost => return None,
        })
    }
}

/// What became of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it, by number.
    Signal(i32),
    /// Nobody saw it.
    Lost(Lost),
}

impl Ended {
    pub(crate) fn new(entry: &Entry, end: &End, sandbox: &str) -> Self {
        Self {
            outcome: match end.status {
                Status::Code(code) => Outcome::Code(code),
                Status::Signal(signal) => Outcome::Signal(signal),
                Status::Lost(lost) => Outcome::Lost(lost),
            },
            cause: end.cause,
            author: end.author.clone(),
            at: entry.at,
            lasted: end.lasted,
            cpu: (end.user, end.system),
            peak_memory: end.peak_memory,
            bytes: entry.offset,
            left: end.left,
            holding: end.holding,
            limit: end.limit.and_then(|value| Limit::new(end.cause, value)),
            sandbox: if sandbox.is_empty() { OPEN } else { sandbox }.to_owned(),
        }
    }

    /// The exit code, if it exited.
    #[must_use]
    pub fn exit_code(&self) -> Option<i32> {
        match self.outcome {
            Outcome::Code(code) => Some(code),
            Outcome::Signal(_) | Outcome::Lost(_) => None,
        }
    }

    /// The name of the signal that ended it, if one did.
    #[must_use]
    pub fn signal(&self) -> Option<String> {
        match self.outcome {
            Outcome::Signal(number) => Some(signal::name(number)),
            Outcome::Code(_) | Outcome::Lost(_) => None,
        }
    }

    /// Whether it exited with code zero.
    #[must_use]
    pub fn success(&self) -> bool {
        self.exit_code() == Some(0)
    }
}
