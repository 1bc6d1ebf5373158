//! The short time after the command's end in which its helpers may still be writing.
//!
//! `command > >(tee log)` ends before `tee` has written the last line, and that line is what people came for. So where
//! descendants still hold the output, the end is put on record, and told, only when none of them holds it any more, or
//! all of them sleep and have nothing left to read from each other, or the time is over. The end itself stays what it
//! was when the kernel told of it, its date included. Without such descendants nothing is waited for, and no kill waits.

use super::holder::Holder;
use super::output::has_input;
use super::wait::{self, Peek};
use crate::journal::write::now;
use crate::tree::proc::{self, Process};
use crate::tree::{Members, quiet};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// The most that an end is held back, for helpers that keep computing. After the end of a shell, a `tee` needs no time at
/// all in most cases, and up to 10 ms in one of a hundred; with four busy loops for each processor, half needed 20 ms and
/// the slowest of 150 needed 64. Whoever waits for an answer does not notice more than that.
const LONGEST: Duration = Duration::from_millis(100);
/// Until the second look at who is awake; then ever twice as long. The kernel has no event for everybody being asleep.
const SECOND_LOOK: Duration = Duration::from_millis(1);

/// An end that is known and perhaps not yet on record.
#[derive(Debug)]
pub(super) struct Settling {
    /// How long the command ran.
    pub(super) lasted: Duration,
    /// When it ended, by the clock on the wall.
    pub(super) at: u64,
    until: Instant,
    next: Instant,
    pause: Duration,
}

impl Settling {
    /// Of a command that has just been seen to have ended.
    pub(super) fn new(started: Instant) -> Self {
        let seen = Instant::now();
        let lasted = seen - started;
        Self { lasted, at: now(), until: seen + LONGEST, next: seen, pause: SECOND_LOOK }
    }

    /// Somebody wants the end now.
    pub(super) fn hurry(&mut self) {
        self.until = Instant::now();
    }

    /// Whether there is no more time.
    fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Whether it is time for a look; then the next is a while later.
    fn takes_look(&mut self) -> bool {
        let now = Instant::now();
        let due = now >= self.next;
        if due {
            self.next = now + self.pause;
            self.pause *= 2;
        }
        due
    }
}

impl Holder {
    /// Whether all that may belong to the end is in the journal. False also if the disk is full.
    pub(super) fn has_settled(&mut self) -> bool {
        // Whoever wrote something since the draining is still a child, dead or alive: it is reaped only below.
        if self.is_alone() {
            return true;
        }
        self.reap_others();
        let enough = self.ladder.is_some() || self.settling.as_ref().is_none_or(Settling::is_over);
        (enough || self.is_alone() || self.nobody_writes()) && self.drain()
    }

    /// When an end that is held back has to be looked at.
    pub(super) fn next_settling(&self) -> Option<Instant> {
        let held_back = self.end.is_none() && !self.journal.is_stalled();
        let settling = self.settling.as_ref().filter(|_| held_back)?;
        Some(settling.until.min(settling.next))
    }

    /// Looks, if it is time to, whether those who are left will write nothing by themselves.
    fn nobody_writes(&mut self) -> bool {
        if !self.settling.as_mut().is_some_and(Settling::takes_look) {
            return false;
        }
        let living = self.living();
        // Who sleeps because the output is full goes on once it has been read.
        self.holding(&living) == 0 || quiet::is_quiet(|| self.living()) && !has_input(&self.output)
    }

    /// Whether the kernel says that the command was the last of its tree.
    pub(super) fn is_alone(&mut self) -> bool {
        self.alone |= match self.members {
            Members::Descendants => wait::peek_any() == Peek::Childless,
            Members::Marked { .. } => self.cgroup.as_ref().is_some_and(|group| !group.is_populated()),
        };
        self.alone
    }

    /// How many of these have the output open.
    pub(super) fn holding(&self, living: &[Process]) -> usize {
        let fd = self.slave.as_ref().unwrap_or(&self.output);
        let name = proc::name_of(fd.as_raw_fd()).unwrap_or_default();
        proc::holding(living, &name)
    }
}
