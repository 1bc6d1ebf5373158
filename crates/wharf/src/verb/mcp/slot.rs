//! One name of an agent's, with the shell that has it: a task, so that what is done to it is done in turn.
//!
//! Only what is short is done here: finding, opening, telling. Running and waiting are with each call, so that a key can
//! be pressed while another call waits.

use super::hint;
use super::outcome;
use super::past;
use super::permit::Granted;
use super::refusal::Refusal;
use super::told::{News, Subject, Told};
use crate::temporary;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use wharf_core::policy::Audit;
use wharf_core::policy::audit::Entry;
use wharf_core::shell::{Command, Part, Shell, ShellError, State};
use wharf_core::{Ended, Phase, Store, Terminal, TerminalId};

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
    /// The one before it, if the agent was not told that this one is fresh.
    pub(super) before: Option<Arc<Before>>,
}

/// How the shell before the one that is there has ended.
#[derive(Debug)]
pub(super) struct Before {
    pub(super) ended: Ended,
    is_told: AtomicBool,
}

impl Before {
    pub(super) fn told(&self) {
        self.is_told.store(true, Ordering::Relaxed);
    }
}

/// A shell that was opened.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) shell: Shell,
    /// The one whose place it has taken.
    pub(super) before: Option<Arc<Before>>,
}

/// For news that were given. They count as told when this is confirmed, and not at all if it is dropped; nobody else is
/// told anything until then, so whoever has one must not ask the slot for more.
#[derive(Debug)]
pub(super) struct Receipt {
    shell: Shell,
    /// The command, and the first of its lines that is not told with this.
    upto: (u64, u64),
    confirmed: oneshot::Sender<()>,
}

impl Receipt {
    pub(super) fn confirm(self) {
        let (command, line) = self.upto;
        self.shell.keep_from(command, line);
        // Nobody there: the terminal was closed.
        let _ = self.confirmed.send(());
    }
}

/// What is asked of a slot.
pub(super) enum Ask {
    Look(oneshot::Sender<Result<Option<Here>, Refusal>>),
    Open(Box<Granted>, oneshot::Sender<Result<Opened, Refusal>>),
    News(Subject, oneshot::Sender<Result<(News, Receipt), Refusal>>),
    /// The number of the first line of a command that the agent has not seen as it is now.
    Unseen(u64, oneshot::Sender<Result<u64, Refusal>>),
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
    before: Option<Arc<Before>>,
    told: Told,
    /// What is told with an answer that is under way.
    owed: Option<(oneshot::Receiver<()>, Told)>,
}

