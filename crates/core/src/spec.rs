//! The spec: what somebody asks to be run. Nothing in it has been checked or decided.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use wharf_shim::plan::{Backlog, DEFAULT_GRACE, DEFAULT_KEEP, LEAST_KEEP};

pub use wharf_shim::plan::{OnOwnerExit, Size};

/// A request for one terminal.
///
/// ```
/// use wharf_core::{Spec, Size};
/// use std::time::Duration;
///
/// let build = Spec::argv("cargo", ["build"]).cwd("/src/project").time_limit(Duration::from_secs(600));
/// let shell = Spec::shell_line("bash", "make && ./run").pty(Size::default());
/// # let _ = (build, shell);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    pub(crate) command: Command,
    pub(crate) cwd: PathBuf,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) io: SpecIo,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) idle_limit: Option<Duration>,
    pub(crate) output_limit: Option<u64>,
    pub(crate) keep: u64,
    pub(crate) grace: Duration,
    pub(crate) on_owner_exit: OnOwnerExit,
    pub(crate) backlog: Backlog,
    pub(crate) origin: String,
    pub(crate) session: Option<String>,
}

/// What is to be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// A program and its arguments, literally.
    Argv { program: OsString, args: Vec<OsString> },
    /// A line for a shell.
    ShellLine { shell: OsString, line: OsString },
}

/// How the command is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpecIo {
    /// Output on a pipe, nothing to read.
    Plain,
    /// Output on a pipe, input as it is sent.
    PlainWithInput,
    /// A terminal.
    Pty(Size),
}

impl Spec {
    /// A program with its arguments; no shell reads them.
    pub fn argv<A: Into<OsString>>(program: impl Into<OsString>, args: impl IntoIterator<Item = A>) -> Self {
        let args = args.into_iter().map(Into::into).collect();
        Self::new(Command::Argv { program: program.into(), args })
    }

    /// A line that `shell -c` reads.
    pub fn shell_line(shell: impl Into<OsString>, line: impl Into<OsString>) -> Self {
        Self::new(Command::ShellLine { shell: shell.into(), line: line.into() })
    }

    fn new(command: Command) -> Self {
        Self {
            command,
            cwd: PathBuf::from("/"),
            env: Vec::new(),
            io: SpecIo::Plain,
            time_limit: None,
            idle_limit: None,
            output_limit: None,
            keep: DEFAULT_KEEP,
            grace: DEFAULT_GRACE,
            on_owner_exit: OnOwnerExit::Kill,
            backlog: Backlog::Drop,
            origin: String::new(),
            session: None,
        }
    }

    /// Where it starts. An absolute path; the root directory if not said.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = cwd.into();
        self
    }

    /// Adds one variable to its environment, which is otherwise empty. A later value of the same name wins.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let name = name.into();
        self.env.retain(|(known, _)| *known != name);
        self.env.push((name, value.into()));
        self
    }

    /// Adds many variables.
    #[must_use]
    pub fn envs<N: Into<OsString>, V: Into<OsString>>(self, pairs: impl IntoIterator<Item = (N, V)>) -> Self {
        pairs.into_iter().fold(self, |spec, (name, value)| spec.env(name, value))
    }

    /// Runs it on a PTY of that size instead of a pipe.
    #[must_use]
    pub fn pty(mut self, size: Size) -> Self {
        self.io = SpecIo::Pty(size);
        self
    }

    /// On a pipe, keeps its input open for what is sent; otherwise it reads end of file at once.
    #[must_use]
    pub fn with_input(mut self) -> Self {
        if self.io == SpecIo::Plain {
            self.io = SpecIo::PlainWithInput;
        }
        self
    }

    /// Ends it after that time.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// Ends it after that time without output and without input.
    #[must_use]
    pub fn idle_limit(mut self, limit: Duration) -> Self {
        self.idle_limit = Some(limit);
        self
    }

    /// Ends it when it has printed more than that many bytes.
    #[must_use]
    pub fn output_limit(mut self, bytes: u64) -> Self {
        self.output_limit = Some(bytes);
        self
    }

    /// Keeps at most that many bytes of output on disk (at least 64 KiB); the oldest are dropped beyond it.
    #[must_use]
    pub fn keep(mut self, bytes: u64) -> Self {
        self.keep = bytes.max(LEAST_KEEP);
        self
    }

    /// How long a polite signal may take before everything is killed. Zero kills at once.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// What happens when its owner goes away: the store that created it, with all its handles, or the whole program.
    /// Killed, if not said.
    #[must_use]
    pub fn on_owner_exit(mut self, what: OnOwnerExit) -> Self {
        self.on_owner_exit = what;
        self
    }

    /// When as much as is kept has not been taken by the owner, the command waits instead of losing its oldest output.
    /// The owner says what it has taken with [`Reader::taken`](crate::Reader::taken). Ends with the owner's lease.
    #[must_use]
    pub fn wait_for_owner(mut self) -> Self {
        self.backlog = Backlog::Wait;
        self
    }

    /// Who asks, in words for people: kept with the terminal.
    #[must_use]
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        self.origin = origin.into();
        self
    }

    /// The conversation it belongs to, by the name that the asking protocol has for it: kept with the terminal.
    #[must_use]
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }
}
