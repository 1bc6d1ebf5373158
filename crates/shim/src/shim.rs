//! The life of a shim process before it holds anything: leave the family, keep nothing, wait for the plan.

use crate::guard;
use crate::hold::{self, Parting, Place};
use crate::launch::{self, Descent};
use crate::probe;
use crate::signal;
use crate::tree::cgroup::Cgroup;
use std::ffi::OsStr;
use std::io::IsTerminal;
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Exit codes of a shim. Nobody but its parent's `wait` sees them.
pub(crate) const SUCCESS: u8 = 0;
const FAILURE: u8 = 1;
pub(crate) const USAGE: u8 = 2;
pub(crate) const NOT_REAPED: u8 = 3;

/// The first argument of a shim that is not to be its starter's child.
pub(crate) const ORPHAN: &str = "orphan";
/// The only argument of one that only tries what becomes of orphans.
pub(crate) const TRIES_ORPHAN: &str = "tries-orphan";

/// What the `wharf-shim` program does with its arguments, and its exit code. Also called by programs that serve as their
/// own shim. There is either one argument, where it may make a cgroup, perhaps after a word about its descent, or those
/// of a guard.
#[must_use]
pub fn main(arguments: &[&OsStr]) -> u8 {
    match arguments {
        [verb, rest @ ..] if *verb == guard::VERB => guard::main(rest),
        [verb] if *verb == TRIES_ORPHAN => try_orphan(),
        [verb, rest @ ..] if *verb == ORPHAN => hold_terminals(rest.first().map(Path::new), Descent::Orphan),
        _ => hold_terminals(arguments.first().map(Path::new), Descent::Child),
    }
}

fn try_orphan() -> u8 {
    hold::wait::hear_of_children();
    match probe::orphans_are_reaped() {
        Ok(true) => SUCCESS,
        Ok(false) => NOT_REAPED,
        Err(_) => FAILURE,
    }
}

/// Goes on in a child of this process, which ends: so the child is nobody's that our starter knows. Where there can be no
/// more processes, this one stays what it is.
fn become_orphan() {
    // SAFETY: a young process with one thread; the child goes on with all that its parent had, and the parent leaves at
    // once without running anything.
    match unsafe { libc::fork() } {
        -1 | 0 => {}
        // SAFETY: as above.
        _ => unsafe { libc::_exit(SUCCESS.into()) },
    }
}

/// One after the other, never two at once: whatever becomes of one terminal, no other is touched by it.
fn hold_terminals(cgroup_parent: Option<&Path>, descent: Descent) -> u8 {
    close_range(3, u32::MAX);
    let Some(mut creator) = creator() else {
        explain();
        return USAGE;
    };
    if descent == Descent::Orphan {
        become_orphan();
    }
    hold::wait::hear_of_children();
    signal::ignore_file_size();
    if detach().is_err() {
        return FAILURE;
    }
    loop {
        // Made before the plan is there: it needs nothing of it, and a shim that waits has the time.
        let cgroup = cgroup_parent.and_then(|parent| Cgroup::make(parent).ok());
        let next = match launch::receive(creator) {
            Ok(Some((handover, next))) => match hold::hold(handover, Place::Process, cgroup) {
                Parting::Free => next,
                Parting::Dismissed => return SUCCESS,
            },
            Ok(None) => return leave(cgroup, SUCCESS),
            Err(_) => return leave(cgroup, FAILURE),
        };
        // While it waits it is a process like any other, and a signal ends it.
        hold::wait::unblock_signals();
        match next.filter(launch::come_back) {
            Some(next) => creator = next,
            None => return SUCCESS,
        }
    }
}

/// Never got a plan.
fn leave(cgroup: Option<Cgroup>, code: u8) -> u8 {
    if let Some(cgroup) = cgroup {
        cgroup.remove();
    }
    code
}

/// The socket that is our standard input; nothing if somebody started this by hand.
fn creator() -> Option<UnixStream> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() || rustix::net::sockopt::socket_type(stdin.as_fd()).is_err() {
        return None;
    }
    let socket = rustix::io::fcntl_dupfd_cloexec(stdin.as_fd(), 3).ok()?;
    // What stays on number 0 would be one more end of the socket, and its closing would never be seen.
    let null = open_null().ok()?;
    rustix::stdio::dup2_stdin(&null).ok()?;
    Some(socket.into())
}

pub(crate) fn open_null() -> rustix::io::Result<OwnedFd> {
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC;
    rustix::fs::open(c"/dev/null", flags, rustix::fs::Mode::empty())
}

#[expect(clippy::print_stderr, reason = "only ever seen by somebody who started the shim by hand")]
pub(crate) fn explain() {
    eprintln!("wharf-shim holds one terminal for wharf and is started by it; try `wharf run -- COMMAND`.");
}

/// Close-on-exec is the rule, but a program that embeds wharf may have broken it. Only one descriptor was meant for us.
pub(crate) fn close_inherited_but(meant: RawFd) {
    let meant = meant.cast_unsigned();
    if meant > 3 {
        close_range(3, meant - 1);
    }
    close_range(meant + 1, u32::MAX);
}

fn close_range(first: u32, last: u32) {
    // SAFETY: this young process has opened nothing itself; the standard descriptors stay.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, 0u32) };
}

fn detach() -> rustix::io::Result<()> {
    leave_family()?;
    // No directory is kept from being unmounted.
    rustix::process::chdir(c"/")
}

/// Out of the session, the process group and the terminal of whoever started this, and into the role of the process
/// that inherits every orphan of the command.
pub(crate) fn leave_family() -> rustix::io::Result<()> {
    rustix::process::setsid()?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
}
