//! The client's side: terminals for the agent at the other end of one connection.
//!
//! A [`Host`] knows which sessions there are, which terminals belong to each, and how a request becomes a wharf terminal.
//! It takes the protocol's typed requests and gives its typed answers; who carries them is not its business
//! ([`TerminalService`] plugs it into an SDK connection). What it remembers of a terminal that has ended is its name and its
//! limit: the rest is in the journal.

mod command;
mod entry;
mod environment;
mod event;
mod issued;
mod judging;
mod making;
mod output;
mod refusal;
mod service;
mod session;
mod slot;

pub use event::Event;
pub use service::TerminalService;
pub(crate) use service::answer;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    ClientCapabilities, CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest,
    KillTerminalResponse, ReleaseTerminalRequest, ReleaseTerminalResponse, SessionId, TerminalExitStatus,
    TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};
use entry::{Entry, Until};
use issued::Issued;
use judging::Judging;
use making::{Making, Unclaimed};
use serde_json::json;
use session::Sessions;
use slot::{Slot, Slots};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};
use wharf_core::policy::{Answer, Asker, Audit, Judge, Question, SessionPlace, Unrestricted};
use wharf_core::{Store, Terminal, TerminalId};

/// Kept for an agent that names no limit.
pub const DEFAULT_OUTPUT_LIMIT: u64 = 1 << 20;
/// Never more than this in one answer, whatever an agent asks for: peers drop a connection over a message of 32 MiB, and
/// one byte of output can take six in JSON.
pub const MAX_OUTPUT_LIMIT: u64 = 4 << 20;

/// Agents wait for the answer to a kill, some of them not for long.
const GRACE: Duration = Duration::from_secs(2);

/// Who ends a terminal, in its journal: the agent, the end of its session, or the end of everything.
const AGENT: &str = "agent";
const SESSION: &str = "session end";
const HOST: &str = "host end";

/// Terminals that are made or taken away at the same time: each needs descriptors, and a thread of the runtime's pool.
const AT_ONCE: usize = 16;

/// Terminals for one connection to an agent. Cheap to clone; all clones are the same host.
///
/// Everything that runs is ended when [`Host::end`] is called, when the connection of a [`TerminalService`] ends, when the
/// last clone of both this and its store is dropped, and, with the `wharf-shim` program as holder, also when this process is
/// killed.
#[derive(Clone)]
pub struct Host {
    shared: Arc<Shared>,
}

struct Shared {
    store: Store,
    settings: Settings,
    issued: Issued,
    sessions: Mutex<Sessions>,
    making: Making,
    judging: Judging,
    turns: Semaphore,
    /// Terminals that may still be started, if there is a limit.
    slots: Slots,
}

/// What an embedder decides once.
#[derive(Clone)]
struct Settings {
    environment: Vec<(OsString, OsString)>,
    shell: Option<PathBuf>,
    agent: String,
    default_limit: u64,
    max_limit: u64,
    grace: Duration,
    observer: Option<Observer>,
    judge: Arc<dyn Judge>,
    asker: Option<Asker>,
    audit: Option<Arc<Audit>>,
    max_terminals: Option<usize>,
}

type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

