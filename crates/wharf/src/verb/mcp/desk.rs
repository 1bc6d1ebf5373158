//! The shells of one agent, by name. Joined when they are first asked for.

use super::past;
use super::permit::Granted;
use super::refusal::Refusal;
use super::seat::Seat;
use super::slot::{self, Ask, Ground, Here, Opened, Receipt};
use super::told::{News, Subject};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};
use wharf_core::policy::Audit;
use wharf_core::{Phase, Store, Terminal, TerminalId};

/// All of an agent's.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) store: Store,
    pub(super) state: PathBuf,
    /// What all of it is about.
    pub(super) project: PathBuf,
    pub(super) audit: Arc<Audit>,
    /// The name that was said with `--as`.
    shared: Option<String>,
    /// Taken with the first call, because only then the client's name is known in every era of the protocol.
    seat: Mutex<Option<Arc<Seat>>>,
    slots: Mutex<HashMap<String, mpsc::Sender<Ask>>>,
    /// Names whose terminals are being opened, and may not be listed yet.
    opening: Arc<Mutex<Vec<String>>>,
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
        project: PathBuf,
        audit: Audit,
        shared: Option<String>,
    ) -> Self {
        let (audit, seat, slots) = (Arc::new(audit), Mutex::default(), Mutex::default());
        Self { store, state, project, audit, shared, seat, slots, opening: Arc::default() }
    }

    /// The seat, taken for that client if it has none yet.
    pub(super) fn sit(&self, client: &str) -> Result<Arc<Seat>, Refusal> {
        let mut seat = self.seat.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seat) = seat.as_ref() {
            return Ok(seat.clone());
        }
        let taken = match &self.shared {
            Some(name) => Seat::share(&self.project, name),
            None => Seat::claim(&self.state, &self.project, client)
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
