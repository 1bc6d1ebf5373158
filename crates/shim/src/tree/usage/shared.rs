//! Memory that is no process's own: it stays when it is unmapped, and is counted to nobody who has not mapped it.
//!
//! Three kinds: files in memory that somebody of the tree has open (a memfd, one in `/dev/shm`); System V segments; and all
//! of a file system in memory that only the tree has, as a sandbox's `/dev/shm` is. Each counts once, with all that it takes.
//! What surprises: nothing here may wait. A tree can mount what it likes in a namespace of its own, also a file system that
//! never answers; so nothing is asked of a file before it is known to be in memory.

use super::segment::Segments;
use super::tmpfs::{self, Device, device};
use crate::tree::proc::Process;
use rustix::fs::{FileType, Statx, StatxFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// What is looked at of a tree's descriptors at most in one look.
const MOST_DESCRIPTORS: usize = 20_000;
/// Files that are remembered at most.
const MOST_FILES: usize = 1000;

/// The unit of a file's blocks, whatever the file system's own.
const BLOCK: u64 = 512;

/// What is remembered from one look to the next.
#[derive(Debug)]
pub(super) struct Shared {
    /// When the tree began, in seconds since 1970.
    began: i64,
    /// Files of the machine's own that the tree has written to, by where they are.
    files: BTreeMap<(Device, u64), Written>,
    segments: Segments,
}

#[derive(Debug)]
struct Written {
    path: PathBuf,
    /// What was in it before the tree wrote to it, as far as that is known.
    before: u64,
}

/// All that was found.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// How much it takes.
    pub(super) bytes: u64,
    files: BTreeSet<(Device, u64)>,
    disks: BTreeSet<Device>,
    segments: BTreeSet<u64>,
}

impl Objects {
    pub(super) fn add_file(&mut self, device: Device, inode: u64, bytes: u64) {
        if !self.has_file(device, inode) {
            self.files.insert((device, inode));
            self.bytes += bytes;
        }
    }

    /// Each is added once; two of different namespaces can have one id.
    pub(super) fn add_segment(&mut self, id: u64, bytes: u64) {
        self.segments.insert(id);
        self.bytes += bytes;
    }

    fn add_disk(&mut self, device: Device, bytes: u64) {
        if self.disks.insert(device) {
            self.bytes += bytes;
        }
    }

    pub(super) fn has_file(&self, device: Device, inode: u64) -> bool {
        self.disks.contains(&device) || self.files.contains(&(device, inode))
    }

    pub(super) fn has_segment(&self, id: u64) -> bool {
        self.segments.contains(&id)
    }
}

impl Shared {
    /// Of a tree that begins now.
    pub(super) fn new() -> Self {
        let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Self {
            began: i64::try_from(began).unwrap_or(i64::MAX),
            files: BTreeMap::new(),
            segments: Segments::default(),
        }
    }

    /// All that those have.
    pub(super) fn of(&mut self, processes: &[Process]) -> Objects {
        let mut objects = Objects::default();
        let machine = tmpfs::mounts_of("self");
        for (device, bytes) in tmpfs::own(processes, &machine) {
            objects.add_disk(device, bytes);
        }
        let mut left = MOST_DESCRIPTORS;
        for process in processes {
            self.add_open(process, &machine, &mut left, &mut objects);
        }
        self.add_closed(&mut objects);
        for (id, bytes) in self.segments.of(processes) {
            objects.add_segment(id, bytes);
        }
        objects
    }

    /// What a process has open.
    fn add_open(
        &mut self,
        process: &Process,
        machine: &[tmpfs::Mount],
        left: &mut usize,
        objects: &mut Objects,
    ) {
        for entry in fs::read_dir(process.dir().join("fd")).into_iter().flatten().flatten() {
            *left = left.saturating_sub(1);
            if *left == 0 {
                return;
            }
            // Only its name, of which no file system is asked.
            let Ok(name) = fs::read_link(entry.path()) else { continue };
            let is_memfd = name.as_os_str().as_bytes().starts_with(b"/memfd:");
            if !is_memfd && !machine.iter().any(|mount| name.starts_with(&mount.path)) {
                continue;
            }
            let is_file =
                |found: &Statx| FileType::from_raw_mode(found.stx_mode.into()) == FileType::RegularFile;
            let Some(found) = tmpfs::look_at(&entry.path()).filter(is_file) else { continue };
            let (device, inode) = (device(&found), found.stx_ino);
            if is_memfd {
                objects.add_file(device, inode, found.stx_blocks * BLOCK);
            } else if machine.iter().any(|mount| mount.device == device) && is_for_writing(&entry) {
                let before = self.remember(name, &found);
                objects.add_file(device, inode, (found.stx_blocks * BLOCK).saturating_sub(before));
            }
        }
    }

