//! The store: a directory of terminals, which is also the registry.
//!
//! `<state>/terminals/<id>/{meta, events, out, socket}`. Directories whose names begin with a dot are on their way in or
//! out. There is no index and no daemon: to list is to read the directory. The holder's socket is beside the journal, so
//! that whoever can read a terminal can reach it: what a login brings with it and takes away plays no part.

mod create;
mod file;
mod meta;
mod pool;
mod retention;
mod sandbox;
mod settle;

pub(crate) use file::{open as open_file, open_events, read_meta};
pub use meta::Meta;
pub use retention::{Retention, Tidied};
pub(crate) use settle::settle;

use crate::client::Client;
use crate::error::{ControlError, CreateError, OpenError, ReadError};
use crate::grant::Grant;
use crate::id::TerminalId;
use crate::terminal::Terminal;
use rustix::fs::{Mode, OFlags};
use std::collections::HashMap;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::UnixStream;
use wharf_shim::journal::SOCKET;
use wharf_shim::journal::read::is_held;
use wharf_shim::launch::{PATIENCE, Returning};
use wharf_shim::wire::message::{Refusal, Reply, Request};

/// Where a store keeps things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dirs {
    /// Journals, and the sockets beside them; survives a reboot, and is on a file system that can hold sockets.
    pub state: PathBuf,
}

impl Dirs {
    /// Everything under one directory.
    #[must_use]
    pub fn under(dir: impl Into<PathBuf>) -> Self {
        Self { state: dir.into() }
    }
}

/// Who holds new terminals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// A process of its own for each, this program.
    Process(PathBuf),
    /// A thread of this process for each; see the crate's documentation for what that gives up.
    Thread,
}

impl Holder {
    /// The `wharf-shim` that is installed beside this program, or else a thread.
    #[must_use]
    pub fn found() -> Self {
        let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join("wharf-shim")));
        match beside.filter(|path| path.is_file()) {
            Some(path) => Self::Process(path),
            None => Self::Thread,
        }
    }
}

/// Whether a shim is kept ready, those whose terminals are over used again, and the sandbox of one command entered by the
/// next that is to have exactly the same. Each shim costs about 100 KB while it waits, and leaves with its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spares {
    /// No.
    None,
    /// One, from the first terminal on, and up to eight that have held a terminal before.
    One,
}

/// A directory of terminals. Cheap to clone; all clones are the same store.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    terminals: PathBuf,
    /// Keeps `/proc/self/fd/N` valid, by which long socket paths are reached.
    terminals_fd: OwnedFd,
    holder: Holder,
    cgroup: Option<PathBuf>,
    keep_spare: bool,
    /// A shim that waits for its plan.
    spare: Mutex<Option<pool::Ready>>,
    /// Shims that hold terminals of this store and are asked to come back.
    away: Mutex<Vec<Returning>>,
    /// Sandboxes that can be entered.
    sandboxes: sandbox::Sandboxes,
    /// Whether it has been tried, or is being tried, what becomes of orphans.
    tried_orphan: AtomicBool,
    /// Whether nobody reaps them, as far as is known.
    unreaped: AtomicBool,
    /// The owner's connections of terminals created here that are to end with this process.
    leases: Mutex<HashMap<TerminalId, Arc<UnixStream>>>,
}

/// One entry of a listing.
#[derive(Debug)]
pub struct Found {
    /// Its name.
    pub id: TerminalId,
    /// The terminal, or why it cannot be read.
    pub terminal: Result<Terminal, ReadError>,
}

impl Store {
    /// Opens a store, making its directories if they are not there.
    pub fn open(dirs: Dirs, holder: Holder) -> Result<Self, OpenError> {
        Self::open_with(dirs, holder, Spares::None)
    }

