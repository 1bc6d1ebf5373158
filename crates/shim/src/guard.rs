//! The guard: holds the process tree of a program that speaks on its own standard input and output, such as an agent.
//!
//! A guard writes no journal and touches no byte: the program has the descriptors, the directory and the environment
//! that the guard was started with, and the guard keeps none of them, so that every end of file passes. It is sub-reaper,
//! so nothing of the tree can leave, and it has a lease, one end of a socket. However the other end is closed, by choice
//! or by a SIGKILL to whoever held it, the tree is ended. The guard itself ends last: once it is waited for, nothing is
//! left.
//!
//! What surprises: the program leads a session of its own, without a terminal. In the session of whoever started it, a
//! Ctrl-C would reach it beside the end that its starter brings about, and a question on `/dev/tty` from what is a
//! background group there would stop it without a word; so it is told that there is no terminal.

use crate::hold::connection::Connection;
use crate::hold::wait::{self, Peek, Signals, time_until};
use crate::journal::record::Status;
use crate::shim;
use crate::spawn::{self, Stage, StartError};
use crate::tree::ladder::{self, Ladder};
use crate::tree::{Members, proc};
use crate::wire::message::{Reply, Request};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::FdFlags;
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::{CString, OsStr};
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

/// The first argument of a shim that is to be a guard.
pub(crate) const VERB: &str = "guard";
/// Stands between the lease's number and the program's name.
pub(crate) const SEPARATOR: &str = "--";

/// How long those asked to leave may take where nobody said otherwise: after the program's own end, and after that of
/// whoever held the lease.
pub const GRACE: Duration = Duration::from_secs(2);

/// As shells have it.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
/// The guard itself could not do its work.
const FAILED: u8 = 125;

/// What the `guard` program does with its arguments, `LEASE -- PROGRAM ARGS…`, and its exit code: the program's, or 128
/// and the number of the signal that ended it.
pub(crate) fn main(arguments: &[&OsStr]) -> u8 {
    let Some((lease, argv)) = understand(arguments) else {
        shim::explain();
        return shim::USAGE;
    };
    shim::close_inherited_but(lease);
    let Ok(lease) = take(lease) else { return FAILED };
    match start(&argv) {
        Ok((pid, signals)) => Guard::new(lease, pid, signals).run(),
        Err(error) => refuse(lease, error),
    }
}

fn understand(arguments: &[&OsStr]) -> Option<(RawFd, Vec<CString>)> {
    let [lease, separator, argv @ ..] = arguments else { return None };
    let lease = lease.to_str()?.parse().ok().filter(|number| *number > 2)?;
    if *separator != SEPARATOR || argv.is_empty() || !is_socket(lease) {
        return None;
    }
    let argv = argv.iter().map(|argument| CString::new(argument.as_bytes()).ok());
    Some((lease, argv.collect::<Option<_>>()?))
}

fn is_socket(number: RawFd) -> bool {
    // SAFETY: used for one question only, which is answered with an error if nothing is open there.
    let fd = unsafe { BorrowedFd::borrow_raw(number) };
    rustix::net::sockopt::socket_type(fd).is_ok()
}

fn take(lease: RawFd) -> std::io::Result<Connection> {
    // SAFETY: open, as was just asked, and given to this process by that number; nobody else in it knows of it.
    let fd = unsafe { OwnedFd::from_raw_fd(lease) };
    rustix::io::fcntl_setfd(&fd, FdFlags::CLOEXEC)?;
    Connection::new(fd.into())
}

fn start(argv: &[CString]) -> Result<(Pid, Signals), StartError> {
    wait::hear_of_children();
    shim::leave_family().map_err(Stage::Session.failed())?;
    let null = shim::open_null().map_err(Stage::Pipe.failed())?;
    let signals = Signals::take().map_err(|error| StartError {
        stage: Stage::Pipe,
        errno: error.raw_os_error().unwrap_or(libc::EIO),
    })?;
    let running = spawn::prepare_heir(argv)?.let_go()?;
    forget_standard(&null);
    // No directory is kept from being unmounted.
    let _ = rustix::process::chdir(c"/");
    Ok((running.pid, signals))
}

/// They are the program's alone from here on. Nothing to be done if one stays: only its end of file would come late.
fn forget_standard(null: &OwnedFd) {
    let _ = rustix::stdio::dup2_stdin(null);
    let _ = rustix::stdio::dup2_stdout(null);
    let _ = rustix::stdio::dup2_stderr(null);
}

