//! The records of `events`, each with the output offset and the time at which it was written.
//!
//! On disk: body length (u32), body, CRC-32 of the body (u32). A body is kind (u8), offset (u64), wall-clock time in
//! nanoseconds since 1970 (u64), and the kind's own fields. A reader passes over kinds it does not know.

use super::format::MAX_RECORD;
use crate::plan::Size;
use crate::wire::value::{DecodeError, Reader, Writer};
use std::time::Duration;

/// One record with its place in the output and in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// How many bytes of output had been journaled.
    pub offset: u64,
    /// Wall clock, nanoseconds since 1970.
    pub at: u64,
    /// What happened.
    pub record: Record,
}

/// What can happen to a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// The command is about to run: written while its process still waits at the barrier.
    Start(Start),
    /// It did not run: which step failed and why.
    NotStarted {
        /// The step, as [`crate::spawn::Stage`] numbers it.
        stage: u8,
        /// The system's error number.
        errno: i32,
    },
    /// The PTY has a new size.
    Resize(Size),
    /// Input was accepted.
    Input {
        /// The sender's name over all connections.
        writer: u64,
        /// The sender's number for it.
        seq: u64,
        /// How many bytes.
        len: u64,
        /// Who typed it.
        author: String,
    },
    /// The input was ended.
    InputEnded {
        /// Who ended it.
        author: String,
    },
    /// A signal was sent to the foreground group.
    Signal {
        /// Its number.
        signal: i32,
        /// Who sent it.
        author: String,
    },
    /// The tree is being ended.
    Killing {
        /// Why.
        cause: Cause,
        /// Who asked, if anybody did.
        author: String,
        /// How long the polite signal may take.
        grace: Duration,
    },
    /// The journal could not be written; this record is written when it can be again.
    Stalled {
        /// What the system said.
        errno: i32,
        /// How long nothing could be written.
        lasted: Duration,
    },
    /// The end of the command. Exactly one in a whole journal.
    End(End),
    /// The holder is done: nothing of the tree is left.
    Closed {
        /// Processes that were ended by force or on request, over the terminal's whole life.
        killed: u32,
    },
    /// A kind from a later wharf.
    Unknown(u8),
}

/// What is known of a command at its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The process that holds the terminal.
    pub holder: u32,
    /// When the kernel started that; zero if it does more than hold this terminal.
    pub holder_ticks: u64,
    /// The command's process.
    pub pid: u32,
    /// When the kernel started it, in clock ticks since boot: with `pid` and `boot` it names one process for ever.
    pub ticks: u64,
    /// Which boot of the machine this is.
    pub boot: [u8; 16],
    /// The cgroup made for it, as an absolute path, or empty.
    pub cgroup: String,
    /// The name of the sandbox it runs in, or empty.
    pub sandbox: String,
}

/// How a command ended. Exactly one for every terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// What the kernel said of it.
    pub status: Status,
    /// What brought it about.
    pub cause: Cause,
    /// Who asked for it; empty if nobody did.
    pub author: String,
    /// From the start, on the clock that does not jump.
    pub lasted: Duration,
    /// Processor time in user mode, of the command and the descendants it waited for.
    pub user: Duration,
    /// Processor time in the kernel.
    pub system: Duration,
    /// The largest resident size of any one of those processes, in bytes.
    pub peak_memory: u64,
    /// Descendants alive when the command ended.
    pub left: u32,
    /// How many of them held the output open.
    pub holding: u32,
    /// The value of the limit that ended it, if one did: nanoseconds, bytes or a number, as its cause has it.
    pub limit: Option<u64>,
}

/// What became of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// Nobody was there to see it.
    Lost(Lost),
}

/// Why a status is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// The process that held the terminal died.
    HolderDied,
    /// The machine was started anew.
    Reboot,
    /// The program that held the terminal on a thread waited for the command itself, or ignores SIGCHLD.
    StatusTaken,
}

