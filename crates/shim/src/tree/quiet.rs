//! Whether everybody in a tree is asleep.
//!
//! A list of processes is made one after the other, so one look proves little: who was seen asleep may have been woken
//! by who is looked at next. But a thread whose count of switches is the same in two looks has not run in between; so
//! if all are asleep in both and no count has changed, there was a moment at which all of them were, and from then on
//! only a clock or somebody outside can wake the first.

use super::proc::Process;
use std::fs;
use std::path::Path;

/// More threads than this are not looked at, and are never at rest: each costs some ten microseconds.
const MOST_THREADS: usize = 256;

/// One thread that was asleep: its number, and how often it has been switched away from.
type Asleep = (u32, u64);

/// Whether there was a moment at which all were asleep. They are listed anew for each look.
pub(crate) fn is_quiet(list: impl Fn() -> Vec<Process>) -> bool {
    let look = || asleep(&list());
    look().is_some_and(|first| look().is_some_and(|second| first == second))
}

/// All threads of all of them; nothing if one runs, or is about to, or waits for a disk.
pub(super) fn asleep(processes: &[Process]) -> Option<Vec<Asleep>> {
    let mut threads = Vec::new();
    for process in processes {
        for entry in fs::read_dir(format!("/proc/{}/task", process.pid)).into_iter().flatten().flatten() {
            // One that has gone meanwhile has run.
            threads.push(thread(&entry.path())?);
            if threads.len() > MOST_THREADS {
                return None;
            }
        }
    }
    Some(threads)
}

fn thread(dir: &Path) -> Option<Asleep> {
    let number = dir.file_name()?.to_str()?.parse().ok()?;
    Some((number, switches_asleep(&fs::read_to_string(dir.join("status")).ok()?)?))
}

/// How often a thread has been switched away from, if it sleeps, is stopped or is dead.
fn switches_asleep(status: &str) -> Option<u64> {
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let state = field("State:")?;
    let count = |name| field(name)?.parse::<u64>().ok();
    let switches = count("voluntary_ctxt_switches:")? + count("nonvoluntary_ctxt_switches:")?;
    state.starts_with(['S', 'T', 't', 'Z', 'X']).then_some(switches)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::proc;

    #[test]
    fn only_who_sleeps_counts_and_with_every_switch() {
        let status = |state| {
            format!(
                "Name:\tx\nState:\t{state}\nvoluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t4\n"
            )
        };
        assert_eq!(switches_asleep(&status("S (sleeping)")), Some(7));
        assert_eq!(switches_asleep(&status("T (stopped)")), Some(7));
        assert_eq!(switches_asleep(&status("R (running)")), None);
        assert_eq!(switches_asleep(&status("D (disk sleep)")), None);
        assert_eq!(switches_asleep("State:\tS (sleeping)\n"), None);
    }

    #[test]
    fn whoever_looks_is_not_asleep() {
        let me = || proc::look(std::process::id().cast_signed()).into_iter().collect();
        assert!(!is_quiet(me));
        assert!(is_quiet(Vec::new), "nobody is nobody who could wake");
    }
}