fn refuse(mut lease: Connection, error: StartError) -> u8 {
    lease.send(
        0,
        &Reply::NotStarted { stage: error.stage.number(), errno: error.errno, doing: String::new() },
    );
    match (error.stage, error.code()) {
        (Stage::Exec, "not_found") => NOT_FOUND,
        (Stage::Exec, _) => NOT_EXECUTABLE,
        _ => FAILED,
    }
}

/// One program and its tree.
#[derive(Debug)]
struct Guard {
    /// Closed once its other end is.
    lease: Option<Connection>,
    signals: Signals,
    /// The program, and its group until it is reaped.
    pid: Pid,
    /// How the program ended; it is reaped from then on.
    exit: Option<Status>,
    ladder: Option<Ladder>,
}

impl Guard {
    fn new(mut lease: Connection, pid: Pid, signals: Signals) -> Self {
        lease.send(0, &Reply::Started { pid: pid.as_raw_nonzero().get().cast_unsigned() });
        Self { lease: Some(lease), signals, pid, exit: None, ladder: None }
    }

    /// Until no child is left.
    fn run(mut self) -> u8 {
        while self.reap() != Peek::Childless {
            self.climb();
            self.wait();
        }
        match self.exit {
            Some(Status::Code(code)) => u8::try_from(code & 0xff).unwrap_or(FAILED),
            Some(Status::Signal(signal)) => u8::try_from(128 + signal).unwrap_or(FAILED),
            Some(Status::Lost(_)) | None => FAILED,
        }
    }

    /// Takes the remains of all who have ended, and says who is left.
    fn reap(&mut self) -> Peek {
        let mut ended_now = false;
        let left = loop {
            let pid = match wait::peek_any() {
                Peek::Ended(pid) => pid,
                left => break left,
            };
            // Later children may have been given the program's number.
            if pid == self.pid && self.exit.is_none() {
                self.exit = wait::peek(pid).map(|exit| exit.status);
                ended_now = true;
            }
            wait::reap(pid);
        };
        if ended_now && left != Peek::Childless {
            self.end_the_rest();
        }
        left
    }

    /// Begins to end the tree, or hurries the kill that is under way.
    fn end(&mut self, grace: Duration) {
        if let Some(ladder) = &mut self.ladder {
            return ladder.hurry(grace);
        }
        let living = Members::Descendants.living();
        if !grace.is_zero() {
            self.ask(&living);
        }
        self.ladder = Some(Ladder::new(grace, &living));
    }

    /// By the group's number while it is surely the program's, else one by one.
    fn ask(&self, living: &[proc::Process]) {
        if self.exit.is_some() {
            return ladder::ask(living);
        }
        for signal in [Signal::TERM, Signal::CONT] {
            let _ = kill_process_group(self.pid, signal);
        }
    }

    /// The program is gone, its tree is not. During a kill its group has been asked already.
    fn end_the_rest(&mut self) {
        if self.ladder.as_ref().is_some_and(Ladder::is_asking) {
            let group = self.pid.as_raw_nonzero().get();
            ladder::ask(Members::Descendants.living().iter().filter(|process| process.group != group));
        }
        self.end(GRACE);
    }

    /// When asking is over: one round of KILL to everybody there is.
    fn climb(&mut self) {
        let Some(ladder) = &mut self.ladder else { return };
        if Instant::now() < ladder.next() {
            return;
        }
        let living = Members::Descendants.living();
        if self.exit.is_none() {
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
        ladder::kill(&living);
        ladder.struck(&living);
    }

    /// Waits for the kernel and does what it reports; children are looked at by the loop.
    fn wait(&mut self) {
        let mut fds = vec![PollFd::new(self.signals.fd(), PollFlags::IN)];
        if let Some(lease) = &self.lease {
            fds.push(PollFd::new(&lease.stream, PollFlags::IN));
        }
        let timeout = self.ladder.as_ref().map(|ladder| time_until(ladder.next()));
        // A failed poll (interrupted, out of memory for a moment) reports nothing, and the loop comes back.
        let _ = poll(&mut fds, timeout.as_ref());
        if self.signals.asked_to_go() {
            self.end(GRACE);
        }
        self.listen();
    }

    /// What the lease says: one request is understood, and its closing. The answer is the guard's own end.
    fn listen(&mut self) {
        let Some(mut lease) = self.lease.take() else { return };
        lease.read();
        while let Some((_, request)) = lease.next_request() {
            if let Request::Kill { grace_ms, .. } = request {
                self.end(grace_ms.map_or(GRACE, Duration::from_millis));
            }
        }
        if lease.is_closed() {
            return self.end(GRACE);
        }
        self.lease = Some(lease);
    }
}
