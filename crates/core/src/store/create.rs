//! Making a terminal: files first, then the holder, and nothing left if either fails.
//!
//! The files are made in a hidden directory, with the lock already taken, and appear under the terminal's name in one
//! step. So whoever sees a terminal sees it locked, and a creator that dies on the way leaves only what `tidy` removes.

use super::meta::Meta;
use super::{Holder, Store};
use crate::error::CreateError;
use crate::grant::Grant;
use crate::id::TerminalId;
use crate::spec::OnOwnerExit;
use crate::terminal::Terminal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FlockOperation;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::PoisonError;
use wharf_shim::failpoint;
use wharf_shim::journal::{EVENTS, META, OUT};
use wharf_shim::launch::{self, Descriptors, Idle, LaunchError, Launched};

impl Store {
    pub(super) fn create_blocking(&self, grant: Grant) -> Result<Terminal, CreateError> {
        let id = TerminalId::random()?;
        let made = self.make(&id, grant);
        if made.is_err() {
            // Whatever came into being goes; if that fails too, tidying will find it.
            let _ = fs::remove_dir_all(self.hidden(&id));
            let _ = self.remove(&id);
        }
        made
    }

    fn make(&self, id: &TerminalId, grant: Grant) -> Result<Terminal, CreateError> {
        let plan = grant.plan(id.as_str(), self.shared.cgroup.clone())?;
        let meta = Meta::new(id, &grant);
        let (events, out) = self.make_files(id, &meta)?;
        let listener = UnixListener::bind(self.socket(id))?;
        fs::rename(self.hidden(id), self.dir(id))?;
        failpoint::hit("create.after_files");
        let descriptors = Descriptors { cwd: grant.cwd, events, out, listener };
        let launched = match &self.shared.holder {
            Holder::Thread => launch::hold_on_thread(plan, descriptors)?,
            Holder::Process(shim) => self.idle_shim(shim)?.hold(&plan, &descriptors)?,
        };
        failpoint::hit("create.after_start");
        if plan_ends_with_owner(grant.spec.on_owner_exit) {
            self.keep_lease(id, launched);
        }
        Ok(Terminal::open(id.clone(), self).map_err(io::Error::other)?)
    }

    /// A shim that waits for its plan: the spare, or a new one.
    fn idle_shim(&self, shim: &Path) -> Result<Idle, LaunchError> {
        let spare = self.shared.spare.lock().unwrap_or_else(PoisonError::into_inner).take();
        match spare {
            Some(idle) => Ok(idle),
            None => start_shim(shim),
        }
    }

    fn hidden(&self, id: &TerminalId) -> std::path::PathBuf {
        self.shared.terminals.join(format!(".new-{id}"))
    }

    fn make_files(&self, id: &TerminalId, meta: &Meta) -> io::Result<(File, File)> {
        let dir = self.hidden(id);
        DirBuilder::new().mode(0o700).create(&dir)?;
        let events = new_file(&dir.join(EVENTS))?;
        rustix::fs::flock(&events, FlockOperation::NonBlockingLockExclusive)?;
        failpoint::hit("create.after_lock");
        let out = new_file(&dir.join(OUT))?;
        new_file(&dir.join(META))?.write_all(&meta.to_json()?)?;
        Ok((events, out))
    }

    fn keep_lease(&self, id: &TerminalId, launched: Launched) {
        let mut leases = self.leases();
        // Holders that are done have closed their side; their leases are let go here, where new ones come in.
        let closed: Vec<bool> = {
            let mut fds: Vec<PollFd<'_>> =
                leases.values().map(|stream| PollFd::new(stream, PollFlags::RDHUP)).collect();
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            let _ = poll(&mut fds, Some(&now));
            fds.iter().map(|fd| !fd.revents().is_empty()).collect()
        };
        let mut closed = closed.into_iter();
        leases.retain(|_, _| !closed.next().unwrap_or(false));
        leases.insert(id.clone(), launched.owner);
    }
}

fn plan_ends_with_owner(on_exit: OnOwnerExit) -> bool {
    on_exit == OnOwnerExit::Kill
}

/// Starts a shim and sees to it that it is waited for when it ends.
fn start_shim(path: &Path) -> Result<Idle, LaunchError> {
    let failed = |source| LaunchError::Shim { path: path.display().to_string(), source };
    let (command, idle) = launch::shim(path).map_err(failed)?;
    let mut child = tokio::process::Command::from(command).spawn().map_err(failed)?;
    tokio::spawn(async move { child.wait().await });
    Ok(idle)
}

fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}
