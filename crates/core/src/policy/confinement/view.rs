//! Directories that hold hidden names, as commands see them: with everything but those.
//!
//! A mount over a hidden file goes when the file is replaced outside, as whoever writes credentials does it; so what is
//! covered is the directory around it. What is put there later is not seen, whatever its name; what is replaced later is
//! seen as it was when the command started, and directories in it are the same ones as outside.

use super::{Draft, c_path, identity, is_within};
use crate::policy::existing::{Holding, Listing, Listings};
use crate::policy::machine::Means;
use rustix::fs::{Access, AtFlags, CWD};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, DirEntry};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use wharf_shim::confine::{Entry, Look, Mount};

/// Each name is a mount. A directory with more of them than this is left as it is, with mounts over what is hidden in it.
const MOST: usize = 1000;

/// Names that are left out, by directory.
pub(super) type Views = BTreeMap<PathBuf, BTreeSet<OsString>>;

impl Draft<'_> {
    /// The directories that need a view.
    pub(super) fn views(&self, is_gone: impl Fn(&Path) -> bool) -> Views {
        let mut views = Views::new();
        for Holding { real, names, .. } in &self.holding {
            views.entry(real.clone()).or_default().extend(names.iter().cloned());
        }
        for found in &self.hidden {
            let (Some(parent), Some(name)) = (found.real.parent(), found.real.file_name()) else { continue };
            views.entry(parent.to_owned()).or_default().insert(name.to_owned());
        }
        views.retain(|path, _| !is_gone(path) && self.can_be_viewed(path));
        views
    }

    /// Not where commands write, since what they made would be nowhere; and only where this user could replace something.
    fn can_be_viewed(&self, path: &Path) -> bool {
        let is_written =
            self.writable.iter().chain(&self.stores.layered).any(|spot| is_within(path, &spot.path))
                || self.ground.roots.iter().any(|root| is_within(path, root.path()));
        let is_hidden = self.hidden.iter().any(|hidden| is_within(path, &hidden.real));
        path != Path::new("/") && !is_written && !is_hidden && !self.is_anothers(path) && may_change(path)
    }

    /// Directories in which a hidden name could appear later, by this user's doing.
    pub(super) fn could_hold_more(&self) -> Vec<&Path> {
        self.holding.iter().map(|holding| holding.real.as_path()).filter(|path| may_change(path)).collect()
    }
}

impl Draft<'_> {
    /// In the home of somebody else, of which root can see many, each name is a mount. What is there is hidden one by one.
    fn is_anothers(&self, path: &Path) -> bool {
        let places = self.ground.places;
        let own = places.real_home().into_iter().chain(places.homes.own.as_deref());
        let is_in = |home: &Path| is_within(path, home);
        places.homes.others.iter().any(|home| is_in(home)) && !own.into_iter().any(is_in)
    }
}

/// Whether this user can put something into a directory, or make it so.
fn may_change(path: &Path) -> bool {
    rustix::fs::accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok() || is_own(path)
}

fn is_own(path: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(path).is_ok_and(|meta| meta.uid() == own)
}

/// Views that were drawn up before.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    known: Mutex<HashMap<PathBuf, View>>,
}

#[derive(Debug)]
struct View {
    listing: Listing,
    left_out: BTreeSet<OsString>,
    means: Means,
    mount: Mount,
}

impl Drawn {
    /// The view of a directory, or nothing if it cannot be listed or holds too much. Without its listing, if nobody could
    /// say later whether the directory has changed.
    pub(super) fn view(
        &self,
        path: &Path,
        left_out: BTreeSet<OsString>,
        means: Means,
        listings: &Listings,
    ) -> Result<Option<(Mount, Option<Listing>)>, String> {
        let listing = listings.of(path);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = known.get(path)
            && (Some(view.listing), view.means, &view.left_out) == (listing, means, &left_out)
        {
            return Ok(Some((view.mount.clone(), listing)));
        }
        let Some(mount) = view(path, &left_out, means)? else { return Ok(None) };
        // What was listed is what it was before and is after.
        let listing = listing.filter(|listing| listings.of(path) == Some(*listing));
        if let Some(listing) = listing {
            known.insert(path.to_owned(), View { listing, left_out, means, mount: mount.clone() });
        }
        Ok(Some((mount, listing)))
    }
}

