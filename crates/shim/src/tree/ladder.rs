//! The order of a kill: ask, give time, then leave nobody.
//!
//! Knows when the next step is due and who has been seen; who belongs to the tree and how its end is told is for whoever
//! climbs. A second request joins the ladder that is already being climbed, and can only make it faster.

use super::{Identity, proc, signal};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The first pause between two rounds of killing, and the longest. Short, because a process that forks and exits
/// without pause is caught only by looking again at once; growing, because one stuck in the kernel is not.
const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// How soon somebody who may have missed what it was asked is nudged; each further pause is twice as long.
const FIRST_NUDGE: Duration = Duration::from_millis(50);

/// Longer than any machine runs.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// A kill under way.
#[derive(Debug)]
pub(crate) struct Ladder {
    /// When asking ends.
    deadline: Instant,
    /// Everybody who was alive when it began or was seen since.
    seen: BTreeSet<Identity>,
    /// Set once asking has ended: when to kill again, and how long to wait after that.
    hard: Option<(Instant, Duration)>,
    /// When to nudge, and how long to wait after that.
    nudge: Option<(Instant, Duration)>,
}

impl Ladder {
    /// At the foot of it, with those who live now.
    pub(crate) fn new(grace: Duration, living: &[proc::Process]) -> Self {
        let seen = living.iter().map(proc::Process::identity).collect();
        Self { deadline: after(grace), seen, hard: None, nudge: None }
    }

    /// Asking ends after this grace at the latest.
    pub(crate) fn hurry(&mut self, grace: Duration) {
        self.deadline = self.deadline.min(after(grace));
    }

    /// From now on whoever was asked is nudged now and then, for as long as it is only asked.
    pub(crate) fn with_nudges(&mut self) {
        self.nudge = Some((Instant::now() + FIRST_NUDGE, FIRST_NUDGE * 2));
    }

    /// Whether it is time for a nudge; the time of the next one is set then.
    pub(crate) fn takes_nudge(&mut self) -> bool {
        let now = Instant::now();
        let Some((_, pause)) = self.nudge.filter(|(at, _)| self.hard.is_none() && *at <= now) else {
            return false;
        };
        self.nudge = Some((now + pause, pause * 2));
        true
    }

    /// When something is to be done next.
    pub(crate) fn next(&self) -> Instant {
        match (self.hard, self.nudge) {
            (Some((next, _)), _) => next,
            (None, Some((nudge, _))) => nudge.min(self.deadline),
            (None, None) => self.deadline,
        }
    }

    /// Whether asking is over.
    pub(crate) fn is_hard(&self) -> bool {
        self.hard.is_some() || self.deadline <= Instant::now()
    }

    /// Whether nobody has been killed yet.
    pub(crate) fn is_asking(&self) -> bool {
        self.hard.is_none()
    }

    /// Notes a round of killing, and sets the time of the next.
    pub(crate) fn struck(&mut self, living: &[proc::Process]) {
        let before = self.seen.len();
        self.seen.extend(living.iter().map(proc::Process::identity));
        let pause = match self.hard {
            Some((_, pause)) if self.seen.len() == before => (pause * 2).min(LONGEST_PAUSE),
            _ => FIRST_PAUSE,
        };
        self.hard = Some((Instant::now() + pause, pause));
    }

    /// Everybody it has met.
    pub(crate) fn seen(&self) -> &BTreeSet<Identity> {
        &self.seen
    }

    /// How many processes it has dealt with.
    pub(crate) fn processes(&self) -> u32 {
        u32::try_from(self.seen.len()).unwrap_or(u32::MAX)
    }
}

/// A grace beyond what the clock can say is for ever.
fn after(grace: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(grace).unwrap_or(now + FOR_EVER)
}

/// Asks each of them to leave. A stopped process gets the signal only when it goes on.
pub(crate) fn ask<'a>(processes: impl IntoIterator<Item = &'a proc::Process>) {
    for process in processes {
        for polite in [Signal::TERM, Signal::CONT] {
            signal(process, polite);
        }
    }
}

/// Ends each of them.
pub(crate) fn kill(processes: &[proc::Process]) {
    for process in processes {
        signal(process, Signal::KILL);
    }
}
