//! Second names: what is mounted in two places is reached by either, as a home that lies on a data disk and is bound to
//! `/home`. What is hidden by one name has to be hidden by all of them.
//!
//! What surprises: nothing is looked for on the disk. The kernel says of each mount which directory of its file system it
//! shows, and where; the rest is comparing paths.

use super::existing::is_within;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Every mount that this process sees.
#[derive(Debug, Default)]
pub(crate) struct Mounts(Vec<Mount>);

/// One of them, as in `proc_pid_mountinfo(5)`.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    /// The file system, as two numbers.
    device: Vec<u8>,
    /// The directory of the file system that it shows.
    shows: PathBuf,
    at: PathBuf,
}

impl Mounts {
    pub(crate) fn read() -> Self {
        Self::parse(&fs::read("/proc/self/mountinfo").unwrap_or_default())
    }

    fn parse(table: &[u8]) -> Self {
        let mount = |line: &[u8]| {
            let mut words = line.split(|byte| *byte == b' ').skip(2);
            let (device, shows, at) = (words.next()?, words.next()?, words.next()?);
            Some(Mount { device: device.to_owned(), shows: unescape(shows), at: unescape(at) })
        };
        Self(table.split(|byte| *byte == b'\n').filter_map(mount).collect())
    }

    /// Other names of each of these, which are real paths. Also of what they are in or around: a mount may show a part of
    /// something that is hidden as a whole.
    pub(crate) fn other_names<'a>(&'a self, paths: &'a [PathBuf]) -> impl Iterator<Item = PathBuf> + 'a {
        paths.iter().flat_map(|path| self.of(path)).filter(|name| !paths.contains(name))
    }

    fn of<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
        // Of several at the same place the last is on top.
        let around = self.0.iter().filter(|mount| is_within(path, &mount.at));
        let own = around.max_by_key(|mount| mount.at.as_os_str().len());
        own.into_iter().flat_map(move |own| {
            let inner = join(&own.shows, path.strip_prefix(&own.at).unwrap_or(Path::new("")));
            let others = self.0.iter().filter(|mount| mount.device == own.device && mount.at != own.at);
            others.filter_map(move |mount| {
                if is_within(&mount.shows, &inner) {
                    return Some(mount.at.clone());
                }
                let rest =
                    is_within(&inner, &mount.shows).then(|| inner.strip_prefix(&mount.shows).ok())??;
                Some(join(&mount.at, rest))
            })
        })
    }
}

/// Without a slash at the end.
fn join(dir: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { dir.to_owned() } else { dir.join(rest) }
}

/// Blanks, newlines and backslashes are written as `\040`.
fn unescape(text: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let digits =
            after.get(..3).filter(|_| *first == b'\\').and_then(|code| std::str::from_utf8(code).ok());
        match digits.and_then(|code| u8::from_str_radix(code, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    PathBuf::from(OsStr::from_bytes(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
        23 22 8:2 / /data rw - ext4 /dev/sdb1 rw\n\
        24 22 8:2 /homes /users rw - ext4 /dev/sdb1 rw\n\
        25 22 8:2 /homes/u/.ssh /srv/my\\040keys rw - ext4 /dev/sdb1 rw\n\
        26 22 0:5 / /proc rw - proc proc rw\n\
        27 22 8:2 /homes/u/app /srv/app rw - ext4 /dev/sdb1 rw\n";

    #[test]
    fn every_name_of_what_is_mounted_twice_is_known() {
        let mounts = Mounts::parse(TABLE);
        let names = |path: &str| {
            let mut names: Vec<PathBuf> = mounts.other_names(&[path.into()]).collect();
            names.sort();
            names
        };
        assert_eq!(names("/users/u/.netrc"), ["/data/homes/u/.netrc"].map(PathBuf::from));
        let ssh = ["/data/homes/u/.ssh/id", "/srv/my keys/id"].map(PathBuf::from);
        assert_eq!(names("/users/u/.ssh/id"), ssh);
        let whole = ["/data/homes/u", "/srv/app", "/srv/my keys"].map(PathBuf::from);
        assert_eq!(names("/users/u"), whole);
        assert_eq!(names("/data/homes/u/.netrc"), ["/users/u/.netrc"].map(PathBuf::from));
        for alone in ["/etc/shadow", "/proc/kcore", "/nowhere"] {
            assert_eq!(names(alone), [""; 0].map(PathBuf::from), "{alone}");
        }
    }
}
