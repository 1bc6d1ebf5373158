//! What a directory holds, by a number: as long as it is the same, nothing in there was made, removed, replaced or renamed.

use super::stamp::{Settled, Stamp};
use rustix::fs::{CWD, Mode, OFlags};
use std::collections::HashMap;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Names what one directory held at one time. Nobody else in this program gives out the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listing(u64);

static COUNT: AtomicU64 = AtomicU64::new(0);

/// Those of directories that were asked for.
#[derive(Debug, Default)]
pub(crate) struct Listings {
    known: Mutex<HashMap<PathBuf, (Stamp, Listing)>>,
    settled: Settled,
}

impl Listings {
    /// That of a directory as it is now; nothing if it has changed just now, or if nobody could say later that it has.
    pub(crate) fn of(&self, path: &Path) -> Option<Listing> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((stamp, listing)) = known.get(path)
            && Stamp::now(CWD, path.as_os_str()) == Some(*stamp)
        {
            return Some(*listing);
        }
        known.remove(path);
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = rustix::fs::open(path, flags, Mode::empty()).ok()?;
        let stamp = self.settled.stamp(dir.as_fd())?;
        let listing = Listing(COUNT.fetch_add(1, Ordering::Relaxed));
        known.insert(path.to_owned(), (stamp, listing));
        Some(listing)
    }
}
