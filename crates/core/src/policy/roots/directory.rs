//! A directory that is open, and the name by which the kernel knows it.
//!
//! A path is a question that can have another answer a moment later; a descriptor is the answer. Everything is decided
//! on the descriptor, and its name is what the kernel says of it, not what somebody asked for.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use wharf_shim::confine::{IDENTIFYING, Identity};

const FLAGS: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// An open directory.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) fd: OwnedFd,
    /// Its real path: absolute, without links, `.` and `..`.
    pub(crate) path: PathBuf,
    pub(crate) identity: Identity,
}

/// Why a directory cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unusable {
    /// Which directory that is would depend on who reads it.
    #[error("it is not an absolute path")]
    Relative,
    /// The system refused.
    #[error("{}", std::io::Error::from_raw_os_error(*.0))]
    System(i32),
    /// It is open, but its own path does not lead to it: deleted, covered by a mount, in another mount namespace, or
    /// moved just now. A command would start where no rule of its sandbox reaches.
    #[error("it was deleted or moved, or it is not reachable by its own path")]
    Unreachable,
}

impl From<Errno> for Unusable {
    fn from(errno: Errno) -> Self {
        Self::System(errno.raw_os_error())
    }
}

impl Directory {
    /// Opens it once, links followed, and asks the kernel what it is.
    pub(crate) fn open(path: &Path) -> Result<Self, Unusable> {
        if !path.is_absolute() {
            return Err(Unusable::Relative);
        }
        let fd = rustix::fs::open(path, FLAGS, Mode::empty())?;
        Self::of(fd)
    }

    /// One that is open already.
    ///
    /// The path that the kernel tells of a deleted directory is its old one with ` (deleted)` behind it, which is also a
    /// possible name; and that of one in another mount namespace looks like one of ours. So the path is believed only if
    /// it leads to the same directory on the same mount.
    fn of(fd: OwnedFd) -> Result<Self, Unusable> {
        let is = Sight::of(fd.as_fd())?;
        let path = real_path(fd.as_fd())?;
        let again = rustix::fs::open(&path, FLAGS | OFlags::NOFOLLOW, Mode::empty());
        let again = again.map_err(|_| Unusable::Unreachable)?;
        // The number of links is not compared: it changes with every directory that somebody makes in this one.
        if is.links == 0 || !Sight::of(again.as_fd())?.is_same(&is) {
            return Err(Unusable::Unreachable);
        }
        Ok(Self { fd, path, identity: is.identity })
    }

    /// Whether it is that directory or lies in it, by walking up from its descriptor until that is met.
    ///
    /// Says nothing about names. A directory on the way that may not be searched is an error. Ends at the top, where `..` is the same directory again.
    pub(crate) fn is_within(&self, other: Identity) -> Result<bool, Unusable> {
        let mut is = Sight::of(self.fd.as_fd())?;
        let mut at = None::<OwnedFd>;
        for _ in 0..DEEPEST {
            if is.identity == other {
                return Ok(true);
            }
            let from = at.as_ref().map_or(self.fd.as_fd(), AsFd::as_fd);
            let up = rustix::fs::openat(from, "..", FLAGS, Mode::empty())?;
            let above = Sight::of(up.as_fd())?;
            // The top of a mount may have the number of the top of another, so the mount is looked at, too.
            if is.is_same(&above) {
                return Ok(false);
            }
            is = above;
            at = Some(up);
        }
        Ok(false)
    }
}

/// A path has at most 4,096 bytes, so no name that can be asked for lies deeper.
const DEEPEST: usize = 2048;

/// What is seen of a descriptor.
#[derive(Debug, Clone, Copy)]
struct Sight {
    identity: Identity,
    /// Zero when the directory has been removed.
    links: u32,
    /// The mount through which it was reached. Zero for all where the kernel (before 5.8) does not tell.
    mount: u64,
}

impl Sight {
    /// Whether the two are one directory on one mount.
    fn is_same(&self, other: &Self) -> bool {
        self.identity == other.identity && self.mount == other.mount
    }

    fn of(fd: BorrowedFd<'_>) -> Result<Self, Unusable> {
        let mask = StatxFlags::NLINK | StatxFlags::MNT_ID | IDENTIFYING;
        let stat = rustix::fs::statx(fd, "", AtFlags::EMPTY_PATH, mask)?;
        let told = stat.stx_mask & StatxFlags::MNT_ID.bits() != 0;
        Ok(Self {
            identity: Identity::of_stat(&stat),
            links: stat.stx_nlink,
            mount: if told { stat.stx_mnt_id } else { 0 },
        })
    }
}

pub(crate) fn real_path(fd: BorrowedFd<'_>) -> Result<PathBuf, Unusable> {
    let link = format!("/proc/self/fd/{}", fd.as_raw_fd());
    let path = rustix::fs::readlinkat(CWD, link, Vec::new())?;
    let path = PathBuf::from(OsString::from_vec(path.into_bytes()));
    // `(unreachable)/…` is what the kernel says of what lies outside the root of this process.
    if path.as_os_str().as_bytes().first() == Some(&b'/') { Ok(path) } else { Err(Unusable::Unreachable) }
}
