//! The handle to a shell: what can be asked of it and done with it, besides running and waiting.

use super::follow::{Core, follow};
use super::run::check_hold;
use super::{
    Command, Enter, HUMAN, Job, RunError, ShellError, ShellMeta, State, Status, ToldTyped, Typed, job, start,
};
use crate::error::{ControlError, ReadError};
use crate::grant::Grant;
use crate::id::TerminalId;
use crate::key::{self, Key};
use crate::store::Store;
use crate::terminal::Terminal;
use crate::view::Picture;
use rustix::process::Signal;
use std::fs;
use std::io;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::task::JoinHandle;
use wharf_shim::wire::message::Refusal;

/// A handle to a shell that is followed. Cheap to clone; with the last one following ends and the shell goes on.
#[derive(Debug, Clone)]
pub struct Shell {
    pub(super) follower: Arc<Follower>,
}

/// The task that follows, which ends with this.
#[derive(Debug)]
pub(super) struct Follower {
    pub(super) core: Arc<Core>,
    task: JoinHandle<()>,
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shell {
    /// Starts a shell from a judged [`spec`](super::spec()) and waits for its first prompt, at most that long; what the
    /// user's own files print before is nobody's output.
    pub async fn open(store: &Store, grant: Grant, patience: Duration) -> Result<Self, ShellError> {
        let id = TerminalId::random().map_err(ReadError::from)?;
        Self::open_as(store, id, grant, patience).await
    }

    /// As [`Shell::open`], in a terminal whose name was chosen beforehand.
    pub async fn open_as(
        store: &Store,
        id: TerminalId,
        grant: Grant,
        patience: Duration,
    ) -> Result<Self, ShellError> {
        let terminal = store.create_as(id, grant).await?;
        let shell = Self::join(terminal).await?;
        start::first_prompt(&shell, patience).await?;
        Ok(shell)
    }

    /// Follows a shell that somebody has opened.
    pub async fn join(terminal: Terminal) -> Result<Self, ShellError> {
        let meta = terminal.meta().integration.clone().ok_or(ShellError::NotAShell)?;
        let task = tokio::task::spawn_blocking(move || Core::join(terminal, meta));
        let core = Arc::new(task.await.map_err(|error| ReadError::Io(io::Error::other(error)))??);
        let task = tokio::spawn(follow(core.clone()));
        Ok(Self { follower: Arc::new(Follower { core, task }) })
    }

    /// Its terminal.
    #[must_use]
    pub fn terminal(&self) -> &Terminal {
        &self.follower.core.terminal
    }

    /// What is kept with it.
    #[must_use]
    pub fn meta(&self) -> &ShellMeta {
        &self.follower.core.meta
    }

    /// How it stands.
    #[must_use]
    pub fn status(&self) -> Status {
        let core = &self.follower.core;
        let mut status = {
            let view = core.view();
            Status {
                state: view.track.state(),
                kind: view.track.kind().unwrap_or(core.meta.kind),
                cwd: view.track.cwd().clone(),
                last: view.track.last().cloned(),
                seen: view.seen,
            }
        };
        if status.state == State::Running
            && let Ok(cwd) = fs::read_link(format!("/proc/{}/cwd", core.pid))
        {
            status.cwd = cwd;
        }
        status
    }

    /// Types text for the program that runs, with Enter after it or not. Pasted where the program asked for that.
    pub async fn send(&self, text: &str, enter: Enter, author: &str) -> Result<(), RunError> {
        let modes = self.follower.core.view().display.modes();
        let mut bytes = key::typed(text, modes);
        if enter == Enter::Press {
            bytes.push(b'\r');
        }
        self.type_in(&bytes, author).await
    }

    /// Presses a key. While the disk is full no key is taken; those that are signals are sent as such then.
    pub async fn press(&self, key: &Key, author: &str) -> Result<(), RunError> {
        let core = &self.follower.core;
        let bytes = key.bytes(core.view().display.modes());
        match (self.type_in(&bytes, author).await, signal(&bytes)) {
            (Err(RunError::Control(ControlError::Refused(Refusal::Stalled))), Some(signal)) => {
                Ok(core.terminal.signal(signal, author).await?)
            }
            (typed, _) => typed,
        }
    }

    async fn type_in(&self, bytes: &[u8], author: &str) -> Result<(), RunError> {
        let core = &self.follower.core;
        if let State::Exited(ended) = core.state() {
            return Err(RunError::Exited(Box::new(ended)));
        }
        check_hold(core)?;
        let mut input = core.terminal.input(author).map_err(ControlError::from)?;
        Ok(input.send(bytes).await?)
    }

    /// What is on the screen.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let core = &self.follower.core;
        let size = core.terminal.look().ok().and_then(|look| look.size);
        let mut view = core.view();
        view.resize(size);
        view.display.picture()
    }

    /// All commands that the journal still knows.
    #[must_use]
    pub fn commands(&self) -> Vec<Command> {
        self.follower.core.view().track.commands().cloned().collect()
    }

    /// Background jobs, from the kernel: children of the shell that are not in the foreground.
    #[must_use]
    pub fn background(&self) -> Vec<Job> {
        let core = &self.follower.core;
        match core.state() {
            State::Exited(_) => Vec::new(),
            _ => job::background(core.pid),
        }
    }

    /// Whether a process of it is still there: a job that is none in the background any more may have come to the foreground.
    #[must_use]
    pub fn has_process(&self, pid: i32) -> bool {
        job::is_below(self.follower.core.pid, pid)
    }

    /// What humans have done since this agent was told of it, if they typed anything.
    #[must_use]
    pub fn typed_by_others(&self, author: &str) -> Option<Typed> {
        let core = &self.follower.core;
        let typed = core.terminal.typed().ok()?;
        let others = typed.iter().filter(|(who, _)| !OURS.contains(&who.as_str()) && *who != author);
        let (all, last) = others.fold((0, 0), |(bytes, last), (_, t)| (bytes + t.bytes, last.max(t.last)));
        let before = self.told_typed_before(author);
        let bytes = all.checked_sub(before.bytes).filter(|bytes| *bytes > 0)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let ago = now.saturating_sub(Duration::from_nanos(last));
        let by_human = |command: &Command| command.author == HUMAN && command.id > before.command;
        let commands: Vec<Command> = self.commands().into_iter().filter(by_human).collect();
        // One that still runs is told of again when it has ended.
        let ended = commands.iter().rfind(|command| command.lasted.is_some());
        let command = ended.map_or(before.command, |last| last.id);
        Some(Typed { bytes, ago, commands, told: ToldTyped { bytes: all, command } })
    }

    fn told_typed_before(&self, author: &str) -> ToldTyped {
        let told = self.follower.core.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.get(author).copied().unwrap_or_default()
    }

    /// That agent was told of this.
    pub fn told_typed(&self, author: &str, told: ToldTyped) {
        let mut all = self.follower.core.told.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.entry(author.to_owned()).or_default();
        *known = ToldTyped { bytes: told.bytes.max(known.bytes), command: told.command.max(known.command) };
    }
}

/// The signal that a terminal's driver makes of a key, unless a program told it not to.
fn signal(key: &[u8]) -> Option<i32> {
    match key {
        b"\x03" => Some(Signal::INT.as_raw()),
        b"\x1c" => Some(Signal::QUIT.as_raw()),
        b"\x1a" => Some(Signal::TSTP.as_raw()),
        _ => None,
    }
}

/// Authors that are nobody: answers to programs, and what wharf itself types.
const OURS: [&str; 2] = ["terminal", "wharf"];
