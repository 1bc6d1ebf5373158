//! The memory of a tree: that of its processes, and that which is no process's own.
//!
//! What it is exactly is dear to know. So it is asked in steps, each dearer than the one before, and no further than it
//! takes to know on which side of the limit it is.

use super::shared::{Objects, Shared};
use crate::tree::proc::Process;
use rustix::param::page_size;
use std::fs;

/// More than `most` only if it is; otherwise at least what it is.
pub(super) fn memory_of(processes: &[Process], most: u64, shared: &mut Shared) -> u64 {
    let resident: u64 = processes.iter().filter_map(|p| Some(in_memory(p)?.resident)).sum();
    // All that is shared on this machine could be the tree's, and where that is little nobody has to find out.
    let roughly = resident.saturating_add(on_machine());
    if roughly <= most / 2 {
        return roughly;
    }
    let objects = shared.of(processes);
    if resident + objects.bytes <= most {
        return resident + objects.bytes;
    }
    let shares = processes.iter().map(Share::of).fold(Share::default(), Share::and);
    let (least, all) =
        (shares.own + shares.mapped.max(objects.bytes), shares.own + shares.mapped + objects.bytes);
    if all <= most {
        return all;
    }
    if least > most || objects.bytes == 0 {
        return least;
    }
    // Some of it may be both: an object that the tree holds, and has mapped.
    let twice: u64 = processes.iter().map(|process| mapped_objects(process, &objects)).sum();
    shares.own + objects.bytes + shares.mapped.saturating_sub(twice)
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

/// How much memory of this machine, swapped or not, is made for sharing, or can be: never less.
fn on_machine() -> u64 {
    let Ok(text) = fs::read_to_string("/proc/meminfo") else { return u64::MAX };
    let field = |name| text.lines().find_map(|line| kilobytes(line, name)).unwrap_or(0);
    field("Shmem:") + field("Hugetlb:") + field("SwapTotal:").saturating_sub(field("SwapFree:"))
}

/// The bytes that a line of `/proc` gives by this name.
fn kilobytes(line: &str, name: &str) -> Option<u64> {
    line.strip_prefix(name)?.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|number| number * 1024)
}

/// A process's share of the memory that can only be had back by ending it: a page that three have counts as a third for
/// each. Parts of files are left out, since the kernel drops them when it needs the room. Swapped pages are in.
#[derive(Debug, Default, Clone, Copy)]
struct Share {
    /// What is in no object.
    own: u64,
    /// What is in shared memory that it has mapped.
    mapped: u64,
}

impl Share {
    fn of(process: &Process) -> Self {
        let rollup = fs::read_to_string(process.dir().join("smaps_rollup")).unwrap_or_default();
        let field = |name| rollup.lines().find_map(|line| kilobytes(line, name));
        match (field("Pss_Anon:"), field("Pss_Shmem:"), field("SwapPss:")) {
            (Some(own), Some(mapped), swapped) => Self { own: own + swapped.unwrap_or(0), mapped },
            // One that may not be looked into, or a kernel without shares: all that is its own, as if it never forked.
            _ => {
                let own = in_memory(process).map_or(0, |has| has.resident.saturating_sub(has.shared));
                Self { own, mapped: 0 }
            }
        }
    }

    fn and(self, other: Self) -> Self {
        Self { own: self.own + other.own, mapped: self.mapped + other.mapped }
    }
}

/// A process's share of those objects, as far as it has mapped them.
fn mapped_objects(process: &Process, objects: &Objects) -> u64 {
    let text = fs::read_to_string(process.dir().join("smaps")).unwrap_or_default();
    let mut is_object = false;
    let mut found: u64 = 0;
    for line in text.lines() {
        // The first line of a mapping begins with its address, the others with a name.
        if line.starts_with(|c: char| c.is_ascii_hexdigit() && !c.is_ascii_uppercase()) {
            is_object = names_object(line, objects);
        } else if is_object {
            found += kilobytes(line, "Pss:").unwrap_or(0);
            // Pages of a private mapping that were written to are the process's own.
            found = found.saturating_sub(kilobytes(line, "Anonymous:").unwrap_or(0));
        }
    }
    found
}

