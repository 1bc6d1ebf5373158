//! What a process waits for, as far as a terminal is concerned.
//!
//! `/proc/PID/syscall` tells which call a thread is blocked in and its arguments; the descriptors behind them, and for
//! poll and select a few bytes of its memory, tell whether the terminal is what it waits for. Nothing is stopped,
//! attached to or changed.
//!
//! What surprises: all of that needs the right to trace the process. A holder has it over what it started, also in a user
//! namespace that it made, but not over setuid programs; and some machines give it to nobody.

use super::proc::Process;
use crate::wire::foreground::Doing;
use rustix::fs::{FileType, major, minor};
use rustix::io::Errno;
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Threads of one process that are looked at.
const MOST_THREADS: usize = 64;
/// Descriptors of one poll that are looked at.
const MOST_WATCHED: usize = 256;
/// The C library's own limit on descriptors in a select.
const SELECTABLE: usize = 1024;
/// An interrupted poll goes on as a call without a number of its own; more descriptors than this are another call's
/// arguments.
const MOST_RESUMED: u64 = 16;

pub(super) const READS: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_preadv2,
    libc::SYS_splice,
    libc::SYS_copy_file_range,
];
#[cfg(target_arch = "x86_64")]
const POLLS: &[libc::c_long] = &[libc::SYS_poll, libc::SYS_ppoll];
#[cfg(not(target_arch = "x86_64"))]
const POLLS: &[libc::c_long] = &[libc::SYS_ppoll];
#[cfg(target_arch = "x86_64")]
const SELECTS: &[libc::c_long] = &[libc::SYS_select, libc::SYS_pselect6];
#[cfg(not(target_arch = "x86_64"))]
const SELECTS: &[libc::c_long] = &[libc::SYS_pselect6];
#[cfg(target_arch = "x86_64")]
const EPOLLS: &[libc::c_long] = &[libc::SYS_epoll_wait, libc::SYS_epoll_pwait, libc::SYS_epoll_pwait2];
#[cfg(not(target_arch = "x86_64"))]
const EPOLLS: &[libc::c_long] = &[libc::SYS_epoll_pwait, libc::SYS_epoll_pwait2];

/// Names one terminal, under whichever name it was opened. Device numbers alone would not do: a sandbox has PTYs of its
/// own, numbered like those outside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tty {
    dev: u64,
    ino: u64,
}

impl Tty {
    pub(crate) fn of(slave: &OwnedFd) -> Result<Self, Errno> {
        rustix::fs::fstat(slave).map(|stat| Self { dev: stat.st_dev, ino: stat.st_ino })
    }

    /// Whether a descriptor of a process in this terminal's session is it, or `/dev/tty`, which then means it.
    pub(super) fn is(self, thread: &Path, fd: u64) -> bool {
        let Ok(file) = fs::metadata(thread.join(format!("fd/{fd}"))) else { return false };
        let is_device = FileType::from_raw_mode(file.mode()) == FileType::CharacterDevice;
        let is_own = (major(file.rdev()), minor(file.rdev())) == (5, 0);
        is_device && (is_own || (file.dev(), file.ino()) == (self.dev, self.ino))
    }
}

/// What a process does. Whatever one of its threads does counts: to run most, then to wait for the terminal. Takes what
/// it looks at from `threads`; once that is used up, those that are left do nothing.
pub(crate) fn doing(process: &Process, tty: &Tty, threads: &mut usize) -> Doing {
    match process.state {
        'T' | 't' => return Doing::Stopped,
        // Uninterruptible is at work too: with a disk.
        'R' | 'D' => return Doing::Running,
        _ => {}
    }
    let mut sum = None;
    for thread in dirs(process) {
        let Some(left) = threads.checked_sub(1) else { return sum.unwrap_or(Doing::Sleeping) };
        *threads = left;
        let one = thread_doing(&thread, *tty);
        if one == Some(Doing::Running) {
            return Doing::Running;
        }
        sum = sum.into_iter().chain(one).min_by_key(|doing| rank(*doing));
    }
    // All have gone meanwhile: something happens.
    sum.unwrap_or(Doing::Running)
}

fn rank(doing: Doing) -> u8 {
    match doing {
        Doing::Running => 0,
        Doing::Reading => 1,
        Doing::Polling => 2,
        Doing::Unknown => 3,
        Doing::Stopped => 4,
        Doing::Sleeping => 5,
    }
}

