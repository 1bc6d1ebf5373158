//! Ending the whole tree: ask, give time, then leave nobody.
//!
//! The ladder: TERM and CONT to the command's group; when the command is gone, TERM and CONT to whoever is left outside
//! its group; when the grace is over, KILL to everything, again and again until the kernel says that no child is left.
//! Later requests join the ladder that is already being climbed and can only make it faster.

use super::holder::Holder;
use super::output::{GATHER, IoKind};
use super::wait::{self, Peek};
use crate::failpoint;
use crate::journal::record::{Cause, Record};
use crate::tree::cgroup::{self, Cgroup};
use crate::tree::ladder::{self, Ladder};
use crate::tree::{Members, proc};
use rustix::process::{Signal, kill_process, kill_process_group};
use std::time::{Duration, Instant};

impl Holder {
    /// Begins to end the tree, or hurries the kill that is under way.
    pub(super) fn begin_kill(&mut self, cause: Cause, author: String, grace: Duration) {
        self.check_exit_now();
        if self.is_empty() {
            self.hurried = true;
            return self.write_at_last();
        }
        if let Some(ladder) = &mut self.ladder {
            return ladder.hurry(grace);
        }
        failpoint::hit("kill.before_record");
        self.journal.record(Record::Killing { cause, author: author.clone(), grace });
        if self.exit.is_none() {
            self.why = Some((cause, author));
        }
        self.ladder = Some(Ladder::new(grace, &self.living()));
        self.meter.wake();
        if !grace.is_zero() {
            self.ask();
        }
        failpoint::hit("kill.after_ask");
        self.climb();
    }

    /// Asks the command's group, or, if the command is gone already, the rest.
    fn ask(&mut self) {
        if self.reaped {
            // Its group's number may have been used anew, so whoever is left in it is asked one by one.
            return self.ask_those(|_| true);
        }
        let _ = kill_process_group(self.pid, Signal::TERM);
        if self.io_kind == IoKind::Pty && self.understands_hangup() {
            let _ = kill_process(self.pid, Signal::HUP);
            if let Some(ladder) = &mut self.ladder {
                ladder.with_nudges();
            }
        }
        // A stopped process gets the signals only when it goes on.
        let _ = kill_process_group(self.pid, Signal::CONT);
    }

    /// An interactive shell ignores TERM, or catches it and stays; what it understands is its terminal being closed.
    /// Whoever has no answer of its own to HUP would be ended by it in the middle of its answer to TERM.
    fn understands_hangup(&self) -> bool {
        let pid = self.pid.as_raw_nonzero().get();
        proc::ignores(pid, Signal::TERM.as_raw()) || proc::catches(pid, Signal::HUP.as_raw())
    }

    /// A shell that notes a signal and goes on to wait for a key, in the wrong order, looks at it only when something
    /// else happens to it: bash does that at its prompt. A change of size that is none happens to it, and to nobody else.
    fn nudge(&self) {
        if !self.reaped {
            let _ = kill_process(self.pid, Signal::WINCH);
        }
    }

    /// Once the command itself is gone during a kill: asks those that its group's signal did not reach.
    pub(super) fn ask_the_rest(&mut self) {
        if self.alone || !self.ladder.as_ref().is_some_and(Ladder::is_asking) {
            return;
        }
        let group = self.pid.as_raw_nonzero().get();
        self.ask_those(|process| process.group != group);
    }

    fn ask_those(&self, meant: impl Fn(&proc::Process) -> bool) {
        ladder::ask(self.living().iter().filter(|process| meant(process)));
    }

    /// Goes on with a kill that is under way, as far as can be gone now.
    pub(super) fn climb(&mut self) {
        self.reap_others();
        self.check_exit();
        if self.ladder.is_none() {
            return;
        }
        self.write_at_last();
        if self.is_empty() {
            return self.finish_kill();
        }
        if self.ladder.as_mut().is_some_and(Ladder::takes_nudge) {
            self.nudge();
        }
        let now = Instant::now();
        if self.ladder.as_ref().is_some_and(|ladder| !ladder.is_hard() || now < ladder.next()) {
            return;
        }
        self.kill_all();
        self.reap_others();
        self.check_exit();
        self.write_at_last();
        if self.is_empty() {
            self.finish_kill();
        }
    }

