//! The end of the command: seen, drained, reaped, recorded.
//!
//! Known from the kernel's wait, never from the end of the output. Reaping comes before the record because only then can
//! the kernel say whether other children are left, and it risks nothing: the holder is the only parent, so a status
//! that it takes with it when it is killed could not have been asked for by anybody else. Descendants may live on and
//! write on; the end says how many, and the terminal is held for as long as any of them is there.

use super::holder::Holder;
use super::resource::limit_of;
use super::wait::{self, Peek};
use crate::failpoint;
use crate::journal::record::{End, Lost, Record, Status};
use crate::tree::{Members, proc};
use std::os::fd::AsRawFd;

impl Holder {
    /// Looks whether the command has ended, and if so brings its end on record.
    pub(super) fn check_exit(&mut self) {
        if self.end.is_some() {
            return;
        }
        if self.exit.is_none() {
            self.exit = wait::peek(self.pid);
            // Somebody else has waited for it. Its number may be used anew by now.
            self.reaped |= self.exit.is_some_and(|exit| exit.status == Status::Lost(Lost::StatusTaken));
        }
        if self.exit.is_some() {
            self.record_end();
        }
    }

    fn record_end(&mut self) {
        let Some(exit) = self.exit else { return };
        failpoint::hit("exit.before_drain");
        if !self.drain() {
            return;
        }
        // From here on the number may be used anew; nothing is signalled by it any more.
        if !self.reaped {
            wait::reap(self.pid);
        }
        self.reaped = true;
        if let Members::Marked { root, .. } = &mut self.members {
            *root = None;
        }
        let (left, holding) = self.survivors();
        let why = self.why.clone();
        let (cause, author) = why.unwrap_or_else(|| (self.own_cause(exit.status), String::new()));
        let end = End {
            status: exit.status,
            cause,
            author,
            lasted: self.started.elapsed(),
            user: exit.user,
            system: exit.system,
            peak_memory: exit.peak_memory,
            left,
            holding,
            limit: limit_of(&self.plan, cause),
        };
        failpoint::hit("exit.before_record");
        self.journal.record(Record::End(end.clone()));
        failpoint::hit("exit.after_record");
        self.end = Some(end);
        self.input.close();
        if matches!(self.members, Members::Marked { .. }) {
            // Without children to count, the end of the output is the first sign that nobody is left.
            self.slave = None;
        }
        self.ask_the_rest();
    }

    /// How many descendants live, and how many of them hold the output. Costs nothing when there are none.
    fn survivors(&mut self) -> (u32, u32) {
        self.reap_others();
        let alone = match self.members {
            Members::Descendants => wait::peek_any() == Peek::Childless,
            Members::Marked { .. } => self.cgroup.as_ref().is_some_and(|group| !group.is_populated()),
        };
        if alone {
            self.alone = true;
            return (0, 0);
        }
        let living = self.living();
        let fd = self.slave.as_ref().unwrap_or(&self.output);
        let name = proc::name_of(fd.as_raw_fd()).unwrap_or_default();
        let holding = proc::holding(&living, &name);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        (count(living.len()), count(holding))
    }

    /// Takes the remains of descendants that ended up as children of this process.
    pub(super) fn reap_others(&mut self) {
        if matches!(self.members, Members::Marked { .. }) {
            return;
        }
        while let Peek::Ended(pid) = wait::peek_any() {
            if pid == self.pid && !self.reaped {
                // The command itself: its end goes on record first. If it cannot now, the others wait as well.
                return;
            }
            wait::reap(pid);
        }
    }
}
