//! The shells of one agent, by name. Joined when they are first asked for.

use super::past;
use super::permit::Granted;
use super::refusal::Refusal;
use super::seat::Seat;
use super::slot::{self, Ask, Ground, Here, Opened, Receipt};
use super::told::{News, Subject};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};
use wharf_core::policy::audit::Entry;
use wharf_core::policy::{Audit, Extra, Settings};
use wharf_core::{Meta, Phase, Store, Terminal, TerminalId};

/// All of an agent's.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) store: Store,
    pub(super) state: PathBuf,
    start: PathBuf,
    chosen: Chosen,
    /// What all of it is about.
    work: Mutex<Arc<Work>>,
    pub(super) audit: Arc<Audit>,
    /// The name that was said with `--as`.
    shared: Option<String>,
    /// Taken with the first call, because only then the client's name is known in every era of the protocol.
    seat: Mutex<Option<Arc<Seat>>>,
    slots: Mutex<HashMap<String, mpsc::Sender<Ask>>>,
    /// What makes programs outside run something, as it was told last.
    settings: Mutex<Option<Settings>>,
    /// Whether it was said what the sandbox does not hold on this machine.
    is_said: AtomicBool,
    /// Names whose terminals are being opened, and may not be listed yet.
    opening: Arc<Mutex<Vec<String>>>,
}

/// How the directory came about that the server was started in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chosen {
    /// Somebody said `--cwd`.
    ByPerson,
    /// It is where the client has started the server.
    ByStart,
}

/// The directories that the agent works in.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// Where terminals begin, and by which they are found again.
    pub(super) project: PathBuf,
    /// Others that the client has named.
    pub(super) more: Vec<PathBuf>,
    /// Why commands cannot write in the project, and what to do about it.
    pub(super) wide: Option<String>,
}

/// A terminal that is being opened counts as one that is open, for as long as this is there.
#[derive(Debug)]
pub(super) struct Opening {
    name: String,
    all: Arc<Mutex<Vec<String>>>,
}

impl Drop for Opening {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = all.iter().position(|name| *name == self.name) {
            all.swap_remove(at);
        }
    }
}

impl Desk {
    pub(super) fn new(
        store: Store,
        state: PathBuf,
        (start, chosen): (PathBuf, Chosen),
        audit: Audit,
        shared: Option<String>,
    ) -> Self {
        let (audit, seat, slots) = (Arc::new(audit), Mutex::default(), Mutex::default());
        Self {
            store,
            state,
            start,
            chosen,
            work: Mutex::default(),
            audit,
            shared,
            seat,
            slots,
            settings: Mutex::default(),
            is_said: AtomicBool::new(false),
            opening: Arc::default(),
        }
    }

    /// The directories that the agent works in now.
    pub(super) fn work(&self) -> Arc<Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Where terminals begin.
    pub(super) fn project(&self) -> PathBuf {
        self.work().project.clone()
    }

    /// The client works in these, if it has named any. The project does not change once terminals were looked for by it.
    pub(super) fn work_in(
        &self,
        roots: Option<Vec<PathBuf>>,
        too_wide: impl FnOnce(&Path) -> Option<String>,
    ) {
        let roots = roots.unwrap_or_default();
        let is_named = roots.iter().any(|root| self.start.starts_with(root));
        let is_seated = self.seat.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let project = match roots.first() {
            _ if is_seated => self.project(),
            Some(first) if self.chosen == Chosen::ByStart && !is_named => first.clone(),
            _ => self.start.clone(),
        };
        let wide = too_wide(&project).map(|why| {
            format!("{why}. To name one, the person starts `wharf mcp --cwd DIR`; until then only temporary files can be written")
        });
        let more = roots.into_iter().filter(|root| *root != project).collect();
        *self.work.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(Work { project, more, wide });
    }

    /// Remembers what makes programs outside run something, if that was not done yet.
    pub(super) fn watch(&self, look: impl FnOnce() -> Option<Settings>) {
        let mut settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        if settings.is_none() {
            *settings = look();
        }
    }

    /// What of it was made or changed since the last answer that told of it, in words; written down, too.
    pub(super) fn changed_settings(&self, terminal: &TerminalId) -> Vec<String> {
        let mut settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        let changes = settings.as_mut().map(Settings::news).unwrap_or_default();
        for change in &changes {
            let _ = self.audit.write(&Entry::Settings { terminal: terminal.clone(), change: change.clone() });
        }
        changes.iter().map(ToString::to_string).collect()
    }

    /// What is in force in a shell that was just opened; and once, what should be and is not on this machine.
    pub(super) fn sandbox_notes(&self, meta: &Meta) -> Vec<String> {
        let note = Some(meta.sandbox_note.clone()).filter(|note| !note.is_empty());
        let missing: Vec<&str> =
            meta.not_held.iter().filter_map(|code| Extra::from_code(code)).map(Extra::missing).collect();
        let says = !missing.is_empty() && !self.is_said.swap(true, Ordering::Relaxed);
        let missing = says.then(|| format!("not held on this machine: {}", missing.join("; ")));
        note.into_iter().chain(missing).collect()
    }

