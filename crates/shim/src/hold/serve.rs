//! What each request does.

use super::connection::{Connection, Watch};
use super::holder::Holder;
use super::output::IoKind;
use super::wait;
use crate::journal::record::{Cause, Record};
use crate::plan::{OnOwnerExit, Size};
use crate::spawn::pty;
use crate::wire::message::{Progress, Refusal, Reply, Request, State};
use rustix::termios::{LocalModes, SpecialCodeIndex, tcgetattr};
use std::time::{Duration, Instant};

/// How long the door stays shut when the system has no descriptor for one more connection.
const DEAFNESS: Duration = Duration::from_millis(100);

impl Holder {
    /// Lets a front end in.
    pub(super) fn accept(&mut self) {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) if Connection::may_ask(&stream) => {
                    self.connections.extend(Connection::new(stream).ok());
                }
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                // No descriptors left, most likely: whoever knocks is heard again in a moment.
                Err(_) => {
                    self.make_room();
                    return self.deaf_until = Some(Instant::now() + DEAFNESS);
                }
            }
        }
    }

    /// Whoever came first among those who can come again gives way.
    fn make_room(&mut self) {
        if let Some(at) = self.connections.iter().position(Connection::can_be_closed) {
            self.connections.remove(at);
        }
    }

    /// Reads one connection and does what it asks.
    pub(super) fn serve(&mut self, at: usize) {
        self.connections[at].read();
        self.serve_buffered(at);
    }

    fn serve_buffered(&mut self, at: usize) {
        while let Some((tag, request)) = self.connections[at].next_request() {
            self.answer(at, tag, request);
        }
    }

    /// Takes inputs for which there was no room before.
    pub(super) fn serve_held(&mut self) {
        for at in 0..self.connections.len() {
            if let Some((tag, request)) = self.connections[at].held.take() {
                self.answer(at, tag, request);
                self.serve_buffered(at);
            }
        }
    }

    /// Forgets connections that have closed. The owner's closing may mean the end.
    pub(super) fn forget_closed(&mut self) {
        let closed = |c: &Connection| c.is_closed();
        let owner_gone = self.connections.iter().any(|c| closed(c) && c.lease == Some(OnOwnerExit::Kill));
        self.connections.retain(|c| !closed(c));
        if self.taken.is_some() && !self.connections.iter().any(|c| c.lease == Some(OnOwnerExit::Kill)) {
            self.owner_left();
        }
        if owner_gone {
            self.begin_kill(Cause::OwnerGone, String::new(), self.plan.grace);
        }
    }

    fn answer(&mut self, at: usize, tag: u32, request: Request) {
        let reply = match request {
            Request::Watch { past, seen } => {
                self.connections[at].watches.push(Watch { tag, past, seen });
                return;
            }
            Request::Kill { grace_ms, author } => {
                let grace = grace_ms.map_or(self.plan.grace, Duration::from_millis);
                self.connections[at].kills.push(tag);
                self.begin_kill(Cause::Killed, author, grace);
                if self.ladder.is_none() && self.is_empty() && !self.journal.is_stalled() {
                    self.answer_kills(0);
                }
                return;
            }
            Request::Input { ref bytes, .. } if self.must_wait(bytes.len()) => {
                self.connections[at].held = Some((tag, request));
                return;
            }
            Request::Input { writer, seq, author, bytes } => self.take_input(writer, seq, author, &bytes),
            Request::EndInput { writer, seq, author } => self.end_input(writer, seq, author),
            Request::Resize(size) => self.resize(size),
            Request::Signal { signal, author } => self.signal(signal, author),
            Request::Lease(on_exit) => {
                self.connections[at].lease = Some(on_exit);
                Ok(Reply::Done)
            }
            Request::Status => Ok(Reply::Progress(self.progress())),
            Request::Foreground => self.foreground(),
            Request::Taken(upto) => {
                if self.taken.is_some() && self.connections[at].lease.is_some() {
                    self.owner_took(upto);
                }
                return;
            }
        };
        let reply = reply.unwrap_or_else(Reply::Refused);
        self.connections[at].send(tag, &reply);
    }

    fn must_wait(&self, len: usize) -> bool {
        self.input.is_open() && self.exit.is_none() && !self.input.has_room_for(len)
    }

    fn take_input(&mut self, writer: u64, seq: u64, author: String, bytes: &[u8]) -> Result<Reply, Refusal> {
        if self.input.knows(writer, seq) {
            return Ok(Reply::Done);
        }
        self.check_input()?;
        if self.io_kind == IoKind::Pty && !self.cuts_lines() {
            self.input.forget_line();
        } else if self.io_kind == IoKind::Pty && self.input.makes_long_line(bytes) {
            return Err(Refusal::LineTooLong);
        }
        if self.input.is_new(writer, seq) {
            self.input.push(bytes);
            self.journal.record(Record::Input { writer, seq, len: bytes.len() as u64, author });
            self.input.write(&self.output);
            self.last_activity = Instant::now();
        }
        Ok(Reply::Done)
    }

    fn end_input(&mut self, writer: u64, seq: u64, author: String) -> Result<Reply, Refusal> {
        if self.input.knows(writer, seq) {
            return Ok(Reply::Done);
        }
        self.check_input()?;
        if self.input.is_new(writer, seq) {
            let modes = tcgetattr(&self.output).ok();
            let eof = modes.map_or(4, |modes| modes.special_codes[SpecialCodeIndex::VEOF]);
            self.input.end(eof);
            self.journal.record(Record::InputEnded { author });
            self.input.write(&self.output);
        }
        Ok(Reply::Done)
    }

    fn check_input(&self) -> Result<(), Refusal> {
        if self.exit.is_some() {
            Err(Refusal::Ended)
        } else if !self.input.is_open() {
            Err(Refusal::NoInput)
        } else if self.journal.is_stalled() {
            Err(Refusal::Stalled)
        } else {
            Ok(())
        }
    }

    /// Whether the program reads whole lines, which the driver cuts at its own limit.
    pub(super) fn cuts_lines(&self) -> bool {
        tcgetattr(&self.output).is_ok_and(|modes| modes.local_modes.contains(LocalModes::ICANON))
    }

    fn resize(&mut self, size: Size) -> Result<Reply, Refusal> {
        if self.io_kind != IoKind::Pty {
            return Err(Refusal::NoPty);
        }
        if self.journal.is_stalled() {
            return Err(Refusal::Stalled);
        }
        pty::resize(&self.output, size).map_err(|errno| Refusal::System(errno.raw_os_error()))?;
        self.journal.record(Record::Resize(size));
        Ok(Reply::Done)
    }

    fn signal(&mut self, signal: i32, author: String) -> Result<Reply, Refusal> {
        self.check_exit();
        if self.exit.is_some() {
            return Err(Refusal::Ended);
        }
        let sent = match self.io_kind {
            IoKind::Pty => wait::signal_foreground(&self.output, signal),
            // The command has not been reaped, so the number of its group is still its own.
            IoKind::Pipe => wait::signal_group(self.pid, signal),
        };
        sent.map_err(|error| Refusal::System(error.raw_os_error().unwrap_or(libc::EIO)))?;
        // A signal is worth sending also when there is no room to say so.
        if !self.journal.is_stalled() {
            self.journal.record(Record::Signal { signal, author });
        }
        Ok(Reply::Done)
    }

    /// How things stand.
    pub(super) fn progress(&self) -> Progress {
        // An end that could not be written is told to nobody; whoever settles the terminal says what is known.
        let unwritten = self.journal.is_stalled() || self.journal.abandoned().is_some();
        let state = match (&self.end, unwritten) {
            (_, true) => State::Stalled,
            (Some(_), false) => State::Ended,
            (None, false) => State::Running,
        };
        Progress {
            first: self.journal.first(),
            end: self.journal.end(),
            state,
            input_pending: u32::try_from(self.input.pending()).unwrap_or(u32::MAX),
            pid: self.pid.as_raw_nonzero().get().cast_unsigned(),
        }
    }

    /// Wakes everyone for whom there is news.
    pub(super) fn answer_watches(&mut self) {
        let progress = self.progress();
        for connection in &mut self.connections {
            if connection.watches.is_empty() {
                continue;
            }
            let news = |w: &Watch| progress.end > w.past || progress.state != w.seen;
            let (ready, waiting) = std::mem::take(&mut connection.watches).into_iter().partition(news);
            connection.watches = waiting;
            let ready: Vec<Watch> = ready;
            for watch in ready {
                connection.send(watch.tag, &Reply::Progress(progress));
            }
        }
    }

    /// Tells everyone who asked for the kill that it is done, and if that could not be written, why.
    pub(super) fn answer_kills(&mut self, processes: u32) {
        let reply = match self.journal.abandoned() {
            Some(errno) => Reply::Refused(Refusal::System(errno)),
            None => Reply::Killed { processes },
        };
        for connection in &mut self.connections {
            for tag in std::mem::take(&mut connection.kills) {
                connection.send(tag, &reply);
            }
        }
    }
}
