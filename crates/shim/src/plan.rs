//! The plan: all that is needed to start one command, decided beforehand by somebody else.
//!
//! A plan holds no path that is still to be judged: the working directory, the journal and the control socket travel
//! beside it as descriptors. The shim carries it out and decides nothing.

use crate::confine::Confine;
use crate::wire::value::{DecodeError, Reader, Writer};
use std::ffi::CString;
use std::time::Duration;

/// What to run, how to hold it, and when to end it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The terminal's id, which the command's environment carries too.
    pub id: String,
    /// The file to execute: an absolute path, so that nothing is searched for after the decision.
    pub program: CString,
    /// The argument vector, the command's own name first.
    pub argv: Vec<CString>,
    /// The whole environment, as `NAME=value`.
    pub env: Vec<CString>,
    /// How its input and output are connected.
    pub io: Io,
    /// When it is ended without being asked.
    pub limits: Limits,
    /// How long a polite signal may take before everything is killed.
    pub grace: Duration,
    /// What the owner's death means.
    pub on_owner_exit: OnOwnerExit,
    /// What happens when it prints faster than its owner reads.
    pub backlog: Backlog,
    /// The sandbox it runs in; none means that it may do whatever its user may.
    pub confine: Option<Confine>,
    /// What it may use of the machine.
    pub resources: Resources,
}

/// How a command's standard descriptors are connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Io {
    /// Output through one pipe, both standard output and standard error, in order.
    Pipe(PipeInput),
    /// A terminal of its own, as session leader.
    Pty(Size),
}

/// What a command on a pipe reads from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PipeInput {
    /// Nothing: end of file at once. A program that asks a question gets no answer instead of waiting for ever.
    Empty,
    /// What is sent to the terminal, until end-of-input.
    Open,
}

/// Columns and rows of a PTY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

impl Default for Size {
    fn default() -> Self {
        Self { cols: 80, rows: 24 }
    }
}

/// What ends a command that nobody asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From the start, on the clock that does not jump.
    pub time: Option<Duration>,
    /// Without output and without input.
    pub idle: Option<Duration>,
    /// Bytes of output in all.
    pub output: Option<u64>,
    /// Bytes of output kept on disk; the oldest are dropped beyond it.
    pub keep: u64,
}

/// Sixty-four MiB kept: a long build log whole, and a hundred floods at once still fit an ordinary disk.
pub const DEFAULT_KEEP: u64 = 64 << 20;

/// The least that can be kept: below a few blocks, hole punching has nothing to work with.
pub const LEAST_KEEP: u64 = 64 << 10;

/// Five seconds, what most supervisors give and what a build tool needs to write its state.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(5);

impl Default for Limits {
    fn default() -> Self {
        Self { time: None, idle: None, output: None, keep: DEFAULT_KEEP }
    }
}

/// What a command and everything it starts may use together, but for the last two, which hold for each process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Resources {
    /// Processes at the same time. Threads count, as they do for the kernel: a bomb can be made of either.
    pub processes: Option<u32>,
    /// Bytes of memory that nothing but ending it could free.
    pub memory: Option<u64>,
    /// Processor time in all.
    pub cpu: Option<Duration>,
    /// Bytes that one file may grow to.
    pub file_size: Option<u64>,
    /// Descriptors that one process may have open.
    pub open_files: Option<u64>,
}

impl Resources {
    fn write(&self, w: &mut Writer) {
        w.maybe_u64(self.processes.map(u64::from)).maybe_u64(self.memory).maybe_u64(self.cpu.map(nanos));
        w.maybe_u64(self.file_size).maybe_u64(self.open_files);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            processes: r.maybe_u64()?.map(u32::try_from).transpose().map_err(|_| DecodeError::Unknown)?,
            memory: r.maybe_u64()?,
            cpu: r.maybe_u64()?.map(Duration::from_nanos),
            file_size: r.maybe_u64()?,
            open_files: r.maybe_u64()?,
        })
    }
}

/// What happens when more output than may be kept has not been taken by the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backlog {
    /// The oldest is dropped: the command never waits for a reader.
    Drop,
    /// The command waits, like one whose output is a pipe: the owner misses nothing.
    Wait,
}

/// What happens to a terminal when its owner's connection closes, which the kernel does even on SIGKILL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnOwnerExit {
    /// It is killed like on request, with its grace.
    Kill,
    /// It runs on.
    Keep,
}

impl OnOwnerExit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Kill => 1,
            Self::Keep => 2,
        }
    }

    pub(crate) fn from_code(code: u8) -> Result<Self, DecodeError> {
        match code {
            1 => Ok(Self::Kill),
            2 => Ok(Self::Keep),
            _ => Err(DecodeError::Unknown),
        }
    }
}