    /// The seat, taken for that client if it has none yet.
    pub(super) fn sit(&self, client: &str) -> Result<Arc<Seat>, Refusal> {
        let mut seat = self.seat.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seat) = seat.as_ref() {
            return Ok(seat.clone());
        }
        let project = self.project();
        let taken = match &self.shared {
            Some(name) => Seat::share(&project, name),
            None => Seat::claim(&self.state, &project, client)
                .map_err(|error| Refusal::failed("there is no place for this client's terminals", error))?,
        };
        Ok(seat.insert(Arc::new(taken)).clone())
    }

    fn slot(&self, seat: &Seat, name: &str) -> mpsc::Sender<Ask> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let start = || slot::start(self.ground(seat), name.to_owned());
        slots.entry(name.to_owned()).or_insert_with(start).clone()
    }

    fn ground(&self, seat: &Seat) -> Ground {
        let (store, audit, state) = (self.store.clone(), self.audit.clone(), self.state.clone());
        Ground { store, audit, state, seat: seat.name().to_owned() }
    }

    async fn ask<T>(
        &self,
        seat: &Seat,
        name: &str,
        ask: impl FnOnce(oneshot::Sender<Result<T, Refusal>>) -> Ask,
    ) -> Result<T, Refusal> {
        let gone = || Refusal::failed("the terminal cannot be asked", "it was closed");
        let (to, answer) = oneshot::channel();
        self.slot(seat, name).send(ask(to)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// The shell of that name, alive or ended.
    pub(super) async fn look(&self, seat: &Seat, name: &str) -> Result<Option<Here>, Refusal> {
        self.ask(seat, name, Ask::Look).await
    }

    /// Room for one more under that name; the names of those that are open, if there are so many already.
    pub(super) fn reserve(
        &self,
        seat: &Seat,
        name: &str,
        most: usize,
    ) -> Result<Result<Opening, Vec<String>>, Refusal> {
        // Looked at and entered in one step: two that come at once do not both find the last place free.
        let mut opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let alive = |phase: &Phase| matches!(phase, Phase::Starting | Phase::Running { .. });
        let listed = self.terminals(seat)?.into_iter();
        let open = listed.filter(|(_, terminal)| terminal.look().is_ok_and(|look| alive(&look.phase)));
        let mut taken: BTreeSet<String> = open.map(|(name, _)| name).collect();
        taken.extend(opening.iter().cloned());
        if !taken.contains(name) && taken.len() >= most {
            return Ok(Err(taken.into_iter().collect()));
        }
        opening.push(name.to_owned());
        Ok(Ok(Opening { name: name.to_owned(), all: self.opening.clone() }))
    }

    /// Opens one, unless somebody just has.
    pub(super) async fn open(&self, seat: &Seat, name: &str, granted: Granted) -> Result<Opened, Refusal> {
        self.ask(seat, name, |to| Ask::Open(Box::new(granted), to)).await
    }

    /// What the agent has not been told of a command, as far as it may be shown.
    pub(super) async fn news(
        &self,
        seat: &Seat,
        name: &str,
        subject: Subject,
    ) -> Result<(News, Receipt), Refusal> {
        self.ask(seat, name, |to| Ask::News(subject, to)).await
    }

    /// The number of the first line of a command that the agent has not seen as it is now.
    pub(super) async fn unseen(&self, seat: &Seat, name: &str, command: u64) -> Result<u64, Refusal> {
        self.ask(seat, name, |to| Ask::Unseen(command, to)).await
    }

    /// A command of a shell that had that name before this one.
    pub(super) async fn past(
        &self,
        seat: &Seat,
        name: &str,
        (now, command): (&TerminalId, u64),
    ) -> Result<past::Known, Refusal> {
        let found = past::find(&self.ground(seat), name, now, command).await;
        found.map_err(|error| Refusal::failed("the terminals cannot be listed", error))
    }

    /// Everything that was told of a name is forgotten, and whoever had it before the one that is closed.
    pub(super) async fn forget(&self, seat: &Seat, name: &str, closed: &TerminalId) {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        past::forget(&self.ground(seat), name, closed).await;
    }

    /// The agent's terminals, the oldest first; of several with one name the newest.
    pub(super) fn terminals(&self, seat: &Seat) -> Result<Vec<(String, Terminal)>, Refusal> {
        let found = slot::seated(&self.store, seat.name())
            .map_err(|error| Refusal::failed("the terminals cannot be listed", error))?;
        let mut all: Vec<(String, Terminal)> = Vec::new();
        for (name, terminal) in found {
            all.retain(|(known, _)| *known != name);
            all.push((name, terminal));
        }
        Ok(all)
    }

    pub(super) fn names(&self, seat: &Seat) -> Result<Vec<String>, Refusal> {
        Ok(self.terminals(seat)?.into_iter().map(|(name, _)| name).collect())
    }
}