    /// As [`Store::open`], for a program that creates many terminals: with a spare, the next one starts without
    /// waiting for its holder to get ready.
    pub fn open_with(dirs: Dirs, holder: Holder, spares: Spares) -> Result<Self, OpenError> {
        let terminals = dirs.state.join("terminals");
        for dir in [&dirs.state, &terminals] {
            make_private(dir)?;
        }
        let terminals_fd = open_dir(&terminals)?;
        let shared = Shared {
            terminals,
            terminals_fd,
            holder,
            cgroup: wharf_shim::tree::cgroup::parent(),
            keep_spare: spares == Spares::One,
            spare: Mutex::default(),
            away: Mutex::default(),
            sandboxes: sandbox::Sandboxes::default(),
            tried_orphan: AtomicBool::new(false),
            unreaped: AtomicBool::new(false),
            leases: Mutex::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Starts what was granted. Returns as soon as the command runs. If the future is dropped before, nothing is
    /// left of the terminal.
    pub async fn create(&self, grant: Grant) -> Result<Terminal, CreateError> {
        self.create_as(TerminalId::random()?, grant).await
    }

    /// As [`Store::create`], under a name chosen beforehand. Of two creators with one name, one succeeds.
    pub async fn create_as(&self, id: TerminalId, grant: Grant) -> Result<Terminal, CreateError> {
        let store = self.clone();
        // A task of its own goes on if nobody waits any more: what is half made must be made to be taken away.
        let task = tokio::spawn(async move { store.make(id, grant).await.map(Unclaimed::new) });
        match task.await {
            Ok(made) => made.and_then(Unclaimed::claim),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(error) => Err(CreateError::Files(io::Error::other(error))),
        }
    }

    /// The terminal of that name.
    pub fn get(&self, id: &TerminalId) -> Result<Terminal, ReadError> {
        Terminal::open(id.clone(), self)
    }

    /// Whether there is a terminal of that name, at the cost of one look at a directory. It may be damaged.
    #[must_use]
    pub fn has(&self, id: &TerminalId) -> bool {
        self.shared.terminals.join(id.as_str()).is_dir()
    }

    /// The terminal of that name, brought to its end if its holder died. Nothing is read of one that is held.
    pub fn settled(&self, id: &TerminalId) -> Result<Terminal, ReadError> {
        let terminal = self.get(id)?;
        if terminal.is_held()? {
            return Ok(terminal);
        }
        terminal.settled()
    }

    /// All terminals, the oldest first. Those whose holder died are brought to their end on the way.
    pub fn list(&self) -> io::Result<Vec<Found>> {
        let mut found: Vec<(u64, Found)> = self
            .ids()?
            .into_iter()
            .map(|id| {
                let terminal = self.get(&id).and_then(Terminal::settled);
                let created = terminal.as_ref().map_or(0, |t| t.meta().created_ms);
                (created, Found { id, terminal })
            })
            // Gone between listing and looking: then it is not there.
            .filter(|(_, found)| !matches!(found.terminal, Err(ReadError::NotFound)))
            .collect();
        found.sort_by(|(a, x), (b, y)| (a, &x.id).cmp(&(b, &y.id)));
        Ok(found.into_iter().map(|(_, found)| found).collect())
    }

    /// The names of all terminals, in no order.
    pub fn ids(&self) -> io::Result<Vec<TerminalId>> {
        let names = fs::read_dir(&self.shared.terminals)?.flatten();
        Ok(names.filter_map(|entry| TerminalId::parse(entry.file_name().to_str()?)).collect())
    }

    /// Ends and forgets a terminal whose files are damaged so that [`Store::get`] cannot open it. What it ran is ended by its
    /// holder, or by what is left of its records.
    pub async fn discard(&self, id: &TerminalId) -> Result<(), ControlError> {
        let kill = Request::Kill { grace_ms: Some(0), author: "release".to_owned() };
        let held = || open_events(&self.dir(id)).is_ok_and(|file| is_held(&file).unwrap_or(false));
        let answer = match Client::connect(&self.socket(id.as_str())).await {
            Ok(mut holder) => {
                let asked = tokio::time::timeout(PATIENCE, holder.ask(&kill)).await;
                asked.map_err(|_| ControlError::Unreachable(io::ErrorKind::TimedOut.into()))?
            }
            Err(error) => Err(error),
        };
        match answer {
            // Nothing of it is left, also if its end could not be written.
            Ok(Reply::Killed { .. } | Reply::Refused(Refusal::System(_))) => {}
            Ok(Reply::Refused(refusal)) => return Err(refusal.into()),
            Ok(_) => return Err(ControlError::Unreachable(io::ErrorKind::InvalidData.into())),
            Err(error) if held() => return Err(ControlError::Unreachable(error)),
            Err(_) => {
                let (id, dir) = (id.clone(), self.dir(id));
                // What is damaged is swept all the same.
                let _ = tokio::task::spawn_blocking(move || settle(id.as_str(), &dir)).await;
            }
        }
        self.hide(id).map_err(ControlError::Kept)?.deleted().await.map_err(ControlError::Kept)
    }

    /// Removes what has been kept long enough. Safe to call by any program at any time.
    pub fn tidy(&self, retention: &Retention) -> io::Result<Tidied> {
        retention::tidy(self, retention)
    }

    pub(crate) fn dir(&self, id: &TerminalId) -> PathBuf {
        self.shared.terminals.join(id.as_str())
    }

    /// The path of the socket in one of the terminals' directories, in a form that fits into an address whatever the length
    /// of the directory's name.
    pub(crate) fn socket(&self, dir: &str) -> PathBuf {
        /// An address holds 108 bytes with its final NUL.
        const LONGEST: usize = 107;
        let path = self.shared.terminals.join(dir).join(SOCKET);
        if path.as_os_str().len() <= LONGEST {
            return path;
        }
        PathBuf::from(format!("/proc/self/fd/{}/{dir}/{SOCKET}", self.shared.terminals_fd.as_raw_fd()))
    }

    /// Takes a terminal's files away. True if they were there.
    pub(crate) fn remove(&self, id: &TerminalId) -> io::Result<bool> {
        self.hide(id)?.delete()
    }

    /// Takes a terminal out of sight in one step, so that nobody finds half of it.
    pub(crate) fn hide(&self, id: &TerminalId) -> io::Result<Remains> {
        self.leases().remove(id);
        let gone = self.shared.terminals.join(format!(".gone-{id}"));
        let renamed = match fs::rename(self.dir(id), &gone) {
            // Remains of another terminal that had this name.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                ignore_missing(fs::remove_dir_all(&gone))?;
                fs::rename(self.dir(id), &gone)
            }
            renamed => renamed,
        };
        match renamed {
            Ok(()) => {
                wharf_shim::failpoint::hit("release.after_rename");
                Ok(Remains { dir: Some(gone) })
            }
            // Somebody else has removed it, and the name may be a new terminal's by now.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Remains::default()),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn leases(&self) -> MutexGuard<'_, HashMap<TerminalId, Arc<UnixStream>>> {
        self.shared.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is left of a terminal that was released: files, which nobody finds any more. If they are not deleted, that is
/// done when the store is next tidied.
#[derive(Debug, Default)]
#[must_use]
pub struct Remains {
    dir: Option<PathBuf>,
}

impl Remains {
    /// Deletes them. True if there were any.
    pub(crate) fn delete(self) -> io::Result<bool> {
        self.dir.map_or(Ok(false), |dir| ignore_missing(fs::remove_dir_all(dir)).map(|()| true))
    }

    /// Deletes them.
    pub async fn deleted(self) -> io::Result<()> {
        let task = tokio::task::spawn_blocking(move || self.delete());
        task.await.map_err(io::Error::other)?.map(drop)
    }
}

/// A terminal that nobody has got hold of yet: if nobody ever does, it goes.
struct Unclaimed {
    terminal: Option<Terminal>,
    runtime: tokio::runtime::Handle,
}

impl Unclaimed {
    fn new(terminal: Terminal) -> Self {
        Self { terminal: Some(terminal), runtime: tokio::runtime::Handle::current() }
    }

    fn claim(mut self) -> Result<Terminal, CreateError> {
        self.terminal.take().ok_or(CreateError::Taken)
    }
}

impl Drop for Unclaimed {
    fn drop(&mut self) {
        if let Some(terminal) = self.terminal.take() {
            self.runtime.spawn(async move { terminal.release_with(Some(Duration::ZERO)).await });
        }
    }
}

fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Makes a directory that only its owner may enter, or makes sure that it is one.
fn make_private(path: &Path) -> Result<(), OpenError> {
    let failed = |source| OpenError::Io { path: path.to_owned(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
    let meta = fs::metadata(path).map_err(failed)?;
    let (uid, mode) = (meta.uid(), meta.mode() & 0o7777);
    if uid != rustix::process::geteuid().as_raw() || mode & 0o077 != 0 {
        return Err(OpenError::Unsafe { path: path.to_owned(), uid, mode });
    }
    Ok(())
}

fn open_dir(path: &Path) -> Result<OwnedFd, OpenError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
        .map_err(|errno| OpenError::Io { path: path.to_owned(), source: errno.into() })
}
