//! From a plan to a process that waits at the barrier, and from there to a running command.
//!
//! Nothing here knows the journal or the control socket. The one thing that surprises: the command's process exists,
//! complete with its terminal, session and directory, before anybody lets it execute anything.

mod bound;
mod child;
mod error;
pub(crate) mod pty;

pub use error::{Stage, StartError};

use crate::confine::{Named, Namespaces, Ready, Standing};
use crate::plan::{Io, PipeInput, Plan};
use bound::Bounds;
use child::{Around, Image};
use rustix::fs::{Mode, OFlags};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Pid;
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The holder's side of a command's input and output.
#[derive(Debug)]
pub struct Ends {
    /// Where its output is read: a pipe, or the PTY's master.
    pub output: OwnedFd,
    /// Where its input is written, if it is not the same descriptor as the output.
    pub input: Input,
    /// The PTY's other side. Held open so that a program which closes its terminal for a while
    /// is not mistaken for one that is done with it.
    pub slave: Option<OwnedFd>,
}

/// Where input goes.
#[derive(Debug)]
pub enum Input {
    /// Nowhere: the command reads end of file.
    Closed,
    /// To a pipe of its own.
    Pipe(OwnedFd),
    /// To the PTY's master.
    Pty,
}

/// A process that waits at the barrier. `E` is the holder's side of its descriptors; nothing if they are not ours.
#[derive(Debug)]
pub struct Waiting<E = Ends> {
    /// Its process id.
    pub pid: Pid,
    /// Its handle, valid also after the id has been used anew.
    pub pidfd: OwnedFd,
    /// The holder's side of its descriptors.
    pub ends: E,
    go: OwnedFd,
    failed: OwnedFd,
}

/// A process that has executed its program.
#[derive(Debug)]
pub struct Running<E = Ends> {
    /// Its process id, which is also its group's and its session's.
    pub pid: Pid,
    /// Its handle.
    pub pidfd: OwnedFd,
    /// The holder's side of its descriptors.
    pub ends: E,
}

/// Makes the process. It does not run the command before [`Waiting::let_go`].
pub(crate) fn prepare(
    plan: &Plan,
    cwd: BorrowedFd<'_>,
    cgroup: Option<BorrowedFd<'_>>,
    standing: &Standing,
) -> Result<Waiting, StartError> {
    let (ends, theirs) = connect(plan.io)?;
    let cwd = high(rustix::io::fcntl_dupfd_cloexec(cwd, FIRST_FREE).map_err(Stage::Descriptors.failed())?)?;
    let around = Around::Made {
        input: theirs.input.as_fd(),
        output: theirs.output.as_fd(),
        terminal: matches!(plan.io, Io::Pty(_)),
        cwd: cwd.as_fd(),
    };
    let ready = confinement(plan, cwd.as_fd(), theirs.input.as_fd(), standing)?;
    fork(around, ready.as_ref(), &Bounds::of(&plan.resources), &Image::file(plan), cgroup, ends)
}

fn confinement<'a>(
    plan: &'a Plan,
    cwd: BorrowedFd<'_>,
    input: BorrowedFd<'_>,
    standing: &'a Standing,
) -> Result<Option<Ready<'a>>, StartError> {
    let Some(confine) = &plan.confine else { return Ok(None) };
    let (directory, terminal) = match (confine.namespaces, plan.io) {
        (Namespaces::None, _) => (None, None),
        (Namespaces::Mount { .. }, io) => {
            let directory = Named::of(cwd).map_err(Stage::Cwd.failed())?;
            let terminal = matches!(io, Io::Pty(_)).then(|| Named::of(input).map_err(Stage::Pty.failed()));
            (Some(directory), terminal.transpose()?)
        }
    };
    let failed = |(fault, errno)| Stage::Confine(fault).failed()(errno);
    Ready::new(confine, standing, directory, terminal).map(Some).map_err(failed)
}

