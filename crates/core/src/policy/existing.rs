//! Which of many paths exist, and what they are. The lists of secrets and caches name hundreds, of which a machine has a
//! few, and they are asked for before every command.
//!
//! The paths are a tree of names, and each directory in it is looked at once. What is remembered from one command to the
//! next is only which of the names a directory holds, and only for as long as the directory is the same one and the
//! kernel says that nothing in it was made, removed or renamed: its identity, its mount and its times. What those names
//! are, and where links lead, is always found out anew.

mod listing;
mod stamp;
#[cfg(test)]
mod tests;

pub(crate) use listing::{Listing, Listings};

use super::places::without_dots;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use stamp::{Settled, Sight, Stamp, see};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use wharf_shim::confine::Identity;

/// So many in the same directory are found out by listing it.
const MANY: usize = 4;

/// Something that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// As it was asked for.
    pub(crate) written: PathBuf,
    /// What that leads to, without links.
    pub(crate) real: PathBuf,
    pub(crate) is: Identity,
    pub(crate) kind: FileType,
}

/// A directory that is there and in which something is looked for, whether that is there or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holding {
    /// Its real path.
    pub(crate) real: PathBuf,
    pub(crate) is: Identity,
    /// The names that are looked for.
    pub(crate) names: Vec<OsString>,
}

/// Everything that was found at one time.
#[derive(Debug, Default)]
pub(crate) struct Sighting {
    /// What is there, by real paths, sorted; of several in each other the outermost.
    pub(crate) found: Vec<Found>,
    /// Where more of it could appear, by real paths, sorted.
    pub(crate) holding: Vec<Holding>,
}

/// Paths that are asked for again and again.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// The first is `/`.
    nodes: Vec<Node>,
    /// By node. Never about what something is.
    memory: Mutex<Vec<Option<Remembered>>>,
    /// How long a directory must have been as it is to be remembered.
    settled: Settled,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Node {
    path: PathBuf,
    name: OsString,
    wanted: bool,
    children: Vec<usize>,
}

/// What a directory held.
#[derive(Debug)]
struct Remembered {
    stamp: Stamp,
    /// Those of the children that exist.
    there: Vec<usize>,
}

impl Tree {
    pub(crate) fn new<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        let mut nodes = vec![Node { path: PathBuf::from("/"), ..Node::default() }];
        for path in paths {
            let mut at = 0;
            for part in without_dots(path).components() {
                let Component::Normal(name) = part else { continue };
                at = child(&mut nodes, at, name);
            }
            nodes[at].wanted = true;
        }
        let memory = Mutex::new(nodes.iter().map(|_| None).collect());
        Self { nodes, memory, settled: Settled::default() }
    }

    /// Those that exist and are not to be left out.
    pub(crate) fn look(&self, left_out: impl Fn(&Path) -> bool) -> Vec<Found> {
        self.look_around(left_out).found
    }

    /// The same, with the directories that they are in or would be in.
    pub(crate) fn look_around(&self, left_out: impl Fn(&Path) -> bool) -> Sighting {
        let mut seen = Sighting::default();
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.nodes.is_empty() {
            self.visit(0, Path::new("/"), &left_out, &mut memory, &mut seen);
        }
        seen.found.sort_by(|one, other| one.real.cmp(&other.real));
        seen.found.dedup_by(|later, earlier| is_within(&later.real, &earlier.real));
        seen.holding.sort_by(|one, other| one.real.cmp(&other.real));
        seen
    }

    /// The outermost of them that a path is or lies in, by its name alone.
    pub(crate) fn holding<'a>(&'a self, path: &'a Path) -> Option<&'a Path> {
        self.down(path).find(|node| node.wanted).map(|node| node.path.as_path())
    }

    /// Whether one of them lies in that directory, by its name alone.
    pub(crate) fn reaches_into(&self, directory: &Path) -> bool {
        let below = directory.components().filter(|part| matches!(part, Component::Normal(_))).count();
        self.down(directory).nth(below).is_some_and(|node| !node.children.is_empty())
    }

    /// The nodes along a path, as far as there are any, from `/` on.
    fn down<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = &'a Node> {
        let names = path.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name),
            _ => None,
        });
        let step = |at: &mut Option<&'a Node>, name: &'a OsStr| {
            let children = at.map_or(&[][..], |node| &node.children);
            *at = children.iter().map(|child| &self.nodes[*child]).find(|node| node.name == name);
            *at
        };
        let top = self.nodes.first();
        top.into_iter().chain(names.scan(top, step))
    }

    /// What is wanted below a directory; `real` is where that is, but for a link in its own place.
    fn visit(
        &self,
        at: usize,
        real: &Path,
        left_out: &impl Fn(&Path) -> bool,
        memory: &mut [Option<Remembered>],
        seen: &mut Sighting,
    ) {
        let Some((sight, target)) = follow(real) else { return };
        let real = target.as_deref().unwrap_or(real);
        if sight.kind != FileType::Directory {
            return;
        }
        let there = match &memory[at] {
            Some(known) if known.stamp == sight.stamp => known.there.clone(),
            _ => {
                let (there, remembered) = self.list(at, real);
                memory[at] = remembered;
                there
            }
        };
        // What is wanted, and what is missing on the way to it: either could appear.
        let could_appear = |child: &&usize| {
            let node = &self.nodes[**child];
            (node.wanted && !left_out(&node.path)) || (!node.children.is_empty() && !there.contains(child))
        };
        let children = self.nodes[at].children.iter().filter(could_appear);
        let names: Vec<OsString> = children.map(|child| self.nodes[*child].name.clone()).collect();
        if !names.is_empty() {
            seen.holding.push(Holding { real: real.to_owned(), is: sight.stamp.is, names });
        }
        for child in there {
            let node = &self.nodes[child];
            let below = real.join(&node.name);
            if node.wanted && !left_out(&node.path) {
                seen.found.extend(at_last_link(&node.path, &below));
            }
            // Also in what is found: a link in there leads elsewhere.
            if !node.children.is_empty() {
                self.visit(child, &below, left_out, memory, seen);
            }
        }
    }

    /// Which children exist, and whether that can be believed later. Everything on one descriptor, or what is remembered of
    /// one directory could be the content of another.
    fn list(&self, at: usize, real: &Path) -> (Vec<usize>, Option<Remembered>) {
        let children = &self.nodes[at].children;
        let name = |child: &usize| self.nodes[*child].name.as_os_str();
        let Ok((dir, names)) = open(real, children.len()) else { return (Vec::new(), None) };
        let stamp = self.settled.stamp(dir.as_fd());
        let exists = |name: &OsStr| see(dir.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        let there: Vec<usize> = match names.then(|| all_names(&dir)).flatten() {
            Some(names) => children.iter().copied().filter(|child| names.contains(name(child))).collect(),
            None => children.iter().copied().filter(|child| exists(name(child))).collect(),
        };
        let remembered = stamp.map(|stamp| Remembered { stamp, there: there.clone() });
        (there, remembered)
    }
}

