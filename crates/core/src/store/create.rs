//! Making a terminal: files first, then the holder, and nothing left if either fails.
//!
//! The files are made in a hidden directory, with the lock already taken, and appear under the terminal's name in one
//! step. So whoever sees a terminal sees it locked, and a creator that dies on the way leaves only what `tidy` removes.

use super::meta::Meta;
use super::pool::{Ready, Started};
use super::{Holder, Store, sandbox};
use crate::client::Client;
use crate::error::{CreateError, ReadError};
use crate::grant::Grant;
use crate::id::TerminalId;
use crate::spec::OnOwnerExit;
use crate::terminal::Terminal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::UnixStream;
use tokio::time::timeout;
use wharf_shim::confine::{Confine, Provision};
use wharf_shim::failpoint;
use wharf_shim::journal::{EVENTS, META, OUT};
use wharf_shim::launch::{self, Descriptors, LaunchError, PATIENCE, Returning, Sent};
use wharf_shim::wire::frame::frame;
use wharf_shim::wire::message::Request;

impl Store {
    /// Nothing is left of it if it fails. Files are made on a thread for such things; for the holder's answer none is kept
    /// waiting.
    pub(super) async fn make(&self, id: TerminalId, grant: Grant) -> Result<Terminal, CreateError> {
        let store = self.clone();
        let begun = tokio::task::spawn_blocking(move || store.begin(id, grant)).await;
        let Begun { mut claim, terminal, sent, started, grant, provision } =
            begun.map_err(|error| CreateError::Files(io::Error::other(error)))??;
        let on_owner_exit = grant.spec.on_owner_exit;
        if let Provision::Offer(_) = provision {
            self.forget_sandbox_later();
        }
        let (owner, returning) = match sent.heard().await {
            Ok(heard) => heard,
            Err(error) => {
                let error = match &self.shared.holder {
                    Holder::Thread => error,
                    Holder::Process(shim) => error.of_new(shim),
                };
                match (&error, started) {
                    // Whatever it is, it has had its time; with it goes what it may have begun.
                    (LaunchError::Silent(_), Some(started)) => started.end().await,
                    (LaunchError::Silent(_), None) => {}
                    _ => claim.made = Made::Name,
                }
                // What a holder has begun and not told may have to be ended, which takes its time.
                let _ = tokio::task::spawn_blocking(move || drop(claim)).await;
                if let (Provision::Join(_), LaunchError::Sandbox { .. }) = (&provision, &error) {
                    self.shared.sandboxes.failed();
                    return Box::pin(self.make(terminal.id().clone(), grant)).await;
                }
                return Err(error.into());
            }
        };
        self.expect_back(returning);
        self.get_ready(on_owner_exit);
        if let Provision::Join(_) = provision {
            self.shared.sandboxes.succeeded();
        }
        failpoint::hit("create.after_start");
        claim.keep();
        if on_owner_exit == OnOwnerExit::Kill {
            self.keep_lease(terminal.id(), owner.stream().clone());
        }
        terminal.is_told(owner);
        Ok(terminal)
    }

    /// Makes the files and gives a holder its plan.
    fn begin(&self, id: TerminalId, grant: Grant) -> Result<Begun, CreateError> {
        let mut plan = grant.plan(id.as_str())?;
        let meta = Meta::new(&id, &grant);
        let descent = self.descent(grant.spec.on_owner_exit);
        // Started first: it gets ready while the files are made.
        let holder = match &self.shared.holder {
            Holder::Thread => None,
            Holder::Process(shim) => Some((shim, self.idle_shim(shim, descent)?)),
        };
        let mut claim = Claim::new(self, &id);
        let (events, out) = claim.files(&meta)?;
        let listener = claim.socket()?;
        claim.name()?;
        failpoint::hit("create.after_files");
        // Opened before anything runs: if this process has no descriptors left, nothing was started.
        let terminal = Terminal::open(id, self).map_err(|error| match error {
            ReadError::Io(error) => error,
            other => io::Error::other(other),
        })?;
        let provision = match self.shared.keep_spare {
            true => self.shared.sandboxes.provide(&grant),
            false => Provision::Own,
        };
        if let Provision::Join(_) = provision {
            plan.confine = plan.confine.map(Confine::standing);
        }
        let cwd = grant.cwd.try_clone()?;
        let descriptors = Descriptors { cwd, events, out, listener, provision: provision.clone() };
        let afterwards = self.afterwards();
        let (sent, started) = match holder {
            None => (launch::hold_on_thread(plan, descriptors, self.shared.cgroup.as_deref())?, None),
            Some((shim, ready)) => match ready.idle.send(&plan, &descriptors, afterwards) {
                // Somebody ended the spare while it waited. It never saw the plan, so nothing is run twice.
                Err(LaunchError::Gone(_)) => {
                    let Ready { idle, started } = self.start_shim(shim, descent)?;
                    let sent = idle.send(&plan, &descriptors, afterwards);
                    (sent.map_err(|error| error.of_new(shim))?, started)
                }
                sent => (sent?, ready.started),
            },
        };
        claim.made = Made::Sent;
        Ok(Begun { sent: Unanswered::new(sent)?, claim, terminal, started, grant, provision })
    }

    /// Descriptors of a sandbox keep file systems in use.
    fn forget_sandbox_later(&self) {
        let shared = Arc::downgrade(&self.shared);
        tokio::spawn(async move {
            let _ = timeout(sandbox::LIFE, std::future::pending::<()>()).await;
            if let Some(shared) = shared.upgrade() {
                shared.sandboxes.forget_old();
            }
        });
    }

