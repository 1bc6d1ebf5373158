//! The git repository of a root, as far as a sandbox has to know it: which hooks must not be written, and which
//! directories outside the root git must write to.
//!
//! Git itself is not asked: it would run what a repository's settings name. A few small files are read instead, and no
//! link is followed in them. What a root says about itself is the word of whoever could write there before; so a git
//! directory elsewhere is believed only if *it* says that it belongs to this root, looks like one, and the directory
//! shared with other worktrees is the one it lies in. Otherwise a `.git` that names the directory of the person's keys would open that.
//!
//! A root that is a part of a working tree gets the git directory of the whole, and nothing else of it: that is what a
//! commit writes.
//!
//! Not followed: `core.hooksPath`, because hooks that a repository keeps among its files are the project's own code.
//! Settings stay writable, as `git remote add` needs them, so a repository worked on by an agent can name programs in its
//! settings.

#[cfg(test)]
mod tests;

use super::places::Places;
use super::roots::{Directory, Root, Roots, TooWide, check_width};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What a root's repository asks for.
#[derive(Debug, Default)]
pub(crate) struct Repository {
    pub(crate) shape: Shape,
    /// Whether git may want to change files of the root.
    pub(crate) is_in_git: bool,
    /// Directories outside the roots that git has to write to, each proven to belong to this root.
    pub(crate) write: Vec<Directory>,
    /// Directories of hooks to be kept as they are. Not all of them need exist, and there may be links on the way.
    pub(crate) protect: Vec<PathBuf>,
    /// What must stay where it is, or a protected directory could be moved away with what holds it, and another made in
    /// its place. A mount of the thing over itself does that: a mount point cannot be renamed or removed.
    pub(crate) pin: Vec<PathBuf>,
    /// What could not be believed or protected, for people.
    pub(crate) doubts: Vec<Doubt>,
    /// How many directories were looked at for submodules.
    modules: usize,
}

/// How many directories are looked at for the hooks of submodules, and how deep they may lie: more than projects have, and
/// little enough to be looked at before every command.
const MOST_MODULES: usize = 256;
const DEEPEST_MODULE: usize = 8;

/// What a root's `.git` is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Nothing, so far: `git init` has to be able to make it.
    #[default]
    None,
    /// The root itself is the git directory.
    Bare,
    Directory,
    Link,
    /// A file that names a directory elsewhere: a linked worktree or a submodule.
    File,
    /// Something that git would not take for a repository either.
    Other,
}

/// Something about a repository that is not as it should be. Commands run; git may not be able to write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Doubt {
    #[error("{0} is neither a directory nor a file that names one")]
    Unreadable(PathBuf),
    #[error("{git} names {dir} as its git directory, which does not exist")]
    Missing { git: PathBuf, dir: PathBuf },
    #[error(
        "{git} names {dir} as its git directory, which does not name it back; commands cannot write there"
    )]
    Forged { git: PathBuf, dir: PathBuf },
    #[error("{git} is a link to {dir}, outside the directories to work in; commands cannot write there")]
    Outside { git: PathBuf, dir: PathBuf },
    #[error("there are so many directories in {0} that hooks of submodules are not all protected")]
    Modules(PathBuf),
    #[error(transparent)]
    Wide(#[from] TooWide),
}

/// Files of git that hold a path, and its settings, are small.
const LONGEST: u64 = 64 * 1024;

/// Looks at the repository whose top is `root`.
pub(crate) fn look(root: &Root, roots: &Roots, places: &Places) -> Repository {
    let mut found = Repository::default();
    // A command can make its root look like one, so that this is never all there is to protect.
    if is_git_dir(root.directory()) {
        found.is_in_git = true;
        found.shape = Shape::Bare;
        found.keep_hooks(root.directory(), None);
    }
    match kind(root.directory(), ".git") {
        None => {
            if let Some(top) = above(root.path(), places) {
                found.is_in_git = true;
                found.look_at(&top, roots, places);
            }
        }
        Some(_) => {
            found.is_in_git = true;
            found.look_at(root, roots, places);
        }
    }
    found
}