/// What brought an end about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The command ended by itself, or by a signal that wharf did not send.
    Exited,
    /// Somebody asked.
    Killed,
    /// The time limit passed.
    TimeLimit,
    /// The idle limit passed.
    IdleLimit,
    /// It printed more than it may.
    OutputLimit,
    /// Its owner went away.
    OwnerGone,
    /// It used more memory than it may.
    MemoryLimit,
    /// The holder or the machine went away.
    Lost,
    /// It had more processes than it may.
    ProcessLimit,
    /// It used more processor time than it may.
    CpuLimit,
    /// It wrote a file larger than it may.
    FileSizeLimit,
}

impl Cause {
    const ALL: [(u8, Self, &'static str); 11] = [
        (1, Self::Exited, "exited"),
        (2, Self::Killed, "killed"),
        (3, Self::TimeLimit, "time_limit"),
        (4, Self::IdleLimit, "idle_limit"),
        (5, Self::OutputLimit, "output_limit"),
        (6, Self::OwnerGone, "owner_gone"),
        (7, Self::MemoryLimit, "memory_limit"),
        (8, Self::Lost, "lost"),
        (9, Self::ProcessLimit, "process_limit"),
        (10, Self::CpuLimit, "cpu_limit"),
        (11, Self::FileSizeLimit, "file_size_limit"),
    ];

    /// A stable word for programs.
    #[must_use]
    pub fn code(self) -> &'static str {
        Self::ALL.iter().find(|(_, cause, _)| *cause == self).map_or("exited", |(.., word)| word)
    }

    fn number(self) -> u8 {
        Self::ALL.iter().find(|(_, cause, _)| *cause == self).map_or(0, |(number, ..)| *number)
    }

    fn from_number(number: u8) -> Result<Self, DecodeError> {
        let known = Self::ALL.iter().find(|(n, ..)| *n == number);
        known.map(|(_, cause, _)| *cause).ok_or(DecodeError::Unknown)
    }
}

impl Lost {
    /// A stable word for programs.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::HolderDied => "holder_died",
            Self::Reboot => "reboot",
            Self::StatusTaken => "status_taken",
        }
    }
}

impl Entry {
    /// The record as it is appended to `events`.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::new();
        w.u8(self.record.kind()).u64(self.offset).u64(self.at);
        self.record.write(&mut w);
        let body = w.into_bytes();
        let mut out = Vec::with_capacity(body.len() + 8);
        out.extend_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend_from_slice(&body);
        out.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
        out
    }

    /// The record at the start of `bytes` and its length on disk; `None` if it is not whole or not sound.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<(Self, usize)> {
        let (head, rest) = bytes.split_first_chunk::<4>()?;
        let len = u32::from_le_bytes(*head) as usize;
        if len > MAX_RECORD {
            return None;
        }
        let (body, rest) = rest.split_at_checked(len)?;
        let crc = rest.first_chunk::<4>()?;
        if crc32fast::hash(body) != u32::from_le_bytes(*crc) {
            return None;
        }
        Some((Self::read(body).ok()?, len + 8))
    }

    fn read(body: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(body);
        let (kind, offset, at) = (r.u8()?, r.u64()?, r.u64()?);
        Ok(Self { offset, at, record: Record::read(kind, &mut r)? })
    }
}

impl Record {
    fn kind(&self) -> u8 {
        match self {
            Self::Start(_) => 1,
            Self::NotStarted { .. } => 2,
            Self::Resize(_) => 3,
            Self::Input { .. } => 4,
            Self::InputEnded { .. } => 5,
            Self::Signal { .. } => 6,
            Self::Killing { .. } => 7,
            Self::Stalled { .. } => 8,
            Self::End(_) => 9,
            Self::Closed { .. } => 10,
            Self::Unknown(kind) => *kind,
        }
    }

