//! Directories that are made so that they can be kept read-only, and removed when nobody needs them any more.
//!
//! This is the holder's work, not the child's: they outlast the command by the time it takes to see that all is over.
//!
//! What surprises: removing a directory takes away what other terminals have mounted on it. So each terminal that uses one
//! holds a shared lock on it, and only who can have it alone removes it. What makes a directory one of these is its
//! mode, which nobody else gives to a directory; so what a killed holder left is removed by the next.

use super::fault::{Fault, Step};
use super::prepare::split;
use super::{Confine, IDENTIFYING, Identity, Mount};
use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// Closed to others and sticky, which means nothing on a directory that only its owner may write.
const MARK: u32 = 0o1700;

/// How often a directory may be removed by another terminal between finding and locking it.
const ATTEMPTS: usize = 100;

/// The directories of one terminal.
#[derive(Debug, Default)]
pub(crate) struct Placeholders {
    /// By the mount's place in the confinement.
    found: Vec<(usize, Found)>,
}

#[derive(Debug)]
enum Found {
    /// Was there, and stays.
    Foreign(Identity),
    /// Made here or by another terminal, and locked.
    Ours { is: Identity, dir: OwnedFd, parent: Arc<OwnedFd>, name: CString },
}

impl Placeholders {
    /// Makes what is missing.
    pub(crate) fn make(confine: &Confine) -> Result<Self, (Fault, Errno)> {
        let (mut made, mut around) = (Self::default(), None);
        for (index, mount) in confine.mounts.iter().enumerate() {
            let Mount::Placeholder { path } = mount else { continue };
            match find_or_make(path, &mut around) {
                Ok(found) => made.found.extend(found.map(|found| (index, found))),
                Err(errno) => {
                    made.remove();
                    return Err((Fault::nth(Step::Placeholder, index), errno));
                }
            }
        }
        Ok(made)
    }

    /// What there is for that mount; nothing if nobody can make it.
    pub(super) fn identity(&self, index: usize) -> Option<Identity> {
        self.found.iter().find(|(at, _)| *at == index).map(|(_, found)| match found {
            Found::Foreign(is) | Found::Ours { is, .. } => *is,
        })
    }

    /// Removes what no other terminal uses. What cannot be removed stays for the next to try.
    pub(crate) fn remove(self) {
        for (_, found) in self.found {
            let Found::Ours { is, dir, parent, name } = found else { continue };
            let alone = rustix::fs::flock(&dir, FlockOperation::NonBlockingLockExclusive).is_ok();
            if alone && is_marked(&dir) && leads_to(&parent, &name, is) {
                // Refused if somebody has put something into it.
                let _ = rustix::fs::unlinkat(&parent, &name, AtFlags::REMOVEDIR);
            }
        }
    }
}

/// The directories of several confinements, kept until this is dropped. Who runs one command after the other in the same
/// place keeps them from coming and going with each.
#[derive(Debug, Default)]
pub struct Keeper {
    kept: Vec<(Vec<CString>, Placeholders)>,
}

