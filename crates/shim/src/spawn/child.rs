//! The process between fork and exec.
//!
//! Everything the child does here is a bare system call on values made before the fork: no allocation, no locks, no C
//! library state, since in a program with threads the child is a copy of one thread among the ruins of the others.
//! rustix's Linux backend makes the calls itself and keeps no errno, so it may be used.

use super::bound::Bounds;
use super::error::{Stage, StartError};
use crate::confine::{self, Fault, Ready};
use crate::plan::Plan;
use rustix::io::Errno;
use rustix::process::Pid;
use std::ffi::{CStr, CString, c_char};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// What the child needs, all of it open before the fork.
pub(super) struct Setup<'a> {
    pub(super) around: Around<'a>,
    /// The sandbox, if there is one.
    pub(super) confine: Option<&'a Ready<'a>>,
    pub(super) bounds: &'a Bounds,
    /// The barrier: one byte means go, end of file means that the holder is gone.
    pub(super) wait: BorrowedFd<'a>,
    /// The barrier's other side, which the child must close or it would wait for itself for ever.
    pub(super) go: BorrowedFd<'a>,
    /// Where a failure is reported; closes by itself when the program is executed.
    pub(super) fail: BorrowedFd<'a>,
}

/// What the program finds around it.
pub(super) enum Around<'a> {
    /// Descriptors and a directory of its own.
    Made {
        input: BorrowedFd<'a>,
        output: BorrowedFd<'a>,
        /// Whether `input` is a terminal to be made its controlling one.
        terminal: bool,
        cwd: BorrowedFd<'a>,
    },
    /// The standard descriptors and the directory of this process.
    Inherited,
}

/// What the child becomes.
pub(super) enum Image<'a> {
    /// Exactly this file, with exactly this environment.
    File { program: &'a CStr, argv: Vec<*const c_char>, env: Vec<*const c_char> },
    /// The first argument as `PATH` leads to it, with the environment of this process.
    Named { argv: Vec<*const c_char> },
}

impl<'a> Image<'a> {
    pub(super) fn file(plan: &'a Plan) -> Self {
        Self::File { program: &plan.program, argv: pointers(&plan.argv), env: pointers(&plan.env) }
    }

    pub(super) fn named(argv: &'a [CString]) -> Self {
        Self::Named { argv: pointers(argv) }
    }

    /// Returns only if it could not be executed.
    fn execute(&self) -> Errno {
        match self {
            // SAFETY: `program`, `argv` and `env` are null-terminated and were made before the fork.
            Self::File { program, argv, env } => unsafe {
                libc::execve(program.as_ptr(), argv.as_ptr(), env.as_ptr())
            },
            // SAFETY: `argv` is null-terminated, was made before the fork, and begins with a name. Only a guard comes
            // here, which has one thread: nobody else can be changing the environment that is read.
            Self::Named { argv } => unsafe { libc::execvp(argv[0], argv.as_ptr()) },
        };
        last_errno()
    }
}

/// Makes the process and returns in the parent only.
pub(super) fn fork(
    setup: &Setup<'_>,
    image: &Image<'_>,
    cgroup: Option<BorrowedFd<'_>>,
) -> Result<(Pid, OwnedFd), StartError> {
    let before = block_signals();
    let forked = clone(cgroup);
    if matches!(forked, Ok(None)) {
        run(setup, image);
    }
    restore_signals(&before);
    match forked {
        Ok(Some(made)) => Ok(made),
        Ok(None) => Err(StartError { stage: Stage::Fork, errno: libc::EINVAL }),
        Err(errno) => Err(Stage::Fork.failed()(errno)),
    }
}

fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect()
}

