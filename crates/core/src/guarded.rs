//! A program that speaks on its own standard input and output, such as an agent, held so that nothing of it stays.
//!
//! It is no terminal: nothing is recorded, and its bytes are its starter's business. What is seen to is its end and that
//! of everything it started, however this process ends.

use crate::error::limit_or;
use crate::store::Holder;
use rustix::pipe::fcntl_setpipe_size;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;
use wharf_shim::launch::{self, LaunchError, Lease};
use wharf_shim::spawn::{Stage, StartError};

/// What its input takes at once. A large message then wakes it once or twice, and not for every 64 KiB.
const PIPE: usize = 1 << 20;

/// A program that could not be started. Nothing of it has run.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// No such program.
    #[error("no program named {program:?} was found")]
    NotFound {
        /// What was looked for.
        program: OsString,
    },
    /// There is such a file and it cannot be executed.
    #[error("{program:?} cannot be executed: {source}")]
    NotExecutable {
        /// What was asked for.
        program: OsString,
        /// What the system said.
        source: io::Error,
    },
    /// The guard could not be started, or could not start anything.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

impl GuardError {
    /// A stable word for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not_found",
            Self::NotExecutable { .. } => "not_executable",
            Self::Launch(LaunchError::Start(error)) => error.code(),
            Self::Launch(LaunchError::Sandbox { .. }) => "sandbox",
            Self::Launch(LaunchError::Shim { source, .. }) => limit_or(source, "no_shim"),
            Self::Launch(LaunchError::Silent(error) | LaunchError::Gone(error)) => {
                limit_or(error, "shim_silent")
            }
            Self::Launch(LaunchError::Mute { .. }) => "shim_silent",
            Self::Launch(LaunchError::Version { .. }) => "shim_version",
        }
    }
}

/// A running program with pipes to its standard input and output. Its standard error, environment and directory are
/// those of this process.
///
/// With [`Holder::Process`] it is held by a guard, a process that inherits every orphan of the program. However this
/// value goes, dropped or with a process that was killed, everything the program started is ended: asked to leave, and
/// killed after two seconds. The program leads a session without a terminal, so a Ctrl-C is this process's alone.
///
/// With [`Holder::Thread`] there is nobody to inherit and nobody to see this process die. The program then gets a process
/// group, and what is ended is that group: a daemon that left it stays, and so does the whole tree if this process is
/// killed and the program does not heed the end of its input. On a terminal, the program is a background job of it.
#[derive(Debug)]
pub struct Guarded {
    /// Where its input is written; dropped, the program reads end of file.
    pub stdin: Option<ChildStdin>,
    /// Where its output is read.
    pub stdout: Option<ChildStdout>,
    child: Child,
    hold: Hold,
}

/// What holds the tree.
#[derive(Debug)]
enum Hold {
    /// A guard; it ends the tree when this is dropped.
    Guard(Lease),
    /// Nobody: the program has a group of its own.
    Group,
}

impl Guarded {
    /// Starts a program, which is looked up in `PATH`. Returns when it runs, or is known not to.
    pub async fn start<A: AsRef<OsStr>>(
        holder: &Holder,
        program: impl AsRef<OsStr>,
        args: impl IntoIterator<Item = A>,
    ) -> Result<Self, GuardError> {
        let program = program.as_ref();
        match holder {
            Holder::Process(shim) => Self::under_guard(shim, program, args).await,
            Holder::Thread => Self::in_group(program, args),
        }
    }

    async fn under_guard<A: AsRef<OsStr>>(
        shim: &Path,
        program: &OsStr,
        args: impl IntoIterator<Item = A>,
    ) -> Result<Self, GuardError> {
        let failed = |source| LaunchError::Shim { path: shim.display().to_string(), source };
        let (command, lease) = launch::guarded(shim, program, args).map_err(failed)?;
        let child = spawn(command).map_err(failed)?;
        let mut guarded = Self::new(child, Hold::Guard(lease));
        match guarded.answer().await.map_err(LaunchError::Silent)? {
            Ok(_) => Ok(guarded),
            Err(error) => {
                // It is on its way out, and its remains are ours to take.
                let _ = guarded.child.wait().await;
                Err(refused(program, error))
            }
        }
    }