impl Keeper {
    /// Keeps those of this one too. What cannot be made is left to the holder, whose command then fails.
    pub fn keep(&mut self, confine: &Confine) {
        let path = |mount: &Mount| match mount {
            Mount::Placeholder { path } => Some(path.clone()),
            _ => None,
        };
        let paths: Vec<CString> = confine.mounts.iter().filter_map(path).collect();
        if paths.is_empty() || self.kept.iter().any(|(known, _)| *known == paths) {
            return;
        }
        if let Ok(made) = Placeholders::make(confine) {
            self.kept.push((paths, made));
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        for (_, made) in self.kept.drain(..) {
            made.remove();
        }
    }
}

/// Most of them are in the same directory, which is opened once.
fn find_or_make(path: &CStr, around: &mut Option<(CString, Arc<OwnedFd>)>) -> Result<Option<Found>, Errno> {
    let (parent, name) = split(path)?;
    let parent = match around {
        Some((known, open)) if *known == parent => open.clone(),
        _ => {
            // Links on the way could lead anywhere, and this process is in no sandbox.
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let strict = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            let open = Arc::new(openat2(CWD, &parent, flags, Mode::empty(), strict)?);
            *around = Some((parent, open.clone()));
            open
        }
    };
    for _ in 0..ATTEMPTS {
        match rustix::fs::mkdirat(&parent, &name, Mode::from_raw_mode(MARK)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return nobody_can(&parent, errno),
        }
        match lock(&parent, &name) {
            Ok(Some(found)) => return Ok(Some(found)),
            Ok(None) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
    Err(Errno::BUSY)
}

/// A directory that the command cannot write either needs no placeholder in it, unless its owner, who can change that,
/// is the one who runs the command.
fn nobody_can(parent: &OwnedFd, errno: Errno) -> Result<Option<Found>, Errno> {
    let own = rustix::fs::fstat(parent)?.st_uid == rustix::process::geteuid().as_raw();
    match errno {
        Errno::ROFS => Ok(None),
        Errno::ACCESS if !own => Ok(None),
        errno => Err(errno),
    }
}

/// `None` if another terminal removed it before the lock was there.
fn lock(parent: &Arc<OwnedFd>, name: &CString) -> Result<Option<Found>, Errno> {
    let look = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let seen = rustix::fs::openat(parent, name, look, Mode::empty())?;
    if FileType::from_raw_mode(rustix::fs::fstat(&seen)?.st_mode) == FileType::Symlink {
        return Err(Errno::LOOP);
    }
    if !is_marked(&seen) {
        return Ok(Some(Found::Foreign(Identity::of(seen.as_fd())?)));
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = rustix::fs::openat(parent, name, flags, Mode::empty())?;
    // Alone it is held only while it is being removed, or by somebody who means no good and is not waited for.
    match rustix::fs::flock(&dir, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => {
            std::thread::yield_now();
            return Ok(None);
        }
        locked => locked?,
    }
    let is = Identity::of(dir.as_fd())?;
    Ok(leads_to(parent, name, is).then(|| Found::Ours {
        is,
        dir,
        parent: parent.clone(),
        name: name.clone(),
    }))
}

fn is_marked(dir: &OwnedFd) -> bool {
    rustix::fs::fstat(dir).is_ok_and(|stat| {
        let kind = FileType::from_raw_mode(stat.st_mode);
        let own = stat.st_uid == rustix::process::geteuid().as_raw();
        kind == FileType::Directory && stat.st_mode & 0o7777 == MARK && own
    })
}

fn leads_to(parent: &OwnedFd, name: &CString, is: Identity) -> bool {
    rustix::fs::statx(parent, name, AtFlags::SYMLINK_NOFOLLOW, IDENTIFYING)
        .is_ok_and(|stat| is == Identity::of_stat(&stat))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confine::{Metadata, Namespaces, OwnNet, OwnUser, Sockets};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    fn confine(path: &Path) -> Confine {
        let path = CString::new(path.as_os_str().as_bytes()).unwrap();
        Confine {
            name: "test".to_owned(),
            namespaces: Namespaces::Mount { net: OwnNet::No, user: OwnUser::IfNeeded },
            landlock: 0,
            mounts: vec![Mount::Placeholder { path }],
            rules: Vec::new(),
            sockets: Sockets::None,
            metadata: Metadata::Usual,
        }
    }

    fn place() -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap().join("hooks");
        (dir, path)
    }

    #[test]
    fn what_is_kept_outlasts_those_who_use_it_and_goes_with_its_keeper() {
        let (_dir, path) = place();
        let mut keeper = Keeper::default();
        keeper.keep(&confine(&path));
        keeper.keep(&confine(&path));
        assert!(path.is_dir());
        Placeholders::make(&confine(&path)).unwrap().remove();
        assert!(path.is_dir(), "kept");
        let user = Placeholders::make(&confine(&path)).unwrap();
        drop(keeper);
        assert!(path.is_dir(), "used");
        user.remove();
        assert!(!path.exists());
    }

    #[test]
    fn what_is_made_is_removed_with_the_last_that_uses_it() {
        let (_dir, path) = place();
        let first = Placeholders::make(&confine(&path)).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, MARK);
        let second = Placeholders::make(&confine(&path)).unwrap();
        assert_eq!(first.identity(0), second.identity(0));
        first.remove();
        assert!(path.exists(), "the second still uses it");
        second.remove();
        assert!(!path.exists());
    }

    #[test]
    fn what_somebody_left_is_removed_by_the_next() {
        let (_dir, path) = place();
        drop(Placeholders::make(&confine(&path)).unwrap());
        assert!(path.exists());
        Placeholders::make(&confine(&path)).unwrap().remove();
        assert!(!path.exists());
    }

    #[test]
    fn what_was_there_or_is_used_stays() {
        let (_dir, path) = place();
        std::fs::create_dir(&path).unwrap();
        let found = Placeholders::make(&confine(&path)).unwrap();
        assert!(found.identity(0).is_some());
        found.remove();
        assert!(path.exists());
        std::fs::remove_dir(&path).unwrap();

        let made = Placeholders::make(&confine(&path)).unwrap();
        std::fs::write(path.join("file"), "").unwrap();
        made.remove();
        assert!(path.join("file").exists());
        std::fs::remove_dir_all(&path).unwrap();

        let made = Placeholders::make(&confine(&path)).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        made.remove();
        assert!(path.exists(), "somebody has made it theirs");
    }

    #[test]
    fn no_link_is_followed() {
        let (dir, path) = place();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), &path).unwrap();
        let (fault, errno) = Placeholders::make(&confine(&path)).unwrap_err();
        assert_eq!((fault.step, errno), (Step::Placeholder, Errno::LOOP));
        assert!(Placeholders::make(&confine(&path.join("hooks"))).is_err());
        assert_eq!(elsewhere.path().read_dir().unwrap().count(), 0);
        drop(dir);
    }
}
