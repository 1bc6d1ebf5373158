//! What a front end asks of a shim and what it is answered.
//!
//! Every request carries a tag that its answer repeats, so that one connection can wait for several things.
//! Output never travels here: answers name offsets, and the reader takes the bytes from the journal at its own pace.

use super::foreground::Foreground;
use super::value::{DecodeError, Reader, Writer};
use crate::plan::{OnOwnerExit, Size};

/// The version of this vocabulary, first byte of every message. A shim outlives the front end that started it and
/// may be asked by a newer one, so the number changes only when old messages would be misread.
pub const VERSION: u8 = 1;

/// The tag of the one thing that is said unasked, once, to whoever sent the plan: that the state is no longer "running".
pub const UNASKED: u32 = u32::MAX;

/// What a front end may ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Answer when there is output past `past`, or the state is no longer `seen`.
    Watch {
        /// The offset up to which the asker has read.
        past: u64,
        /// The state the asker knows.
        seen: State,
    },
    /// End the whole tree; answered when it is gone.
    Kill {
        /// How long the polite signal may take, in milliseconds; absent means the plan's own grace.
        grace_ms: Option<u64>,
        /// Who asks.
        author: String,
    },
    /// Bytes for the command. A repeated `seq` of the same `writer` is accepted and not written again.
    Input {
        /// Names the sender over all its connections.
        writer: u64,
        /// Grows by at least one with every input of that writer.
        seq: u64,
        /// Who typed it.
        author: String,
        /// What to write.
        bytes: Vec<u8>,
    },
    /// No more input will come.
    EndInput {
        /// Names the sender.
        writer: u64,
        /// As for `Input`.
        seq: u64,
        /// Who says so.
        author: String,
    },
    /// A new size for a PTY.
    Resize(Size),
    /// A signal to the foreground group.
    Signal {
        /// The signal's number.
        signal: i32,
        /// Who sends it.
        author: String,
    },
    /// This connection becomes the owner: what happens when it closes.
    Lease(OnOwnerExit),
    /// How things stand.
    Status,
    /// From the owner, who has read up to this offset. The only request without an answer.
    Taken(u64),
    /// Who has the foreground of a PTY, and what they do.
    Foreground,
}

/// What a shim answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// To the plan: the command runs.
    Started {
        /// The command's process id.
        pid: u32,
    },
    /// To the plan: it does not, and nothing is left of the attempt.
    NotStarted {
        /// The step that failed, as [`crate::spawn::Stage`] numbers it.
        stage: u8,
        /// The system's error number.
        errno: i32,
        /// For a sandbox: what was being done, in words. Else empty.
        doing: String,
    },
    /// To `Watch` and `Status`.
    Progress(Progress),
    /// To `Kill`: how many processes it ended.
    Killed {
        /// Processes that were alive when the kill began or appeared while it ran.
        processes: u32,
    },
    /// To everything else that worked.
    Done,
    /// The request was understood and cannot be done.
    Refused(Refusal),
    /// To `Foreground`.
    Foreground(Foreground),
    /// To a plan that is not understood. It must be readable by every version there will be.
    OtherVersion {
        /// The version of plans that would be.
        plans: u8,
    },
}

/// How a terminal stands, as its shim sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The first offset still kept.
    pub first: u64,
    /// The offset after the last byte.
    pub end: u64,
    /// Running, stalled or ended.
    pub state: State,
    /// Bytes of input accepted and not yet taken by the command.
    pub input_pending: u32,
    /// The command's process id.
    pub pid: u32,
}

/// The states that a reader wants to be woken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The command runs.
    Running,
    /// The journal cannot be written (disk full); the command waits, nothing is lost.
    Stalled,
    /// The end is on record.
    Ended,
}

/// Why a request was not carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The command has ended.
    #[error("the command has ended")]
    Ended,
    /// It was started without an input, or its input was closed.
    #[error("the command has no open input")]
    NoInput,
    /// Something was asked that only a PTY has.
    #[error("the terminal is not a PTY")]
    NoPty,
    /// A line longer than the kernel keeps for a program that reads lines: it would be cut silently.
    #[error("a line of more than 4095 bytes would be cut by the terminal driver")]
    LineTooLong,
    /// The journal cannot be written now, so nothing new is accepted.
    #[error("the journal cannot be written")]
    Stalled,
    /// The operating system said no.
    #[error("the system refused it (errno {0})")]
    System(i32),
    /// The message cannot be read: another version, or damage.
    #[error("the request is not understood by this shim")]
    NotUnderstood,
}