impl Repository {
    /// The top of a working tree: a root, or a directory around one.
    fn look_at(&mut self, top: &Root, roots: &Roots, places: &Places) {
        let git = top.path().join(".git");
        match kind(top.directory(), ".git") {
            Some(FileType::Directory) => self.take_directory(git, roots, places),
            Some(FileType::Symlink) => self.follow_link(git, roots),
            Some(FileType::RegularFile) => self.follow_file(git, top, roots, places),
            _ => {
                self.shape = Shape::Other;
                self.doubts.push(Doubt::Unreadable(git));
            }
        }
    }

    /// `.git` is the git directory itself.
    fn take_directory(&mut self, git: PathBuf, roots: &Roots, places: &Places) {
        self.shape = Shape::Directory;
        let Ok(dir) = Directory::open(&git) else { return self.doubts.push(Doubt::Unreadable(git)) };
        self.keep_hooks(&dir, Some(&git));
        if roots.hold(&dir) {
            return;
        }
        match check_width(&dir.path, places) {
            Err(wide) => self.doubts.push(Doubt::Wide(wide)),
            Ok(()) => self.write.push(dir),
        }
    }

    /// A git directory whose hooks run for this root, and those of its submodules. `pinned` is what holds them in place.
    fn keep_hooks(&mut self, dir: &Directory, pinned: Option<&Path>) {
        self.pin.extend(pinned.map(Path::to_owned));
        self.protect.push(dir.path.join("hooks"));
        self.keep_modules(&dir.path.join("modules"), 0);
    }

    /// Git directories of submodules lie below `modules` by the path of each, and may have submodules themselves.
    fn keep_modules(&mut self, modules: &Path, depth: usize) {
        let entries = std::fs::read_dir(modules).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            if self.modules == MOST_MODULES || depth == DEEPEST_MODULE {
                return self.doubts.push(Doubt::Modules(modules.to_owned()));
            }
            self.modules += 1;
            let path = entry.path();
            match Directory::open(&path) {
                Ok(dir) if is_git_dir(&dir) => {
                    self.protect.push(path.join("hooks"));
                    self.keep_modules(&path.join("modules"), depth + 1);
                }
                _ => self.keep_modules(&path, depth + 1),
            }
        }
    }

    /// `.git` is a link. Where it leads must be writable already; a link opens nothing. Its hooks are named through it,
    /// since the link itself must not be replaced either.
    fn follow_link(&mut self, git: PathBuf, roots: &Roots) {
        self.shape = Shape::Link;
        let Ok(dir) = Directory::open(&git) else { return self.doubts.push(Doubt::Unreadable(git)) };
        self.protect.push(git.join("hooks"));
        if !roots.hold(&dir) {
            self.doubts.push(Doubt::Outside { git, dir: dir.path });
        }
    }

    /// `.git` is a file: a linked worktree or a submodule, whose git directory is elsewhere.
    fn follow_file(&mut self, git: PathBuf, root: &Root, roots: &Roots, places: &Places) {
        self.shape = Shape::File;
        let Some(named) = read(root.directory(), ".git").as_deref().and_then(gitdir) else {
            return self.doubts.push(Doubt::Unreadable(git));
        };
        let named = root.path().join(named);
        let Ok(dir) = Directory::open(&named) else {
            return self.doubts.push(Doubt::Missing { git, dir: named });
        };
        let Some(common) = common_of(&dir, root) else {
            return self.doubts.push(Doubt::Forged { git, dir: dir.path });
        };
        self.pin.push(git);
        let holder = common.as_ref().unwrap_or(&dir);
        let place = holder.path.clone();
        self.keep_hooks(holder, Some(&place));
        // The worktree's own directory lies in the common one, so that is all there is to open. If it lies in a root,
        // the proof may have been written there by a command, and it is writable anyway.
        if roots.hold(&dir) {
            return;
        }
        if let Err(wide) = check_width(&place, places) {
            return self.doubts.push(Doubt::Wide(wide));
        }
        let outside = common.unwrap_or(dir);
        if !roots.hold(&outside) {
            self.write.push(outside);
        }
    }
}

