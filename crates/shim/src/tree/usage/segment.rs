//! System V segments: memory that belongs to a namespace and to no process.
//!
//! The kernel says of each who made it and who used it last, by numbers that may be others' by now. In a namespace of the
//! tree's own, as a sandbox has one, all of them are the tree's; but its list can only be read from inside, by a process
//! that is made for it.

use crate::tree::proc::{self, Process};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::PipeFlags;
use rustix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

const LIST: &str = "/proc/sysvipc/shm";
/// Namespaces of a tree that are looked into.
const MOST_NAMESPACES: usize = 4;
/// How long the process that reads a list may take between two pieces of it. Somebody of the tree may have stopped it.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
/// Seconds by which the clocks that are compared may differ: one is in whole seconds.
const BLUR: u64 = 2;

/// The segments that are known to be the tree's.
#[derive(Debug, Default)]
pub(super) struct Segments {
    /// By its id and its maker, since ids are used anew.
    ours: BTreeSet<(u64, i32)>,
    /// Those who were there at the last look, and when they began, in seconds since 1970.
    before: BTreeMap<i32, u64>,
}

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    id: u64,
    maker: i32,
    user: i32,
    made: u64,
    used: u64,
    bytes: u64,
}

impl Segments {
    /// Those of the tree, each with what it takes.
    pub(super) fn of(&mut self, processes: &[Process]) -> Vec<(u64, u64)> {
        let now = began(processes);
        let list = fs::read_to_string(LIST).unwrap_or_default();
        let all: Vec<Segment> = list.lines().filter_map(parse).collect();
        let began = |pid| now.get(&pid).or_else(|| self.before.get(&pid)).copied();
        let is_ours = |segment: &&Segment| {
            self.ours.contains(&(segment.id, segment.maker)) || segment.is_of(began, is_elsewhere)
        };
        let ours: Vec<Segment> = all.iter().filter(is_ours).copied().collect();
        self.ours = ours.iter().map(|segment| (segment.id, segment.maker)).collect();
        self.before = now;
        let own = ours.iter().map(|segment| (segment.id, segment.bytes));
        own.chain(in_namespaces(processes)).collect()
    }
}

impl Segment {
    /// Whether it is of a tree of whose processes it is known when they began. One that another process has made, and that
    /// lives elsewhere, is that one's, whoever uses it.
    fn is_of(&self, began: impl Fn(i32) -> Option<u64>, is_elsewhere: impl Fn(i32, u64) -> bool) -> bool {
        let by = |pid, at: u64| began(pid).is_some_and(|began| began <= at + BLUR);
        by(self.maker, self.made) || by(self.user, self.used) && !is_elsewhere(self.maker, self.made)
    }
}

/// Whether who made something then lives, and is the same.
fn is_elsewhere(pid: i32, made: u64) -> bool {
    proc::look(pid).is_some_and(|process| began(&[process]).values().all(|began| *began <= made + BLUR))
}

/// When each of them began, in seconds since 1970.
fn began(processes: &[Process]) -> BTreeMap<i32, u64> {
    let seconds = |clock| u64::try_from(clock_gettime(clock).tv_sec).unwrap_or(0);
    let boot = seconds(ClockId::Realtime).saturating_sub(seconds(ClockId::Boottime));
    processes.iter().map(|process| (process.pid, boot + super::time(process.ticks).as_secs())).collect()
}

/// The fields by their places: key, id, mode, size, maker, user, attached, four owners, three times, in memory, swapped.
fn parse(line: &str) -> Option<Segment> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let pid = |at: usize| fields.get(at)?.parse::<i32>().ok();
    Some(Segment {
        id: number(1)?,
        maker: pid(4)?,
        user: pid(5)?,
        made: number(13)?,
        used: number(11)?.max(number(12)?),
        bytes: number(14)?.saturating_add(number(15)?),
    })
}

/// All segments of namespaces that are the tree's own. Ids there are others than those of this process's own.
fn in_namespaces(processes: &[Process]) -> Vec<(u64, u64)> {
    let name = |process: &str| fs::read_link(format!("/proc/{process}/ns/ipc")).ok();
    let mut seen: BTreeSet<PathBuf> = name("self").into_iter().collect();
    let mut found = Vec::new();
    for process in processes {
        let is_new = name(&process.pid.to_string()).is_some_and(|namespace| seen.insert(namespace));
        if is_new && seen.len() <= MOST_NAMESPACES + 1 {
            let list = read_inside(process).unwrap_or_default();
            found.extend(list.lines().filter_map(parse).map(|segment| (segment.id, segment.bytes)));
        }
    }
    found
}

