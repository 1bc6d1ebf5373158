//! Input on its way to the command: bounded, in order, each message once.
//!
//! A message is accepted whole or not at all. Accepted bytes are written when the command takes them; a command that
//! never reads holds up its own writers and nobody else.

use crate::spawn::Input;
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What may wait. A further message is taken when there is room for it, or when nothing waits.
const ROOM: usize = 64 * 1024;
/// Senders whose last number is remembered; the one that has been silent longest is forgotten first.
const WRITERS: usize = 64;
/// The kernel keeps this much of a line for a program that reads lines, and drops the rest without a word.
const LONGEST_LINE: usize = 4095;

/// The queue and what it has seen.
#[derive(Debug)]
pub(super) struct Queue {
    to: Input,
    waiting: Vec<u8>,
    written: usize,
    /// Sender and last accepted number, most recent last.
    writers: Vec<(u64, u64)>,
    /// Close the pipe when everything has been written.
    ending: bool,
    /// Bytes since the last end of a line, which decide what end-of-input is on a PTY and how much a line still takes.
    open_line: usize,
}

impl Queue {
    pub(super) fn new(to: Input) -> Self {
        Self { to, waiting: Vec::new(), written: 0, writers: Vec::new(), ending: false, open_line: 0 }
    }

    pub(super) fn is_open(&self) -> bool {
        !matches!(self.to, Input::Closed) && !self.ending
    }

    pub(super) fn pending(&self) -> usize {
        self.waiting.len() - self.written
    }

    pub(super) fn has_room_for(&self, len: usize) -> bool {
        self.pending() == 0 || self.pending() + len <= ROOM
    }

    /// Whether this message was taken before: then only its answer was lost.
    pub(super) fn knows(&self, writer: u64, seq: u64) -> bool {
        self.writers.iter().any(|(w, last)| *w == writer && seq <= *last)
    }

    /// Whether a line would become longer than a program that reads lines is given.
    pub(super) fn makes_long_line(&self, bytes: &[u8]) -> bool {
        let mut lines = bytes.split(|b| is_line_end(*b)).map(<[u8]>::len);
        let first = self.open_line + lines.next().unwrap_or(0);
        first > LONGEST_LINE || lines.any(|len| len > LONGEST_LINE)
    }

    /// The program reads bytes, not lines: what it was sent before is no part of any line.
    pub(super) fn forget_line(&mut self) {
        self.open_line = 0;
    }

    /// True the first time; a repeated or older number of the same sender has been written already.
    pub(super) fn is_new(&mut self, writer: u64, seq: u64) -> bool {
        let known = self.writers.iter().position(|(w, _)| *w == writer);
        let last = known.map(|at| self.writers.remove(at).1);
        let new = last.is_none_or(|last| seq > last);
        if self.writers.len() >= WRITERS {
            self.writers.remove(0);
        }
        self.writers.push((writer, last.map_or(seq, |last| last.max(seq))));
        new
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.waiting.drain(..self.written);
        self.written = 0;
        self.waiting.extend_from_slice(bytes);
        self.open_line = match bytes.iter().rposition(|b| is_line_end(*b)) {
            Some(at) => bytes.len() - at - 1,
            None => self.open_line + bytes.len(),
        };
    }

    /// No more will come. On a PTY that is the terminal's own end-of-file character, twice if a line is open:
    /// the first only hands the line over.
    pub(super) fn end(&mut self, eof_character: u8) {
        match self.to {
            Input::Pty if self.open_line == 0 => self.push(&[eof_character]),
            Input::Pty => self.push(&[eof_character, eof_character]),
            Input::Pipe(_) | Input::Closed => self.ending = true,
        }
        self.open_line = 0;
    }

    /// Where to wait for room, if something waits to be written.
    pub(super) fn wants<'a>(&'a self, master: &'a OwnedFd) -> Option<BorrowedFd<'a>> {
        match &self.to {
            Input::Pipe(pipe) if self.pending() > 0 || self.ending => Some(pipe.as_fd()),
            Input::Pty if self.pending() > 0 => Some(master.as_fd()),
            _ => None,
        }
    }

    /// Writes what the command takes now.
    pub(super) fn write(&mut self, master: &OwnedFd) {
        while self.pending() > 0 {
            let fd = match &self.to {
                Input::Pipe(pipe) => pipe.as_fd(),
                Input::Pty => master.as_fd(),
                Input::Closed => return,
            };
            match rustix::io::write(fd, &self.waiting[self.written..]) {
                Ok(n) => self.written += n,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // The command has closed its input: nobody will ever read the rest.
                Err(_) => return self.close(),
            }
        }
        if self.ending {
            self.close();
        }
    }

    /// Gives up what waits and takes no more.
    pub(super) fn close(&mut self) {
        self.to = Input::Closed;
        self.waiting = Vec::new();
        self.written = 0;
    }
}

fn is_line_end(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_number_is_known_and_another_sender_is_not_confused_with_it() {
        let mut queue = Queue::new(Input::Pty);
        assert!(queue.is_new(1, 1));
        assert!(!queue.is_new(1, 1));
        assert!(queue.is_new(2, 1));
        assert!(queue.is_new(1, 2));
        assert!(!queue.is_new(1, 1), "an older number has been written as well");
    }

    #[test]
    fn a_sender_is_remembered_while_others_come_and_go() {
        let mut queue = Queue::new(Input::Pty);
        assert!(queue.is_new(0, 7));
        for other in 1..WRITERS as u64 {
            assert!(queue.is_new(other, 1));
        }
        assert!(!queue.is_new(0, 7));
    }
}