impl Clone for Tree {
    fn clone(&self) -> Self {
        let memory = Mutex::new(self.nodes.iter().map(|_| None).collect());
        Self { nodes: self.nodes.clone(), memory, settled: self.settled }
    }
}

impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        self.nodes == other.nodes
    }
}

impl Eq for Tree {}

fn child(nodes: &mut Vec<Node>, of: usize, name: &OsStr) -> usize {
    let known = nodes[of].children.iter().copied().find(|child| nodes[*child].name == name);
    known.unwrap_or_else(|| {
        let path = nodes[of].path.join(name);
        nodes.push(Node { path, name: name.to_owned(), ..Node::default() });
        let new = nodes.len() - 1;
        nodes[of].children.push(new);
        new
    })
}

/// One path on its own, whatever links are on the way. Missing or out of reach is nothing.
pub(crate) fn find(written: &Path) -> Option<Found> {
    let fd = rustix::fs::open(written, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    found(written, fd)
}

/// The same where only the last part of `at` may be a link.
fn at_last_link(written: &Path, at: &Path) -> Option<Found> {
    let sight = see(CWD, at.as_os_str(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
    if sight.kind != FileType::Symlink {
        let (is, kind) = (sight.stamp.is, sight.kind);
        return Some(Found { written: written.to_owned(), real: at.to_owned(), is, kind });
    }
    let fd = rustix::fs::open(at, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    found(written, fd)
}

fn found(written: &Path, fd: OwnedFd) -> Option<Found> {
    let sight = see(fd.as_fd(), OsStr::new(""), AtFlags::EMPTY_PATH).ok()?;
    let real = super::roots::real_path(fd.as_fd()).ok()?;
    Some(Found { written: written.to_owned(), real, is: sight.stamp.is, kind: sight.kind })
}

/// What is at a path, and where if that is a link.
fn follow(path: &Path) -> Option<(Sight, Option<PathBuf>)> {
    let sight = see(CWD, path.as_os_str(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
    if sight.kind != FileType::Symlink {
        return Some((sight, None));
    }
    let fd = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let sight = see(fd.as_fd(), OsStr::new(""), AtFlags::EMPTY_PATH).ok()?;
    Some((sight, super::roots::real_path(fd.as_fd()).ok()))
}

/// To be listed if that is worth it and allowed. What cannot be listed can still hold what can be reached.
fn open(dir: &Path, wanted: usize) -> Result<(OwnedFd, bool), Errno> {
    let plain = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let listed = (wanted >= MANY).then(|| rustix::fs::open(dir, plain | OFlags::RDONLY, Mode::empty()));
    if let Some(Ok(dir)) = listed {
        return Ok((dir, true));
    }
    rustix::fs::open(dir, plain | OFlags::PATH, Mode::empty()).map(|dir| (dir, false))
}

/// A name that cannot be read makes the list useless: something may be left out.
fn all_names(dir: &OwnedFd) -> Option<HashSet<OsString>> {
    let names = Dir::read_from(dir).ok()?;
    names.map(|entry| Some(OsStr::from_bytes(entry.ok()?.file_name().to_bytes()).to_owned())).collect()
}

/// Whether a path is another or lies in it. Both as the kernel tells them: absolute, without links, dots or needless slashes.
pub(crate) fn is_within(path: &Path, other: &Path) -> bool {
    let rest = path.as_os_str().as_bytes().strip_prefix(other.as_os_str().as_bytes());
    rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || other == Path::new("/"))
}
