//! The life of a shim process before it holds anything: leave the family, keep nothing, wait for the plan.

use crate::hold::{Place, hold};
use crate::launch;
use std::io::IsTerminal;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

/// What the `wharf-shim` program does. Also called by programs that serve as their own shim.
#[must_use]
pub fn main() -> ExitCode {
    let Some(creator) = creator() else {
        explain();
        return ExitCode::from(2);
    };
    close_inherited();
    if detach().is_err() {
        return ExitCode::FAILURE;
    }
    match launch::receive(creator) {
        Ok(Some(handover)) => {
            hold(handover, Place::Process);
            ExitCode::SUCCESS
        }
        Ok(None) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// The socket that is our standard input; nothing if somebody started this by hand.
fn creator() -> Option<UnixStream> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() || rustix::net::sockopt::socket_type(stdin.as_fd()).is_err() {
        return None;
    }
    let socket = rustix::io::fcntl_dupfd_cloexec(stdin.as_fd(), 3).ok()?;
    // What stays on number 0 would be one more end of the socket, and its closing would never be seen.
    let null = open_null()?;
    rustix::stdio::dup2_stdin(&null).ok()?;
    Some(socket.into())
}

fn open_null() -> Option<OwnedFd> {
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC;
    rustix::fs::open(c"/dev/null", flags, rustix::fs::Mode::empty()).ok()
}

#[expect(clippy::print_stderr, reason = "only ever seen by somebody who started the shim by hand")]
fn explain() {
    eprintln!("wharf-shim holds one terminal for wharf and is started by it; try `wharf run -- COMMAND`.");
}

/// Close-on-exec is the rule, but a program that embeds wharf may have broken it.
fn close_inherited() {
    // The socket is the lowest free number after the standard ones: all above it are strangers.
    // SAFETY: nothing in this young process has opened anything above descriptor 3.
    unsafe { libc::syscall(libc::SYS_close_range, 4u32, u32::MAX, 0u32) };
}

/// Out of the session, the process group and the terminal of whoever started this, and into the role of the process
/// that inherits every orphan of the command.
fn detach() -> rustix::io::Result<()> {
    rustix::process::setsid()?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    // No directory is kept from being unmounted.
    rustix::process::chdir(c"/")
}