    fn in_group<A: AsRef<OsStr>>(
        program: &OsStr,
        args: impl IntoIterator<Item = A>,
    ) -> Result<Self, GuardError> {
        let child = spawn(launch::unguarded(program, args)).map_err(|error| {
            let errno = error.raw_os_error().unwrap_or_default();
            refused(program, StartError { stage: Stage::Exec, errno })
        })?;
        Ok(Self::new(child, Hold::Group))
    }

    fn new(mut child: Child, hold: Hold) -> Self {
        Self { stdin: child.stdin.take(), stdout: child.stdout.take(), child, hold }
    }

    /// The guard's first word.
    async fn answer(&mut self) -> io::Result<Result<u32, StartError>> {
        let Hold::Guard(lease) = &mut self.hold else { return Err(io::ErrorKind::Unsupported.into()) };
        let socket = UnixStream::from_std(lease.socket()?)?;
        let heard = socket.async_io(Interest::READABLE, || lease.answer());
        timeout(launch::PATIENCE, heard).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Waits for the program's end and gives its exit code, or 128 and the number of the signal that ended it. Nothing is
    /// left of it then. Closes neither pipe. May be dropped and called again.
    pub async fn wait(&mut self) -> io::Result<u8> {
        if let Hold::Group = self.hold {
            ended(&self.child).await?;
            signal_group(&self.child, Signal::KILL);
        }
        let status = self.child.wait().await?;
        match (&self.hold, status.signal()) {
            (Hold::Guard(_), Some(signal)) => {
                Err(io::Error::other(format!("the guard was ended by signal {signal}")))
            }
            _ => code_of(status),
        }
    }

    /// Has the program and everything it started asked to end, and killed after that long; then as [`Guarded::wait`].
    pub async fn end(&mut self, grace: Duration) -> io::Result<u8> {
        match &self.hold {
            // If it cannot be told, it is gone already, or going.
            Hold::Guard(lease) => drop(lease.end(grace)),
            Hold::Group => {
                signal_group(&self.child, Signal::TERM);
                // A stopped process gets the signal only when it goes on.
                signal_group(&self.child, Signal::CONT);
                let _ = timeout(grace, ended(&self.child)).await;
                signal_group(&self.child, Signal::KILL);
            }
        }
        self.wait().await
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if let Hold::Group = self.hold {
            signal_group(&self.child, Signal::KILL);
        }
    }
}

fn spawn(mut command: std::process::Command) -> io::Result<Child> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let child = Command::from(command).spawn()?;
    if let Some(stdin) = &child.stdin {
        // Refused to a user who has many large pipes already; then it takes more steps, that is all.
        let _ = fcntl_setpipe_size(stdin, PIPE);
    }
    Ok(child)
}

/// The child's group, while its number is surely its own.
fn group_of(child: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child.id()?).ok()?)
}

fn signal_group(child: &Child, signal: Signal) {
    if let Some(group) = group_of(child) {
        let _ = kill_process_group(group, signal);
    }
}

/// Returns when the child has ended, and leaves its remains: its number is its own for as long as they are there.
async fn ended(child: &Child) -> io::Result<()> {
    // Listened to before the first look, so that no end can come in between.
    let mut news = signal(SignalKind::child())?;
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    while let Some(pid) = group_of(child) {
        if !matches!(waitid(WaitId::Pid(pid), look), Ok(None)) {
            return Ok(());
        }
        news.recv().await;
    }
    Ok(())
}

fn refused(program: &OsStr, error: StartError) -> GuardError {
    let source = io::Error::from_raw_os_error(error.errno);
    match (error.stage, error.code()) {
        (Stage::Exec, "not_found") => GuardError::NotFound { program: program.to_owned() },
        (Stage::Exec, "not_executable") => GuardError::NotExecutable { program: program.to_owned(), source },
        _ => LaunchError::Start(error).into(),
    }
}

fn code_of(status: ExitStatus) -> io::Result<u8> {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).ok_or_else(|| io::Error::other(status.to_string()))
}