/// The top of the working tree that a root lies in, if it is this user's. A home's own is not meant.
fn above(root: &Path, places: &Places) -> Option<Root> {
    let is_home = |dir: &Path| places.home.as_deref() == Some(dir) || places.real_home() == Some(dir);
    let mut above = root.ancestors().skip(1).filter(|dir| !is_home(dir));
    let top = above.find(|dir| dir.join(".git").symlink_metadata().is_ok())?;
    let own = rustix::process::geteuid().as_raw();
    let is_own = std::fs::symlink_metadata(top.join(".git")).is_ok_and(|meta| meta.uid() == own);
    is_own.then(|| Root::open(top).ok()).flatten()
}

/// Whether a git directory belongs to `root`: `None` if not; else the directory it shares with other worktrees, if it
/// shares one.
fn common_of(dir: &Directory, root: &Root) -> Option<Option<Directory>> {
    match read(dir, "gitdir") {
        Some(back) => {
            // A linked worktree: `<common>/worktrees/<name>`, with the path of the root's `.git` in `gitdir`.
            names_back(dir, &back, root).then_some(())?;
            let parent = dir.path.parent().filter(|parent| parent.ends_with("worktrees"))?;
            let common = Directory::open(parent.parent()?).ok()?;
            let said = dir.path.join(path_in(&read(dir, "commondir")?)?);
            let same = Directory::open(&said).ok()?.identity == common.identity;
            (same && dir.is_within(common.identity).ok()? && is_git_dir(&common)).then_some(Some(common))
        }
        None => {
            // A submodule: a whole git directory, with the path of the root in its settings.
            let worktree = worktree_setting(&read(dir, "config")?)?;
            let back = Directory::open(&dir.path.join(worktree)).ok()?;
            (back.identity == root.identity() && is_git_dir(dir)).then_some(None)
        }
    }
}

/// Whether the text is the path of the root's own `.git`.
fn names_back(dir: &Directory, text: &[u8], root: &Root) -> bool {
    let Some(path) = path_in(text).map(|path| dir.path.join(path)) else { return false };
    let parent = path.parent().and_then(|parent| Directory::open(parent).ok());
    path.file_name() == Some(OsStr::new(".git")) && parent.is_some_and(|it| it.identity == root.identity())
}

/// The parts without which git itself takes a directory for none of its own.
fn is_git_dir(dir: &Directory) -> bool {
    kind(dir, "HEAD") == Some(FileType::RegularFile)
        && kind(dir, "objects") == Some(FileType::Directory)
        && kind(dir, "refs") == Some(FileType::Directory)
}

/// The path in a `.git` file.
fn gitdir(text: &[u8]) -> Option<PathBuf> {
    path_in(text.strip_prefix(b"gitdir: ")?)
}

/// A path that is the whole of a file, with the end of its line.
fn path_in(text: &[u8]) -> Option<PathBuf> {
    let end = text.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'))? + 1;
    let path = &text[..end];
    (!path.contains(&0)).then(|| PathBuf::from(OsStr::from_bytes(path)))
}

/// `worktree` under `[core]`, as git writes it. Settings can be written in many more ways; those prove nothing here.
fn worktree_setting(config: &[u8]) -> Option<PathBuf> {
    let lines = config.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let core = lines.skip_while(|line| *line != b"[core]").skip(1).take_while(|line| !line.starts_with(b"["));
    let value = core.filter_map(|line| line.strip_prefix(b"worktree = ")).last()?;
    (!value.is_empty() && !value.contains(&b'"')).then(|| PathBuf::from(OsStr::from_bytes(value)))
}

/// What a name in a directory is, a link not followed.
fn kind(dir: &Directory, name: &str) -> Option<FileType> {
    let stat = rustix::fs::statat(&dir.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(FileType::from_raw_mode(stat.st_mode))
}

/// The whole of a small regular file in a directory. A link is not followed, and a pipe is not waited for.
fn read(dir: &Directory, name: &str) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file: OwnedFd = rustix::fs::openat(&dir.fd, name, flags, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(file.as_fd()).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut text = Vec::new();
    std::fs::File::from(file).take(LONGEST + 1).read_to_end(&mut text).ok()?;
    (text.len() as u64 <= LONGEST).then_some(text)
}