fn view(path: &Path, left_out: &BTreeSet<OsString>, means: Means) -> Result<Option<Mount>, String> {
    let (Ok(meta), Ok(listed)) = (fs::symlink_metadata(path), fs::read_dir(path)) else { return Ok(None) };
    let mut entries = Vec::new();
    for entry in listed {
        let Ok(entry) = entry else { return Ok(None) };
        let name = entry.file_name();
        if !left_out.contains(&name) && !is_copy(&name, |of| left_out.contains(of)) {
            entries.extend(shown(&entry));
        }
        if entries.len() > MOST {
            return Ok(None);
        }
    }
    // In a user namespace, which there is where Landlock does not do, no other owner can be named.
    let names_owners = rustix::process::geteuid().is_root() && means != (Means::Mounts { landlock: 0 });
    let owner = names_owners.then(|| (meta.uid(), meta.gid()));
    let look = Look { mode: meta.mode() & 0o777, owner };
    Ok(Some(Mount::View { path: c_path(path)?, is: identity(path)?, look, entries: entries.into() }))
}

/// Whether a name is that of something hidden and an ending, as programs and people call what they write before it is in
/// place, or keep of what was there before: `.netrc.tmp`, `.npmrc.123`, `.netrc~`, `.ssh.bak`.
pub(super) fn is_copy(name: &OsStr, is_hidden: impl Fn(&OsStr) -> bool) -> bool {
    let bytes = name.as_bytes();
    let ends = (1..bytes.len()).filter(|at| matches!(bytes[*at], b'.' | b'~'));
    ends.map(|at| OsStr::from_bytes(&bytes[..at])).any(is_hidden)
}

/// Sockets, pipes and devices of others are nobody's business.
fn shown(entry: &DirEntry) -> Option<Entry> {
    let (name, kind) = (c_name(&entry.file_name())?, entry.file_type().ok()?);
    if kind.is_dir() {
        Some(Entry::Directory(name))
    } else if kind.is_file() {
        Some(Entry::File(name))
    } else if kind.is_symlink() {
        let target = c_name(fs::read_link(entry.path()).ok()?.as_os_str())?;
        Some(Entry::Link { name, target })
    } else {
        None
    }
}

fn c_name(name: &OsStr) -> Option<CString> {
    CString::new(name.as_bytes()).ok()
}

/// Devices that programs cannot do without and that lead nowhere.
pub(super) const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// A `/dev` with nothing else in it, where Landlock does not keep commands from the rest.
pub(super) fn devices() -> Result<Mount, String> {
    let (path, name) = (Path::new("/dev"), |text: &str| CString::new(text).unwrap_or_default());
    let link = |text, target| Entry::Link { name: name(text), target: name(target) };
    let mut entries: Vec<Entry> = DEVICES.map(|device| Entry::File(name(device))).into();
    entries.extend(["pts", "shm"].map(|dir| Entry::Empty(name(dir))));
    entries.push(Entry::Blank(name("console")));
    entries.extend([
        link("ptmx", "pts/ptmx"),
        link("fd", "/proc/self/fd"),
        link("stdin", "/proc/self/fd/0"),
        link("stdout", "/proc/self/fd/1"),
        link("stderr", "/proc/self/fd/2"),
    ]);
    let look = Look { mode: 0o755, owner: None };
    Ok(Mount::View { path: c_path(path)?, is: identity(path)?, look, entries: entries.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_something_hidden_are_told_by_their_names() {
        let is = |name: &str| is_copy(OsStr::new(name), |of| of == ".netrc" || of == ".ssh" || of == "key");
        let copies = [".netrc.tmp", ".netrc~", ".netrc.1234.new", ".ssh.bak", "key.old", ".netrc.~1~"];
        for name in copies {
            assert!(is(name), "{name}");
        }
        for name in
            [".netrc", ".netrcs", ".sshd", ".gitconfig", "keys.old", ".", "..", "~", "a.key", "monkey.x"]
        {
            assert!(!is(name), "{name}");
        }
    }
}
