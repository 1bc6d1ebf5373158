//! What `/proc` says of processes.

use super::Identity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

/// One process as it was when it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// Its parent's number.
    pub parent: i32,
    /// Its process group.
    pub group: i32,
    /// The kernel's letter for the state of its first thread.
    pub state: char,
    /// How many threads it has.
    pub threads: u32,
    /// When it was started, in clock ticks since boot.
    pub ticks: u64,
    /// Processor time that it and the children it waited for have used, in clock ticks.
    pub spent: u64,
    /// Pages that it and the children it waited for have touched for the first time. Whoever has run has some.
    pub faults: u64,
    /// Those of them that are the children's.
    pub waited_faults: u64,
}

impl Process {
    /// Number and start time, which name it for as long as the machine runs.
    #[must_use]
    pub fn identity(&self) -> Identity {
        (self.pid, self.ticks)
    }

    /// Where all that its threads share can be seen. Its own directory shows the first thread's, and is empty once that
    /// has left; then another thread's is taken.
    #[must_use]
    pub fn dir(&self) -> PathBuf {
        let own = PathBuf::from(format!("/proc/{}", self.pid));
        if self.state != 'Z' || self.is_zombie() {
            return own;
        }
        let mut others = fs::read_dir(own.join("task")).into_iter().flatten().flatten();
        others.find(|thread| thread.file_name() != *self.pid.to_string()).map_or(own, |thread| thread.path())
    }

    /// Dead, and only not yet waited for. A process whose first thread has left looks the same by its state, but has
    /// other threads and lives.
    #[must_use]
    pub fn is_zombie(&self) -> bool {
        self.state == 'X' || self.state == 'Z' && self.threads <= 1
    }
}

/// Every process that can be seen.
#[must_use]
pub fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(look).collect()
}

/// Everybody below one process, zombies too, by the kernel's own lists of children; more than `enough` are not looked
/// for. Costs what the family is large, not what the machine is. `None` if the kernel keeps no such lists. Somebody who
/// changes its parent at this moment can be missed.
#[must_use]
pub fn below(root: i32, enough: usize) -> Option<Vec<Process>> {
    fs::metadata(format!("/proc/{root}/task/{root}/children")).ok()?;
    let mut known = BTreeSet::from([root]);
    let mut found = vec![look(root)?];
    let mut at = 0;
    while at < found.len() && found.len() <= enough.saturating_add(1) {
        for child in children(&found[at]) {
            if known.insert(child) {
                found.extend(look(child));
            }
        }
        at += 1;
    }
    found.remove(0);
    Some(found)
}

/// Every thread has a list of its own: of those that it has forked.
fn children(process: &Process) -> Vec<i32> {
    let tasks = PathBuf::from(format!("/proc/{}/task", process.pid));
    let of = |thread: PathBuf| fs::read_to_string(thread.join("children")).unwrap_or_default();
    let text = match process.threads {
        0 | 1 => of(tasks.join(process.pid.to_string())),
        _ => fs::read_dir(&tasks).into_iter().flatten().flatten().map(|thread| of(thread.path())).collect(),
    };
    text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// One process, if it is there.
#[must_use]
pub fn look(pid: i32) -> Option<Process> {
    // Longer than any line; the kernel makes the file anew for every read, so one must do.
    let mut line = [0; 1024];
    let read = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut line).ok()?;
    parse(&line[..read])
}

/// A `stat` line. The name stands in parentheses and may itself contain any byte, parentheses too,
/// so the fields are counted from the last one.
fn parse(stat: &[u8]) -> Option<Process> {
    let open = stat.iter().position(|b| *b == b'(')?;
    let close = stat.iter().rposition(|b| *b == b')')?;
    let pid = std::str::from_utf8(&stat[..open]).ok()?.trim().parse().ok()?;
    let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let sum = |of: std::ops::Range<usize>| {
        let fields = fields.get(of)?.iter();
        Some(fields.filter_map(|field| field.parse::<u64>().ok()).sum())
    };
    Some(Process {
        pid,
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        threads: fields.get(17)?.parse().ok()?,
        ticks: fields.get(19)?.parse().ok()?,
        spent: sum(11..15)?,
        faults: sum(7..9)?,
        waited_faults: sum(8..9)?,
    })
}