impl Host {
    /// A host whose terminals are kept in `store`. Commands get an empty environment until [`Host::env`] says otherwise.
    /// Set it up with the methods below before it is used or cloned: each gives another host, with nothing open.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self::with(
            store,
            Settings {
                environment: Vec::new(),
                shell: None,
                agent: "agent".to_owned(),
                default_limit: DEFAULT_OUTPUT_LIMIT,
                max_limit: MAX_OUTPUT_LIMIT,
                grace: GRACE,
                observer: None,
                judge: Arc::new(Unrestricted),
                asker: None,
                audit: None,
                max_terminals: None,
            },
        )
    }

    fn with(store: Store, settings: Settings) -> Self {
        let (issued, sessions, making) = (Issued::default(), Mutex::default(), Making::default());
        let (judging, turns) = (Judging::default(), Semaphore::new(AT_ONCE));
        let slots = Slots::default();
        let shared = Shared { store, settings, issued, sessions, making, judging, turns, slots };
        Self { shared: Arc::new(shared) }
    }

    /// Changes a setting. A host is set up before it is used: what was opened before is not taken along.
    fn set(self, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = self.shared.settings.clone();
        change(&mut settings);
        Self::with(self.shared.store.clone(), settings)
    }

    /// The variables that every command inherits, usually those of this process. An agent's own values and the defaults
    /// that keep commands from waiting for a person win over them.
    #[must_use]
    pub fn env<N, V>(self, variables: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<OsString>,
        V: Into<OsString>,
    {
        self.set(|settings| {
            settings.environment =
                variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        })
    }

    /// The shell that reads command lines; bash if there is one in the usual places, else `/bin/sh`.
    #[must_use]
    pub fn shell(self, path: impl Into<PathBuf>) -> Self {
        self.set(|settings| settings.shell = Some(path.into()))
    }

    /// What the agent is called, for people who look at its terminals.
    #[must_use]
    pub fn agent(self, name: impl Into<String>) -> Self {
        self.set(|settings| settings.agent = name.into())
    }

    /// How much output an answer holds if the agent names no limit, and at most. Never more than [`MAX_OUTPUT_LIMIT`].
    #[must_use]
    pub fn output_limits(self, default: u64, max: u64) -> Self {
        self.set(|settings| {
            settings.max_limit = max.min(MAX_OUTPUT_LIMIT);
            settings.default_limit = default.min(settings.max_limit);
        })
    }

    /// How long a command may take to end when it is killed or released, before it is made to. Two seconds if not said.
    #[must_use]
    pub fn grace(self, grace: Duration) -> Self {
        self.set(|settings| settings.grace = grace)
    }

    /// Is told of everything that happens, in order for each terminal. Must not block for long.
    #[must_use]
    pub fn observe(self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.set(|settings| settings.observer = Some(Arc::new(observer)))
    }

    /// Who decides what may run. Everything may, if not said.
    #[must_use]
    pub fn judge(self, judge: impl Judge + 'static) -> Self {
        self.set(|settings| settings.judge = Arc::new(judge))
    }

    /// How somebody is asked whether a command may run, if the judge wants that. Whoever drops the future that is given
    /// back withdraws the question. Not needed in a [`Relay`](crate::Relay) or a [`component`](crate::component()), which ask
    /// their client; elsewhere, what needs to be asked is refused without it.
    #[must_use]
    pub fn ask<F>(self, asker: impl Fn(Question) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Answer> + Send + 'static,
    {
        self.set(|settings| settings.asker = Some(Arc::new(move |question| Box::pin(asker(question)))))
    }

    /// Where every decision and every end is written down. What cannot be written down is not started.
    #[must_use]
    pub fn audit(self, audit: Arc<Audit>) -> Self {
        self.set(|settings| settings.audit = Some(audit))
    }

    /// How many terminals may run at the same time; what is asked for beyond is refused. As many as there is room for, if not
    /// said.
    #[must_use]
    pub fn max_terminals(self, count: usize) -> Self {
        self.set(|settings| settings.max_terminals = Some(count))
    }

    /// What a client with this host may announce. Add its other capabilities to it.
    #[must_use]
    pub fn capabilities() -> ClientCapabilities {
        ClientCapabilities::new().terminal(true)
    }

    /// Says that a session exists and where its commands start. Again for the same session: they start there from now on.
    /// [`Host::new_session`] does so for a new one; do it before `session/load` or `session/resume` is sent: from then on the
    /// agent may ask for terminals.
    pub fn open_session(&self, id: impl Into<SessionId>, cwd: impl Into<PathBuf>) {
        let (session, cwd) = (id.into(), cwd.into());
        let opened = self.sessions().open(session.clone(), cwd.clone());
        if opened {
            self.tell(&Event::SessionOpened { session, cwd });
        }
    }

    /// Whether a session is open.
    #[must_use]
    pub fn has_session(&self, id: &SessionId) -> bool {
        self.sessions().cwd(id).is_ok()
    }

    /// Closes a session: its terminals are invalid from the call on, and gone when the future is done (or some seconds
    /// after, if it is dropped).
    pub fn close_session(&self, id: &SessionId) -> impl Future<Output = ()> + Send + 'static {
        let entries = self.sessions().close(id);
        self.release_all(entries, SESSION)
    }

    /// Closes every session and opens none any more.
    pub fn end(&self) -> impl Future<Output = ()> + Send + 'static {
        let entries = self.sessions().close_all();
        let (made, released) = (self.shared.making.over(), self.release_all(entries, HOST));
        async move {
            released.await;
            // What was being made finds its session closed, and is taken away before it counts as made.
            made.await;
        }
    }

    /// `terminal/create`. If the future is dropped before it is done, nothing stays of it.
    pub fn create(
        &self,
        request: CreateTerminalRequest,
    ) -> impl Future<Output = Result<CreateTerminalResponse, Error>> + Send + 'static {
        let cwd = self.sessions().cwd(&request.session_id);
        let making = self.shared.making.begin();
        let host = self.clone();
        async move {
            let (mut answer, made) = oneshot::channel();
            // Goes on if nobody waits any more: what is half made must be made to be taken away.
            tokio::spawn(async move {
                let made = match cwd {
                    Ok(cwd) => host.make(&request, cwd, answer.closed()).await,
                    Err(error) => Err(error),
                };
                if let Err(error) = &made {
                    let (session, command) = (request.session_id.clone(), command::words(&request));
                    host.tell(&Event::Refused { session, command, error: error.clone() });
                }
                let _ = answer.send(made.map(|entry| Unclaimed::new(entry, &host)));
                drop(making);
            });
            let made = made.await.map_err(|_| refusal::internal("the terminal could not be made"))?;
            let entry = made?.claim().ok_or_else(|| refusal::internal("the terminal is gone"))?;
            let about = json!({ "wharf": entry.about().json() });
            Ok(CreateTerminalResponse::new(entry.id().as_str().to_owned()).meta(about.as_object().cloned()))
        }
    }

    /// `unwanted` is done when nobody waits for it any more. From when it is allowed to run, that is too late.
    async fn make(
        &self,
        request: &CreateTerminalRequest,
        cwd: PathBuf,
        unwanted: impl Future<Output = ()>,
    ) -> Result<Arc<Entry>, Error> {
        let settings = &self.shared.settings;
        let spec = command::spec(settings, request, cwd.clone())?;
        let id = self.shared.issued.issue(&request.session_id).map_err(refusal::of_io)?;
        let slot = self.take_slot(request, &cwd)?;
        let place = SessionPlace { cwd: cwd.clone(), key: request.session_id.to_string() };
        let grant = self.permit(request, spec, cwd, &id, unwanted).await?;
        let before = settings.judge.settings(&place);
        let turn = self.shared.turns.acquire().await;
        let created = self.shared.store.create_as(id.clone(), grant).await;
        let terminal = created.map_err(|error| self.not_started(id, error))?;
        let limit = request.output_byte_limit.unwrap_or(settings.default_limit).min(settings.max_limit);
        let entry = Arc::new(Entry::new(&terminal, request.session_id.clone(), limit, slot, before));
        // Told before anybody can ask about it: whoever records it misses nothing.
        self.tell(&Event::Created { session: request.session_id.clone(), terminal: terminal.clone() });
        let added = self.sessions().add(entry.clone());
        if let Err(error) = added {
            drop(turn);
            self.release_all(vec![entry], SESSION).await;
            return Err(error);
        }
        entry.track(self);
        Ok(entry)
    }

    fn take_slot(&self, request: &CreateTerminalRequest, cwd: &Path) -> Result<Slot, Error> {
        let settings = &self.shared.settings;
        let place = SessionPlace { cwd: cwd.to_owned(), key: request.session_id.to_string() };
        let there = settings.judge.most_terminals(&place);
        self.shared.slots.take(settings.max_terminals, cwd, there).map_err(refusal::too_many)
    }

    /// `terminal/output`. Reads files, which takes a few milliseconds at most.
    pub fn output(&self, request: &TerminalOutputRequest) -> Result<TerminalOutputResponse, Error> {
        let entry = self.entry(&request.session_id, &request.terminal_id.0)?;
        let terminal = entry.open(&self.shared.store).map_err(refusal::of_read)?;
        let answer = output::answer(&terminal, entry.limit()).map_err(refusal::of_read)?;
        let about = answer.exit_status.as_ref().and_then(|status| entry.in_the_end(failed(status)));
        Ok(answer.meta(about))
    }

    /// `terminal/wait_for_exit`. Any number may wait; dropping one changes nothing for the others.
    pub fn wait_for_exit(
        &self,
        request: &WaitForTerminalExitRequest,
    ) -> impl Future<Output = Result<WaitForTerminalExitResponse, Error>> + Send + 'static {
        let terminal = self.find(&request.session_id, &request.terminal_id.0);
        let entry = self.entry(&request.session_id, &request.terminal_id.0);
        async move {
            let (terminal, entry) = (terminal?, entry?);
            let ended = terminal.keep_awake(terminal.wait()).await.map_err(refusal::of_control)?;
            let status = output::known_status(&ended)?;
            let about = entry.in_the_end(failed(&status));
            Ok(WaitForTerminalExitResponse::new(status).meta(about))
        }
    }

    /// `terminal/kill`. Done when nothing of the tree is left and the end can be read, also if it had ended before.
    pub fn kill(
        &self,
        request: &KillTerminalRequest,
    ) -> impl Future<Output = Result<KillTerminalResponse, Error>> + Send + 'static {
        let terminal = self.find(&request.session_id, &request.terminal_id.0);
        async move {
            terminal?.kill(AGENT, None).await.map_err(refusal::of_control)?;
            Ok(KillTerminalResponse::new())
        }
    }

    /// `terminal/release`. The name is invalid from the call on; done when nothing runs and nobody finds it any more. Its files
    /// are deleted after that; [`Host::end`] waits for it. Goes on if it is dropped.
    pub fn release(
        &self,
        request: &ReleaseTerminalRequest,
    ) -> impl Future<Output = Result<ReleaseTerminalResponse, Error>> + Send + 'static {
        let released = self.begin_release(&request.session_id, &request.terminal_id.0);
        async move {
            released?.await?;
            Ok(ReleaseTerminalResponse::new())
        }
    }

    /// The terminal of that name in that session, running or ended, until it is released.
    #[must_use]
    pub fn terminal(&self, session: &SessionId, id: &str) -> Option<Terminal> {
        self.find(session, id).ok()
    }

    /// The handler that answers the five methods on a connection of the SDK. When the connection ends, so does everything
    /// that was started through this host: one host for one connection.
    #[must_use]
    pub fn service(&self) -> TerminalService {
        TerminalService::new(self.clone())
    }

    fn find(&self, session: &SessionId, id: &str) -> Result<Terminal, Error> {
        self.entry(session, id)?.open(&self.shared.store).map_err(refusal::of_read)
    }

    fn entry(&self, session: &SessionId, id: &str) -> Result<Arc<Entry>, Error> {
        self.sessions().get(session, id).ok_or_else(|| refusal::unknown_terminal(id))
    }

    fn begin_release(
        &self,
        session: &SessionId,
        id: &str,
    ) -> Result<impl Future<Output = Result<(), Error>> + Send + 'static, Error> {
        let taken = self.sessions().take(session, id);
        let entry = match taken {
            Some(entry) => Some(entry),
            // Released before, by the agent or with its session: that was asked for, and is so.
            None if self.was_issued(session, id) => None,
            None => return Err(refusal::unknown_terminal(id)),
        };
        let host = self.clone();
        Ok(async move {
            match entry {
                Some(entry) => entry.release(&host, AGENT, Until::Hidden).await,
                None => Ok(()),
            }
        })
    }

    /// Takes a terminal away that its agent never heard of. Begins at the call.
    fn give_up(&self, entry: &Arc<Entry>) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        self.sessions().take(entry.session(), entry.id().as_str());
        entry.release(self, AGENT, Until::Gone)
    }

    fn was_issued(&self, session: &SessionId, id: &str) -> bool {
        TerminalId::parse(id).is_some_and(|id| self.shared.issued.is_ours(session, &id))
    }

    fn release_all(
        &self,
        entries: Vec<Arc<Entry>>,
        author: &'static str,
    ) -> impl Future<Output = ()> + Send + 'static {
        let host = self.clone();
        // All at once: their graces run side by side.
        let releases: Vec<_> =
            entries.into_iter().map(|entry| entry.release(&host, author, Until::Gone)).collect();
        async move {
            for release in releases {
                let _ = release.await;
            }
        }
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.shared.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, event: &Event) {
        match event {
            Event::Ended { id, ended, .. } => self.record_end(id, ended),
            Event::Settings { id, changes, .. } => self.record_changes(id, changes),
            _ => {}
        }
        if let Some(observer) = &self.shared.settings.observer {
            observer(event);
        }
    }
}

fn failed(status: &TerminalExitStatus) -> bool {
    status.exit_code != Some(0)
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("store", &self.shared.store).finish_non_exhaustive()
    }
}