pub(super) fn dirs(process: &Process) -> Vec<PathBuf> {
    let tasks = PathBuf::from(format!("/proc/{}/task", process.pid));
    match process.threads {
        0 | 1 => vec![tasks.join(process.pid.to_string())],
        _ => {
            let threads = fs::read_dir(tasks).into_iter().flatten().flatten();
            threads.take(MOST_THREADS).map(|thread| thread.path()).collect()
        }
    }
}

/// What one thread does; nothing if it has gone.
fn thread_doing(thread: &Path, tty: Tty) -> Option<Doing> {
    let text = match fs::read_to_string(thread.join("syscall")) {
        Ok(text) => text,
        // A first thread that has left before the others has no call any more, and is nobody.
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return None,
        // Either it is gone, or this kernel has no such file.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !thread.exists() => return None,
        Err(_) => return Some(Doing::Unknown),
    };
    if text.starts_with("running") {
        return Some(Doing::Running);
    }
    let Some(call) = Call::parse(&text) else { return Some(Doing::Sleeping) };
    if call.is_foreign() {
        return Some(Doing::Unknown);
    }
    Some(call.doing(thread, tty))
}

/// The call that a thread is blocked in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) number: libc::c_long,
    pub(super) arguments: [u64; 6],
    /// Stack pointer and program counter.
    at: [u64; 2],
}

impl Call {
    /// The one that a thread is blocked in, if that can be seen and is numbered as ours are.
    pub(super) fn of(thread: &Path) -> Option<Self> {
        Self::parse(&fs::read_to_string(thread.join("syscall")).ok()?).filter(|call| !call.is_foreign())
    }

    /// `0 0x3 0x7ffd… … SP PC`; a thread that is blocked in none has -1 there.
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split_ascii_whitespace();
        let number = fields.next()?.parse().ok().filter(|number| *number >= 0)?;
        let mut next = || u64::from_str_radix(fields.next()?.strip_prefix("0x")?, 16).ok();
        let arguments = [next()?, next()?, next()?, next()?, next()?, next()?];
        Some(Self { number, arguments, at: [next()?, next()?] })
    }

    /// A 32-bit program on a 64-bit kernel numbers its calls otherwise. Everything of it is below 4 GiB, where the stack of
    /// another program never is.
    fn is_foreign(&self) -> bool {
        cfg!(target_pointer_width = "64") && self.at.iter().all(|at| *at <= u64::from(u32::MAX))
    }

    fn doing(&self, thread: &Path, tty: Tty) -> Doing {
        let [first, second, ..] = self.arguments;
        let watched = match self.number {
            n if READS.contains(&n) => return read_of(tty.is(thread, first)),
            libc::SYS_sendfile => return read_of(tty.is(thread, second)),
            n if POLLS.contains(&n) => polled(thread, first, second),
            n if SELECTS.contains(&n) => selected(thread, first, second),
            n if EPOLLS.contains(&n) => registered(thread, first),
            libc::SYS_restart_syscall if (1..=MOST_RESUMED).contains(&second) => {
                polled(thread, first, second)
            }
            _ => return Doing::Sleeping,
        };
        match watched {
            Some(fds) if !fds.iter().any(|fd| tty.is(thread, *fd)) => Doing::Sleeping,
            Some(fds) if !fds.iter().any(|fd| is_network(thread, *fd)) => Doing::Reading,
            Some(_) | None => Doing::Polling,
        }
    }
}

fn read_of(terminal: bool) -> Doing {
    if terminal { Doing::Reading } else { Doing::Sleeping }
}

/// The descriptors that a poll waits to read from; nothing if that cannot be seen.
fn polled(thread: &Path, set: u64, count: u64) -> Option<Vec<u64>> {
    let count = usize::try_from(count).ok()?.min(MOST_WATCHED);
    let bytes = memory(thread, set, count * size_of::<libc::pollfd>())?;
    let readable = libc::POLLIN | libc::POLLRDNORM;
    let fds = bytes.chunks_exact(size_of::<libc::pollfd>()).filter_map(|entry| {
        let fd = i32::from_ne_bytes(*entry.first_chunk()?);
        let events = i16::from_ne_bytes([entry[4], entry[5]]);
        (events & readable != 0).then(|| u64::try_from(fd).ok())?
    });
    Some(fds.collect())
}

