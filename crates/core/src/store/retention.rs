//! How long ended terminals stay, and their removal by whoever passes by.

use super::{Store, file, settle};
use crate::error::ReadError;
use crate::id::TerminalId;
use crate::terminal::{Phase, Terminal};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wharf_shim::journal::format::Damage;
use wharf_shim::journal::read::is_held;
use wharf_shim::tree::cgroup;

/// What is kept of ended terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Since their end.
    pub age: Duration,
    /// Disk space of all ended terminals together; the oldest go first.
    pub total: u64,
}

impl Default for Retention {
    /// A week, and a gibibyte.
    fn default() -> Self {
        Self { age: Duration::from_secs(7 * 24 * 3600), total: 1 << 30 }
    }
}

/// What tidying did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tidied {
    /// Terminals removed.
    pub removed: Vec<TerminalId>,
    /// Disk space given back.
    pub bytes: u64,
}

/// Half-made and half-removed directories are left alone for this long: somebody may be at work on them.
const UNDER_WAY: Duration = Duration::from_secs(60);

pub(super) fn tidy(store: &Store, retention: &Retention) -> io::Result<Tidied> {
    remove_leftovers(store)?;
    let mut tidied = Tidied::default();
    let mut kept = Vec::new();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    for id in store.ids()? {
        let Some(ended) = ended_at(store, &id) else { continue };
        let size = disk_use(&store.dir(&id));
        if now.saturating_sub(ended) > retention.age {
            remove(store, id, size, &mut tidied);
        } else {
            kept.push((ended, id, size));
        }
    }
    kept.sort();
    let mut total: u64 = kept.iter().map(|(.., size)| size).sum();
    for (_, id, size) in kept {
        if total <= retention.total {
            break;
        }
        total -= size;
        remove(store, id, size, &mut tidied);
    }
    Ok(tidied)
}

/// One that cannot be removed keeps none of the others.
fn remove(store: &Store, id: TerminalId, size: u64, tidied: &mut Tidied) {
    if store.remove(&id).unwrap_or(false) {
        tidied.removed.push(id);
        tidied.bytes += size;
    }
}

/// When a terminal ended, since 1970; `None` while anything of it lives or if a later wharf must be asked.
/// One whose holder died is settled on the way; a damaged one counts from its last change.
fn ended_at(store: &Store, id: &TerminalId) -> Option<Duration> {
    let terminal = match store.get(id) {
        Err(ReadError::Damaged(_)) => return abandoned_at(&store.dir(id)),
        terminal => terminal.ok()?,
    };
    if terminal.is_held().ok()? {
        terminal.wake_holder();
        return None;
    }
    match settle(id.as_str(), &store.dir(id)) {
        Err(ReadError::Damaged(Damage::Newer { .. })) => return None,
        Err(ReadError::Damaged(_)) => {
            let changed = terminal.events().metadata().and_then(|meta| meta.modified()).ok()?;
            return changed.duration_since(UNIX_EPOCH).ok();
        }
        settled => settled.ok()?,
    }
    match terminal.look().ok()?.phase {
        Phase::Ended(ended) => Some(Duration::from_nanos(ended.at)),
        Phase::NotStarted => Some(Duration::from_millis(terminal.meta().created_ms)),
        Phase::Starting | Phase::Running { .. } => None,
    }
}

/// The last change of a terminal that cannot even be opened, unless somebody holds it.
fn abandoned_at(dir: &Path) -> Option<Duration> {
    if let Ok(events) = file::open_events(dir)
        && is_held(&events).ok()?
    {
        return None;
    }
    let changed = fs::metadata(dir).and_then(|meta| meta.modified()).ok()?;
    changed.duration_since(UNIX_EPOCH).ok()
}

fn disk_use(dir: &Path) -> u64 {
    let files = fs::read_dir(dir).into_iter().flatten().flatten();
    /// The unit of `st_blocks`, whatever the file system's own.
    const BLOCK: u64 = 512;
    files.filter_map(|file| file.metadata().ok()).map(|meta| meta.blocks() * BLOCK).sum()
}

/// What creators, removers and holders left when they were killed: hidden directories and empty
/// cgroups. What cannot be removed keeps nothing else.
fn remove_leftovers(store: &Store) -> io::Result<()> {
    for entry in fs::read_dir(&store.shared.terminals)?.flatten() {
        let name = entry.file_name();
        let hidden = name.to_str().is_some_and(|n| n.starts_with(".new-") || n.starts_with(".gone-"));
        if hidden && is_old(&entry) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    if let Some(parent) = &store.shared.cgroup {
        cgroup::remove_stale(parent);
    }
    Ok(())
}

fn is_old(entry: &fs::DirEntry) -> bool {
    let changed = entry.metadata().and_then(|meta| meta.modified());
    changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > UNDER_WAY))
}

impl Terminal {
    /// Whether somebody holds it now.
    pub(crate) fn is_held(&self) -> io::Result<bool> {
        is_held(self.events())
    }
}
