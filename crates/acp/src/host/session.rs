//! Which sessions there are, where their commands start, and which terminals are theirs.

use super::entry::Entry;
use super::refusal;
use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::SessionId;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;
use wharf_core::TerminalId;

#[derive(Default)]
pub(super) struct Sessions {
    open: HashMap<SessionId, Session>,
    /// On their way out: invalid for everything but being released again, which waits for the same end.
    leaving: HashMap<TerminalId, Arc<Entry>>,
    over: bool,
}

struct Session {
    cwd: PathBuf,
    terminals: HashMap<TerminalId, Arc<Entry>>,
    /// Gone when the session is.
    lives: watch::Sender<()>,
}

impl Sessions {
    /// False if nothing is opened any more.
    pub(super) fn open(&mut self, id: SessionId, cwd: PathBuf) -> bool {
        if self.over {
            return false;
        }
        let session = self.open.entry(id).or_insert_with(|| Session {
            cwd: PathBuf::new(),
            terminals: HashMap::new(),
            lives: watch::Sender::default(),
        });
        session.cwd = cwd;
        true
    }

    pub(super) fn cwd(&self, id: &SessionId) -> Result<PathBuf, Error> {
        self.open.get(id).map(|session| session.cwd.clone()).ok_or_else(|| refusal::unknown_session(id))
    }

    /// Done when the session is closed; at once if there is none.
    pub(super) fn closed(&self, id: &SessionId) -> impl Future<Output = ()> + Send + use<> {
        let lives = self.open.get(id).map(|session| session.lives.subscribe());
        async move {
            let Some(mut lives) = lives else { return };
            while lives.changed().await.is_ok() {}
        }
    }

    /// Refused if the session was closed while the terminal was made.
    pub(super) fn add(&mut self, entry: Arc<Entry>) -> Result<(), Error> {
        let session =
            self.open.get_mut(entry.session()).ok_or_else(|| refusal::unknown_session(entry.session()))?;
        session.terminals.insert(entry.id().clone(), entry);
        Ok(())
    }

    pub(super) fn get(&self, session: &SessionId, id: &str) -> Option<Arc<Entry>> {
        self.open.get(session)?.terminals.get(&TerminalId::parse(id)?).cloned()
    }

    /// Makes a name invalid. What is leaving already is given again.
    pub(super) fn take(&mut self, session: &SessionId, id: &str) -> Option<Arc<Entry>> {
        let id = TerminalId::parse(id)?;
        if let Some(entry) = self.leaving.get(&id).filter(|entry| entry.session() == session) {
            return Some(entry.clone());
        }
        let entry = self.open.get_mut(session)?.terminals.remove(&id)?;
        self.leaving.insert(id, entry.clone());
        Some(entry)
    }

    pub(super) fn gone(&mut self, id: &TerminalId) {
        self.leaving.remove(id);
    }

    /// Its terminals, also those that are leaving already.
    pub(super) fn close(&mut self, id: &SessionId) -> Vec<Arc<Entry>> {
        let Some(session) = self.open.remove(id) else { return Vec::new() };
        let entries = session.terminals.into_values();
        self.leaving.extend(entries.map(|entry| (entry.id().clone(), entry)));
        self.leaving.values().filter(|entry| entry.session() == id).cloned().collect()
    }

    /// Everything, also what is leaving already: whoever ends all waits for all.
    pub(super) fn close_all(&mut self) -> Vec<Arc<Entry>> {
        self.over = true;
        let ids: Vec<_> = self.open.keys().cloned().collect();
        for id in &ids {
            self.close(id);
        }
        self.leaving.values().cloned().collect()
    }
}
