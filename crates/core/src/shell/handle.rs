//! The handle to a shell: what can be asked of it and done with it, besides running and waiting.

use super::follow::{Core, follow};
use super::render::{self, End};
use super::run::check_hold;
use super::{Command, Enter, Job, Kind, Lines, RunError, ShellError, ShellMeta, State, Status, job, start};
use crate::error::ReadError;
use crate::grant::Grant;
use crate::id::TerminalId;
use crate::key::{self, Key};
use crate::store::Store;
use crate::terminal::Terminal;
use crate::view::Picture;
use std::fs;
use std::io;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::task::JoinHandle;

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

    /// Presses a key.
    pub async fn press(&self, key: &Key, author: &str) -> Result<(), RunError> {
        let modes = self.follower.core.view().display.modes();
        self.type_in(&key.bytes(modes), author).await
    }

    async fn type_in(&self, bytes: &[u8], author: &str) -> Result<(), RunError> {
        let core = &self.follower.core;
        if let State::Exited(ended) = core.state() {
            return Err(RunError::Exited(Box::new(ended)));
        }
        check_hold(core)?;
        let mut input = core.terminal.input(author).map_err(crate::error::ControlError::from)?;
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

    /// The output of a command from that line on (0: what was printed outside of commands). Rendered again from the
    /// journal if it is not the newest.
    pub async fn lines(&self, command: u64, from: u64) -> Result<Lines, ReadError> {
        let core = self.follower.core.clone();
        let (stretches, end, size) = {
            let view = core.view();
            if let Some(lines) = newest(&view, command, from) {
                return Ok(lines);
            }
            let found = view.track.commands().find(|known| known.id == command);
            let stretches: Vec<_> = match found {
                Some(found) => vec![found.output],
                None if command == 0 => view.track.loose().collect(),
                None => return Err(ReadError::NotFound),
            };
            // Not beyond what the marks have been read of.
            let seen = view.seen;
            let bound = |(start, end): (u64, Option<u64>)| (start, end.unwrap_or(seen).max(start));
            let is_open = stretches.last().is_some_and(|last| last.1.is_none());
            let end = if is_open { End::Open } else { End::Over };
            (stretches.into_iter().map(bound).collect::<Vec<_>>(), end, view.size())
        };
        let task = tokio::task::spawn_blocking(move || {
            if command == 0 {
                // Lines that are left out have no numbers.
                let all = render::again(&core.terminal, &core.meta.nonce, size, (&stretches, end), 1)?;
                // Only a shell without an editor echoes what wharf types.
                let echoes = core.view().track.kind().unwrap_or(core.meta.kind) == Kind::Sh;
                return Ok(if echoes {
                    without_typing(all, from.max(1))
                } else {
                    skipping(all, from.max(1))
                });
            }
            render::again(&core.terminal, &core.meta.nonce, size, (&stretches, end), from.max(1))
        });
        task.await.map_err(|error| ReadError::Io(io::Error::other(error)))?
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
            _ => job::background(core.pid, job::foreground(core.pid)),
        }
    }

    /// What humans have typed since the agent looked last: how many bytes and how long ago. Each is told once.
    #[must_use]
    pub fn typed_by_others(&self, author: &str) -> Option<(u64, Duration)> {
        let core = &self.follower.core;
        let typed = core.terminal.typed().ok()?;
        let others = typed.iter().filter(|(who, _)| !OURS.contains(&who.as_str()) && *who != author);
        let (bytes, last) = others.fold((0, 0), |(bytes, last), (_, t)| (bytes + t.bytes, last.max(t.last)));
        let mut told = core.told.lock().unwrap_or_else(PoisonError::into_inner);
        let before = told.insert(author.to_owned(), bytes).unwrap_or(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (bytes > before).then(|| (bytes - before, now.saturating_sub(Duration::from_nanos(last))))
    }
}

/// Without what is typed to give a command to a shell that has no line editor, which its terminal echoes.
fn without_typing(mut lines: Lines, from: u64) -> Lines {
    let mut typing = false;
    let mut finished = lines.finished;
    let mut at = 0;
    lines.lines.retain(|line| {
        typing |= line.contains("__wharf_take;");
        let keep = !typing;
        typing &= line != ".";
        if !keep && at < lines.finished {
            finished -= 1;
        }
        at += 1;
        keep
    });
    lines.finished = finished;
    skipping(lines, from)
}

/// Those from that number on, of lines that are numbered from one.
fn skipping(mut lines: Lines, from: u64) -> Lines {
    let skip = usize::try_from(from - 1).unwrap_or(usize::MAX).min(lines.lines.len());
    lines.lines.drain(..skip);
    Lines { first: from, finished: lines.finished.saturating_sub(skip), ..lines }
}

/// Authors that are nobody: answers to programs, and what wharf itself types.
const OURS: [&str; 2] = ["terminal", "wharf"];

/// From memory, if that command is the newest and all lines asked for are held.
fn newest(view: &super::follow::View, command: u64, from: u64) -> Option<Lines> {
    let (id, render) = view.render.as_ref()?;
    if *id != command {
        return None;
    }
    let over = view.track.last().is_some_and(|last| last.id == command && last.output.1.is_some());
    render.lines(from, if over { End::Over } else { End::Open })
}
