//! One name of an agent's, with the shell that has it: a task, so that what is done to it is done in turn.
//!
//! Only what is short is done here: finding, opening, telling. Running and waiting are with each call, so that a key can
//! be pressed while another call waits.

use super::refusal::Refusal;
use super::told::{News, Stage, Told};
use crate::temporary;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use wharf_core::policy::Audit;
use wharf_core::policy::audit::Entry;
use wharf_core::shell::{Command, Shell, ShellError, State};
use wharf_core::{Ended, Grant, Phase, Store, Terminal, TerminalId};

/// What can wait for its turn.
const QUEUE: usize = 32;
/// How long a shell may take to its first prompt: a user's own files can be slow.
const PATIENCE: Duration = Duration::from_secs(20);

/// A shell as it was found.
#[derive(Debug)]
pub(super) struct Here {
    pub(super) shell: Shell,
    /// The newest command, if it ended since the agent was told that it runs.
    pub(super) missed: Option<Command>,
}

/// A shell that was opened.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) shell: Shell,
    /// How the one before it ended.
    pub(super) before: Option<Ended>,
}

/// Whether what is told counts as told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Told,
    Peeked,
}

/// What is asked of a slot.
pub(super) enum Ask {
    Look(oneshot::Sender<Result<Option<Here>, Refusal>>),
    Open(TerminalId, Box<Grant>, oneshot::Sender<Result<Opened, Refusal>>),
    News(u64, Stage, Mark, oneshot::Sender<Result<News, Refusal>>),
}

/// Where a slot finds its shell.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    pub(super) store: Store,
    pub(super) audit: Arc<Audit>,
    /// Where temporary files of terminals are.
    pub(super) state: PathBuf,
    pub(super) seat: String,
}

struct Slot {
    ground: Ground,
    name: String,
    shell: Option<Shell>,
    told: Told,
}

/// Starts the task. It ends when nobody can ask it any more.
pub(super) fn start(ground: Ground, name: String) -> mpsc::Sender<Ask> {
    let (asks, mut asked) = mpsc::channel(QUEUE);
    let mut slot = Slot { ground, name, shell: None, told: Told::default() };
    tokio::spawn(async move {
        while let Some(ask) = asked.recv().await {
            slot.answer(ask).await;
        }
    });
    asks
}

impl Slot {
    /// Whoever asked may have gone; what was done is done.
    async fn answer(&mut self, ask: Ask) {
        match ask {
            Ask::Look(to) => drop(to.send(self.look().await)),
            Ask::Open(id, grant, to) => drop(to.send(self.open(id, *grant).await)),
            Ask::News(command, stage, mark, to) => drop(to.send(self.news(command, stage, mark).await)),
        }
    }

    async fn look(&mut self) -> Result<Option<Here>, Refusal> {
        self.find().await?;
        let Some(shell) = self.shell.clone() else { return Ok(None) };
        let last = shell.status().last.filter(|command| command.lasted.is_some());
        let missed = last.filter(|command| self.told.has_begun(command.id) && !self.told.is_over(command.id));
        Ok(Some(Here { shell, missed }))
    }

    /// The shell that has this name now, which somebody may have opened or removed.
    async fn find(&mut self) -> Result<(), Refusal> {
        let store = &self.ground.store;
        if self.shell.as_ref().is_some_and(|shell| store.get(shell.terminal().id()).is_err()) {
            self.shell = None;
            self.told = Told::default();
        }
        if self.shell.is_some() {
            return Ok(());
        }
        let found = seated(store, &self.ground.seat)
            .map_err(|error| Refusal::failed("the terminals cannot be listed", error))?;
        // The newest, unless an older one is alive: it was there first.
        let mut ours: Vec<Terminal> =
            found.into_iter().filter(|(name, _)| *name == self.name).map(|(_, terminal)| terminal).collect();
        let Some(newest) = ours.pop() else { return Ok(()) };
        let alive = |terminal: &Terminal| {
            terminal.look().is_ok_and(|look| matches!(look.phase, Phase::Starting | Phase::Running { .. }))
        };
        let terminal =
            if alive(&newest) { newest } else { ours.into_iter().rev().find(alive).unwrap_or(newest) };
        self.join(terminal).await
    }

