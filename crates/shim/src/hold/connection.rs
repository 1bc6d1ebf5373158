//! One connection of a front end: frames in, frames out, never waiting.

use crate::plan::OnOwnerExit;
use crate::wire::frame::{Deframer, MAX_FRAME, frame};
use crate::wire::message::{Refusal, Reply, Request, State};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::SendFlags;
use std::os::unix::net::UnixStream;

/// Answers that a front end has not taken. Beyond this its further requests are not read.
const MOST_UNSENT: usize = 64 * 1024;
/// Questions that wait for an answer. Front ends ask one at a time.
const MOST_WAITING: usize = 256;
/// Read at once from a connection.
const READ: usize = 16 * 1024;

/// A front end and what it waits for.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) stream: UnixStream,
    deframer: Deframer,
    unsent: Vec<u8>,
    /// What its closing means.
    pub(super) lease: Option<OnOwnerExit>,
    /// Watches not yet answered.
    pub(super) watches: Vec<Watch>,
    /// Kills not yet answered.
    pub(super) kills: Vec<u32>,
    /// An input for which there was no room; nothing further is read before it is taken.
    pub(super) held: Option<(u32, Request)>,
    /// It has said its last word, or something that is not understood.
    closed: bool,
}

/// What a front end wants to be woken for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watch {
    pub(super) tag: u32,
    pub(super) past: u64,
    pub(super) seen: State,
}

/// Whether the other side of a connection is gone for good.
pub(super) fn has_hung_up(stream: &UnixStream) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut fds = [PollFd::new(stream, PollFlags::empty())];
    poll(&mut fds, Some(&now)) == Ok(1) && fds[0].revents().contains(PollFlags::HUP)
}

/// How many seccomp filters a process has, which it can never have less of. None if it is gone.
fn filters(process: &str) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    // Before Linux 5.9 only whether there are any is told, by a mode.
    field("Seccomp_filters:").or_else(|| field("Seccomp:"))
}

impl Connection {
    pub(crate) fn new(stream: UnixStream) -> std::io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            deframer: Deframer::new(MAX_FRAME),
            unsent: Vec::new(),
            lease: None,
            watches: Vec::new(),
            kills: Vec::new(),
            held: None,
            closed: false,
        })
    }

    /// Whether a peer may ask: the same user, or root, who could do anything anyway; and nobody who is confined by more than
    /// we are. A command in a sandbox that finds a holder's socket would otherwise have it run things outside.
    pub(super) fn may_ask(stream: &UnixStream) -> bool {
        let own = rustix::process::geteuid();
        rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| {
            let is_ours = peer.uid == own || peer.uid.is_root();
            let theirs = filters(&peer.pid.as_raw_nonzero().to_string());
            is_ours && theirs.is_some_and(|theirs| filters("self").is_some_and(|ours| theirs <= ours))
        })
    }

    pub(super) fn wants_read(&self) -> bool {
        let waiting = self.watches.len() + self.kills.len();
        !self.closed && self.held.is_none() && self.unsent.len() < MOST_UNSENT && waiting < MOST_WAITING
    }

    /// Whether nothing is lost if it is closed: a front end that only reads or waits connects again.
    pub(super) fn can_be_closed(&self) -> bool {
        self.lease.is_none() && self.kills.is_empty() && self.held.is_none()
    }

    pub(super) fn wants_write(&self) -> bool {
        !self.unsent.is_empty()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// The other side is gone: an input that was never accepted is given up, as its sender was never answered.
    pub(super) fn hang_up(&mut self) {
        self.closed = true;
        self.held = None;
    }

    /// Takes what has arrived.
    pub(crate) fn read(&mut self) {
        let mut bytes = [0; READ];
        match rustix::io::read(&self.stream, &mut bytes) {
            Ok(0) => self.closed = true,
            Ok(n) => self.deframer.push(&bytes[..n]),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => self.closed = true,
        }
    }

    /// The next whole request. What cannot be understood is answered, and is the last thing heard.
    pub(crate) fn next_request(&mut self) -> Option<(u32, Request)> {
        if self.held.is_some() {
            return None;
        }
        let request = match self.deframer.next_frame() {
            Ok(None) => return None,
            Ok(Some(body)) => Request::decode(body),
            Err(error) => Err(error),
        };
        match request {
            Ok(request) => Some(request),
            Err(_) => {
                self.send(0, &Reply::Refused(Refusal::NotUnderstood));
                self.closed = true;
                None
            }
        }
    }

    /// Sends an answer, or keeps it until the front end takes it.
    pub(crate) fn send(&mut self, tag: u32, reply: &Reply) {
        self.unsent.extend_from_slice(&frame(&reply.encode(tag)));
        self.flush();
    }

    /// Sends what it can.
    pub(super) fn flush(&mut self) {
        while !self.unsent.is_empty() {
            match rustix::net::send(&self.stream, &self.unsent, SendFlags::NOSIGNAL) {
                Ok(n) => drop(self.unsent.drain(..n)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => {
                    self.closed = true;
                    self.unsent.clear();
                }
            }
        }
    }
}
