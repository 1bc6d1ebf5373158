//! Counting processes, so that "nothing is left" is a number that was looked at.
//!
//! This process inherits every orphan of what it starts: whatever came of it, in whichever session or group, is found below
//! it for as long as it lives.

use rustix::process::{getpid, set_child_subreaper};
use std::fs;
use std::io;
use std::time::{Duration, Instant};
use wharf_shim::tree::{Members, proc};

/// What has been told to end may take a moment to be gone.
const PATIENCE: Duration = Duration::from_secs(5);

/// From now on every orphan comes here.
pub(super) fn begin() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// How many processes that came of this one are alive.
pub(super) fn living() -> usize {
    Members::Descendants.living().len()
}

/// How many stay, when those who are leaving have left. Blocks for some seconds at most.
pub(super) fn left() -> usize {
    let until = Instant::now() + PATIENCE;
    loop {
        let leaving = Members::Descendants.living().iter().find_map(proc::open);
        let time = until.saturating_duration_since(Instant::now());
        match leaving {
            Some(handle) if proc::wait_for_exit(&handle, time) => {}
            _ => return living(),
        }
    }
}

/// The most memory that a process has had, in bytes.
pub(super) fn peak_memory(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
