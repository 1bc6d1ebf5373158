//! Ends that the audit log is owed. Whoever starts a command may not be there when it ends: it is detached, or the starter
//! is killed. So a file with the terminal's name is put down before the start, and whoever sees the end first, or passes by
//! later, writes it and takes the file away.

use crate::place::Place;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use wharf_core::policy::audit::Entry;
use wharf_core::{CreateError, Ended, Phase, ReadError, Store, TerminalId};

/// Nobody takes this long from putting the file down to having a terminal of that name.
const YOUNG: Duration = Duration::from_secs(60);

fn dir(state: &Path) -> PathBuf {
    state.join("owed")
}

/// The end of this terminal will have to be written.
pub(crate) fn note(state: &Path, id: &TerminalId) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir(state))?;
    File::create(dir(state).join(id.as_str())).map(drop)
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

/// Writes those that are known by now.
pub(crate) fn settle(place: &Place, store: &Store) {
    for entry in fs::read_dir(dir(&place.dirs.state)).into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(TerminalId::parse) else { continue };
        let age = entry.metadata().and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
        match store.get(&id).and_then(|terminal| terminal.look()).map(|look| look.phase) {
            Ok(Phase::Ended(end)) => ended(place, &id, &end),
            // Nobody will ever know.
            Err(ReadError::NotFound) if age.is_some_and(|age| age > YOUNG) => {
                let _ = pay(place, &id, || None);
            }
            _ => {}
        }
    }
}

/// Writes an entry once, whoever else is about to: only who has the file's lock while the file is there does.
fn pay(place: &Place, id: &TerminalId, entry: impl FnOnce() -> Option<Entry>) -> io::Result<()> {
    let path = dir(&place.dirs.state).join(id.as_str());
    let file = File::open(&path)?;
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