/// A handle to exactly the process that was seen, or nothing.
///
/// A number can be used anew between looking and opening. But once the handle is open, it stays with its process; so if
/// the number still shows the same start time and the handle's process still lives, they are the same.
#[must_use]
pub fn open(process: &Process) -> Option<OwnedFd> {
    let handle = pidfd_open(Pid::from_raw(process.pid)?, PidfdFlags::empty()).ok()?;
    let same = look(process.pid)?.identity() == process.identity();
    (same && !has_exited(&handle)).then_some(handle)
}

/// Whether the process behind a handle is dead.
#[must_use]
pub fn has_exited(handle: &OwnedFd) -> bool {
    wait_for_exit(handle, Duration::ZERO)
}

/// Waits that long for the process behind a handle to be dead; true if it is.
pub fn wait_for_exit(handle: &OwnedFd, patience: Duration) -> bool {
    let timeout = Timespec {
        tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: patience.subsec_nanos().into(),
    };
    poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&timeout)) == Ok(1)
}

/// How many of the processes have a descriptor open on `target`, as `/proc/PID/fd` links name it.
/// A process that may not be looked into does not count.
#[must_use]
pub fn holding(processes: &[Process], target: &str) -> usize {
    let holds = |p: &&Process| {
        fs::read_dir(p.dir().join("fd")).is_ok_and(|mut fds| {
            fds.any(|fd| {
                fd.and_then(|fd| fs::read_link(fd.path())).is_ok_and(|link| link.as_os_str() == target)
            })
        })
    };
    processes.iter().filter(holds).count()
}

/// The name under which a descriptor of this process is seen in `/proc`.
#[must_use]
pub fn name_of(fd: i32) -> Option<String> {
    fs::read_link(format!("/proc/self/fd/{fd}")).ok()?.into_os_string().into_string().ok()
}

/// Which boot of the machine this is.
#[must_use]
pub fn boot() -> [u8; 16] {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: Vec<u8> =
        text.chars().filter_map(|c| c.to_digit(16)).filter_map(|d| u8::try_from(d).ok()).collect();
    let mut boot = [0; 16];
    for (byte, pair) in boot.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = pair[0] << 4 | pair[1];
    }
    boot
}

/// Whether a process ignores a signal.
#[must_use]
pub fn ignores(pid: i32, signal: i32) -> bool {
    is_in_mask(pid, "SigIgn:", signal)
}

/// Whether a process has a handler of its own for a signal.
#[must_use]
pub fn catches(pid: i32, signal: i32) -> bool {
    is_in_mask(pid, "SigCgt:", signal)
}

fn is_in_mask(pid: i32, mask: &str, signal: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix(mask));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (signal - 1)) != 0
}

#[cfg(test)]
pub(super) const NOBODY: Process = Process {
    pid: 1,
    parent: 1,
    group: 1,
    state: 'S',
    threads: 1,
    ticks: 1,
    spent: 0,
    faults: 0,
    waited_faults: 0,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_confuses_nobody() {
        let line = b"42 (a) R 1 (b)) S 7 40 40 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 11 12\n";
        let seen = Process { pid: 42, parent: 7, group: 40, state: 'S', threads: 1, ticks: 98765, ..NOBODY };
        assert_eq!(parse(line), Some(Process { spent: 26, faults: 3, waited_faults: 2, ..seen }));
    }

    #[test]
    fn a_process_whose_first_thread_has_left_is_not_dead() {
        let process = |threads| Process { state: 'Z', threads, ..NOBODY };
        assert!(process(1).is_zombie());
        assert!(!process(2).is_zombie());
    }

    #[test]
    fn this_process_is_seen_as_it_is() {
        let me = look(std::process::id() as i32).unwrap();
        assert_eq!(me.parent, std::os::unix::process::parent_id() as i32);
        assert!(open(&me).is_some());
        let impostor = Process { ticks: me.ticks + 1, ..me };
        assert!(open(&impostor).is_none(), "a number with another start time is another process");
    }

    #[test]
    fn the_boot_has_an_id() {
        assert_ne!(boot(), [0; 16]);
        assert_eq!(boot(), boot());
    }
}