    fn write(&self, w: &mut Writer) {
        match self {
            Self::Start(s) => {
                w.u32(s.holder).u64(s.holder_ticks).u32(s.pid).u64(s.ticks);
                for byte in s.boot {
                    w.u8(byte);
                }
                w.text(&s.cgroup).text(&s.sandbox)
            }
            Self::NotStarted { stage, errno } => w.u8(*stage).i32(*errno),
            Self::Resize(size) => w.u16(size.cols).u16(size.rows),
            Self::Input { writer, seq, len, author } => w.u64(*writer).u64(*seq).u64(*len).text(author),
            Self::InputEnded { author } => w.text(author),
            Self::Signal { signal, author } => w.i32(*signal).text(author),
            Self::Killing { cause, author, grace } => {
                w.u8(cause.number()).text(author).u64(crate::plan::nanos(*grace))
            }
            Self::Stalled { errno, lasted } => w.i32(*errno).u64(crate::plan::nanos(*lasted)),
            Self::End(end) => end.write(w),
            Self::Closed { killed } => w.u32(*killed),
            Self::Unknown(_) => w,
        };
    }

    fn read(kind: u8, r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match kind {
            1 => Self::Start(Start {
                holder: r.u32()?,
                holder_ticks: r.u64()?,
                pid: r.u32()?,
                ticks: r.u64()?,
                boot: r.sixteen()?,
                cgroup: r.text()?,
                sandbox: r.late_text()?,
            }),
            2 => Self::NotStarted { stage: r.u8()?, errno: r.i32()? },
            3 => Self::Resize(Size { cols: r.u16()?, rows: r.u16()? }),
            4 => Self::Input { writer: r.u64()?, seq: r.u64()?, len: r.u64()?, author: r.text()? },
            5 => Self::InputEnded { author: r.text()? },
            6 => Self::Signal { signal: r.i32()?, author: r.text()? },
            7 => Self::Killing {
                cause: Cause::from_number(r.u8()?)?,
                author: r.text()?,
                grace: Duration::from_nanos(r.u64()?),
            },
            8 => Self::Stalled { errno: r.i32()?, lasted: Duration::from_nanos(r.u64()?) },
            9 => Self::End(End::read(r)?),
            10 => Self::Closed { killed: r.u32()? },
            kind => Self::Unknown(kind),
        })
    }
}

impl End {
    fn write<'w>(&self, w: &'w mut Writer) -> &'w mut Writer {
        match self.status {
            Status::Code(code) => w.u8(1).i32(code),
            Status::Signal(signal) => w.u8(2).i32(signal),
            Status::Lost(Lost::HolderDied) => w.u8(3).i32(1),
            Status::Lost(Lost::Reboot) => w.u8(3).i32(2),
            Status::Lost(Lost::StatusTaken) => w.u8(3).i32(3),
        };
        w.u8(self.cause.number()).text(&self.author);
        for time in [self.lasted, self.user, self.system] {
            w.u64(crate::plan::nanos(time));
        }
        w.u64(self.peak_memory).u32(self.left).u32(self.holding).maybe_u64(self.limit)
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let status = match (r.u8()?, r.i32()?) {
            (1, code) => Status::Code(code),
            (2, signal) => Status::Signal(signal),
            (3, 1) => Status::Lost(Lost::HolderDied),
            (3, 2) => Status::Lost(Lost::Reboot),
            (3, 3) => Status::Lost(Lost::StatusTaken),
            _ => return Err(DecodeError::Unknown),
        };
        Ok(Self {
            status,
            cause: Cause::from_number(r.u8()?)?,
            author: r.text()?,
            lasted: Duration::from_nanos(r.u64()?),
            user: Duration::from_nanos(r.u64()?),
            system: Duration::from_nanos(r.u64()?),
            peak_memory: r.u64()?,
            left: r.u32()?,
            holding: r.u32()?,
            // Journals from before there was such a field end here.
            limit: if r.done().is_ok() { None } else { r.maybe_u64()? },
        })
    }
}