/// The list as a process sees it: by a child of this one that enters its namespaces and has nothing else to do.
fn read_inside(process: &Process) -> io::Result<String> {
    let open = |kind: &str| File::open(format!("/proc/{}/ns/{kind}", process.pid));
    let name = |process: &str| fs::read_link(format!("/proc/{process}/ns/user")).ok();
    let (ipc, user) = (open("ipc")?, open("user")?);
    // Into one's own there is no entering.
    let user = (name("self") != name(&process.pid.to_string())).then_some(user);
    let (hear, tell) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    // SAFETY: as a fork, but the parent hears no signal at its end and finds it in no other wait. The child makes bare
    // system calls on what was opened before, and leaves.
    match unsafe { libc::syscall(libc::SYS_clone, 0_usize, 0_usize, 0_usize, 0_usize, 0_usize) } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            tell_list(user.as_ref(), &ipc, &tell);
            // SAFETY: ends this process at once, running nothing of the parent's.
            unsafe { libc::_exit(0) }
        }
        child => {
            drop(tell);
            let list = hear_all(&hear);
            end(i32::try_from(child).unwrap_or(0));
            list
        }
    }
}

/// In the child.
fn tell_list(user: Option<&File>, ipc: &File, tell: &OwnedFd) {
    // Nobody in there gets to see what this process has in memory.
    // SAFETY: changes a flag of this process.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0) };
    for namespace in user.into_iter().chain([ipc]) {
        // SAFETY: a descriptor and a number.
        if unsafe { libc::setns(namespace.as_raw_fd(), 0) } != 0 {
            return;
        }
    }
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC;
    let Ok(list) = rustix::fs::open(c"/proc/sysvipc/shm", flags, rustix::fs::Mode::empty()) else { return };
    let mut piece = [0; 4096];
    while let Ok(read @ 1..) = rustix::io::read(&list, &mut piece) {
        if rustix::io::write(tell, &piece[..read]) != Ok(read) {
            return;
        }
    }
}

/// All that the child says, unless it falls silent.
fn hear_all(hear: &OwnedFd) -> io::Result<String> {
    let mut said = Vec::new();
    let mut piece = [0; 4096];
    loop {
        if poll(&mut [PollFd::new(hear, PollFlags::IN)], Some(&PATIENCE))? == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match rustix::io::read(hear, &mut piece)? {
            0 => return String::from_utf8(said).map_err(io::Error::other),
            read => said.extend_from_slice(&piece[..read]),
        }
    }
}

/// Ends the child, which may have been stopped, and takes what is left of it.
fn end(child: i32) {
    // SAFETY: a child of this process that nobody has waited for, so the number is its own.
    unsafe { libc::kill(child, libc::SIGKILL) };
    // SAFETY: asks for no status. Such a child is waited for only by who says so.
    while unsafe { libc::waitpid(child, std::ptr::null_mut(), libc::__WALL) } == -1
        && io::Error::last_os_error().raw_os_error() == Some(libc::EINTR)
    {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "         0     32769  1600            4194304  4242  4343      1     0     0     0     0 \
                        1700000100 1700000200 1700000000               8192                  4096";

    #[test]
    fn a_line_of_the_list_is_read_and_its_head_is_not() {
        let segment = parse(LINE).unwrap();
        let times = (segment.made, segment.used);
        assert_eq!((segment.id, segment.maker, segment.user, segment.bytes), (32769, 4242, 4343, 12288));
        assert_eq!(times, (1_700_000_000, 1_700_000_200));
        assert_eq!(parse("       key      shmid perms                  size  cpid  lpid nattch   uid"), None);
    }

    #[test]
    fn a_segment_is_whose_it_was_made_by_and_else_of_who_used_it_last() {
        let segment = parse(LINE).unwrap();
        let (made, used) = (segment.made, segment.used);
        let is_of = |pid: i32, began: u64, maker_lives: bool| {
            segment.is_of(|asked| (asked == pid).then_some(began), |_, _| maker_lives)
        };
        assert!(is_of(4242, made - 10, true));
        assert!(!is_of(4242, made + 10, true), "a number that was used anew");
        assert!(is_of(4343, used - 10, false));
        assert!(!is_of(4343, used - 10, true), "somebody else's, who lives");
        assert!(!is_of(4343, used + 10, false));
        assert!(!is_of(4444, 0, false));
    }

    #[test]
    fn the_list_can_be_read_from_inside() {
        let me = proc::look(std::process::id().cast_signed()).unwrap();
        // As root its own namespace can be entered again; others are refused, and nothing is left of the child.
        let list = read_inside(&me).unwrap();
        assert!(list.is_empty() || list.contains("shmid"), "{list}");
        let none = Process { pid: i32::MAX, ..me };
        assert!(read_inside(&none).is_err());
    }
}
