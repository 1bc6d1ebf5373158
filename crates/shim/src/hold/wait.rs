//! Waiting for children and signals: the calls that only the C library's headers know.

use rustix::event::Timespec;
use rustix::io::Errno;
use rustix::process::Pid;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

use crate::journal::record::{Lost, Status};

/// How a process ended and what it used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exit {
    pub(crate) status: Status,
    pub(crate) user: Duration,
    pub(crate) system: Duration,
    pub(crate) peak_memory: u64,
}

/// What a look at the children shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peek {
    /// This one has ended and waits to be reaped.
    Ended(Pid),
    /// All live.
    Living,
    /// There are none.
    Childless,
}

/// Looks whether any child has ended, and leaves it as it is.
pub(crate) fn peek_any() -> Peek {
    match waitid(libc::P_ALL, 0, libc::WEXITED | libc::WNOHANG | libc::WNOWAIT) {
        Ok(Some((pid, _))) => Peek::Ended(pid),
        Ok(None) => Peek::Living,
        Err(_) => Peek::Childless,
    }
}

/// Looks whether one child has ended, and leaves it as it is: its number cannot be used anew before it is reaped.
/// If it is no child of ours any more, the program around us has waited for it, or ignores SIGCHLD.
pub(crate) fn peek(pid: Pid) -> Option<Exit> {
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    let id = pid.as_raw_nonzero().get().cast_unsigned();
    match waitid(libc::P_PID, id, options) {
        Ok(seen) => seen.map(|(_, exit)| exit),
        Err(_) => Some(Exit {
            status: Status::Lost(Lost::StatusTaken),
            user: Duration::ZERO,
            system: Duration::ZERO,
            peak_memory: 0,
        }),
    }
}

/// Takes what is left of a child that has ended.
pub(crate) fn reap(pid: Pid) {
    let id = pid.as_raw_nonzero().get().cast_unsigned();
    let _ = waitid(libc::P_PID, id, libc::WEXITED | libc::WNOHANG);
}

/// The kernel's call takes a fifth argument that the C library's does not: what the process used.
fn waitid(kind: libc::idtype_t, id: u32, options: i32) -> Result<Option<(Pid, Exit)>, Errno> {
    // SAFETY: all-zero is a valid `siginfo_t`; a zero pid in it means that nothing was there to report.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: all-zero is a valid `rusage`.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both structures outlive the call, and the kernel writes nothing beyond them.
        let done =
            unsafe { libc::syscall(libc::SYS_waitid, kind, id, &raw mut info, options, &raw mut used) };
        if done == 0 {
            break;
        }
        match std::io::Error::last_os_error().raw_os_error() {
            Some(libc::EINTR) => {}
            errno => return Err(Errno::from_raw_os_error(errno.unwrap_or(libc::EIO))),
        }
    }
    // SAFETY: after a successful waitid the structure is of the child kind, or all zero.
    let pid = unsafe { info.si_pid() };
    // SAFETY: as above.
    let value = unsafe { info.si_status() };
    let Some(pid) = Pid::from_raw(pid) else { return Ok(None) };
    let status = match info.si_code {
        libc::CLD_EXITED => Status::Code(value),
        _ => Status::Signal(value),
    };
    let exit = Exit {
        status,
        user: duration(used.ru_utime),
        system: duration(used.ru_stime),
        peak_memory: u64::try_from(used.ru_maxrss).unwrap_or(0) * 1024,
    };
    Ok(Some((pid, exit)))
}

/// Processor time of all children that this process has waited for, and of those that they waited for.
pub(crate) fn spent_by_children() -> Duration {
    // SAFETY: all-zero is a valid `rusage`.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the structure outlives the call.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut used) };
    duration(used.ru_utime) + duration(used.ru_stime)
}

fn duration(time: libc::timeval) -> Duration {
    let (seconds, micros) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_usec));
    Duration::from_secs(seconds.unwrap_or(0)) + Duration::from_micros(micros.unwrap_or(0))
}

