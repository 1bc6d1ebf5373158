//! Temporary directories of sandboxed commands: one for each conversation, so that one command finds what another left.
//!
//! They lie in the state directory, behind a lock that lives as long as this process. What a killed process left is found
//! by its free lock and removed by the next one that looks.

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use std::collections::HashMap;
use std::fs::{self, DirBuilder, DirEntry, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wharf_shim::probe;

/// All of this process.
#[derive(Debug)]
pub(crate) struct Temporary {
    base: PathBuf,
    _lock: File,
    by_session: Mutex<HashMap<String, PathBuf>>,
}

impl Temporary {
    /// A place for them below the state directory.
    pub(crate) fn under(state: &Path) -> io::Result<Self> {
        let all = state.join("tmp");
        make(&all)?;
        remove_stale(state, &all);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let base = all.join(format!("{}-{now}", std::process::id()));
        make(&base)?;
        let lock = File::open(&base)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { base, _lock: lock, by_session: Mutex::default() })
    }

    /// That of a conversation.
    pub(crate) fn of(&self, session: &str) -> io::Result<PathBuf> {
        let mut known = self.by_session.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = known.get(session) {
            return Ok(path.clone());
        }
        let path = self.base.join(known.len().to_string()).join(FILES);
        make(&path)?;
        known.insert(session.to_owned(), path.clone());
        Ok(path)
    }
}

/// Where layers of a session keep what is written, beside its temporary files: a command sees those, and not these.
pub(crate) fn layers(temp: &Path) -> PathBuf {
    temp.with_file_name(LAYERS)
}

/// That of a terminal which may outlive this process: it goes some time after the terminal.
pub fn of_terminal(state: &Path, id: &str) -> io::Result<PathBuf> {
    let path = state.join("tmp").join(format!("{OF_TERMINAL}{id}")).join(FILES);
    make(&path)?;
    Ok(path)
}

/// Removes that of a terminal of which nothing runs any more.
pub fn remove_of_terminal(state: &Path, id: &str) {
    // If something cannot be removed now, whoever looks next finds it.
    remove(&state.join("tmp").join(format!("{OF_TERMINAL}{id}")));
}

/// Removes those whose terminal is gone, and those of killed processes.
pub fn remove_orphans(state: &Path) {
    remove_stale(state, &state.join("tmp"));
    // What earlier versions left of trying layers, and what killed processes leave.
    for entry in fs::read_dir(state).into_iter().flatten().flatten() {
        let tried = entry.file_name().as_bytes().starts_with(probe::LAYERS.as_bytes());
        if tried && !is_young(&entry) {
            remove(&entry.path());
        }
    }
}

const OF_TERMINAL: &str = "run-";
const FILES: &str = "files";
const LAYERS: &str = "layers";

/// Nobody takes this long from making a directory to using it.
const YOUNG: Duration = Duration::from_secs(60);

impl Drop for Temporary {
    fn drop(&mut self) {
        // If something cannot be removed now, whoever looks next finds it.
        remove(&self.base);
    }
}

/// Also directories that commands have closed to everybody, themselves included, as Go does with packages.
fn remove(path: &Path) {
    if fs::remove_dir_all(path).is_err() {
        open_all(path);
        let _ = fs::remove_dir_all(path);
    }
}

fn open_all(path: &Path) {
    if path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        let _ = fs::set_permissions(path, PermissionsExt::from_mode(0o700));
        fs::read_dir(path).into_iter().flatten().flatten().for_each(|entry| open_all(&entry.path()));
    }
}

fn make(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn is_young(entry: &DirEntry) -> bool {
    let age = entry.metadata().and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
    age.is_none_or(|age| age < YOUNG)
}

fn remove_stale(state: &Path, all: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        // Whoever has just made one has not locked it yet, or has no terminal for it yet.
        if is_young(&entry) {
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        let free = match name.strip_prefix(OF_TERMINAL) {
            Some(id) => !state.join("terminals").join(id).exists(),
            None => open_dir(&entry.path())
                .is_ok_and(|dir| flock(&dir, FlockOperation::NonBlockingLockExclusive).is_ok()),
        };
        if free {
            remove(&entry.path());
        }
    }
}

/// Nobody waits for a pipe that lies there, and no link is followed.
fn open_dir(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_keeps_its_directory_and_others_have_their_own() {
        let state = tempfile::tempdir().unwrap();
        let temporary = Temporary::under(state.path()).unwrap();
        let (a, b) = (temporary.of("a").unwrap(), temporary.of("b").unwrap());
        assert_ne!(a, b);
        assert_eq!(temporary.of("a").unwrap(), a);
        assert!(a.is_dir() && b.is_dir());
        drop(temporary);
        assert!(!a.exists() && !b.exists());
    }

    #[test]
    fn what_commands_have_closed_goes_too() {
        let state = tempfile::tempdir().unwrap();
        let temporary = Temporary::under(state.path()).unwrap();
        let own = temporary.of("a").unwrap();
        for (below, mode) in [("package/inner", 0o555), ("package", 0o555), ("closed", 0)] {
            make(&own.join(below)).unwrap();
            fs::set_permissions(own.join(below), PermissionsExt::from_mode(mode)).unwrap();
        }
        make(&layers(&own).join("x/0/files")).unwrap();
        drop(temporary);
        assert_eq!(fs::read_dir(state.path().join("tmp")).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_process_left_goes_and_what_a_living_one_uses_stays() {
        let state = tempfile::tempdir().unwrap();
        let living = Temporary::under(state.path()).unwrap();
        let used = living.of("a").unwrap();
        let left = state.path().join("tmp/1-1");
        make(&left.join("0")).unwrap();
        fs::write(left.join("0/file"), "x").unwrap();
        let long_ago = SystemTime::now() - 2 * YOUNG;
        File::open(&left).unwrap().set_modified(long_ago).unwrap();
        let other = Temporary::under(state.path()).unwrap();
        assert!(!left.exists());
        assert!(used.is_dir());
        drop(other);
        assert!(used.is_dir());
    }
}
