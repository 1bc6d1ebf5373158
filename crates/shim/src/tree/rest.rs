//! When a tree that sleeps can go on by itself, at the earliest.
//!
//! What counts limits need not look at a tree that cannot change. A shell at its prompt cannot before it is sent
//! something, which passes the holder; a `sleep` cannot before its time. All that the kernel does not tell for certain
//! counts as "at any moment": a server waits for the network, and so does whoever waits for other things beside the
//! terminal, or has an alarm set, of which the kernel tells nobody.
//!
//! Whoever is killed from outside is waited for by others, perhaps, who then go on; so a handle of everybody is handed
//! out, which tells. What remains: a program that is sent a signal from outside, and has a handler for it, runs unseen
//! until it prints, or something of the tree ends.

use super::blocked::{self, Call, READS, Tty};
use super::proc::{self, Process};
use super::quiet;
use rustix::param::clock_ticks_per_second;
use rustix::time::{ClockId, clock_gettime};
use std::ffi::OsStr;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

/// Larger trees are never at rest: each process takes a descriptor of the holder's.
const MOST_PROCESSES: usize = 16;

/// Until when nothing happens in a tree; the sooner the less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rest {
    /// Somebody runs, or may at any moment.
    None,
    /// Nobody runs for at least this long.
    For(Duration),
    /// Nobody runs before the terminal is sent something, or is gone.
    UntilTold,
}

const NONE: (Rest, Vec<OwnedFd>) = (Rest::None, Vec::new());

/// Shells that edit their lines, and catch alarms while they do.
const SHELLS: &[&str] = &["bash", "zsh", "ksh", "ksh93", "mksh"];

/// Whether a program is such a shell, by its file.
pub(crate) fn is_shell(program: &Path) -> bool {
    program.file_name().and_then(OsStr::to_str).is_some_and(|name| SHELLS.contains(&name))
}

/// Of those whom `list` names, at a moment during this call. An alarm of a process that `edits_line` is none to fear:
/// shells at their prompts answer to it by leaving. With it come handles that are readable when one of them has ended.
pub(crate) fn of(
    list: impl Fn() -> Vec<Process>,
    tty: Option<Tty>,
    edits_line: impl Fn(&Process) -> bool,
) -> (Rest, Vec<OwnedFd>) {
    let processes = list();
    let Some(before) = quiet::asleep(&processes) else { return NONE };
    if !(1..=MOST_PROCESSES).contains(&processes.len()) {
        return NONE;
    }
    let handles: Vec<OwnedFd> = processes.iter().filter_map(proc::open).collect();
    let mut rest = Rest::UntilTold;
    for process in &processes {
        let may_wake = has_alarm(process.pid) && !edits_line(process);
        rest = if may_wake { Rest::None } else { rest.min(of_process(process, tty)) };
        if rest == Rest::None {
            return NONE;
        }
    }
    // Only what was true of all of them at one moment is true.
    let is_so = handles.len() == processes.len() && quiet::asleep(&list()) == Some(before);
    if is_so { (rest, handles) } else { NONE }
}

/// Whether a process may have asked the kernel to wake it, as far as that can be known: its timers can be listed, its
/// `alarm` cannot, but is of no use without a handler.
fn has_alarm(pid: i32) -> bool {
    let has_timers = fs::read(format!("/proc/{pid}/timers")).map_or(true, |timers| !timers.is_empty());
    has_timers || proc::catches(pid, libc::SIGALRM) || proc::catches(pid, libc::SIGIO)
}

fn of_process(process: &Process, tty: Option<Tty>) -> Rest {
    if matches!(process.state, 'T' | 't') {
        return Rest::UntilTold;
    }
    let started = Duration::from_secs(process.ticks) / u32::try_from(clock_ticks_per_second()).unwrap_or(100);
    let age = since_boot().saturating_sub(started);
    blocked::dirs(process).iter().map(|thread| of_thread(thread, tty, age)).min().unwrap_or(Rest::None)
}

