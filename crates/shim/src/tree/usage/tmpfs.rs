//! File systems in memory: which there are, and what is in those that only a tree has.
//!
//! What surprises: a path in somebody else's namespace may lead through a file system that never answers. So it is walked
//! only as far as the kernel has it in mind, as it has every place where something is mounted, and nothing is asked of what
//! is found there before it is known to be in memory.

use crate::tree::proc::Process;
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, ResolveFlags, Statx, StatxFlags, fstatfs, open, openat2, statx,
};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A device, as the kernel numbers them.
pub(super) type Device = (u32, u32);

/// Namespaces of a tree that are looked at.
const MOST_NAMESPACES: usize = 16;
/// Mounts of one of them that are.
const MOST_MOUNTS: usize = 64;

/// A file system in memory, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) device: Device,
    pub(super) path: PathBuf,
}

/// Those that a process sees.
pub(super) fn mounts_of(process: &str) -> Vec<Mount> {
    let table = fs::read_to_string(format!("/proc/{process}/mountinfo")).unwrap_or_default();
    table.lines().filter_map(parse).collect()
}

/// A line: two numbers, device, root, path, and, after a dash, the kind of file system.
fn parse(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    if !["tmpfs ", "ramfs ", "devtmpfs "].iter().any(|kind| right.starts_with(kind)) {
        return None;
    }
    let mut fields = left.split(' ').skip(2);
    let (major, minor) = fields.next()?.split_once(':')?;
    let device = (major.parse().ok()?, minor.parse().ok()?);
    Some(Mount { device, path: PathBuf::from(unescape(fields.nth(1)?)) })
}

/// Blanks and the like are written as three octal digits.
fn unescape(text: &str) -> OsString {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..3).filter(|_| *first == b'\\');
        let code = code.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    OsString::from_vec(bytes)
}

/// Those that only these processes have, in namespaces of their own, and how much is in each.
pub(super) fn own(processes: &[Process], machine: &[Mount]) -> BTreeMap<Device, u64> {
    let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
    let mut seen: BTreeSet<PathBuf> = namespace("self").into_iter().collect();
    let mut found = BTreeMap::new();
    for process in processes {
        let number = process.pid.to_string();
        let is_new = namespace(&number).is_some_and(|namespace| seen.insert(namespace));
        if !is_new || seen.len() > MOST_NAMESPACES {
            continue;
        }
        let Some(root) = root_of(&number) else { continue };
        for mount in mounts_of(&number).into_iter().take(MOST_MOUNTS) {
            let is_known = machine.iter().any(|known| known.device == mount.device);
            if !is_known && !found.contains_key(&mount.device) {
                found.extend(used(&root, &mount).map(|bytes| (mount.device, bytes)));
            }
        }
    }
    found
}

/// Where the paths of a process begin.
pub(super) fn root_of(process: &str) -> Option<OwnedFd> {
    open(format!("/proc/{process}/root"), OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()
}

/// How much is in a file system, if it is still what is found at its place.
fn used(root: &OwnedFd, mount: &Mount) -> Option<u64> {
    let dir = reach(root, &mount.path)?;
    look(&dir).filter(|found| device(found) == mount.device)?;
    let disk = fstatfs(&dir).ok()?;
    Some(disk.f_blocks.saturating_sub(disk.f_bfree) * u64::try_from(disk.f_bsize).unwrap_or(0))
}

/// What is at a path below a root, or nothing: never waits, and follows no link.
pub(super) fn reach(root: &OwnedFd, path: &Path) -> Option<OwnedFd> {
    /// A walk that meets a change of names gives up, and is worth another try.
    const TRIES: usize = 3;
    let bytes = path.as_os_str().as_bytes();
    let from = bytes.iter().position(|byte| *byte != b'/').unwrap_or(bytes.len());
    let relative = [b"./", &bytes[from..]].concat();
    let resolve = ResolveFlags::CACHED | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    (0..TRIES).find_map(|_| match openat2(root, &*relative, flags, Mode::empty(), resolve) {
        Err(Errno::AGAIN) => None,
        found => Some(found.ok()),
    })?
}

/// What is known of a file without asking whoever serves it.
pub(super) fn look(file: &OwnedFd) -> Option<Statx> {
    let flags = AtFlags::STATX_DONT_SYNC | AtFlags::EMPTY_PATH;
    statx(file, c"", flags, StatxFlags::BASIC_STATS | StatxFlags::BTIME).ok()
}

/// The same by a path that leads there at once, such as those in `/proc/PID/fd`.
pub(super) fn look_at(path: &Path) -> Option<Statx> {
    statx(CWD, path, AtFlags::STATX_DONT_SYNC, StatxFlags::BASIC_STATS | StatxFlags::BTIME).ok()
}

pub(super) fn device(found: &Statx) -> Device {
    (found.stx_dev_major, found.stx_dev_minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_in_memory_are_known_by_their_lines() {
        let shm = "36 28 0:31 / /dev/shm rw,nosuid shared:5 - tmpfs tmpfs rw,size=262144k";
        let mount = |device, path: &str| Some(Mount { device, path: path.into() });
        assert_eq!(parse(shm), mount((0, 31), "/dev/shm"));
        assert_eq!(parse(&shm.replace("/dev/shm", r"/a\040b\134c")), mount((0, 31), r"/a b\c"));
        assert_eq!(parse(&shm.replace("- tmpfs", "- ext4")), None);
        assert_eq!(parse("36 28"), None);
    }

    #[test]
    fn a_path_is_walked_without_following_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        let root = root_of("self").unwrap();
        let found = look(&reach(&root, Path::new("/proc")).unwrap()).unwrap();
        assert_eq!(device(&found), device(&look_at(Path::new("/proc")).unwrap()));
        let file = reach(&root, &at("file")).and_then(|file| look(&file)).unwrap();
        assert_eq!(file.stx_ino, look_at(&at("link")).unwrap().stx_ino);
        assert!(reach(&root, &at("link")).is_none() && reach(&root, &at("nothing")).is_none());
    }

    #[test]
    fn what_this_process_sees_is_no_trees_own() {
        let me = crate::tree::proc::look(std::process::id().cast_signed()).unwrap();
        assert_eq!(own(&[me], &[]), BTreeMap::new());
    }
}
