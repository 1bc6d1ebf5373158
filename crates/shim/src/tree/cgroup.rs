//! A cgroup for one terminal: the kernel's own list of who belongs to it, and a kill that no fork can outrun.
//!
//! Only the core files of cgroup v2 are needed (`cgroup.procs`, `cgroup.kill`), which are there without a controller;
//! where there are controllers, the kernel also keeps limits. Where this process may not make a group under its own,
//! there is none and the sweep of descendants does the work.

use super::proc::{self, Process};
use super::quota::{self, Quota};
use crate::plan::Resources;
use rustix::fs::{Mode, OFlags};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A group that exists and that this process made.
#[derive(Debug)]
pub struct Cgroup {
    path: PathBuf,
    dir: OwnedFd,
    quota: Quota,
}

/// Where this process may make groups; `None` if nowhere.
#[must_use]
pub fn parent() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let parent = locate(&mounts, &own)?;
    let writable = rustix::fs::access(&parent, rustix::fs::Access::WRITE_OK).is_ok();
    let kills = parent.join("cgroup.kill").exists() || is_root_group(&parent);
    (writable && kills).then_some(parent)
}

/// The root group has no `cgroup.kill` of its own, but its children have.
fn is_root_group(path: &Path) -> bool {
    !path.join("cgroup.type").exists() && path.join("cgroup.procs").exists()
}

/// The pure part: mount table and own membership → the own group's directory.
fn locate(mounts: &str, own: &str) -> Option<PathBuf> {
    let inside = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mount = mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        right.starts_with("cgroup2 ").then(|| left.split(' ').nth(4))?
    })?;
    // A path from outside this namespace begins with `/..`: then the group cannot be named from here.
    if inside.starts_with("/..") {
        return None;
    }
    Some(Path::new(mount).join(inside.trim_start_matches('/')))
}

impl Cgroup {
    /// Makes a group for the terminal that this process will hold.
    pub fn make(parent: &Path) -> io::Result<Self> {
        // The number alone may have been another holder's, whose group is still to be swept; and it says who that is only
        // together with where it is one's number.
        let name = format!("{}{}-{}", prefix(std::process::id()), crate::journal::write::now(), pid_space());
        let path = parent.join(name);
        fs::create_dir(&path)?;
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(dir) => Ok(Self { path, dir, quota: Quota::default() }),
            Err(error) => {
                let _ = fs::remove_dir(&path);
                Err(error.into())
            }
        }
    }

    /// One like it, for when it is gone. Its limits are to be set anew.
    pub fn another(&self) -> io::Result<Self> {
        Self::make(self.path.parent().ok_or(io::ErrorKind::NotFound)?)
    }

    /// The descriptor that clone3 takes.
    #[must_use]
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }

    /// Its absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Has the kernel keep those limits for which it can.
    pub fn limit(&mut self, resources: &Resources) {
        self.quota = Quota::set(&self.path, resources);
    }

    /// The limits that the kernel keeps.
    pub(crate) fn quota(&self) -> &Quota {
        &self.quota
    }

    /// Everything in it and below it is killed, at once and whatever it forks meanwhile.
    pub fn kill(&self) {
        let _ = kill(&self.path);
    }

    /// Whether anybody is in it or below it: the kernel's own word, which no fork can race.
    #[must_use]
    pub fn is_populated(&self) -> bool {
        fs::read_to_string(self.path.join("cgroup.events"))
            .is_ok_and(|events| events.lines().any(|line| line == "populated 1"))
    }

    /// Removes it, if nobody is left in it.
    pub fn remove(&self) {
        let _ = remove(&self.path);
    }
}

/// How the groups of a holder's terminals are named.
#[must_use]
pub fn prefix(holder: u32) -> String {
    format!("wharf-{holder}-")
}

/// Where the numbers of processes are those that this process sees; zero if that cannot be known.
fn pid_space() -> u64 {
    fs::metadata("/proc/self/ns/pid").map_or(0, |meta| meta.ino())
}

/// Removes empty groups of holders that are gone. One that was killed before it got its plan leaves such a group, and
/// no record of it. Of holders elsewhere nothing can be said.
pub fn remove_stale(parent: &Path) {
    let own = format!("-{}", pid_space());
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours = name.to_str().filter(|name| name.ends_with(&own));
        let holder = ours.and_then(|name| name.strip_prefix("wharf-")?.split('-').next()?.parse().ok());
        if holder.is_some_and(|holder| proc::look(holder).is_none_or(|p| p.is_zombie())) {
            let _ = remove(&entry.path());
        }
    }
}

/// Whether a path is a group at all.
#[must_use]
pub fn is_group(path: &Path) -> bool {
    /// From `linux/magic.h`.
    const CGROUP2_SUPER_MAGIC: u32 = 0x6367_7270;
    rustix::fs::statfs(path).is_ok_and(|stat| stat.f_type as u32 == CGROUP2_SUPER_MAGIC)
}

/// Kills everything in a group by its path.
pub fn kill(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).open(path.join("cgroup.kill"))?.write_all(b"1")
}

/// Removes a group and those that the command made below it.
pub fn remove(path: &Path) -> io::Result<()> {
    if fs::remove_dir(path).is_ok() {
        return Ok(());
    }
    for entry in fs::read_dir(path)?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let _ = remove(&entry.path());
        }
    }
    fs::remove_dir(path)
}

/// The living processes in a group and below it.
#[must_use]
pub fn members(path: &Path) -> Vec<Process> {
    let pids = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    let mut found: Vec<Process> =
        pids.lines().filter_map(|pid| proc::look(pid.parse().ok()?)).filter(|p| !p.is_zombie()).collect();
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(members(&entry.path()));
        }
    }
    found
}

/// How many processes and threads are in a group and below it, without looking at any of them.
#[must_use]
pub fn count_tasks(path: &Path) -> u64 {
    let tasks = fs::read(path.join("cgroup.threads")).unwrap_or_default();
    let mut count = tasks.iter().filter(|byte| **byte == b'\n').count() as u64;
    // Listing a directory of some forty files to find no group among them would cost more than all the rest.
    if quota::number(path, "cgroup.stat", "nr_descendants") != Some(0) {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                count += count_tasks(&entry.path());
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found_in_both_layouts() {
        let unified = "30 24 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
        let hybrid = "31 24 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      32 24 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let user = "0::/user.slice/user-1000.slice/user@1000.service/app.slice\n";
        assert_eq!(
            locate(unified, user).unwrap(),
            Path::new("/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice")
        );
        assert_eq!(locate(hybrid, "4:memory:/x\n0::/\n").unwrap(), Path::new("/sys/fs/cgroup/unified"));
        assert_eq!(locate(unified, "0::/../outside\n"), None);
        assert_eq!(locate("", user), None);
    }
}