/// The same of a select, which the kernel does not write to before it returns.
pub(super) fn selected(thread: &Path, count: u64, set: u64) -> Option<Vec<u64>> {
    if set == 0 {
        return Some(Vec::new());
    }
    let count = usize::try_from(count).ok()?.min(SELECTABLE);
    // Whole words, as the kernel reads them too; their bytes are in the machine's order, bits from the lowest.
    const WORD: usize = size_of::<u64>();
    let bytes = memory(thread, set, count.div_ceil(64) * WORD)?;
    let words: Vec<u64> =
        bytes.chunks_exact(WORD).filter_map(|w| w.first_chunk().copied()).map(u64::from_ne_bytes).collect();
    let is_in = |fd: &usize| words[fd / 64] & 1 << (fd % 64) != 0;
    Some((0..count).filter(is_in).take(MOST_WATCHED).map(|fd| fd as u64).collect())
}

/// The same of an epoll, whose set the kernel tells itself.
fn registered(thread: &Path, epoll: u64) -> Option<Vec<u64>> {
    let info = fs::read_to_string(thread.join(format!("fdinfo/{epoll}"))).ok()?;
    let fds = info.lines().filter_map(|line| {
        let mut words = line.strip_prefix("tfd:")?.split_ascii_whitespace();
        let fd = words.next()?.parse().ok()?;
        let events = words.find(|word| *word == "events:").and_then(|_| words.next())?;
        let events = u32::from_str_radix(events, 16).ok()?;
        (events & libc::EPOLLIN.cast_unsigned() != 0).then_some(fd)
    });
    Some(fds.take(MOST_WATCHED).collect())
}

pub(super) fn memory(thread: &Path, at: u64, len: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; len];
    File::open(thread.join("mem")).ok()?.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

/// Whether a descriptor is a socket that leads out of the program. Pairs of unix sockets wake its own threads.
fn is_network(thread: &Path, fd: u64) -> bool {
    let mut name = [0; 32];
    let path = thread.join(format!("fd/{fd}"));
    rustix::fs::getxattr(&path, "system.sockprotoname", &mut name[..])
        .is_ok_and(|length| !name[..length].starts_with(b"UNIX"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_call_is_read_with_its_arguments() {
        let text = "0 0x3 0x7ffc1 0x400 0x0 0x0 0x0 0x7ffc0a 0x7f11\n";
        let call = Call { number: 0, arguments: [3, 0x7ffc1, 0x400, 0, 0, 0], at: [0x7ffc0a, 0x7f11] };
        assert_eq!(Call::parse(text), Some(call));
        for nothing in ["running\n", "-1 0x7ffc0a 0x7f11\n", "", "0 0x3\n", "0 3 4 5 6 7 8 9 10"] {
            assert_eq!(Call::parse(nothing), None, "{nothing:?}");
        }
    }

    #[test]
    fn a_program_of_another_word_size_is_known_by_its_stack() {
        let at = |at| Call { number: 3, arguments: [0; 6], at };
        assert!(at([0xffd0_1230, 0xf7f0_0549]).is_foreign());
        assert!(!at([0x7ffc_0123_4560, 0x40_1000]).is_foreign());
    }

    #[test]
    fn the_set_of_a_poll_is_read_from_memory() {
        let own = Path::new("/proc/self");
        let entry = |fd, events| libc::pollfd { fd, events, revents: 0 };
        let set = [entry(5, libc::POLLIN), entry(6, libc::POLLOUT), entry(-1, libc::POLLIN), entry(9, 0x41)];
        assert_eq!(polled(own, set.as_ptr() as u64, 4), Some(vec![5, 9]));
        assert_eq!(polled(own, 8, 4), None, "memory that is not there");
        assert_eq!(polled(own, 0, 0), Some(vec![]));
        let bits = [1u64 << 3 | 1 << 63, 1];
        assert_eq!(selected(own, 65, bits.as_ptr() as u64), Some(vec![3, 63, 64]));
        assert_eq!(selected(own, 64, bits.as_ptr() as u64), Some(vec![3, 63]));
        assert_eq!(selected(own, 64, 0), Some(vec![]));
    }

    #[test]
    fn sockets_that_wake_are_told_from_those_that_lead_out() {
        use std::os::fd::AsRawFd;
        let own = Path::new("/proc/self");
        let (pair, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(!is_network(own, pair.as_raw_fd() as u64));
        assert!(is_network(own, listener.as_raw_fd() as u64));
    }
}
