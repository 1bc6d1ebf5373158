//! One terminal: what is known of it from its journal, and what its holder can be asked.
//!
//! Reading never talks to the holder; waiting does, and falls back on the journal when the holder is gone.

mod control;
mod input;
mod known;
mod read;
mod wait;

pub use input::Input;
pub use known::{Look, Phase};
pub use read::{Newest, Output, Reader, Step};

use crate::client::Client;
use crate::end::Ended;
use crate::error::ReadError;
use crate::id::TerminalId;
use crate::store::{Meta, Store, open_events, open_file, read_meta};
use known::Known;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use tokio::sync::watch;
use wharf_shim::journal::OUT;
use wharf_shim::journal::file::Access;

/// A handle to one terminal. Cheap to clone. It keeps its [`Store`] open, and with the last handle to a store that
/// created terminals go those that were to end with their owner.
#[derive(Debug, Clone)]
pub struct Terminal {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    id: TerminalId,
    store: Store,
    dir: PathBuf,
    socket: PathBuf,
    meta: Meta,
    events: File,
    out: File,
    /// What the records have said so far; they are read once each.
    known: Mutex<Known>,
    /// The end, once somebody has seen it.
    ended: OnceLock<Ended>,
    /// Held by the one waiter that talks to the holder on behalf of all. In the program that created the terminal, the
    /// connection on which its holder tells the end unasked.
    waiting: tokio::sync::Mutex<Option<Client>>,
    /// Closed when the holder has let go of its lock; used only where its socket is gone.
    let_go: OnceLock<watch::Receiver<()>>,
    /// The runtime that connection needs in order to hear anything.
    runtime: OnceLock<tokio::runtime::Id>,
}

impl Terminal {
    pub(crate) fn open(id: TerminalId, store: &Store) -> Result<Self, ReadError> {
        let dir = store.dir(&id);
        let meta = Meta::from_json(&read_meta(&dir)?)?;
        let (events, out) = (open_events(&dir)?, open_file(&dir, OUT, Access::Read)?);
        let shared = Shared {
            socket: store.socket(id.as_str()),
            store: store.clone(),
            id,
            dir,
            meta,
            events,
            out,
            known: Mutex::default(),
            ended: OnceLock::new(),
            waiting: tokio::sync::Mutex::default(),
            let_go: OnceLock::new(),
            runtime: OnceLock::new(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Says where its holder will tell the end.
    pub(crate) fn is_told(&self, creator: Client) {
        let _ = self.shared.runtime.set(tokio::runtime::Handle::current().id());
        // Nobody waits for a terminal that is just being made.
        if let Ok(mut told) = self.shared.waiting.try_lock() {
            *told = Some(creator);
        }
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> &TerminalId {
        &self.shared.id
    }

    /// What was asked for.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.shared.meta
    }

    pub(crate) fn events(&self) -> &File {
        &self.shared.events
    }

    /// Where its journal is.
    pub(crate) fn dir(&self) -> &Path {
        &self.shared.dir
    }

    /// Whether its files are still in the store.
    fn is_stored(&self) -> bool {
        self.shared.dir.exists()
    }

    /// Brings it to its end if its holder died.
    async fn settle(&self) -> Result<(), ReadError> {
        let (id, dir) = (self.shared.id.clone(), self.shared.dir.clone());
        let task = tokio::task::spawn_blocking(move || crate::store::settle(id.as_str(), &dir));
        task.await.map_err(|error| ReadError::Io(io::Error::other(error)))?
    }
}
