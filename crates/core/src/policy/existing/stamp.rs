//! Whether a directory still holds the same names, without listing it: its identity, its mount and its times.
//!
//! What surprises: a time is only as good as its clock's tick. So a directory that changed just now, or that lies on a
//! file system whose times are another machine's or may be anything, has no stamp.

use rustix::fs::{AtFlags, FileType, Statx, StatxFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::BorrowedFd;
use std::time::{SystemTime, UNIX_EPOCH};
use wharf_shim::confine::{IDENTIFYING, Identity};

/// File systems that live on this machine and keep the times of directories as they should: ext4, xfs, btrfs, tmpfs,
/// overlayfs, f2fs, zfs, bcachefs.
const LOCAL: [u64; 8] =
    [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0xF2F5_2010, 0x2FC1_2FC1, 0xCA45_1A4E];

/// As long as it is the same, nothing in a directory was made, removed, replaced or renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(super) is: Identity,
    mount: u64,
    changed: (i64, u32),
    modified: (i64, u32),
}

/// How long a directory must have been as it is to have a stamp, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settled(pub(super) i64);

impl Default for Settled {
    /// No kernel's clock for files ticks as slowly as this.
    fn default() -> Self {
        Self(2)
    }
}

impl Settled {
    /// That of an open directory, if it can be believed. To be asked for before the directory is listed.
    pub(crate) fn stamp(self, dir: BorrowedFd<'_>) -> Option<Stamp> {
        let before = now();
        let stamp = see(dir, OsStr::new(""), AtFlags::EMPTY_PATH).ok()?.stamp;
        let is_settled = stamp.changed.0.max(stamp.modified.0) < before - self.0;
        (is_settled && is_local(dir)).then_some(stamp)
    }
}

/// What is known of a place in the file system at this moment.
pub(super) struct Sight {
    pub(super) stamp: Stamp,
    pub(super) kind: FileType,
}

pub(super) fn see(dir: BorrowedFd<'_>, name: &OsStr, flags: AtFlags) -> Result<Sight, Errno> {
    let stat =
        rustix::fs::statx(dir, name, flags, StatxFlags::BASIC_STATS | StatxFlags::MNT_ID | IDENTIFYING)?;
    let kind = FileType::from_raw_mode(u32::from(stat.stx_mode));
    Ok(Sight { stamp: Stamp::of(&stat), kind })
}

impl Stamp {
    /// As it is now, to be compared with one that was believed.
    pub(crate) fn now(dir: BorrowedFd<'_>, name: &OsStr) -> Option<Self> {
        see(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|sight| sight.stamp)
    }

    fn of(stat: &Statx) -> Self {
        Self {
            is: Identity::of_stat(stat),
            mount: stat.stx_mnt_id,
            changed: (stat.stx_ctime.tv_sec, stat.stx_ctime.tv_nsec),
            modified: (stat.stx_mtime.tv_sec, stat.stx_mtime.tv_nsec),
        }
    }
}

fn is_local(dir: BorrowedFd<'_>) -> bool {
    rustix::fs::fstatfs(dir).is_ok_and(|stat| LOCAL.contains(&stat.f_type.cast_unsigned()))
}

/// In whole seconds, as files have it.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(0)
}
