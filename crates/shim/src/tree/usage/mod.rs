//! What the processes of a terminal use at this moment: the counting for limits that the kernel does not keep.
//!
//! Made to be cheap while a tree grows: a group's own files where there is one, else the kernel's lists of children,
//! which cost what the tree is large and not what the machine is.
//!
//! Two of the figures are estimates. Of memory, that which no process has mapped is only known as far as it can be traced to
//! the tree; of processor time, that of children whom nobody waits for only as far as they were seen.

mod memory;
mod segment;
mod shared;
mod tmpfs;
mod unwaited;

use super::proc::{self, Process};
use super::{Members, cgroup, quota};
use crate::plan::Resources;
use memory::memory_of;
use rustix::param::clock_ticks_per_second;
use rustix::process::getpid;
use shared::Shared;
use std::path::Path;
use std::time::Duration;
use unwaited::{Reaper, Unwaited};

/// What a tree uses. Only what a limit was asked for is filled in, and processor time always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Usage {
    /// Processes and threads.
    pub(crate) processes: u64,
    /// Bytes of memory.
    pub(crate) memory: u64,
    /// Processor time, of those that have ended too.
    pub(crate) cpu: Duration,
}

/// What is remembered of a tree from one look to the next.
#[derive(Debug)]
pub(crate) struct Past {
    shared: Shared,
    unwaited: Unwaited,
}

impl Past {
    /// Of a tree that begins now.
    pub(crate) fn new() -> Self {
        Self { shared: Shared::new(), unwaited: Unwaited::new() }
    }

    /// Whether somebody in the tree does not wait for its children. Then only looking often shows what they use.
    pub(crate) fn forgets_children(&self) -> bool {
        self.unwaited.has_lost()
    }
}

impl Usage {
    /// Of everybody in a group.
    pub(crate) fn of_group(group: &Path, limits: &Resources, past: &mut Past) -> Self {
        let processes = limits.processes.map_or(0, |_| cgroup::count_tasks(group));
        let members = limits.memory.map(|_| cgroup::members(group));
        let memory = match (limits.memory, &members) {
            (Some(most), Some(members)) => memory_of(members, most, &mut past.shared),
            _ => 0,
        };
        // This file needs no controller; only kernels that are too old for the kill lack it.
        let cpu = quota::number(group, "cpu.stat", "usage_usec").map(Duration::from_micros);
        let cpu = cpu.unwrap_or_else(|| spent_by(&members.unwrap_or_else(|| cgroup::members(group))));
        Self { processes, memory, cpu }
    }

    /// Of the members of a tree, without what those have used that this process waited for.
    pub(crate) fn of_members(members: &Members, limits: &Resources, past: &mut Past) -> Self {
        // One more than allowed is as good as all.
        let enough = limits.processes.map_or(usize::MAX, |most| most as usize + 1);
        let (all, reaper) = match members {
            Members::Descendants => (proc::below(getpid().as_raw_nonzero().get(), enough), Reaper::This),
            Members::Marked { .. } => (None, Reaper::Stranger),
        };
        let mut all = all.unwrap_or_else(|| members.living());
        let forgotten = limits.cpu.map(|most| past.unwaited.count(&mut all, reaper, most));
        let living = all.iter().filter(|process| !process.is_zombie());
        Self {
            processes: living.map(|process| u64::from(process.threads)).sum(),
            memory: limits.memory.map_or(0, |most| memory_of(&all, most, &mut past.shared)),
            cpu: spent_by(&all) + forgotten.unwrap_or_default(),
        }
    }
}

/// A process that has ended and was not waited for still says what it used.
fn spent_by(processes: &[Process]) -> Duration {
    time(processes.iter().map(|process| process.spent).sum())
}

/// So many clock ticks.
fn time(ticks: u64) -> Duration {
    Duration::from_secs(ticks) / u32::try_from(clock_ticks_per_second()).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_counted_in_ticks() {
        let ticks = clock_ticks_per_second();
        let me = proc::look(std::process::id().cast_signed()).unwrap();
        let process = Process { spent: ticks * 3 / 2, ..me };
        assert_eq!(spent_by(&[process.clone(), process]), Duration::from_secs(3));
    }
}
