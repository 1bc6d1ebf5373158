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
use crate::tree::{self, Identity, Members, proc};
use rustix::process::{Signal, kill_process, kill_process_group};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The first pause between two rounds of killing, and the longest. Short, because a process that forks and exits
/// without pause is caught only by looking again at once; growing, because one stuck in the kernel is not.
const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Longer than any machine runs.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// A kill under way.
#[derive(Debug)]
pub(super) struct Ladder {
    /// When asking ends.
    deadline: Instant,
    /// Everybody who was alive when it began or was seen since.
    seen: BTreeSet<Identity>,
    /// Set once asking has ended: when to kill again, and how long to wait after that.
    hard: Option<(Instant, Duration)>,
}

impl Ladder {
    /// When something is to be done next.
    pub(super) fn next(&self) -> Instant {
        self.hard.map_or(self.deadline, |(next, _)| next)
    }

    /// How many processes it has dealt with.
    pub(super) fn processes(&self) -> u32 {
        u32::try_from(self.seen.len()).unwrap_or(u32::MAX)
    }
}

impl Holder {
    /// Begins to end the tree, or hurries the kill that is under way.
    pub(super) fn begin_kill(&mut self, cause: Cause, author: String, grace: Duration) {
        self.check_exit();
        if self.is_empty() {
            return;
        }
        // A grace beyond what the clock can say is for ever.
        let now = Instant::now();
        let deadline = now.checked_add(grace).unwrap_or(now + FOR_EVER);
        if let Some(ladder) = &mut self.ladder {
            ladder.deadline = ladder.deadline.min(deadline);
            return;
        }
        failpoint::hit("kill.before_record");
        self.journal.record(Record::Killing { cause, author: author.clone(), grace });
        if self.exit.is_none() {
            self.why = Some((cause, author));
        }
        let seen = self.living().iter().map(proc::Process::identity).collect();
        self.ladder = Some(Ladder { deadline, seen, hard: None });
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

    /// Once the command itself is gone during a kill: asks those that its group's signal did not reach.
    pub(super) fn ask_the_rest(&mut self) {
        if self.alone || self.ladder.as_ref().is_none_or(|ladder| ladder.hard.is_some()) {
            return;
        }
        let group = self.pid.as_raw_nonzero().get();
        self.ask_those(|process| process.group != group);
    }

    fn ask_those(&self, meant: impl Fn(&proc::Process) -> bool) {
        for process in self.living().iter().filter(|process| meant(process)) {
            for signal in [Signal::TERM, Signal::CONT] {
                tree::signal(process, signal);
            }
        }
    }

    /// Goes on with a kill that is under way, as far as can be gone now.
    pub(super) fn climb(&mut self) {
        self.reap_others();
        self.check_exit();
        if self.ladder.is_none() {
            return;
        }
        if self.is_empty() {
            return self.finish_kill();
        }
        let now = Instant::now();
        if self.ladder.as_ref().is_some_and(|ladder| now < ladder.next()) {
            return;
        }
        self.kill_all();
        self.reap_others();
        self.check_exit();
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
        for process in &living {
            tree::signal(process, Signal::KILL);
        }
        let Some(ladder) = &mut self.ladder else { return };
        let before = ladder.seen.len();
        ladder.seen.extend(living.iter().map(proc::Process::identity));
        let pause = match ladder.hard {
            Some((_, pause)) if ladder.seen.len() == before => (pause * 2).min(LONGEST_PAUSE),
            _ => FIRST_PAUSE,
        };
        ladder.hard = Some((Instant::now() + pause, pause));
    }

    fn finish_kill(&mut self) {
        // The end must be on record before anybody is told that it is over.
        if self.journal.is_stalled() {
            return;
        }
        if let Some(ladder) = self.ladder.take() {
            self.killed += ladder.processes();
            self.answer_kills(ladder.processes());
        }
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
            let seen = ladder.seen.iter().filter_map(|(pid, ticks)| Some((proc::look(*pid)?, *ticks)));
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
