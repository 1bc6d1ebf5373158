//! The processes of a terminal whose holder died.
//!
//! The kernel has given them to another parent, so descent says nothing any more. What is left: the cgroup in the start
//! record, the recorded process itself, and the terminal's id, which every process started in a terminal inherits in its
//! environment unless it takes care not to.

use super::{Members, cgroup, proc};
use crate::journal::record::Start;
use rustix::process::{Signal, pidfd_send_signal};
use std::collections::BTreeSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// The variable by which a process knows its terminal, and by which it is found.
pub const VARIABLE: &str = "WHARF_TERMINAL";

/// Rounds of the sweep. Each one kills all that were found; a process that forks without pause
/// can outrun some rounds, not a thousand.
const ROUNDS: usize = 1000;
/// How long a sweep may take in all: whoever is stuck in the kernel is left to the next one.
const LONGEST: Duration = Duration::from_secs(2);
/// How long one killed process is waited for in a round.
const PATIENCE: Duration = Duration::from_millis(20);

/// What a sweep has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swept {
    /// Processes that were there.
    pub processes: u32,
    /// Whether none is left: one that is stuck in the kernel, or that we may not signal, can be.
    pub done: bool,
}

/// Kills all that is left of a terminal.
#[must_use]
pub fn sweep(id: &str, start: &Start) -> Swept {
    // After a reboot the numbers mean other processes, and none of ours can be left.
    if start.boot != proc::boot() {
        return Swept { processes: 0, done: true };
    }
    let mut done = false;
    let mut fruitless = false;
    let begun = Instant::now();
    let mut ended = BTreeSet::new();
    let group = Path::new(&start.cgroup);
    let has_group = is_ours(group, start.holder);
    for _ in 0..ROUNDS {
        let found = living(id, start, has_group.then_some(group));
        if found.is_empty() {
            done = true;
            break;
        }
        ended.extend(found.iter().map(proc::Process::identity));
        if has_group {
            let _ = cgroup::kill(group);
        }
        let killed: Vec<OwnedFd> = found.iter().filter_map(kill).collect();
        // Nobody could be signalled: gone meanwhile, which the next look shows, or not ours to end.
        if killed.is_empty() && fruitless {
            break;
        }
        fruitless = killed.is_empty();
        // Their death is waited for, a moment each: it is not at once, and looking again meanwhile shows the same.
        for process in &killed {
            proc::wait_for_exit(process, PATIENCE);
        }
        if begun.elapsed() > LONGEST {
            break;
        }
    }
    if has_group {
        let _ = cgroup::remove(group);
    }
    Swept { processes: u32::try_from(ended.len()).unwrap_or(u32::MAX), done }
}

fn kill(process: &proc::Process) -> Option<OwnedFd> {
    let handle = proc::open(process)?;
    pidfd_send_signal(&handle, Signal::KILL).ok()?;
    Some(handle)
}

/// A record could be forged by whoever may write the journal; it still must name a group that wharf makes.
fn is_ours(group: &Path, holder: u32) -> bool {
    let named =
        group.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with(&cgroup::prefix(holder)));
    group.is_absolute() && named && cgroup::is_group(group)
}

fn living(id: &str, start: &Start, group: Option<&Path>) -> Vec<proc::Process> {
    let root = i32::try_from(start.pid).ok().map(|pid| (pid, start.ticks));
    let mut found = Members::Marked { root, id: id.to_owned(), since: start.ticks }.living();
    let known: BTreeSet<i32> = found.iter().map(|p| p.pid).collect();
    let grouped = group.map(cgroup::members).unwrap_or_default();
    found.extend(grouped.into_iter().filter(|p| !known.contains(&p.pid)));
    found
}

/// Whether a process carries this terminal's id. False for those that may not be looked into.
#[must_use]
pub fn is_marked(process: &proc::Process, id: &str) -> bool {
    let mark = format!("{VARIABLE}={id}");
    let environment = fs::read(process.dir().join("environ")).unwrap_or_default();
    environment.split(|b| *b == 0).any(|pair| pair == mark.as_bytes())
}