    fn keep_lease(&self, id: &TerminalId, owner: Arc<UnixStream>) {
        let mut leases = self.leases();
        // Holders that are done have closed their side; their leases are let go here, where new ones come in.
        let closed: Vec<bool> = {
            let mut fds: Vec<PollFd<'_>> =
                leases.values().map(|stream| PollFd::new(stream.as_ref(), PollFlags::RDHUP)).collect();
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            let _ = poll(&mut fds, Some(&now));
            fds.iter().map(|fd| !fd.revents().is_empty()).collect()
        };
        let mut closed = closed.into_iter();
        leases.retain(|_, _| !closed.next().unwrap_or(false));
        leases.insert(id.clone(), owner);
    }
}

/// A plan that was sent and is not answered. If nobody waits for the answer any more, the holder is told to end what it
/// has begun or may still begin.
struct Unanswered {
    owner: Option<Client>,
    rest: Vec<u8>,
    returning: Option<Returning>,
}

impl Unanswered {
    fn new(sent: Sent) -> Result<Self, LaunchError> {
        let owner = Client::from_std(sent.owner).map_err(LaunchError::Silent)?;
        Ok(Self { owner: Some(owner), rest: sent.rest, returning: sent.returning })
    }

    /// Waits for what the holder says.
    async fn heard(mut self) -> Result<(Client, Option<Returning>), LaunchError> {
        let gone = || LaunchError::Silent(io::ErrorKind::UnexpectedEof.into());
        let owner = self.owner.as_mut().ok_or_else(gone)?;
        let answer = async {
            owner.write(&self.rest).await?;
            self.rest.clear();
            owner.hear(0).await
        };
        let answer = timeout(PATIENCE, answer).await;
        let reply = answer.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        let reply = reply.map_err(LaunchError::Silent)?;
        let owner = self.owner.take().ok_or_else(gone)?;
        launch::started(reply).map(|_| (owner, self.returning.take()))
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        // One that has not got its whole plan can do nothing with it, nor with this.
        if let Some(owner) = self.owner.take().filter(|_| self.rest.is_empty()) {
            let kill = Request::Kill { grace_ms: Some(0), author: "creator".to_owned() };
            let _ = owner.stream().try_write(&frame(&kill.encode(1)));
        }
    }
}

/// A terminal whose holder has been given its plan, and has not answered.
struct Begun {
    sent: Unanswered,
    claim: Claim,
    terminal: Terminal,
    started: Option<Started>,
    grant: Grant,
    provision: Provision,
}

/// What one creator has made of a terminal so far, and takes away again unless it is kept. What another creator
/// of the same name has made is not touched.
struct Claim {
    store: Store,
    id: TerminalId,
    /// The directory's name while it is out of sight.
    hidden: String,
    made: Made,
}

/// How far a creator has come; each step includes those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Made {
    Nothing,
    Files,
    Name,
    /// Its plan is with a holder, who may have begun to carry it out.
    Sent,
}

impl Claim {
    fn new(store: &Store, id: &TerminalId) -> Self {
        let hidden = format!(".new-{id}");
        Self { store: store.clone(), id: id.clone(), hidden, made: Made::Nothing }
    }

    fn dir(&self) -> PathBuf {
        self.store.shared.terminals.join(&self.hidden)
    }

    /// The directory, out of sight, with the lock taken.
    fn files(&mut self, meta: &Meta) -> Result<(File, File), CreateError> {
        let dir = self.dir();
        DirBuilder::new().mode(0o700).create(&dir).map_err(taken)?;
        self.made = Made::Files;
        let events = new_file(&dir.join(EVENTS))?;
        rustix::fs::flock(&events, FlockOperation::NonBlockingLockExclusive).map_err(io::Error::from)?;
        failpoint::hit("create.after_lock");
        let out = new_file(&dir.join(OUT))?;
        new_file(&dir.join(META))?.write_all(&meta.to_json()?)?;
        Ok((events, out))
    }

    /// In the same directory: it gets its name with it, and goes with it.
    fn socket(&self) -> Result<UnixListener, CreateError> {
        let path = self.store.socket(&self.hidden);
        let listener = UnixListener::bind(&path).map_err(|source| self.no_socket(source))?;
        // Nobody else can have come in before this: the directory is closed to others.
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        Ok(listener)
    }

    fn no_socket(&self, source: io::Error) -> CreateError {
        match source.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS) => {
                CreateError::Socket { dir: self.store.shared.terminals.clone(), source }
            }
            _ => CreateError::Files(source),
        }
    }

    /// Into sight, in one step; refused by the system if there is a terminal of that name.
    fn name(&mut self) -> Result<(), CreateError> {
        fs::rename(self.dir(), self.store.dir(&self.id)).map_err(taken)?;
        self.made = Made::Name;
        Ok(())
    }

    fn keep(mut self) {
        self.made = Made::Nothing;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // If something cannot be removed now, tidying will find it.
        if self.made >= Made::Name {
            // A holder that died half-way may have started something.
            let terminal = self.store.get(&self.id).and_then(Terminal::settled);
            let is_held = || terminal.is_ok_and(|terminal| terminal.is_held().unwrap_or(false));
            // One that lives and has not answered still may. Then it can be seen, and ended, like any other.
            if self.made == Made::Name || !is_held() {
                let _ = self.store.remove(&self.id);
            }
            return;
        }
        if self.made >= Made::Files {
            let _ = fs::remove_dir_all(self.dir());
        }
    }
}

fn taken(error: io::Error) -> CreateError {
    match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => CreateError::Taken,
        _ => CreateError::Files(error),
    }
}

fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}
