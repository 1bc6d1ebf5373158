//! Which processes belong to a contender, and what they weigh.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Those that are in the directory or have something open in it, and their descendants; not this one.
pub(crate) fn processes(dir: &Path) -> BTreeSet<i32> {
    let all: Vec<(i32, i32)> = pids().filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let own = std::process::id().cast_signed();
    let mut ours: BTreeSet<i32> =
        all.iter().map(|(pid, _)| *pid).filter(|pid| *pid != own && uses(*pid, dir)).collect();
    loop {
        let before = ours.len();
        let children = all.iter().filter(|(_, parent)| ours.contains(parent)).map(|(pid, _)| *pid);
        ours.extend(children.collect::<Vec<_>>());
        if ours.len() == before {
            return ours;
        }
    }
}

/// In KB, every shared page divided by how many share it, of these and one more.
pub(crate) fn of(dir: &Path, also: Option<i32>) -> u64 {
    processes(dir).into_iter().chain(also).filter_map(proportional).sum()
}

fn pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // After the name in brackets: the state, then the parent.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn uses(pid: i32, dir: &Path) -> bool {
    let is_there = |link: &Path| fs::read_link(link).is_ok_and(|path| path.starts_with(dir));
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    is_there(Path::new(&format!("/proc/{pid}/cwd"))) || open.into_iter().any(|entry| is_there(&entry.path()))
}

fn proportional(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("Pss:"))?.split_whitespace().next()?.parse().ok()
}
