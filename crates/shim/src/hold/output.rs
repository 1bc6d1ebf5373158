//! Output on its way to the journal.
//!
//! What arrives is gathered into one buffer and written at once: a PTY hands out 4 KiB at a time, a file takes more.

use super::holder::Holder;
use crate::journal::record::Cause;
use crate::spawn::Input;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::time::Instant;

/// One gathering: all that a pipe holds, twice over. The C library maps a buffer of this size instead of putting it on
/// the heap, so a terminal that prints nothing has none of its pages.
pub(super) const GATHER: usize = 128 * 1024;

/// More than a PTY can hold: the driver's buffers stop at 64 KiB, the line discipline's at 4 KiB. What the command
/// wrote before it ended is within that, even when others go on writing.
const PTY_HOLDS: usize = 128 * 1024;

impl Holder {
    /// Reads and journals once, up to `most` bytes. Returns how many.
    pub(super) fn read_output(&mut self, most: usize) -> usize {
        let mut filled = 0;
        let most = most.min(GATHER);
        while filled < most && self.output_open {
            match rustix::io::read(&self.output, &mut self.buffer[filled..most]) {
                Ok(0) => self.output_open = false,
                Ok(n) => filled += n,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                // A PTY whose other side nobody has open any more says EIO, once all has been read.
                Err(_) => self.output_open = false,
            }
        }
        if filled > 0 {
            self.last_activity = Instant::now();
            self.journal.append(&self.buffer[..filled]);
        }
        filled
    }

    /// Ends a command that has printed more than it may.
    pub(super) fn check_output_limit(&mut self) {
        if self.ladder.is_some() {
            return;
        }
        let total = self.journal.end();
        if self.plan.limits.output.is_some_and(|most| total > most) || self.journal.is_overfull() {
            self.begin_kill(Cause::OutputLimit, String::new(), self.plan.grace);
        }
    }

    /// Journals everything that the command wrote before it ended, and does not wait for others that write on.
    /// False if the disk is full and it must be tried again.
    pub(super) fn drain(&mut self) -> bool {
        let mut left = match (&self.io_kind, self.drain_left) {
            (_, Some(left)) => left,
            // Nothing can be put before bytes that are in a pipe: the first so many of them are all of the command's.
            (IoKind::Pipe, None) => bytes_in_pipe(&self.output),
            (IoKind::Pty, None) => PTY_HOLDS,
        };
        while left > 0 && self.output_open && !self.journal.is_stalled() {
            // On a PTY, asking whether there is something to read also makes the kernel move there what is still
            // on its way from the other side; so a "no" is certain.
            if self.io_kind == IoKind::Pty && !has_input(&self.output) {
                left = 0;
                break;
            }
            match self.read_output(left) {
                0 => break,
                n => left -= n,
            }
        }
        if self.journal.is_stalled() {
            self.drain_left = Some(left);
            return false;
        }
        self.drain_left = None;
        true
    }

    /// Whether the loop should wait for output: not while what was read cannot be written, nor while the owner must
    /// catch up first.
    pub(super) fn wants_output(&self) -> bool {
        self.output_open && !self.journal.is_stalled() && !self.is_ahead()
    }

    /// Whether as much as may be kept waits for an owner who wants all of it.
    pub(super) fn is_ahead(&self) -> bool {
        self.taken.is_some_and(|taken| self.journal.end() - taken >= self.plan.limits.keep)
    }

    /// The owner has read that far; what comes after is kept for it.
    pub(super) fn owner_took(&mut self, upto: u64) {
        let upto = self.taken.unwrap_or(0).max(upto).min(self.journal.end());
        let was_ahead = self.is_ahead();
        self.taken = Some(upto);
        self.journal.want(upto);
        if was_ahead && !self.is_ahead() {
            self.resume();
        }
    }

    /// There is no owner any more who could want anything.
    pub(super) fn owner_left(&mut self) {
        if self.is_ahead() {
            self.resume();
        }
        self.taken = None;
        self.journal.want(u64::MAX);
    }
}

/// What kind of descriptors the command has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IoKind {
    Pipe,
    Pty,
}

impl From<&Input> for IoKind {
    fn from(input: &Input) -> Self {
        match input {
            Input::Pty => Self::Pty,
            Input::Pipe(_) | Input::Closed => Self::Pipe,
        }
    }
}

fn bytes_in_pipe(fd: &std::os::fd::OwnedFd) -> usize {
    let count = rustix::io::ioctl_fionread(fd).unwrap_or(0);
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Also makes the kernel hand over what is still on its way in a PTY.
pub(super) fn has_input(fd: &std::os::fd::OwnedFd) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    while poll(&mut fds, Some(&now)) == Err(Errno::INTR) {}
    fds[0].revents().contains(PollFlags::IN)
}
