//! The processes of a terminal whose holder died.
//!
//! The kernel has given them to another parent, so descent says nothing any more. What is left: the cgroup in the start
//! record, the recorded process itself, and the terminal's id, which every process started in a terminal inherits in its
//! environment unless it takes care not to.

use super::{Members, cgroup, proc, signal};
use crate::journal::record::Start;
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The variable by which a process knows its terminal, and by which it is found.
pub const VARIABLE: &str = "WHARF_TERMINAL";

/// Rounds of the sweep. Each one kills all that were found; a process that forks without pause
/// can outrun some rounds, not a thousand.
const ROUNDS: usize = 1000;

/// Kills all that is left of a terminal. Returns how many processes there were.
#[must_use]
pub fn sweep(id: &str, start: &Start) -> u32 {
    // After a reboot the numbers mean other processes, and none of ours can be left.
    if start.boot != proc::boot() {
        return 0;
    }
    let mut ended = BTreeSet::new();
    let group = Path::new(&start.cgroup);
    let has_group = is_ours(group, id);
    for _ in 0..ROUNDS {
        let found = living(id, start, has_group.then_some(group));
        if found.is_empty() {
            break;
        }
        ended.extend(found.iter().map(proc::Process::identity));
        if has_group {
            let _ = cgroup::kill(group);
        }
        for process in &found {
            signal(process, Signal::KILL);
        }
        std::thread::yield_now();
    }
    if has_group {
        let _ = cgroup::remove(group);
    }
    u32::try_from(ended.len()).unwrap_or(u32::MAX)
}

/// A record could be forged by whoever may write the journal; it still must name a group that wharf makes.
fn is_ours(group: &Path, id: &str) -> bool {
    let name = format!("wharf-{id}");
    group.is_absolute() && group.file_name().is_some_and(|n| n == name.as_str()) && group.is_dir()
}

fn living(id: &str, start: &Start, group: Option<&Path>) -> Vec<proc::Process> {
    let root = i32::try_from(start.pid).ok().and_then(proc::look).filter(|p| p.ticks == start.ticks);
    let mut found = match root.as_ref().and_then(|p| rustix::process::Pid::from_raw(p.pid)) {
        Some(root) => Members::Marked { root, id: id.to_owned() }.living(),
        None => proc::all().into_iter().filter(|p| !p.is_zombie() && is_marked(p.pid, id)).collect(),
    };
    let known: BTreeSet<i32> = found.iter().map(|p| p.pid).collect();
    let grouped = group.map(cgroup::members).unwrap_or_default();
    found.extend(grouped.into_iter().filter(|p| !known.contains(&p.pid)));
    found
}

/// Whether a process carries this terminal's id. False for those that may not be looked into.
#[must_use]
pub fn is_marked(pid: i32, id: &str) -> bool {
    let mark = format!("{VARIABLE}={id}");
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|b| *b == 0).any(|pair| pair == mark.as_bytes())
}
