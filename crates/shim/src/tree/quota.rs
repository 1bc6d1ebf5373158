//! Limits that the kernel itself keeps for a group, where the controller for them was handed down to it.
//!
//! Whether it was is seen by the group having the file. Nothing is handed down from here: that would change the group
//! of whoever runs wharf. Both limits only refuse at first (a fork fails, memory is reclaimed); that one was really met
//! is told by the counters in the `.events` files, which the kernel also wakes a poll for.

use crate::plan::Resources;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The limits of one group that the kernel keeps, by the files that tell of them.
#[derive(Debug, Default)]
pub(crate) struct Quota {
    /// Set if the number of processes is limited.
    pub(crate) processes: Option<Alarm>,
    /// Set if memory is limited.
    pub(crate) memory: Option<Alarm>,
}

/// A file of counters that can be waited for.
#[derive(Debug)]
pub(crate) struct Alarm {
    pub(crate) file: File,
    counter: &'static str,
}

impl Quota {
    /// Sets what can be set. A limit that cannot, also because its alarm cannot be heard, is left to be counted.
    pub(crate) fn set(group: &Path, resources: &Resources) -> Self {
        let processes = resources.processes.and_then(|most| limit_processes(group, most).ok());
        let memory = resources.memory.and_then(|most| limit_memory(group, most).ok());
        Self { processes, memory }
    }
}

fn limit_processes(group: &Path, most: u32) -> io::Result<Alarm> {
    let alarm = Alarm::open(group, "pids.events", "max")?;
    write(group, "pids.max", &most.to_string())?;
    Ok(alarm)
}

fn limit_memory(group: &Path, most: u64) -> io::Result<Alarm> {
    let alarm = Alarm::open(group, "memory.events", "oom_kill")?;
    write(group, "memory.max", &most.to_string())?;
    // Without these the limit still holds: with swap the end comes later, without the other not all at once. There is
    // no such file where the machine has no swap, or the kernel is old.
    let _ = write(group, "memory.swap.max", "0");
    let _ = write(group, "memory.oom.group", "1");
    Ok(alarm)
}

/// Never makes a file: the group has it or it does not.
fn write(group: &Path, name: &str, value: &str) -> io::Result<()> {
    io::Write::write_all(&mut File::options().write(true).open(group.join(name))?, value.as_bytes())
}

impl Alarm {
    fn open(group: &Path, name: &str, counter: &'static str) -> io::Result<Self> {
        let alarm = Self { file: File::open(group.join(name))?, counter };
        // The kernel wakes a poll for what has changed since the last reading.
        alarm.count()?;
        Ok(alarm)
    }

    /// Whether the limit has been met. Reading also makes the next poll wait again.
    pub(crate) fn has_rung(&self) -> bool {
        self.count().is_ok_and(|count| count > 0)
    }

    fn count(&self) -> io::Result<u64> {
        let mut text = [0; 1024];
        let read = self.file.read_at(&mut text, 0)?;
        Ok(value(&String::from_utf8_lossy(&text[..read]), self.counter).unwrap_or(0))
    }
}

/// One number of a file with a name and a number on each line.
fn value(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

/// One number of such a file in a group.
pub(crate) fn number(group: &Path, file: &str, name: &str) -> Option<u64> {
    value(&fs::read_to_string(group.join(file)).ok()?, name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::cgroup::{self, Cgroup};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    fn group() -> tempfile::TempDir {
        let group = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("pids.max", "max\n"),
            ("pids.events", "max 0\n"),
            ("memory.max", "max\n"),
            ("memory.oom.group", "0\n"),
            ("memory.events", "low 0\nhigh 0\nmax 7\noom 0\noom_kill 0\noom_group_kill 0\n"),
        ] {
            fs::write(group.path().join(name), text).unwrap();
        }
        group
    }

    #[test]
    fn what_the_group_has_is_set_and_what_it_has_not_is_not_made() {
        let group = group();
        let resources = Resources { processes: Some(12), memory: Some(4096), ..Resources::default() };
        let quota = Quota::set(group.path(), &resources);
        assert!(quota.processes.is_some() && quota.memory.is_some());
        let text = |name| fs::read_to_string(group.path().join(name)).unwrap();
        assert!(text("pids.max").starts_with("12"));
        assert!(text("memory.max").starts_with("4096"));
        assert!(text("memory.oom.group").starts_with('1'));
        assert!(!group.path().join("memory.swap.max").exists());
        let nothing = Quota::set(group.path(), &Resources::default());
        assert!(nothing.processes.is_none() && nothing.memory.is_none());
    }

    #[test]
    fn a_group_without_controllers_keeps_no_limit() {
        let empty = tempfile::tempdir().unwrap();
        let resources = Resources { processes: Some(1), memory: Some(1), ..Resources::default() };
        let quota = Quota::set(empty.path(), &resources);
        assert!(quota.processes.is_none() && quota.memory.is_none());
    }

    /// The counters of the controllers wake in the same way as this one, which every group has.
    #[test]
    fn an_alarm_wakes_a_poll_once_for_each_change() {
        let Some(parent) = cgroup::parent() else { return };
        let Ok(group) = Cgroup::make(&parent) else { return };
        let alarm = Alarm::open(group.path(), "cgroup.events", "populated").unwrap();
        let rings = |patience| {
            let timeout = Timespec { tv_sec: patience, tv_nsec: 0 };
            poll(&mut [PollFd::new(&alarm.file, PollFlags::PRI)], Some(&timeout)) == Ok(1)
        };
        assert!(!rings(0) && !alarm.has_rung());
        #[expect(clippy::disallowed_methods, reason = "somebody to be in the group")]
        let mut child = std::process::Command::new("sleep").arg("20").spawn().unwrap();
        let entered = write(group.path(), "cgroup.procs", &child.id().to_string());
        let (rang, has_rung, again) = (entered.is_ok() && rings(10), alarm.has_rung(), rings(0));
        child.kill().unwrap();
        child.wait().unwrap();
        group.remove();
        // In some containers a group can be made and not entered.
        if entered.is_ok() {
            assert_eq!((rang, has_rung, again), (true, true, false));
        }
    }

    #[test]
    fn only_a_kill_counts_as_memory_being_out() {
        let group = group();
        let resources = Resources { memory: Some(4096), ..Resources::default() };
        let alarm = Quota::set(group.path(), &resources).memory.unwrap();
        assert!(!alarm.has_rung(), "reclaiming at the limit is no end");
        fs::write(group.path().join("memory.events"), "max 9\noom 1\noom_kill 2\noom_group_kill 1\n")
            .unwrap();
        assert!(alarm.has_rung());
    }
}
