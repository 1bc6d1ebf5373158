//! Ends that the audit log is owed. Whoever starts a command may not be there when it ends: it is detached, or the starter
//! is killed. So a file with the terminal's name is put down before the start, and whoever sees the end first, or passes by
//! later, writes it and takes the file away.

use crate::place::Place;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use wharf_core::policy::audit::Entry;
use wharf_core::{CreateError, Ended, Phase, ReadError, Store, TerminalId};
use wharf_shim::journal::file::{self, Access};

fn dir(state: &Path) -> PathBuf {
    state.join("owed")
}

/// Whoever holds this is making the terminal, so that nobody takes it for one that is gone. Dropped, or with a creator
/// that was killed, it is let go by the kernel.
#[derive(Debug)]
pub(crate) struct Noted {
    _locked: File,
}

/// The end of this terminal will have to be written.
pub(crate) fn note(state: &Path, id: &TerminalId) -> io::Result<Noted> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir(state))?;
    loop {
        let file = file::open(&dir(state).join(id.as_str()), Access::Make)?;
        flock(&file, FlockOperation::LockExclusive)?;
        // Somebody who passed by before it was locked may have taken it away.
        if file.metadata()?.nlink() > 0 {
            return Ok(Noted { _locked: file });
        }
    }
}

/// It has none, because it did not begin.
pub(crate) fn not_started(place: &Place, id: &TerminalId, error: &CreateError) {
    let entry = Entry::NotStarted { terminal: id.clone(), code: error.code().to_owned() };
    let _ = pay(place, id, || Some(entry));
}

/// It has ended. Written down or not: its journal has it too.
pub(crate) fn ended(place: &Place, id: &TerminalId, ended: &Ended) {
    let entry = Entry::End { terminal: id.clone(), ended: ended.clone() };
    let _ = pay(place, id, || Some(entry));
}

/// Brings those to their end whose holder died, so that whoever uses wharf at all ends what such a holder left. Little work
/// while they run.
pub(crate) fn sweep(place: &Place, store: &Store) {
    for id in all(place) {
        let _ = store.settled(&id);
    }
}

fn all(place: &Place) -> Vec<TerminalId> {
    let entries = fs::read_dir(dir(&place.dirs.state)).into_iter().flatten().flatten();
    entries.filter_map(|entry| TerminalId::parse(entry.file_name().to_str()?)).collect()
}

/// Writes those that are known by now.
pub(crate) fn settle(place: &Place, store: &Store) {
    for id in all(place) {
        let phase = || store.get(&id).and_then(|terminal| terminal.look()).map(|look| look.phase);
        match phase() {
            Ok(Phase::Ended(end)) => ended(place, &id, &end),
            Ok(Phase::NotStarted) | Err(ReadError::NotFound) if !is_being_made(place, &id) => match phase() {
                Ok(Phase::NotStarted) => {
                    let entry = Entry::NotStarted { terminal: id.clone(), code: "not_started".to_owned() };
                    let _ = pay(place, &id, || Some(entry));
                }
                // Nobody will ever know.
                Err(ReadError::NotFound) => drop(pay(place, &id, || None)),
                // Made meanwhile.
                _ => {}
            },
            _ => {}
        }
    }
}

/// Whether its creator is at work on it.
fn is_being_made(place: &Place, id: &TerminalId) -> bool {
    let file = file::open(&dir(&place.dirs.state).join(id.as_str()), Access::Read);
    file.is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK))
}

/// Writes an entry once, whoever else is about to: only who has the file's lock while the file is there does.
fn pay(place: &Place, id: &TerminalId, entry: impl FnOnce() -> Option<Entry>) -> io::Result<()> {
    let path = dir(&place.dirs.state).join(id.as_str());
    let file = file::open(&path, Access::Read)?;
    flock(&file, FlockOperation::LockExclusive)?;
    if file.metadata()?.nlink() == 0 {
        return Ok(());
    }
    if let Some(entry) = entry() {
        place
            .audit()
            .map_err(|failure| io::Error::other(failure.message))?
            .write(&entry)
            .map_err(io::Error::other)?;
    }
    fs::remove_file(&path)
}
