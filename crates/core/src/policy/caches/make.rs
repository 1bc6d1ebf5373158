//! Caches that are missing are made, empty, as the tool itself would do it: a sandbox cannot open what does not exist.

use super::{Cache, listed};
use crate::policy::places::Places;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// Makes those that are missing and whose tool is installed. What cannot be made is none: the tool says so itself.
pub(crate) fn make(places: &Places) {
    let search = places.search();
    let is_installed = |program: &str| search.iter().any(|dir| dir.join(program).exists());
    for Cache { path, program, .. } in listed(places) {
        if !program.is_empty() && path.symlink_metadata().is_err() && is_installed(program) {
            let _ = make_one(&path, places.home.as_deref());
        }
    }
}

/// Below home as deep as it takes, elsewhere only what is missing at the end of the path. Every directory on the way must
/// be the person's own and writable by no strangers, and none a link: who could put one there could have directories made
/// anywhere.
fn make_one(path: &Path, home: Option<&Path>) -> rustix::io::Result<()> {
    let base = home.filter(|home| path.starts_with(home)).or_else(|| path.parent());
    let base = base.ok_or(rustix::io::Errno::INVAL)?;
    let below = path.strip_prefix(base).map_err(|_| rustix::io::Errno::INVAL)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // The way to a home is the machine's matter, and on some there is a link in it.
    let resolve = if Some(base) == home { ResolveFlags::empty() } else { ResolveFlags::NO_SYMLINKS };
    let mut at = rustix::fs::openat2(rustix::fs::CWD, base, flags, Mode::empty(), resolve)?;
    is_own(&at)?;
    for part in below {
        match rustix::fs::mkdirat(&at, part, Mode::RWXU) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        at = rustix::fs::openat(&at, part, flags | OFlags::NOFOLLOW, Mode::empty())?;
        is_own(&at)?;
    }
    Ok(())
}

fn is_own(dir: &OwnedFd) -> rustix::io::Result<()> {
    let stat = rustix::fs::fstat(dir.as_fd())?;
    // A group of one's own is usual on many machines, and then its right to write as well.
    let strangers = if stat.st_gid == rustix::process::getegid().as_raw() { 0o002 } else { 0o022 };
    let is_own = stat.st_uid == rustix::process::geteuid().as_raw() && stat.st_mode & strangers == 0;
    if is_own { Ok(()) } else { Err(rustix::io::Errno::PERM) }
}