/// First byte of an encoded plan. A shim is installed with the program that sends it the plan; the number guards against
/// one that was left from another installation, or replaced while that program runs. It answers what it knows.
pub const VERSION: u8 = 6;

impl Plan {
    /// The plan as bytes for the launch socket.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::new();
        self.write(&mut w);
        w.into_bytes()
    }

    pub(crate) fn write(&self, w: &mut Writer) {
        w.u8(VERSION).text(&self.id).bytes(self.program.as_bytes());
        w.list(self.argv.iter().map(|s| s.as_bytes()));
        w.list(self.env.iter().map(|s| s.as_bytes()));
        match self.io {
            Io::Pipe(PipeInput::Empty) => w.u8(1),
            Io::Pipe(PipeInput::Open) => w.u8(2),
            Io::Pty(size) => w.u8(3).u16(size.cols).u16(size.rows),
        };
        let limits = &self.limits;
        w.maybe_u64(limits.time.map(nanos)).maybe_u64(limits.idle.map(nanos));
        w.maybe_u64(limits.output).u64(limits.keep);
        w.u64(nanos(self.grace)).u8(self.on_owner_exit.code());
        w.u8(match self.backlog {
            Backlog::Drop => 1,
            Backlog::Wait => 2,
        });
        match &self.confine {
            Some(confine) => confine.write(w.u8(1)),
            None => {
                w.u8(0);
            }
        }
        self.resources.write(w);
    }

    /// The plan back from bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        let plan = Self::read(&mut r)?;
        r.done()?;
        Ok(plan)
    }

    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        if r.u8()? != VERSION {
            return Err(DecodeError::Unknown);
        }
        Ok(Self {
            id: r.text()?,
            program: c_string(r.bytes()?)?,
            argv: c_strings(r)?,
            env: c_strings(r)?,
            io: match r.u8()? {
                1 => Io::Pipe(PipeInput::Empty),
                2 => Io::Pipe(PipeInput::Open),
                3 => Io::Pty(Size { cols: r.u16()?, rows: r.u16()? }),
                _ => return Err(DecodeError::Unknown),
            },
            limits: Limits {
                time: r.maybe_u64()?.map(Duration::from_nanos),
                idle: r.maybe_u64()?.map(Duration::from_nanos),
                output: r.maybe_u64()?,
                keep: r.u64()?,
            },
            grace: Duration::from_nanos(r.u64()?),
            on_owner_exit: OnOwnerExit::from_code(r.u8()?)?,
            backlog: match r.u8()? {
                1 => Backlog::Drop,
                2 => Backlog::Wait,
                _ => return Err(DecodeError::Unknown),
            },
            confine: match r.u8()? {
                0 => None,
                1 => Some(Confine::read(r)?),
                _ => return Err(DecodeError::Unknown),
            },
            resources: Resources::read(r)?,
        })
    }
}

pub(crate) fn nanos(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) fn c_string(bytes: &[u8]) -> Result<CString, DecodeError> {
    CString::new(bytes).map_err(|_| DecodeError::Unknown)
}

fn c_strings(r: &mut Reader<'_>) -> Result<Vec<CString>, DecodeError> {
    r.list()?.iter().map(|s| c_string(s)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confine::{Metadata, Mount, Namespaces, Sockets};

    #[test]
    fn a_plan_comes_back_as_it_was() {
        let plan = Plan {
            id: "abc".into(),
            program: c"/bin/sh".into(),
            argv: vec![c"sh".into(), c"-c".into(), c"echo \xff".into()],
            env: vec![c"A=b".into()],
            io: Io::Pty(Size { cols: 100, rows: 30 }),
            limits: Limits { time: Some(Duration::from_millis(1500)), output: Some(9), ..Limits::default() },
            grace: Duration::ZERO,
            on_owner_exit: OnOwnerExit::Kill,
            backlog: Backlog::Wait,
            confine: None,
            resources: Resources {
                processes: Some(u32::MAX),
                memory: Some(1 << 40),
                cpu: Some(Duration::from_micros(7)),
                file_size: None,
                open_files: Some(0),
            },
        };
        assert_eq!(Plan::decode(&plan.encode()), Ok(plan.clone()));
        let confine = Confine {
            name: "locked".into(),
            namespaces: Namespaces::None,
            landlock: 2,
            mounts: vec![Mount::Terminals],
            rules: Vec::new(),
            sockets: Sockets::None,
            metadata: Metadata::Usual,
        };
        let plan = Plan { confine: Some(confine), ..plan };
        assert_eq!(Plan::decode(&plan.encode()), Ok(plan));
    }
}