/// Starts the task. It ends when nobody can ask it any more.
pub(super) fn start(ground: Ground, name: String) -> mpsc::Sender<Ask> {
    let (asks, mut asked) = mpsc::channel(QUEUE);
    let mut slot = Slot { ground, name, shell: None, before: None, told: Told::default(), owed: None };
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
            Ask::Open(granted, to) => drop(to.send(self.open(*granted).await)),
            Ask::News(subject, mut to) => tokio::select! {
                // A call that is cancelled reads no journal to its end.
                () = to.closed() => {}
                news = self.news(subject) => drop(to.send(news)),
            },
            Ask::Unseen(command, mut to) => tokio::select! {
                () = to.closed() => {}
                unseen = self.unseen(command) => drop(to.send(unseen)),
            },
        }
    }

    /// Waits until an answer that is under way was handed over, or never will be. That is a matter of moments.
    async fn settle(&mut self) {
        let Some((confirmed, _)) = &mut self.owed else { return };
        let is_told = confirmed.await.is_ok();
        if let (true, Some((_, told))) = (is_told, self.owed.take()) {
            self.told = told;
        }
    }

    /// Another shell, of which nothing was told.
    fn start_anew(&mut self, before: Option<Ended>) {
        (self.told, self.owed) = (Told::default(), None);
        self.before = before.map(|ended| Arc::new(Before { ended, is_told: AtomicBool::new(false) }));
    }

    async fn look(&mut self) -> Result<Option<Here>, Refusal> {
        self.find().await?;
        self.settle().await;
        let Some(shell) = self.shell.clone() else { return Ok(None) };
        let last = shell.status().last.filter(|command| command.lasted.is_some());
        let missed = last.filter(|command| self.told.has_begun(command.id) && !self.told.is_over(command.id));
        let before = self.before.clone().filter(|before| !before.is_told.load(Ordering::Relaxed));
        Ok(Some(Here { shell, missed, before }))
    }

    /// The shell that has this name now, which somebody may have opened or removed.
    async fn find(&mut self) -> Result<(), Refusal> {
        let store = self.ground.store.clone();
        let is_gone = |shell: &Shell| {
            !store.has(shell.terminal().id())
                || (shell.status().state == State::Starting && was_never_started(shell.terminal()))
        };
        if self.shell.as_ref().is_some_and(is_gone) {
            self.shell = None;
            self.start_anew(None);
        }
        if self.shell.is_some() {
            return Ok(());
        }
        let found = seated(&store, &self.ground.seat)
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

    async fn open(&mut self, granted: Granted) -> Result<Opened, Refusal> {
        let Granted { id, grant, _room } = granted;
        if let Err(refusal) = self.find().await {
            self.give_up(&id, "not_found");
            return Err(refusal);
        }
        let (mut before, mut last) = (None, 0);
        if let Some(shell) = &self.shell {
            let status = shell.status();
            last = status.last.map_or(0, |command| command.id);
            match status.state {
                State::Exited(ended) => before = Some(ended),
                // Somebody was faster, and both get the same.
                _ => {
                    self.give_up(&id, "already_open");
                    return Ok(Opened { shell: shell.clone(), before: None });
                }
            }
        }
        let opened = Shell::open_as(&self.ground.store, id.clone(), grant.after(last), PATIENCE).await;
        let shell = opened.map_err(|error| {
            self.give_up(&id, code(&error));
            unopened(&self.name, &error)
        })?;
        self.watch(&shell);
        if let Some(old) = self.shell.replace(shell.clone()) {
            past::retire(&self.ground, &self.name, old.terminal(), shell.terminal().id()).await;
        }
        self.start_anew(before);
        Ok(Opened { shell, before: self.before.clone() })
    }

    /// What was allowed and prepared for a terminal that will not be.
    fn give_up(&self, id: &TerminalId, code: &str) {
        let _ = self.ground.audit.write(&Entry::NotStarted { terminal: id.clone(), code: code.to_owned() });
        temporary::remove_of_terminal(&self.ground.state, id.as_str());
    }

    async fn news(&mut self, subject: Subject) -> Result<(News, Receipt), Refusal> {
        self.settle().await;
        let Some(shell) = self.shell.clone() else { return Err(Refusal::unknown(&self.name, &[])) };
        let command = subject.command;
        let teller = self.told.teller(subject);
        let passed = shell.news(command, self.told.place(command), teller, |teller, part| teller.take(part));
        let passed = passed.await.map_err(|error| Refusal::failed("the output cannot be read", error))?;
        let (news, told) = passed.state.finish(passed.dropped);
        let (confirmed, is_confirmed) = oneshot::channel();
        let receipt = Receipt { shell, upto: told.last(), confirmed };
        self.owed = Some((is_confirmed, told));
        Ok((news, receipt))
    }

    async fn unseen(&mut self, command: u64) -> Result<u64, Refusal> {
        self.settle().await;
        let Some(shell) = &self.shell else { return Err(Refusal::unknown(&self.name, &[])) };
        let from = self.told.place(command);
        // Those that are as they were told, as far as they come first.
        let known = self.told.open(command).to_vec().into_iter().peekable();
        let passed = shell.news(command, from, (from.line, Some(known)), |(line, known), part| {
            let same = match (part, known.as_mut()) {
                (Part::Lines(now, times), Some(known)) => {
                    (0..times).take_while(|_| known.next_if(|told| told == now.text).is_some()).count() as u64
                }
                _ => 0,
            };
            *line += same;
            if !matches!(part, Part::Lines(_, times) if times == same) {
                *known = None;
            }
        });
        let passed = passed.await.map_err(|error| Refusal::failed("the output cannot be read", error))?;
        Ok(passed.state.0)
    }
}

/// A stable word.
fn code(error: &ShellError) -> &'static str {
    match error {
        ShellError::Create(error) => error.code(),
        ShellError::Read(_) => "read",
        ShellError::NotAShell => "not_a_shell",
        ShellError::Exited(_) => "exited",
    }
}

fn unopened(name: &str, error: &ShellError) -> Refusal {
    let text = match error {
        ShellError::Exited(ended) => format!(
            "the shell of terminal {name:?} {} before its first prompt; look at its start-up files, or open one with \
             another shell: {}",
            outcome::how(ended),
            hint::open_plain(name),
        ),
        error => format!("terminal {name:?} cannot be opened: {error}"),
    };
    Refusal::new("not_opened", text)
}

/// All shells of a seat, the oldest first, by the names that they have there. What was never started, because its creator
/// was killed on the way, is none of them.
pub(super) fn seated(store: &Store, seat: &str) -> std::io::Result<Vec<(String, Terminal)>> {
    let found = store.list()?.into_iter().filter_map(|found| found.terminal.ok());
    let ours = found.filter_map(|terminal| {
        let name = terminal.meta().integration.as_ref().filter(|meta| meta.seat == seat)?.name.clone();
        (!was_never_started(&terminal)).then_some((name, terminal))
    });
    Ok(ours.collect())
}

fn was_never_started(terminal: &Terminal) -> bool {
    terminal.look().is_ok_and(|look| look.phase == Phase::NotStarted)
}