/// From `linux/sched.h`; the C library's constant is too narrow for its value.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// `None` in the child.
fn clone(cgroup: Option<BorrowedFd<'_>>) -> Result<Option<(Pid, OwnedFd)>, Errno> {
    let mut pidfd: i32 = -1;
    // SAFETY: all-zero is a valid `clone_args`: no flags, no pointers.
    let mut args: libc::clone_args = unsafe { std::mem::zeroed() };
    args.flags = libc::CLONE_PIDFD as u64;
    args.pidfd = std::ptr::from_mut(&mut pidfd) as u64;
    args.exit_signal = libc::SIGCHLD as u64;
    if let Some(cgroup) = cgroup {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = cgroup.as_raw_fd() as u64;
    }
    // SAFETY: without CLONE_VM and with a null stack, clone3 behaves as fork: the child goes on here with a copy of
    // this stack, and `run` makes bare system calls only. `args` and `pidfd` outlive the call.
    let pid = unsafe { libc::syscall(libc::SYS_clone3, &raw mut args, size_of::<libc::clone_args>()) };
    match pid {
        0 => Ok(None),
        -1 => match last_errno() {
            // Sandboxes of some container engines answer so to clone3 as a whole.
            Errno::NOSYS if cgroup.is_none() => plain_fork(),
            errno => Err(errno),
        },
        pid => {
            // SAFETY: the kernel has just put a new descriptor there that nothing else owns.
            let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
            Ok(Some((raw_pid(pid)?, pidfd)))
        }
    }
}

fn plain_fork() -> Result<Option<(Pid, OwnedFd)>, Errno> {
    // SAFETY: as for clone3 above: the child makes bare system calls only.
    match unsafe { libc::fork() } {
        0 => Ok(None),
        -1 => Err(last_errno()),
        pid => {
            let pid = raw_pid(pid.into())?;
            // The child cannot be reaped before this: only we may wait for it, and we have not.
            match rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
                Ok(pidfd) => Ok(Some((pid, pidfd))),
                Err(errno) => {
                    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                    reap(pid);
                    Err(errno)
                }
            }
        }
    }
}

fn raw_pid(pid: i64) -> Result<Pid, Errno> {
    i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(Errno::INVAL)
}

fn last_errno() -> Errno {
    let errno = std::io::Error::last_os_error().raw_os_error();
    Errno::from_raw_os_error(errno.unwrap_or(libc::EIO))
}

/// The child's whole life before the command. Never returns.
fn run(setup: &Setup<'_>, image: &Image<'_>) -> ! {
    let (stage, errno) = match enter(setup) {
        Ok(()) => (Stage::Exec, image.execute()),
        Err(failure) => failure,
    };
    let _ = rustix::io::write(setup.fail, &report(stage, errno));
    leave()
}

/// A stage, an error number, and where in a sandbox.
const REPORT: usize = 8;

fn report(stage: Stage, errno: Errno) -> [u8; REPORT] {
    let mut report = [0; REPORT];
    report[0] = stage.number();
    report[1..5].copy_from_slice(&errno.raw_os_error().to_le_bytes());
    if let Stage::Confine(fault) = stage {
        report[5..].copy_from_slice(&fault.to_bytes());
    }
    report
}

fn understand(report: [u8; REPORT]) -> Option<StartError> {
    let [number, e0, e1, e2, e3, fault @ ..] = report;
    let stage = match number {
        Stage::CONFINE => Stage::Confine(Fault::from_bytes(fault)?),
        number => Stage::from_number(number)?,
    };
    Some(StartError { stage, errno: i32::from_le_bytes([e0, e1, e2, e3]) })
}

