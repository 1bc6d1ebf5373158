//! The spec: what somebody asks to be run. Nothing in it has been checked or decided.

use crate::shell::Integration;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wharf_shim::plan::{Backlog, DEFAULT_GRACE, DEFAULT_KEEP, LEAST_KEEP, Resources};

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
    pub(crate) inherited: Vec<(OsString, OsString)>,
    pub(crate) preset: Vec<(OsString, OsString)>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) io: SpecIo,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) idle_limit: Option<Duration>,
    pub(crate) output_limit: Option<u64>,
    pub(crate) resources: Resources,
    pub(crate) keep: u64,
    pub(crate) grace: Duration,
    pub(crate) on_owner_exit: OnOwnerExit,
    pub(crate) backlog: Backlog,
    pub(crate) origin: String,
    pub(crate) session: Option<String>,
    /// What makes it a shell that remembers, if it is one.
    pub(crate) shell: Option<Integration>,
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
            inherited: Vec::new(),
            preset: Vec::new(),
            env: Vec::new(),
            io: SpecIo::Plain,
            time_limit: None,
            idle_limit: None,
            output_limit: None,
            resources: Resources::default(),
            keep: DEFAULT_KEEP,
            grace: DEFAULT_GRACE,
            on_owner_exit: OnOwnerExit::Kill,
            backlog: Backlog::Drop,
            origin: String::new(),
            session: None,
            shell: None,
        }
    }

    /// Where it is to start.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.cwd
    }

    /// Where it starts. An absolute path; the root directory if not said.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = cwd.into();
        self
    }

    /// What the environment of whoever runs this offers it. A policy lets some of it pass; without one it all does. What
    /// has no proper name is left out.
    #[must_use]
    pub fn inherit<N: Into<OsString>, V: Into<OsString>>(
        mut self,
        pairs: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let pairs = pairs.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.inherited = pairs.filter(|(name, _)| is_name(name)).collect();
        self
    }

    /// What the front end sets for every command: wins over what is inherited, and the request's own over it.
    #[must_use]
    pub fn preset<N: Into<OsString>, V: Into<OsString>>(
        mut self,
        pairs: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.preset = pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        self
    }

    /// Adds one variable that the request itself asks for. A later value of the same name wins.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let name = name.into();
        self.env.retain(|(known, _)| *known != name);
        self.env.push((name, value.into()));
        self
    }

    /// Adds many of those.
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

    /// Ends it at once when it has more than that many processes. Threads count as processes.
    #[must_use]
    pub fn process_limit(mut self, processes: u32) -> Self {
        self.resources.processes = Some(processes);
        self
    }

    /// Ends it at once when its processes together use more than that many bytes of memory. What they only share with
    /// others, like the code of libraries, does not count where wharf does the counting.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.resources.memory = Some(bytes);
        self
    }

    /// Ends it when its processes together have used that much processor time.
    #[must_use]
    pub fn cpu_limit(mut self, limit: Duration) -> Self {
        self.resources.cpu = Some(limit);
        self
    }

    /// Lets none of its files grow beyond that many bytes: the process that tries gets SIGXFSZ.
    #[must_use]
    pub fn file_size_limit(mut self, bytes: u64) -> Self {
        self.resources.file_size = Some(bytes);
        self
    }

    /// Lets none of its processes have more than that many descriptors open.
    #[must_use]
    pub fn open_files_limit(mut self, descriptors: u64) -> Self {
        self.resources.open_files = Some(descriptors);
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

/// Whether a variable can have that name.
pub(crate) fn is_name(name: &OsStr) -> bool {
    !name.is_empty() && !name.as_bytes().contains(&b'=')
}

/// One value for each name, the last one's.
pub(crate) fn merge(layers: [&[(OsString, OsString)]; 3]) -> Vec<(OsString, OsString)> {
    let mut merged: Vec<(OsString, OsString)> = Vec::new();
    for (name, value) in layers.into_iter().flatten() {
        match merged.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => known.clone_from(value),
            None => merged.push((name.clone(), value.clone())),
        }
    }
    merged
}