impl Request {
    /// A tagged message.
    #[must_use]
    pub fn encode(&self, tag: u32) -> Vec<u8> {
        let mut w = Writer::new();
        w.u8(VERSION).u32(tag);
        match self {
            Self::Watch { past, seen } => w.u8(1).u64(*past).u8(seen.code()),
            Self::Kill { grace_ms, author } => w.u8(2).maybe_u64(*grace_ms).text(author),
            Self::Input { writer, seq, author, bytes } => {
                w.u8(3).u64(*writer).u64(*seq).text(author).bytes(bytes)
            }
            Self::EndInput { writer, seq, author } => w.u8(4).u64(*writer).u64(*seq).text(author),
            Self::Resize(size) => w.u8(5).u16(size.cols).u16(size.rows),
            Self::Signal { signal, author } => w.u8(6).i32(*signal).text(author),
            Self::Lease(on_exit) => w.u8(7).u8(on_exit.code()),
            Self::Status => w.u8(8),
            Self::Taken(upto) => w.u8(9).u64(*upto),
            Self::Foreground => w.u8(10),
        };
        w.into_bytes()
    }

    /// The tag and the request.
    pub fn decode(body: &[u8]) -> Result<(u32, Self), DecodeError> {
        let (tag, mut r) = open(body)?;
        let request = match r.u8()? {
            1 => Self::Watch { past: r.u64()?, seen: State::from_code(r.u8()?)? },
            2 => Self::Kill { grace_ms: r.maybe_u64()?, author: author(&mut r)? },
            3 => Self::Input {
                writer: r.u64()?,
                seq: r.u64()?,
                author: author(&mut r)?,
                bytes: r.bytes()?.to_vec(),
            },
            4 => Self::EndInput { writer: r.u64()?, seq: r.u64()?, author: author(&mut r)? },
            5 => Self::Resize(Size { cols: r.u16()?, rows: r.u16()? }),
            6 => Self::Signal { signal: r.i32()?, author: author(&mut r)? },
            7 => Self::Lease(OnOwnerExit::from_code(r.u8()?)?),
            8 => Self::Status,
            9 => Self::Taken(r.u64()?),
            10 => Self::Foreground,
            _ => return Err(DecodeError::Unknown),
        };
        r.done()?;
        Ok((tag, request))
    }
}

/// Names are for people and stand in records of limited length; a longer one is cut.
const LONGEST_AUTHOR: usize = 256;

fn author(r: &mut Reader<'_>) -> Result<String, DecodeError> {
    let mut author = r.text()?;
    let boundary = (0..=LONGEST_AUTHOR).rev().find(|at| author.is_char_boundary(*at));
    if author.len() > LONGEST_AUTHOR {
        author.truncate(boundary.unwrap_or(0));
    }
    Ok(author)
}

impl Reply {
    /// A tagged message.
    #[must_use]
    pub fn encode(&self, tag: u32) -> Vec<u8> {
        let mut w = Writer::new();
        w.u8(VERSION).u32(tag);
        match self {
            Self::Started { pid } => w.u8(1).u32(*pid),
            Self::NotStarted { stage, errno, doing } => w.u8(2).u8(*stage).i32(*errno).text(doing),
            Self::Progress(p) => {
                w.u8(3).u64(p.first).u64(p.end).u8(p.state.code()).u32(p.input_pending).u32(p.pid)
            }
            Self::Killed { processes } => w.u8(4).u32(*processes),
            Self::Done => w.u8(5),
            Self::Refused(why) => why.write(w.u8(6)),
            Self::Foreground(seen) => seen.write(w.u8(7)),
            Self::OtherVersion { plans } => w.u8(8).u8(*plans),
        };
        w.into_bytes()
    }

    /// The tag and the reply.
    pub fn decode(body: &[u8]) -> Result<(u32, Self), DecodeError> {
        let (tag, mut r) = open(body)?;
        let reply = match r.u8()? {
            1 => Self::Started { pid: r.u32()? },
            2 => Self::NotStarted { stage: r.u8()?, errno: r.i32()?, doing: r.text()? },
            3 => Self::Progress(Progress {
                first: r.u64()?,
                end: r.u64()?,
                state: State::from_code(r.u8()?)?,
                input_pending: r.u32()?,
                pid: r.u32()?,
            }),
            4 => Self::Killed { processes: r.u32()? },
            5 => Self::Done,
            6 => Self::Refused(Refusal::read(&mut r)?),
            7 => Self::Foreground(Foreground::read(&mut r)?),
            8 => Self::OtherVersion { plans: r.u8()? },
            _ => return Err(DecodeError::Unknown),
        };
        r.done()?;
        Ok((tag, reply))
    }
}