/// As the kernel counts the start times of processes.
fn since_boot() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    let part = |n: i64| u64::try_from(n).unwrap_or(0);
    Duration::from_secs(part(now.tv_sec)) + Duration::from_nanos(part(now.tv_nsec))
}

/// Of a thread whose process is so old.
fn of_thread(thread: &Path, tty: Option<Tty>, age: Duration) -> Rest {
    let Some(call) = Call::of(thread) else { return Rest::None };
    let is_tty = |fd: u64| tty.is_some_and(|tty| tty.is(thread, fd));
    let [first, second, third, fourth, fifth, _] = call.arguments;
    let told = |is_so: bool| if is_so { Rest::UntilTold } else { Rest::None };
    match call.number {
        n if READS.contains(&n) => told(is_tty(first)),
        // For children, who are in the tree, or for another thread.
        libc::SYS_wait4 | libc::SYS_waitid | libc::SYS_rt_sigsuspend => Rest::UntilTold,
        libc::SYS_futex => told(fourth == 0),
        libc::SYS_pselect6 => told(
            third == 0 && fourth == 0 && fifth == 0 && only_fd(thread, first, second).is_some_and(is_tty),
        ),
        libc::SYS_nanosleep => asleep_for(thread, first, age),
        // Not one with an absolute time.
        libc::SYS_clock_nanosleep if second == 0 => asleep_for(thread, third, age),
        _ => Rest::None,
    }
}

/// A sleep cannot have begun before its process did, so it does not end before that is as old as the sleep is long.
fn asleep_for(thread: &Path, time: u64, age: Duration) -> Rest {
    let asked = blocked::memory(thread, time, size_of::<[u64; 2]>()).and_then(|bytes| {
        let (seconds, nanos) = (bytes.first_chunk()?, bytes.last_chunk()?);
        let nanos = Duration::from_nanos(u64::from_ne_bytes(*nanos));
        Duration::from_secs(u64::from_ne_bytes(*seconds)).checked_add(nanos)
    });
    match asked.and_then(|asked| asked.checked_sub(age)) {
        Some(left) => Rest::For(left),
        None => Rest::None,
    }
}

/// The descriptor that a select waits to read from, if it is only one.
fn only_fd(thread: &Path, count: u64, set: u64) -> Option<u64> {
    let fds = blocked::selected(thread, count, set)?;
    if let [fd] = fds[..] { Some(fd) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_rest_is_that_of_the_tree() {
        let sleep = Rest::For(Duration::from_secs(1));
        assert_eq!([Rest::UntilTold, sleep].into_iter().min(), Some(sleep));
        assert_eq!([sleep, Rest::None, Rest::UntilTold].into_iter().min(), Some(Rest::None));
    }

    #[test]
    fn a_sleep_counts_from_the_start_of_its_process() {
        let own = Path::new("/proc/self");
        let time: [u64; 2] = [60, 500_000_000];
        let at = time.as_ptr() as u64;
        let age = Duration::from_secs;
        assert_eq!(asleep_for(own, at, age(20)), Rest::For(Duration::from_millis(40_500)));
        assert_eq!(asleep_for(own, at, age(61)), Rest::None, "it may have begun at any time since");
        assert_eq!(asleep_for(own, 8, age(0)), Rest::None, "memory that is not there");
    }

    #[test]
    fn a_shell_is_known_by_its_file() {
        assert!(is_shell(Path::new("/usr/bin/bash")) && is_shell(Path::new("/opt/homebrew/bin/zsh")));
        assert!(!is_shell(Path::new("/usr/bin/python3")) && !is_shell(Path::new("/usr/bin/dash")));
    }

    #[test]
    fn whoever_looks_does_not_rest() {
        let me = || proc::look(std::process::id().cast_signed()).into_iter().collect();
        assert_eq!(of(me, None, |_| true).0, Rest::None);
        assert_eq!(of(Vec::new, None, |_| true).0, Rest::None, "nobody is found where everybody is hidden");
    }
}