/// Signals of a shim process as a descriptor: children ending, and requests to go.
#[derive(Debug)]
pub(crate) struct Signals {
    fd: OwnedFd,
}

impl Signals {
    /// Only for a process that is nothing but a shim: takes the signals away from everything else in it.
    pub(crate) fn take() -> std::io::Result<Self> {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: `sigemptyset` initialises the set.
        unsafe { libc::sigemptyset(set.as_mut_ptr()) };
        for signal in [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
            // SAFETY: the set is initialised and the number is valid.
            unsafe { libc::sigaddset(set.as_mut_ptr(), signal) };
        }
        // SAFETY: the set is initialised; the old mask is not asked for.
        unsafe { libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut()) };
        // SAFETY: the set is initialised, and -1 asks for a new descriptor.
        let fd = unsafe { libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if fd < 0 {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and nobody else's.
        Ok(Self { fd: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Empties the queue; true if the process was asked to go.
    pub(crate) fn asked_to_go(&self) -> bool {
        let mut asked = false;
        let mut info = [0u8; size_of::<libc::signalfd_siginfo>()];
        while let Ok(n) = rustix::io::read(&self.fd, &mut info) {
            if n < info.len() {
                break;
            }
            // The signal's number is the first field.
            let number = u32::from_ne_bytes([info[0], info[1], info[2], info[3]]).cast_signed();
            asked |= matches!(number, libc::SIGTERM | libc::SIGINT);
        }
        asked
    }
}

/// A write to a pipe that nobody reads must not end a program that embeds the holder.
pub(crate) fn block_sigpipe() {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` initialises the set.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: the set is initialised and the number is valid.
    unsafe { libc::sigaddset(set.as_mut_ptr(), libc::SIGPIPE) };
    // SAFETY: affects this thread only, and SIGPIPE goes to the thread that wrote.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut()) };
}

/// A signal to a process group, real-time signals too. The group's number must still be its own.
pub(crate) fn signal_group(group: Pid, signal: i32) -> std::io::Result<()> {
    // Zero only asks whether the group exists, which is not what was meant.
    if signal == 0 {
        return Err(std::io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: sends a signal and touches no memory of ours.
    let done = unsafe { libc::kill(-group.as_raw_nonzero().get(), signal) };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// A signal to the foreground group of a PTY. The keyboard's own three are sent by the kernel, to whatever group is in
/// the foreground at that instant; for the others it only tells the group's number, which is used at once.
pub(crate) fn signal_foreground(master: &OwnedFd, signal: i32) -> std::io::Result<()> {
    // SAFETY: TIOCSIG takes the signal as a plain number and touches no memory of ours.
    let done = unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCSIG, signal) };
    if done == 0 {
        return Ok(());
    }
    match std::io::Error::last_os_error() {
        error if error.raw_os_error() == Some(libc::EINVAL) => {
            signal_group(rustix::termios::tcgetpgrp(master)?, signal)
        }
        error => Err(error),
    }
}

/// Nothing that is sent to the program around us is handled on this thread, where it would only interrupt.
pub(crate) fn block_signals() {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigfillset` initialises the set.
    unsafe { libc::sigfillset(set.as_mut_ptr()) };
    // SAFETY: affects this thread only.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut()) };
}

/// As before [`Signals::take`].
pub(crate) fn unblock_signals() {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` initialises the set.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: the set is initialised, and nothing in this process handles a signal.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, set.as_ptr(), std::ptr::null_mut()) };
}

/// Whoever started the shim may ignore SIGCHLD, and hands that on; the kernel would then throw statuses away.
pub(crate) fn hear_of_children() {
    // SAFETY: the default installs no code.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// How long a poll may wait for a moment to come.
pub(crate) fn time_until(at: Instant) -> Timespec {
    let left = at.saturating_duration_since(Instant::now());
    Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: left.subsec_nanos().into(),
    }
}
