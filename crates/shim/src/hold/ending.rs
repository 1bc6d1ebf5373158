//! The end of the command: seen, drained, reaped, settled, recorded.
//!
//! Known from the kernel's wait, never from the end of the output. Reaping comes before the record because only then can
//! the kernel say whether other children are left, and it risks nothing: the holder is the only parent, so a status
//! that it takes with it when it is killed could not have been asked for by anybody else. Descendants may live on and
//! write on; the end says how many, and the terminal is held for as long as any of them is there.

use super::holder::Holder;
use super::resource::limit_of;
use super::settling::Settling;
use super::wait::{self, Peek};
use crate::failpoint;
use crate::journal::record::{End, Lost, Record, Status};
use crate::tree::Members;

impl Holder {
    /// Looks whether the command has ended, and if so brings its end on record.
    pub(super) fn check_exit(&mut self) {
        self.see_exit();
        if self.end.is_none() && self.exit.is_some() {
            self.record_end();
        }
    }

    /// As [`Holder::check_exit`], and whoever may still be writing is not waited for.
    pub(super) fn check_exit_now(&mut self) {
        self.see_exit();
        if let Some(settling) = &mut self.settling {
            settling.hurry();
        }
        self.check_exit();
    }

    fn see_exit(&mut self) {
        if self.exit.is_some() {
            return;
        }
        self.exit = wait::peek(self.pid);
        if let Some(exit) = &self.exit {
            self.settling = Some(Settling::new(self.started));
            // Somebody else has waited for it. Its number may be used anew by now.
            self.reaped |= exit.status == Status::Lost(Lost::StatusTaken);
        }
    }

    fn record_end(&mut self) {
        let (Some(exit), Some(Settling { lasted, at, .. })) = (self.exit, &self.settling) else { return };
        let (lasted, at) = (*lasted, *at);
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
        self.input.close();
        if !self.has_settled() {
            return;
        }
        let (left, holding) = self.survivors();
        let why = self.why.clone();
        let (cause, author) = why.unwrap_or_else(|| (self.own_cause(exit.status), String::new()));
        let end = End {
            status: exit.status,
            cause,
            author,
            lasted,
            user: exit.user,
            system: exit.system,
            peak_memory: exit.peak_memory,
            left,
            holding,
            limit: limit_of(&self.plan, cause),
        };
        failpoint::hit("exit.before_record");
        self.journal.record_at(Record::End(end.clone()), at);
        failpoint::hit("exit.after_record");
        self.end = Some(end);
        if matches!(self.members, Members::Marked { .. }) {
            // Without children to count, the end of the output is the first sign that nobody is left.
            self.slave = None;
        }
        self.ask_the_rest();
    }

    /// How many descendants live, and how many of them hold the output. Costs nothing when there are none.
    fn survivors(&self) -> (u32, u32) {
        if self.alone {
            return (0, 0);
        }
        let living = self.living();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        (count(living.len()), count(self.holding(&living)))
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
