//! What a host remembers of one terminal: an open handle while it runs, and only its name and its limit afterwards.
//!
//! Agents forget terminals. A handle has descriptors, so one that was kept for each would use them up; once a terminal has
//! ended, its journal is opened when somebody asks.

use super::slot::Slot;
use super::{Event, Host, refusal};
use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::SessionId;
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::runtime::Handle;
use tokio::sync::{SemaphorePermit, watch};
use tokio::task::AbortHandle;
use wharf_core::policy::{Change, Settings};
use wharf_core::{ControlError, Ended, Meta, ReadError, Remains, Store, Terminal, TerminalId};

pub(super) struct Entry {
    id: TerminalId,
    session: SessionId,
    about: About,
    limit: usize,
    /// What makes programs outside run something, as it was before.
    before: Mutex<Option<Settings>>,
    /// What of it has changed, once it has ended.
    changes: OnceLock<Vec<Change>>,
    /// While it runs, so that all who wait share one question to its holder.
    live: Mutex<Option<Live>>,
    /// Whether its end was told.
    told: AtomicBool,
    /// How far its release is, once one has begun.
    released: watch::Sender<Release>,
    tracker: Mutex<Option<AbortHandle>>,
}

/// What is said of the sandbox.
#[derive(Debug, Clone, Default)]
pub(super) struct About {
    sandbox: String,
    note: String,
    not_held: Vec<String>,
}

impl About {
    fn of(meta: &Meta) -> Self {
        Self {
            sandbox: meta.sandbox.clone(),
            note: meta.sandbox_note.clone(),
            not_held: meta.not_held.clone(),
        }
    }

    /// For an answer.
    pub(super) fn json(&self) -> Map<String, Value> {
        let mut about = Map::new();
        about.insert("sandbox".to_owned(), json!(self.sandbox));
        if !self.note.is_empty() {
            about.insert("sandboxNote".to_owned(), json!(self.note));
        }
        if !self.not_held.is_empty() {
            about.insert("notHeld".to_owned(), json!(self.not_held));
        }
        about
    }
}

/// A terminal that runs, and its place among those that may at the same time.
struct Live {
    terminal: Terminal,
    _slot: Slot,
}

#[derive(Debug, Clone, Default)]
enum Release {
    #[default]
    NotAsked,
    UnderWay,
    /// Nothing runs and nobody finds it any more; its files are being deleted.
    Hidden,
    Done(Result<(), Error>),
}

/// What whoever asks for a release waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// Nothing runs, and nobody finds it any more.
    Hidden,
    /// Its files are deleted, too.
    Gone,
}

impl Entry {
    pub(super) fn new(
        terminal: &Terminal,
        session: SessionId,
        limit: u64,
        slot: Slot,
        before: Option<Settings>,
    ) -> Self {
        Self {
            id: terminal.id().clone(),
            session,
            about: About::of(terminal.meta()),
            before: Mutex::new(before),
            changes: OnceLock::new(),
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            live: Mutex::new(Some(Live { terminal: terminal.clone(), _slot: slot })),
            told: AtomicBool::new(false),
            released: watch::Sender::default(),
            tracker: Mutex::default(),
        }
    }

    pub(super) fn id(&self) -> &TerminalId {
        &self.id
    }

    pub(super) fn session(&self) -> &SessionId {
        &self.session
    }

    pub(super) fn about(&self) -> &About {
        &self.about
    }

    /// What a terminal that has ended has to be told with: what was changed that runs something, and the sandbox, if it
    /// failed.
    pub(super) fn in_the_end(&self, failed: bool) -> Option<Map<String, Value>> {
        let mut about = if failed && !self.about.note.is_empty() { self.about.json() } else { Map::new() };
        let change = |change: &Change| json!({ "path": change.path.to_string_lossy(), "change": change.kind.word(), "why": change.why });
        let changes: Vec<Value> = self.changes().iter().map(change).collect();
        if !changes.is_empty() {
            about.insert("settings".to_owned(), json!(changes));
        }
        (!about.is_empty()).then(|| Map::from_iter([("wharf".to_owned(), Value::Object(about))]))
    }

    /// Looked for once, when it has ended; nothing is kept for it afterwards.
    fn changes(&self) -> &[Change] {
        self.changes.get_or_init(|| {
            let before = self.before.lock().unwrap_or_else(PoisonError::into_inner).take();
            before.map(|before| before.changes()).unwrap_or_default()
        })
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The handle that is there, or a new one.
    pub(super) fn open(&self, store: &Store) -> Result<Terminal, ReadError> {
        self.running().map_or_else(|| store.get(&self.id), Ok)
    }

    fn running(&self) -> Option<Terminal> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.as_ref().map(|live| live.terminal.clone())
    }