fn open(body: &[u8]) -> Result<(u32, Reader<'_>), DecodeError> {
    let mut r = Reader::new(body);
    if r.u8()? != VERSION {
        return Err(DecodeError::Unknown);
    }
    Ok((r.u32()?, r))
}

impl State {
    fn code(self) -> u8 {
        match self {
            Self::Running => 0,
            Self::Stalled => 1,
            Self::Ended => 2,
        }
    }

    fn from_code(code: u8) -> Result<Self, DecodeError> {
        match code {
            0 => Ok(Self::Running),
            1 => Ok(Self::Stalled),
            2 => Ok(Self::Ended),
            _ => Err(DecodeError::Unknown),
        }
    }
}

impl Refusal {
    fn write<'w>(&self, w: &'w mut Writer) -> &'w mut Writer {
        match self {
            Self::Ended => w.u8(1),
            Self::NoInput => w.u8(2),
            Self::NoPty => w.u8(3),
            Self::LineTooLong => w.u8(4),
            Self::Stalled => w.u8(5),
            Self::System(errno) => w.u8(6).i32(*errno),
            Self::NotUnderstood => w.u8(7),
        }
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match r.u8()? {
            1 => Self::Ended,
            2 => Self::NoInput,
            3 => Self::NoPty,
            4 => Self::LineTooLong,
            5 => Self::Stalled,
            6 => Self::System(r.i32()?),
            7 => Self::NotUnderstood,
            _ => return Err(DecodeError::Unknown),
        })
    }

    /// A stable word for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::NoInput => "no_input",
            Self::NoPty => "no_pty",
            Self::LineTooLong => "line_too_long",
            Self::Stalled => "stalled",
            Self::System(_) => "system",
            Self::NotUnderstood => "not_understood",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::foreground::{Doing, Member, Typing};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_request_comes_back_as_it_was() {
        let requests = [
            Request::Watch { past: u64::MAX, seen: State::Stalled },
            Request::Kill { grace_ms: None, author: "human".into() },
            Request::Kill { grace_ms: Some(0), author: String::new() },
            Request::Input { writer: 1, seq: 2, author: "agent".into(), bytes: vec![0, 255, 10] },
            Request::EndInput { writer: 9, seq: 3, author: "é".into() },
            Request::Resize(Size { cols: 200, rows: 50 }),
            Request::Signal { signal: 2, author: "human".into() },
            Request::Lease(OnOwnerExit::Kill),
            Request::Status,
            Request::Taken(u64::MAX),
            Request::Foreground,
        ];
        for request in requests {
            assert_eq!(Request::decode(&request.encode(7)), Ok((7, request)));
        }
    }

    #[test]
    fn every_reply_comes_back_as_it_was() {
        let progress = Progress { first: 1, end: 2, state: State::Ended, input_pending: 3, pid: 4 };
        let typing = Typing { echo: true, canonical: true, ..Typing::default() };
        let member = Member { pid: 7, name: "cat".into(), doing: Doing::Reading, ticks: 3 };
        let foreground = Foreground { group: 7, typing, unread: 2, members: vec![member] };
        let replies = [
            Reply::Started { pid: 1 },
            Reply::NotStarted { stage: 3, errno: 2, doing: "hiding".into() },
            Reply::Progress(progress),
            Reply::Killed { processes: 12 },
            Reply::Done,
            Reply::Refused(Refusal::System(28)),
            Reply::Refused(Refusal::LineTooLong),
            Reply::Foreground(foreground),
            Reply::OtherVersion { plans: 200 },
        ];
        for reply in replies {
            assert_eq!(Reply::decode(&reply.encode(9)), Ok((9, reply)));
        }
    }

    #[test]
    fn another_version_is_not_misread() {
        let mut body = Request::Status.encode(1);
        body[0] = VERSION + 1;
        assert_eq!(Request::decode(&body), Err(DecodeError::Unknown));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_decoder_panic(body in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Request::decode(&body);
            let _ = Reply::decode(&body);
        }
    }
}