    async fn join(&mut self, terminal: Terminal) -> Result<(), Refusal> {
        let shell = Shell::join(terminal).await;
        let shell = shell.map_err(|error| Refusal::failed("the terminal cannot be joined", error))?;
        self.watch(&shell);
        self.shell = Some(shell);
        Ok(())
    }

    /// Has its end written down. What ended while nobody was here is written down when somebody comes, perhaps twice.
    fn watch(&self, shell: &Shell) {
        let (audit, terminal) = (self.ground.audit.clone(), shell.terminal().clone());
        tokio::spawn(async move {
            if let Ok(ended) = terminal.wait().await {
                // It has ended, written down or not; its journal has it too.
                let _ = audit.write(&Entry::End { terminal: terminal.id().clone(), ended });
            }
        });
    }

    async fn open(&mut self, id: TerminalId, grant: Grant) -> Result<Opened, Refusal> {
        self.find().await?;
        let (mut before, mut last) = (None, 0);
        if let Some(shell) = &self.shell {
            let status = shell.status();
            last = status.last.map_or(0, |command| command.id);
            match status.state {
                State::Exited(ended) => before = Some(ended),
                // Somebody was faster, and both get the same.
                _ => return Ok(Opened { shell: shell.clone(), before: None }),
            }
        }
        let not_started = |error: &ShellError| {
            let code = match error {
                ShellError::Create(error) => error.code(),
                ShellError::Read(_) => "read",
                ShellError::NotAShell => "not_a_shell",
                ShellError::Exited(_) => "exited",
            };
            let _ =
                self.ground.audit.write(&Entry::NotStarted { terminal: id.clone(), code: code.to_owned() });
            temporary::remove_of_terminal(&self.ground.state, id.as_str());
        };
        let opened = Shell::open_as(&self.ground.store, id.clone(), grant.after(last), PATIENCE).await;
        let shell = opened.inspect_err(not_started).map_err(|error| unopened(&self.name, &error))?;
        self.watch(&shell);
        if let Some(old) = self.shell.replace(shell.clone()) {
            // Its end is told with this answer; nobody can ask for more of it under this name. What it left running in the
            // background is ended with it.
            let _ = old.terminal().release().await;
            temporary::remove_of_terminal(&self.ground.state, old.terminal().id().as_str());
        }
        self.told = Told::default();
        Ok(Opened { shell, before })
    }

    async fn news(&mut self, command: u64, stage: Stage, mark: Mark) -> Result<News, Refusal> {
        let Some(shell) = &self.shell else { return Err(Refusal::unknown(&self.name, &[])) };
        let lines = shell.lines(command, self.told.from(command)).await;
        let lines = lines.map_err(|error| Refusal::failed("the output cannot be read", error))?;
        let news = self.told.news(command, &lines);
        if mark == Mark::Told {
            self.told.tell(command, &lines, stage);
        }
        Ok(news)
    }
}

fn unopened(name: &str, error: &ShellError) -> Refusal {
    let text = match error {
        ShellError::Exited(ended) => format!(
            "the shell of terminal {name:?} ended before its first prompt ({}); look at its start-up files, or open one \
             with another shell: terminal_open {{\"terminal_id\":{name:?},\"shell\":\"sh\"}}",
            ended.exit_code().map_or_else(|| "by a signal".to_owned(), |code| format!("exit code {code}")),
        ),
        error => format!("terminal {name:?} cannot be opened: {error}"),
    };
    Refusal::new("not_opened", text)
}

/// All shells of a seat, the oldest first, by the names that they have there.
pub(super) fn seated(store: &Store, seat: &str) -> std::io::Result<Vec<(String, Terminal)>> {
    let found = store.list()?.into_iter().filter_map(|found| found.terminal.ok());
    let ours = found.filter_map(|terminal| {
        let meta = terminal.meta().integration.as_ref().filter(|meta| meta.seat == seat)?;
        Some((meta.name.clone(), terminal))
    });
    Ok(ours.collect())
}