    fn is_live(&self) -> bool {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Lets go of the handle when the terminal has ended. The task holds neither the host nor the entry, so that dropping
    /// them is enough to end everything.
    pub(super) fn track(self: &Arc<Self>, host: &Host) {
        let Some(terminal) = self.running() else { return };
        let (entry, host) = (Arc::downgrade(self), Arc::downgrade(&host.shared));
        let task = tokio::spawn(async move {
            let ended = terminal.keep_awake(terminal.wait()).await;
            let Some(entry) = entry.upgrade() else { return };
            if let (Ok(ended), Some(shared)) = (ended, host.upgrade()) {
                entry.tell_end(&Host { shared }, ended);
            }
            entry.live.lock().unwrap_or_else(PoisonError::into_inner).take();
        });
        *self.tracker.lock().unwrap_or_else(PoisonError::into_inner) = Some(task.abort_handle());
    }

    /// Once, whoever sees it first.
    fn tell_end(&self, host: &Host, ended: Ended) {
        if !self.told.swap(true, Ordering::Relaxed) {
            let changes = self.changes().to_vec();
            let (session, id) = (self.session.clone(), self.id.clone());
            if !changes.is_empty() {
                host.tell(&Event::Settings { session: session.clone(), id: id.clone(), changes });
            }
            host.tell(&Event::Ended { session, id, ended });
        }
    }

    /// Ends and forgets it, once; all who ask wait for the same end. Begins at the call and goes on if nobody waits. If it
    /// fails, whoever asks next begins anew.
    pub(super) fn release(
        self: &Arc<Self>,
        host: &Host,
        author: &'static str,
        until: Until,
    ) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        let begun = self.released.send_if_modified(|state| {
            let begins = matches!(state, Release::NotAsked | Release::Done(Err(_)));
            if begins {
                *state = Release::UnderWay;
            }
            begins
        });
        if begun {
            let (entry, host) = (self.clone(), host.clone());
            let task = async move {
                let done = match entry.end(&host, author).await {
                    Ok((remains, _turn)) => {
                        host.tell(&Event::Released { session: entry.session.clone(), id: entry.id.clone() });
                        entry.released.send_replace(Release::Hidden);
                        // What cannot be deleted now is tidied away later.
                        let _ = remains.deleted().await;
                        host.sessions().gone(&entry.id);
                        Ok(())
                    }
                    Err(error) => Err(refusal::of_control(error)),
                };
                entry.released.send_replace(Release::Done(done));
            };
            match Handle::try_current() {
                Ok(runtime) => drop(runtime.spawn(task)),
                // The runtime is gone: then so is the owner's lease, and the holder ends it.
                Err(_) => drop(self.released.send_replace(Release::Done(Ok(())))),
            }
        }
        let mut released = self.released.subscribe();
        async move {
            let is_enough = |state: &Release| match state {
                Release::NotAsked | Release::UnderWay => false,
                Release::Hidden => until == Until::Hidden,
                Release::Done(_) => true,
            };
            match released.wait_for(is_enough).await.as_deref() {
                Ok(Release::Hidden) => Ok(()),
                Ok(Release::Done(done)) => done.clone(),
                _ => Err(refusal::internal("the release was broken off")),
            }
        }
    }

    /// Its turn is over when its files are deleted.
    async fn end<'a>(
        &self,
        host: &'a Host,
        author: &str,
    ) -> Result<(Remains, Option<SemaphorePermit<'a>>), ControlError> {
        // One that runs has its descriptors already, and all of those end side by side. Of those that have ended there may
        // be thousands, and each is opened for this.
        let turn = if self.is_live() { None } else { host.shared.turns.acquire().await.ok() };
        let terminal = match self.open(&host.shared.store) {
            // Somebody has removed it with `wharf rm`, which ends it too.
            Err(ReadError::NotFound) => return Ok((Remains::default(), turn)),
            opened => opened?,
        };
        let killed = terminal.kill(author, None).await;
        if killed.is_ok()
            && let Ok(ended) = terminal.keep_awake(terminal.wait()).await
        {
            self.tell_end(host, ended);
        }
        // Also after a kill that failed: releasing knows more ways, and says itself what is left.
        Ok((terminal.retire(None).await?, turn))
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(tracker) = self.tracker.lock().unwrap_or_else(PoisonError::into_inner).take() {
            tracker.abort();
        }
    }
}
