//! What the processes of a terminal use at this moment: the counting for limits that the kernel does not keep.
//!
//! Made to be cheap while a tree grows: a group's own files where there is one, else the kernel's lists of children,
//! which cost what the tree is large and not what the machine is. The exact share of memory is dear, so it is only
//! asked for when a cheap and always larger figure is already beyond the limit.

use super::proc::{self, Process};
use super::{Members, cgroup, quota};
use crate::plan::Resources;
use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::getpid;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// What a tree uses. Only what a limit was asked for is filled in, and processor time always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Usage {
    /// Processes and threads.
    pub(crate) processes: u64,
    /// Bytes of memory.
    pub(crate) memory: u64,
    /// Processor time, of those that have ended too as far as somebody waited for them.
    pub(crate) cpu: Duration,
}

impl Usage {
    /// Of everybody in a group.
    pub(crate) fn of_group(group: &Path, limits: &Resources) -> Self {
        let processes = limits.processes.map_or(0, |_| cgroup::count_tasks(group));
        let members = limits.memory.map(|_| cgroup::members(group));
        let memory = match (limits.memory, &members) {
            (Some(most), Some(members)) => memory_of(members, most),
            _ => 0,
        };
        // This file needs no controller; only kernels that are too old for the kill lack it.
        let cpu = quota::number(group, "cpu.stat", "usage_usec").map(Duration::from_micros);
        let cpu = cpu.unwrap_or_else(|| spent_by(&members.unwrap_or_else(|| cgroup::members(group))));
        Self { processes, memory, cpu }
    }

    /// Of the members of a tree, without what those have used that this process waited for.
    pub(crate) fn of_members(members: &Members, limits: &Resources) -> Self {
        // One more than allowed is as good as all.
        let enough = limits.processes.map_or(usize::MAX, |most| most as usize + 1);
        let all = match members {
            Members::Descendants => proc::below(getpid().as_raw_nonzero().get(), enough),
            Members::Marked { .. } => None,
        };
        let all = all.unwrap_or_else(|| members.living());
        let living = all.iter().filter(|process| !process.is_zombie());
        Self {
            processes: living.map(|process| u64::from(process.threads)).sum(),
            memory: limits.memory.map_or(0, |most| memory_of(&all, most)),
            cpu: spent_by(&all),
        }
    }
}

/// A process that has ended and was not waited for still says what it used.
fn spent_by(processes: &[Process]) -> Duration {
    let ticks: u64 = processes.iter().map(|process| process.spent).sum();
    Duration::from_secs(ticks) / u32::try_from(clock_ticks_per_second()).unwrap_or(100)
}

/// Exact if it is more than `most`, else at least what it is.
fn memory_of(processes: &[Process], most: u64) -> u64 {
    let resident: u64 = processes.iter().filter_map(|p| Some(in_memory(p)?.resident)).sum();
    if resident <= most { resident } else { processes.iter().map(share).sum() }
}

struct InMemory {
    /// All pages that it has mapped and that are in memory. Pages that several have count for each of them: a library
    /// in every process, and after a fork everything that the child has not yet written to.
    resident: u64,
    /// Those of them that are parts of files or made for sharing.
    shared: u64,
}

fn in_memory(process: &Process) -> Option<InMemory> {
    let text = fs::read_to_string(process.dir().join("statm")).ok()?;
    let mut fields = text.split(' ').skip(1).map(|field| field.parse::<u64>().ok());
    let page = page_size() as u64;
    Some(InMemory { resident: fields.next()?? * page, shared: fields.next()?? * page })
}

/// A process's share of the memory that can only be had back by ending it: a page that three have counts as a third for
/// each. Parts of files are left out, since the kernel drops them when it needs the room. Swapped pages are in.
fn share(process: &Process) -> u64 {
    let rollup = fs::read_to_string(process.dir().join("smaps_rollup")).unwrap_or_default();
    let mut found = rollup.lines().filter_map(|line| {
        let line = ["Pss_Anon:", "Pss_Shmem:", "SwapPss:"].iter().find_map(|name| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    match found.next() {
        Some(first) => (first + found.sum::<u64>()) * 1024,
        // One that may not be looked into, or a kernel without shares: all that is its own, as if it never forked.
        None => in_memory(process).map_or(0, |has| has.resident.saturating_sub(has.shared)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn me() -> Process {
        proc::look(std::process::id().cast_signed()).unwrap()
    }

    #[test]
    fn memory_is_exact_only_when_it_may_be_too_much() {
        let has = in_memory(&me()).unwrap();
        assert!(has.resident > has.shared && has.shared > 0);
        assert!(memory_of(&[me()], u64::MAX) > 0);
        assert!(share(&me()) > 0);
        assert!(memory_of(&[me()], 0) < memory_of(&[me()], u64::MAX), "files are in the cheap figure only");
    }

    #[test]
    fn large_memory_of_our_own_is_seen() {
        let before = share(&me());
        let block = std::hint::black_box(vec![1u8; 64 << 20]);
        let grown = share(&me()) - before;
        assert!(grown > 60 << 20 && grown < 80 << 20, "{grown}");
        drop(block);
    }

    #[test]
    fn time_is_counted_in_ticks() {
        let ticks = clock_ticks_per_second();
        let process = Process { spent: ticks * 3 / 2, ..me() };
        assert_eq!(spent_by(&[process.clone(), process]), Duration::from_secs(3));
    }
}
