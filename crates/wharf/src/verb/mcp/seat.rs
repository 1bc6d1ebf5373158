//! Seats: which terminals are whose.
//!
//! An agent is known by its project and the name of its client, and nothing more: it says no name that would be its own
//! again tomorrow. So each pair has numbered seats, each with a lock that lives as long as the process that sits there.
//! Who comes takes the first that is free: two at the same time get two, and one that comes back finds its own.

use rustix::fs::{FlockOperation, flock};
use std::fs::{DirBuilder, File};
use std::io;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use wharf_shim::journal::file::{self, Access, FileError};

/// Nobody has as many clients of one kind in one project.
const MOST: usize = 1000;
/// Of a client's name in a file's.
const LONGEST: usize = 40;

/// A seat that is taken, for as long as this is there.
#[derive(Debug)]
pub(super) struct Seat {
    name: String,
    /// None if it is shared on purpose.
    _lock: Option<File>,
}

impl Seat {
    /// The first free one of that client in that project.
    pub(super) fn claim(state: &Path, project: &Path, client: &str) -> io::Result<Self> {
        let dir = state.join("mcp");
        DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
        let whose = format!("{}-{}", plain(client), digest(project));
        for number in 1..=MOST {
            let name = format!("{whose}-{number}");
            if let Some(lock) = take(&dir.join(&name), project)? {
                return Ok(Self { name, _lock: Some(lock) });
            }
        }
        Err(io::Error::other(format!("{MOST} clients named {client:?} are in this project already")))
    }

    /// The one that everybody has who says this name in that project.
    pub(super) fn share(project: &Path, name: &str) -> Self {
        Self { name: format!("+{}-{}", digest(project), plain(name)), _lock: None }
    }

    /// Unique to an agent in a project.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// Its lock, unless somebody has it, something else lies there, or two projects happen to have one digest.
fn take(path: &Path, project: &Path) -> io::Result<Option<File>> {
    let mut file = match file::open(path, Access::Make) {
        Err(FileError::NotRegular) => return Ok(None),
        file => file?,
    };
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(None);
    }
    let project = project.as_os_str().as_bytes();
    // One that is longer is another's.
    let Some(whose) = file::read(&file, project.len() as u64)? else { return Ok(None) };
    if whose.is_empty() {
        file.write_all(project)?;
    }
    Ok((whose.is_empty() || whose == project).then_some(file))
}

/// What can be part of a file's name anywhere.
fn plain(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let text: String = text.chars().take(LONGEST).map(plain).collect();
    if text.is_empty() { "unnamed".to_owned() } else { text }
}

/// FNV-1a: the same on every machine and in every version, which the standard library's does not promise.
fn digest(path: &Path) -> String {
    let byte = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", path.as_os_str().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_at_once_get_two_and_one_that_comes_back_gets_its_own() {
        let state = tempfile::tempdir().unwrap();
        let claim = |client| Seat::claim(state.path(), Path::new("/src/a"), client).unwrap();
        let (first, second) = (claim("c"), claim("c"));
        assert_ne!(first.name(), second.name());
        let name = first.name().to_owned();
        drop(first);
        assert_eq!(claim("c").name(), name);
        assert_ne!(claim("d").name(), claim("c").name());
    }

    #[test]
    fn a_seat_that_is_no_file_is_nobodys_and_holds_up_nobody() {
        let state = tempfile::tempdir().unwrap();
        let claim = || Seat::claim(state.path(), Path::new("/src/a"), "c").unwrap();
        let name = claim().name().to_owned();
        let path = state.path().join("mcp").join(&name);
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert_ne!(claim().name(), name);
        std::fs::remove_file(&path).unwrap();
        File::create(&path).unwrap().set_len(1 << 42).unwrap();
        assert_ne!(claim().name(), name);
    }

    #[test]
    fn other_projects_have_other_seats_and_names_are_shared_on_purpose() {
        let state = tempfile::tempdir().unwrap();
        let a = Seat::claim(state.path(), Path::new("/src/a"), "c/../x").unwrap();
        let b = Seat::claim(state.path(), Path::new("/src/b"), "c/../x").unwrap();
        assert_ne!(a.name(), b.name());
        assert!(!a.name().contains('/'));
        let shared = |name| Seat::share(Path::new("/src/a"), name);
        assert_eq!(shared("x").name(), shared("x").name());
        assert_ne!(shared("x").name(), shared("y").name());
    }
}