/// Makes a process that inherits what a command inherits from a shell: standard descriptors, directory, environment.
/// The first of `argv` is looked up in `PATH`. Only for a process with one thread.
pub(crate) fn prepare_heir(argv: &[CString]) -> Result<Waiting<()>, StartError> {
    fork(Around::Inherited, None, &Bounds::default(), &Image::named(argv), None, ())
}

fn fork<E>(
    around: Around<'_>,
    confine: Option<&Ready<'_>>,
    bounds: &Bounds,
    image: &Image<'_>,
    cgroup: Option<BorrowedFd<'_>>,
    ends: E,
) -> Result<Waiting<E>, StartError> {
    let (wait, go) = pipe_with(PipeFlags::CLOEXEC).map_err(Stage::Pipe.failed())?;
    let (failed, fail) = pipe_with(PipeFlags::CLOEXEC).map_err(Stage::Pipe.failed())?;
    let (wait, go, fail) = (high(wait)?, high(go)?, high(fail)?);
    let setup =
        child::Setup { around, confine, bounds, wait: wait.as_fd(), go: go.as_fd(), fail: fail.as_fd() };
    let (pid, pidfd) = child::fork(&setup, image, cgroup)?;
    Ok(Waiting { pid, pidfd, ends, go, failed })
}

impl<E> Waiting<E> {
    /// Lets it leave without having run anything.
    pub fn abandon(self) {
        drop(self.go);
        child::reap(self.pid);
    }

    /// Opens the barrier and waits until the program is executed or has failed to be.
    pub fn let_go(self) -> Result<Running<E>, StartError> {
        let Self { pid, pidfd, ends, go, failed } = self;
        // The process may already have failed and left: then there is nobody to read this.
        let _ = rustix::io::write(&go, &[1]);
        drop(go);
        match child::read_failure(&failed) {
            None => Ok(Running { pid, pidfd, ends }),
            Some(error) => {
                child::reap(pid);
                Err(error)
            }
        }
    }
}

/// The command's side of its descriptors.
struct Theirs {
    input: OwnedFd,
    output: OwnedFd,
}

fn connect(io: Io) -> Result<(Ends, Theirs), StartError> {
    match io {
        Io::Pty(size) => {
            let (master, slave) = pty::open(size)?;
            let dup = || rustix::io::fcntl_dupfd_cloexec(&slave, FIRST_FREE).map_err(Stage::Pty.failed());
            let theirs = Theirs { input: dup()?, output: dup()? };
            Ok((Ends { output: master, input: Input::Pty, slave: Some(slave) }, theirs))
        }
        Io::Pipe(input) => {
            let (output, their_output) = pipe_with(PipeFlags::CLOEXEC).map_err(Stage::Pipe.failed())?;
            unblock(&output)?;
            let (input, their_input) = match input {
                PipeInput::Empty => (Input::Closed, null()?),
                PipeInput::Open => {
                    let (theirs, ours) = pipe_with(PipeFlags::CLOEXEC).map_err(Stage::Pipe.failed())?;
                    unblock(&ours)?;
                    (Input::Pipe(ours), theirs)
                }
            };
            let theirs = Theirs { input: high(their_input)?, output: high(their_output)? };
            Ok((Ends { output, input, slave: None }, theirs))
        }
    }
}

/// The first descriptor that is not a standard one.
const FIRST_FREE: i32 = 3;

/// A program that embeds this may have closed its own standard descriptors; what then lands on their numbers would be
/// overwritten while the child connects its own.
fn high(fd: OwnedFd) -> Result<OwnedFd, StartError> {
    if fd.as_raw_fd() >= FIRST_FREE {
        return Ok(fd);
    }
    rustix::io::fcntl_dupfd_cloexec(&fd, FIRST_FREE).map_err(Stage::Descriptors.failed())
}

/// Only our end: the two ends of a pipe are separate open files, and the command's stays as programs expect it.
fn unblock(fd: &OwnedFd) -> Result<(), StartError> {
    rustix::fs::fcntl_setfl(fd, OFlags::NONBLOCK).map_err(Stage::Pipe.failed())
}

fn null() -> Result<OwnedFd, StartError> {
    rustix::fs::open(c"/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .map_err(Stage::Pipe.failed())
}
