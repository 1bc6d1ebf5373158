//! The process tree of one terminal: who belongs to it, and ending all of them.
//!
//! Membership is decided three ways, the strongest first: a cgroup of its own, descent from the holder (which is
//! sub-reaper, so that no daemon can leave), and, for a terminal whose holder died, the id in a process's environment.
//! A process is signalled through a handle that was checked after it was opened, never by number.

pub(crate) mod blocked;
pub mod cgroup;
pub(crate) mod ladder;
pub mod lost;
pub mod proc;
pub(crate) mod quiet;
pub(crate) mod quota;
pub(crate) mod rest;
pub(crate) mod usage;

use proc::Process;
use rustix::process::{Signal, getpid, pidfd_send_signal};
use std::collections::BTreeSet;

/// One process for ever: its number and when the kernel started it.
pub type Identity = (i32, u64);

/// Who belongs to a terminal.
#[derive(Debug)]
pub enum Members {
    /// All descendants of this process, which is sub-reaper and holds one terminal only.
    Descendants,
    /// Descendants of one process, and whoever carries the terminal's id in its environment: all that can be known
    /// by a holder that shares its process with others.
    Marked {
        /// The command, until it is reaped: then its number means nothing any more.
        root: Option<Identity>,
        /// The terminal's id.
        id: String,
        /// When the command was started, in clock ticks since boot: whoever is older is not its child.
        since: u64,
    },
}

impl Members {
    /// The living members at this moment. Zombies are not living.
    #[must_use]
    pub fn living(&self) -> Vec<Process> {
        let all = proc::all();
        match self {
            Self::Descendants => descendants(&all, getpid().as_raw_nonzero().get()),
            Self::Marked { root, id, since } => {
                let root = all.iter().find(|p| root.is_some_and(|root| p.identity() == root));
                let mut members = root.map(|root| descendants(&all, root.pid)).unwrap_or_default();
                members.extend(root.cloned());
                let known: BTreeSet<i32> = members.iter().map(|p| p.pid).collect();
                let marked = all
                    .into_iter()
                    .filter(|p| p.ticks >= *since && !known.contains(&p.pid) && lost::is_marked(p, id));
                members.extend(marked);
                members
            }
        }
        .into_iter()
        .filter(|p| !p.is_zombie())
        .collect()
    }
}

fn descendants(all: &[Process], root: i32) -> Vec<Process> {
    let mut family = BTreeSet::from([root]);
    // Parents may come after children in the list; go over it until nobody new is found.
    loop {
        let before = family.len();
        family.extend(all.iter().filter(|p| family.contains(&p.parent)).map(|p| p.pid).collect::<Vec<_>>());
        if family.len() == before {
            break;
        }
    }
    all.iter().filter(|p| p.pid != root && family.contains(&p.pid)).cloned().collect()
}

/// Signals one process if it is still the one that was seen. True if it was.
pub fn signal(process: &Process, signal: Signal) -> bool {
    let Some(handle) = proc::open(process) else { return false };
    pidfd_send_signal(handle, signal).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> Process {
        Process { pid, parent, group: pid, ..proc::NOBODY }
    }

    #[test]
    fn descendants_are_found_whatever_the_order() {
        let all = [process(9, 5), process(5, 3), process(3, 2), process(4, 1), process(2, 1)];
        let found: Vec<i32> = descendants(&all, 2).iter().map(|p| p.pid).collect();
        assert_eq!(found, [9, 5, 3]);
    }
}