/// Whether a mapping is one of those, by its line: address, rights, offset, device, inode, name.
fn names_object(line: &str, objects: &Objects) -> bool {
    let mut fields = line.split_ascii_whitespace().skip(3);
    let device = fields.next().and_then(|device| device.split_once(':'));
    let hex = |text| u32::from_str_radix(text, 16).ok();
    let device = device.and_then(|(major, minor)| Some((hex(major)?, hex(minor)?)));
    let inode = fields.next().and_then(|inode| inode.parse().ok());
    let (Some(device), Some(inode)) = (device, inode) else { return false };
    match fields.next() {
        // A System V segment has its id where files have their inode.
        Some(name) if name.starts_with("/SYSV") => objects.has_segment(inode),
        _ => objects.has_file(device, inode),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::proc;
    use rustix::fs::{MemfdFlags, memfd_create};
    use std::fs::File;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::fs::FileExt;

    const MIB: u64 = 1 << 20;

    fn me() -> Process {
        proc::look(std::process::id().cast_signed()).unwrap()
    }

    /// Exact, since it is more than nothing.
    fn memory() -> u64 {
        memory_of(&[me()], 0, &mut Shared::new())
    }

    #[test]
    fn memory_is_exact_only_when_it_may_be_too_much() {
        let has = in_memory(&me()).unwrap();
        assert!(has.resident > has.shared && has.shared > 0);
        assert!(memory_of(&[me()], u64::MAX, &mut Shared::new()) >= has.resident);
        assert!(memory() > 0);
        assert!(memory() < has.resident, "files are in the cheap figure only");
    }

    #[test]
    fn large_memory_of_our_own_is_seen() {
        let before = memory();
        let block = std::hint::black_box(vec![1u8; 64 << 20]);
        let grown = memory() - before;
        assert!(grown > 60 * MIB && grown < 80 * MIB, "{} MiB", grown / MIB);
        drop(block);
    }

    fn filled_memfd(bytes: u64) -> File {
        let fd: OwnedFd = memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        let file = File::from(fd);
        (0..bytes / MIB).for_each(|at| file.write_all_at(&[1; MIB as usize], at * MIB).unwrap());
        file
    }

    #[test]
    fn a_memfd_counts_whoever_has_mapped_it_and_only_once() {
        let before = memory();
        let file = filled_memfd(64 * MIB);
        let again = file.try_clone().unwrap();
        let held = memory() - before;
        assert!((64 * MIB..70 * MIB).contains(&held), "{} MiB while nobody has it mapped", held / MIB);
        let (length, rights) = (64 << 20, libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: a new mapping of a file that is as long; nothing else refers to it.
        let map = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                rights,
                libc::MAP_SHARED | libc::MAP_POPULATE,
                file.as_raw_fd(),
                0,
            )
        };
        assert_ne!(map, libc::MAP_FAILED);
        // Between what it is at least and at most, so that it has to be known exactly.
        let exact = memory_of(&[me()], before + 96 * MIB, &mut Shared::new()) - before;
        assert!(exact < 96 * MIB, "{} MiB counted twice", exact / MIB);
        drop((file, again));
        let mapped = memory() - before;
        assert!((60 * MIB..70 * MIB).contains(&mapped), "{} MiB of a mapping alone", mapped / MIB);
        // SAFETY: the mapping made above, which nobody uses any more.
        unsafe { libc::munmap(map, length) };
    }

    #[test]
    fn a_mapping_is_known_by_its_line() {
        let mut objects = Objects::default();
        objects.add_file((0, 0x1b), 77, 5);
        objects.add_segment(32769, 7);
        for (line, known) in [
            ("7f0-7f1 rw-s 00000000 00:1b 77   /memfd:x (deleted)", true),
            ("7f0-7f1 rw-s 00000000 00:1b 78   /memfd:y (deleted)", false),
            ("7f0-7f1 rw-s 00000000 00:01 32769   /SYSV00000000 (deleted)", true),
            ("7f0-7f1 rw-s 00000000 00:01 77   /SYSV00000000 (deleted)", false),
            ("7f0-7f1 rw-p 00000000 00:00 0 ", false),
            ("7f0-7f1", false),
        ] {
            assert_eq!(names_object(line, &objects), known, "{line}");
        }
        assert_eq!(objects.bytes, 12);
    }
}