    /// One round: KILL to everybody there is.
    fn kill_all(&mut self) {
        failpoint::hit("kill.before_sweep");
        let living = self.living();
        if let Some(cgroup) = &self.cgroup {
            cgroup.kill();
        }
        if !self.reaped {
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
        ladder::kill(&living);
        if let Some(ladder) = &mut self.ladder {
            ladder.struck(&living);
        }
    }

    /// A kill does not wait for a full disk longer than for the command: then the oldest output is given up for the rest.
    pub(super) fn write_at_last(&mut self) {
        while self.journal.is_stalled() && self.is_hurried() {
            self.journal.make_room();
            self.check_exit();
            self.reap_others();
        }
    }

    /// Whether there is nobody any more for whom a kill would wait.
    fn is_hurried(&self) -> bool {
        match &self.ladder {
            Some(ladder) => ladder.is_hard() || self.waits_for_disk(),
            None => self.hurried,
        }
    }

    /// Whether nobody is left, and only the disk keeps the end from being on record.
    pub(super) fn waits_for_disk(&self) -> bool {
        self.journal.is_stalled() && self.exit.is_some() && self.living().is_empty()
    }

    fn finish_kill(&mut self) {
        // All that was printed is readable, and the end on record, before anybody is told that it is over.
        self.drain();
        self.write_at_last();
        if self.journal.is_stalled() {
            return;
        }
        if let Some(ladder) = self.ladder.take() {
            self.killed += ladder.processes();
            self.answer_kills(ladder.processes());
            failpoint::hit("kill.after_answer");
        }
        self.hurried = true;
        // On a thread somebody may still hold the output who is none of ours, as far as anyone can tell: whatever such a
        // one writes is nobody's any more.
        if matches!(self.members, Members::Marked { .. }) {
            self.read_output(GATHER);
            self.output_open = false;
        }
    }

    /// The living members of the tree.
    pub(super) fn living(&self) -> Vec<proc::Process> {
        // The group's own list is cheap. A process that left its group is missing from it, and is found when the
        // group is empty: then there is a child too many.
        let mut living = self.cgroup.as_ref().map(|c| cgroup::members(c.path())).unwrap_or_default();
        let on_thread = matches!(self.members, Members::Marked { .. });
        if living.is_empty() || on_thread {
            living.extend(self.members.living());
        }
        // On a thread, whoever was seen as a descendant once cannot be told for one when its parent is gone.
        if let Some(ladder) = self.ladder.as_ref().filter(|_| on_thread) {
            let seen = ladder.seen().iter().filter_map(|(pid, ticks)| Some((proc::look(*pid)?, *ticks)));
            living.extend(seen.filter(|(p, ticks)| p.ticks == *ticks && !p.is_zombie()).map(|(p, _)| p));
        }
        living.sort_by_key(|p| p.pid);
        living.dedup_by_key(|p| p.pid);
        living
    }

    /// Whether the command has ended and nothing of its tree is left.
    pub(super) fn is_empty(&self) -> bool {
        self.end.is_some()
            && match self.members {
                Members::Descendants => wait::peek_any() == Peek::Childless,
                // Whoever has the output open is alive; only then is it worth looking at all processes.
                Members::Marked { .. } if self.ladder.is_none() && self.output_open => false,
                Members::Marked { .. } if self.ladder.is_none() && self.alone => true,
                // A list of processes can miss one that forks and exits; the group's own word cannot.
                Members::Marked { .. } => {
                    !self.cgroup.as_ref().is_some_and(Cgroup::is_populated) && self.living().is_empty()
                }
            }
    }
}