    /// Keeps in mind that a file is the tree's. One that was there before is somebody else's, but for what it has grown by
    /// since it was first seen here: says how much it had then.
    fn remember(&mut self, path: PathBuf, found: &Statx) -> u64 {
        let at = (device(found), found.stx_ino);
        if let Some(known) = self.files.get(&at) {
            return known.before;
        }
        let has_birth = found.stx_mask & StatxFlags::BTIME.bits() != 0;
        let is_new = has_birth && found.stx_btime.tv_sec >= self.began;
        let before = if is_new { 0 } else { found.stx_blocks * BLOCK };
        if self.files.len() < MOST_FILES {
            self.files.insert(at, Written { path, before });
        }
        before
    }

    /// What somebody of the tree has written and closed since, and is still where it was.
    fn add_closed(&mut self, objects: &mut Objects) {
        let root = if self.files.is_empty() { None } else { tmpfs::root_of("self") };
        self.files.retain(|&(at, inode), written| {
            if objects.has_file(at, inode) {
                return true;
            }
            let found = root
                .as_ref()
                .and_then(|root| tmpfs::reach(root, &written.path))
                .and_then(|file| tmpfs::look(&file));
            let found = found.filter(|found| (device(found), found.stx_ino) == (at, inode));
            let bytes = found.map(|found| (found.stx_blocks * BLOCK).saturating_sub(written.before));
            bytes.is_some_and(|bytes| {
                objects.add_file(at, inode, bytes);
                true
            })
        });
    }
}

/// The link to an open file has the rights with which it was opened.
fn is_for_writing(entry: &fs::DirEntry) -> bool {
    use std::os::unix::fs::MetadataExt;
    entry.metadata().is_ok_and(|link| link.mode() & 0o200 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::proc;
    use std::fs::File;
    use std::io::Write;

    const MIB: u64 = 1 << 20;

    fn bytes(shared: &mut Shared) -> u64 {
        shared.of(&[proc::look(std::process::id().cast_signed()).unwrap()]).bytes
    }

    /// A file in memory, if this machine has a place for such; it goes with the directory.
    fn place() -> Option<tempfile::TempDir> {
        let is_memory = tmpfs::mounts_of("self").iter().any(|mount| mount.path.ends_with("dev/shm"));
        is_memory.then(|| tempfile::tempdir_in("/dev/shm").ok())?
    }

    #[test]
    fn a_file_in_memory_counts_while_it_is_there_also_when_it_is_closed() {
        let Some(dir) = place() else { return };
        let path = dir.path().join("file");
        let mut shared = Shared::new();
        let before = bytes(&mut shared);
        let mut file = File::create(&path).unwrap();
        file.write_all(&vec![1; 8 << 20]).unwrap();
        let again = file.try_clone().unwrap();
        assert_eq!(bytes(&mut shared) - before, 8 * MIB, "once for two descriptors");
        drop((file, again));
        assert_eq!(bytes(&mut shared) - before, 8 * MIB, "closed");
        fs::remove_file(&path).unwrap();
        assert_eq!(bytes(&mut shared), before, "gone");
    }

    #[test]
    fn a_file_that_was_there_before_counts_with_what_it_grows_by() {
        let Some(dir) = place() else { return };
        let path = dir.path().join("file");
        fs::write(&path, vec![1; 8 << 20]).unwrap();
        // A tree that begins later than the file.
        let mut shared = Shared { began: i64::MAX, ..Shared::new() };
        let before = bytes(&mut shared);
        let reading = File::open(&path).unwrap();
        assert_eq!(bytes(&mut shared), before, "who reads takes nothing");
        let mut file = File::options().append(true).open(&path).unwrap();
        assert_eq!(bytes(&mut shared), before);
        file.write_all(&vec![1; 2 << 20]).unwrap();
        assert_eq!(bytes(&mut shared) - before, 2 * MIB);
        drop((reading, file));
    }
}
