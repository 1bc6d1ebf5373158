//! Layers: directories that a command finds as they are and may write, while what it writes stays with its session.
//!
//! An overlay takes its changes in a directory that nothing else may use at the same time. So each layer has numbered
//! slots, and a sandbox has the first that no other has, by a lock that is kept for as long as it stands: what one command
//! leaves there the next one finds, and two sandboxes at the same time find nothing of each other.
//!
//! What surprises: a layer that the kernel does not make of some directory is no fault. The directory stays as it is and
//! cannot be written, which is what matters.

use super::fault::{Fault, Step};
use super::{Confine, Identity, Mount};
use rustix::fs::{FlockOperation, Mode, OFlags, XattrFlags};
use rustix::io::Errno;
use std::ffi::{CString, OsStr};
use std::fs::DirBuilder;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// More terminals than this do not run at the same time in one session.
const SLOTS: usize = 4096;

/// Where changes of one sandbox go, by the mount's place in the confinement.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    taken: Vec<(usize, Slot)>,
}

/// Two directories on the same file system, for this sandbox alone.
#[derive(Debug)]
struct Slot {
    files: (CString, Identity),
    work: (CString, Identity),
    path: PathBuf,
    lock: OwnedFd,
}

impl Layers {
    /// Takes a slot for each layer.
    pub(crate) fn take(confine: &Confine) -> Result<Self, (Fault, Errno)> {
        let mut layers = Self::default();
        for (index, mount) in confine.mounts.iter().enumerate() {
            let Mount::Layer { upper, fresh, .. } = mount else { continue };
            let slot = Slot::take(Path::new(OsStr::from_bytes(upper.as_bytes())), fresh);
            layers.taken.push((index, slot.map_err(|errno| (Fault::nth(Step::Mount, index), errno))?));
        }
        Ok(layers)
    }

    /// The directories for that mount: for what is written, and for the kernel's own use.
    pub(super) fn of(&self, index: usize) -> Option<[(CString, Identity); 2]> {
        let (_, slot) = self.taken.iter().find(|(at, _)| *at == index)?;
        Some([slot.files.clone(), slot.work.clone()])
    }

    /// While one of them is open, nothing else writes there.
    pub(super) fn locks(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.taken.iter().map(|(_, slot)| slot.lock.as_fd())
    }

    /// Gives them back. What the kernel keeps in its own directory has a mode with which not everybody could remove it
    /// later; but as long as a sandbox stands, the kernel needs it.
    pub(crate) fn give_back(self) {
        for (_, Slot { path, lock, .. }) in self.taken {
            drop(lock);
            if let Ok(_lock) = take_lock(&path) {
                let _ = std::fs::remove_dir(path.join("work/work"));
            }
        }
    }
}

impl Slot {
    fn take(upper: &Path, fresh: &[CString]) -> Result<Self, Errno> {
        for number in 0..SLOTS {
            let path = upper.join(number.to_string());
            make(&path)?;
            let lock = match take_lock(&path) {
                Err(Errno::WOULDBLOCK) => continue,
                lock => lock?,
            };
            let files = directory(&path.join("files"))?;
            for name in fresh {
                begin_empty(&path.join("files"), Path::new(OsStr::from_bytes(name.as_bytes())))?;
            }
            return Ok(Self { files, work: directory(&path.join("work"))?, path, lock });
        }
        Err(Errno::BUSY)
    }
}

/// Whoever has a descriptor of the same opening has it, too.
fn take_lock(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let lock = rustix::fs::open(path, flags, Mode::empty())?;
    rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
    Ok(lock)
}

fn make(path: &Path) -> Result<(), Errno> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

fn directory(path: &Path) -> Result<(CString, Identity), Errno> {
    make(path)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let is = Identity::of(rustix::fs::open(path, flags, Mode::empty())?.as_fd())?;
    Ok((CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL)?, is))
}

/// A directory that hides the one of the same name below it, by the mark that overlayfs has for that.
fn begin_empty(files: &Path, name: &Path) -> Result<(), Errno> {
    let path = files.join(name);
    if path.is_dir() {
        return Ok(());
    }
    make(&path)?;
    rustix::fs::setxattr(&path, c"user.overlay.opaque", b"y", XattrFlags::empty())
}