fn enter(setup: &Setup<'_>) -> Result<(), (Stage, Errno)> {
    let at = |stage: Stage| move |errno| (stage, errno);
    rustix::process::setsid().map_err(at(Stage::Session))?;
    if let Around::Made { input, terminal: true, .. } = setup.around {
        rustix::process::ioctl_tiocsctty(input).map_err(at(Stage::Session))?;
    }
    // A command without its holder could be neither heard nor ended, so it goes when the holder does.
    let death = Some(rustix::process::Signal::KILL);
    rustix::process::set_parent_process_death_signal(death).map_err(at(Stage::Session))?;
    if let Around::Made { input, output, cwd, .. } = setup.around {
        connect(input, output).map_err(at(Stage::Descriptors))?;
        rustix::process::fchdir(cwd).map_err(at(Stage::Cwd))?;
    }
    close_on_exec_from(3).map_err(at(Stage::Descriptors))?;
    // Before the barrier: it takes the time that writing the start takes anyway.
    if let Some(ready) = setup.confine {
        let terminal = match setup.around {
            Around::Made { input, terminal: true, .. } => Some(input),
            _ => None,
        };
        confine::enter(ready, terminal).map_err(|(fault, errno)| (Stage::Confine(fault), errno))?;
    }
    setup.bounds.set().map_err(at(Stage::Bounds))?;
    reset_signals();
    wait_at_barrier(setup);
    Ok(())
}

fn connect(input: BorrowedFd<'_>, output: BorrowedFd<'_>) -> Result<(), Errno> {
    rustix::stdio::dup2_stdin(input)?;
    rustix::stdio::dup2_stdout(output)?;
    rustix::stdio::dup2_stderr(output)
}

fn close_on_exec_from(first: u32) -> Result<(), Errno> {
    // SAFETY: marking descriptors close-on-exec closes nothing that anybody in this process still uses.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    match done {
        0 => Ok(()),
        _ => Err(last_errno()),
    }
}

/// Returns only when told to go.
fn wait_at_barrier(setup: &Setup<'_>) {
    // SAFETY: this process has its own descriptor table since the fork, nothing here uses `go`, and the owner's
    // value of it lives in the parent.
    unsafe { libc::close(setup.go.as_raw_fd()) };
    let mut byte = [0; 1];
    loop {
        match rustix::io::read(setup.wait, &mut byte) {
            Ok(1..) => return,
            Err(Errno::INTR) => {}
            Ok(0) | Err(_) => leave(),
        }
    }
}

fn leave() -> ! {
    // SAFETY: `_exit` runs no handlers of the program that this is a copy of.
    unsafe { libc::_exit(127) }
}

/// The failure that the child reported; none if it executed its program.
pub(super) fn read_failure(failed: &OwnedFd) -> Option<StartError> {
    let mut report = [0; REPORT];
    loop {
        match rustix::io::read(failed.as_fd(), &mut report) {
            Err(Errno::INTR) => {}
            Ok(REPORT) => return understand(report),
            Ok(_) | Err(_) => return None,
        }
    }
}

/// Takes the remains of a child that reported a failure and is on its way out.
pub(super) fn reap(pid: Pid) {
    let options = rustix::process::WaitOptions::empty();
    while let Err(Errno::INTR) = rustix::process::waitpid(Some(pid), options) {}
}

type SignalSet = MaybeUninit<libc::sigset_t>;

/// Blocks every signal, so that no handler of the program runs in the child.
fn block_signals() -> SignalSet {
    let mut all = SignalSet::uninit();
    let mut before = SignalSet::uninit();
    // SAFETY: `sigfillset` initialises the set it is given.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // SAFETY: `all` is initialised, `before` is written by the call.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) };
    before
}

fn restore_signals(before: &SignalSet) {
    // SAFETY: `before` was written by `block_signals`.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
}

/// Handlers vanish at exec by themselves; ignored signals (SIGPIPE in every Rust program, SIGHUP under nohup)
/// and the mask do not.
fn reset_signals() {
    // As the kernel wants it: handler, flags, restorer and mask, all zero. The C library's own call leaves out two
    // numbers that it uses itself, and its posix_spawn hands those on ignored.
    let default = [0u64; 4];
    for signal in 1..=64 {
        let none = std::ptr::null_mut::<u64>();
        // SAFETY: `default` is a valid action; numbers that cannot be set are refused without effect.
        unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), none, size_of::<u64>()) };
    }
    let mut none = SignalSet::uninit();
    // SAFETY: `sigemptyset` initialises the set it is given.
    unsafe { libc::sigemptyset(none.as_mut_ptr()) };
    // SAFETY: `none` is initialised.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut()) };
}
