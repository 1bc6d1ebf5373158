//! Roots: the directories in which commands may start, and what they may write.
//!
//! Roots come from the policy and the session, never from a request. A request names a working directory; it is opened
//! once, everything is decided on the descriptor, and the descriptor is what is used.
//!
//! A directory is in a root if two questions are both answered yes. By *name*: its real path begins, component by
//! component, with the root's; so mounts that protect files at paths in the root apply to it. By *descent*: going up from
//! its descriptor meets the very directory that the root was when it was opened; so it is not another one that has taken
//! the root's name. Each alone can be fooled: a bind mount of the root elsewhere has the descent and not the name, a new
//! directory in place of a renamed root has the name and not the descent.
//!
//! What a mount inside a root covers belongs to the root: nobody who is confined can mount.

mod cases;
mod directory;
mod race;
mod width;

pub(crate) use directory::{Directory, Unusable, real_path};
pub(crate) use width::{TooWide, check as check_width};

use super::places::Places;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use wharf_shim::confine::Identity;

/// One directory to work in.
#[derive(Debug)]
pub(crate) struct Root {
    directory: Directory,
}

/// A root that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RootError {
    #[error("the root {path} cannot be used: {why}")]
    Unusable { path: PathBuf, why: Unusable },
    #[error(transparent)]
    Wide(#[from] TooWide),
}

impl Root {
    /// Opens it. Links in the path are followed now and never again.
    pub(crate) fn open(path: &Path) -> Result<Self, RootError> {
        match Directory::open(path) {
            Ok(directory) => Ok(Self { directory }),
            Err(why) => Err(RootError::Unusable { path: path.to_owned(), why }),
        }
    }

    /// Its real path.
    pub(crate) fn path(&self) -> &Path {
        &self.directory.path
    }

    /// What it is.
    pub(crate) fn identity(&self) -> Identity {
        self.directory.identity
    }

    /// The open directory.
    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Refuses a root that would leave nothing outside: `/`, a home, a system directory, wharf's own.
    pub(crate) fn check_width(&self, places: &Places) -> Result<(), TooWide> {
        check_width(self.path(), places)
    }

    /// By name and by descent; see above.
    fn holds(&self, directory: &Directory) -> Result<bool, Unusable> {
        Ok(directory.path.starts_with(self.path()) && directory.is_within(self.identity())?)
    }
}

/// All the directories to work in.
#[derive(Debug, Default)]
pub(crate) struct Roots {
    /// Those that may be written.
    narrow: Vec<Root>,
    /// Those in which commands may start, and which would be too much to give away.
    wide: Vec<Root>,
}

/// A working directory that lies in a root.
#[derive(Debug)]
pub(crate) struct Admitted {
    pub(crate) fd: OwnedFd,
    /// Its real path.
    pub(crate) path: PathBuf,
    /// The innermost root that it lies in.
    pub(crate) root: PathBuf,
}

/// A working directory that may not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("the working directory {path} cannot be used: {why}")]
    Unusable { path: PathBuf, why: Unusable },
    #[error(
        "the working directory {} is outside the directories to work in ({})",
        shown(path, real),
        list(roots)
    )]
    Outside { path: PathBuf, real: PathBuf, roots: Vec<PathBuf> },
    /// The root has been moved away, or something has taken its name.
    #[error("the working directory {path} is not in {root} any more: that directory was moved or replaced")]
    Moved { path: PathBuf, root: PathBuf },
}

fn shown(path: &Path, real: &Path) -> String {
    // Compared as it is written: `/a/../etc` has to be explained, too.
    if path.as_os_str() == real.as_os_str() {
        return path.display().to_string();
    }
    format!("{}, which is {},", path.display(), real.display())
}

fn list(roots: &[PathBuf]) -> String {
    let roots: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
    if roots.is_empty() { "there are none".to_owned() } else { roots.join(", ") }
}

impl Roots {
    /// These, which may be written.
    pub(crate) fn new(narrow: Vec<Root>) -> Self {
        Self { narrow, wide: Vec::new() }
    }

    /// With those that may not.
    pub(crate) fn and_wide(mut self, wide: Vec<Root>) -> Self {
        self.wide = wide;
        self
    }

    /// Those that may be written.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Root> {
        self.narrow.iter()
    }

    /// Those that may only be started in.
    pub(crate) fn wide(&self) -> &[Root] {
        &self.wide
    }

    /// Opens a working directory and says in which root it lies.
    pub(crate) fn admit(&self, cwd: &Path) -> Result<Admitted, Refused> {
        let unusable = |why| Refused::Unusable { path: cwd.to_owned(), why };
        let directory = Directory::open(cwd).map_err(unusable)?;
        match self.position(&directory).map_err(unusable)? {
            Some(root) => {
                let (root, Directory { fd, path, .. }) = (root.path().to_owned(), directory);
                Ok(Admitted { fd, path, root })
            }
            None => Err(self.refuse(cwd, directory)),
        }
    }

    /// Whether an open directory lies in one of the roots that may be written.
    pub(crate) fn hold(&self, directory: &Directory) -> bool {
        self.narrow.iter().any(|root| root.holds(directory) == Ok(true))
    }

    /// Of roots in each other the innermost, which is the one with the longest name.
    fn position(&self, directory: &Directory) -> Result<Option<&Root>, Unusable> {
        let mut innermost: Option<(usize, &Root)> = None;
        for root in self.narrow.iter().chain(&self.wide) {
            let depth = root.path().components().count();
            if innermost.is_none_or(|(deepest, _)| depth > deepest) && root.holds(directory)? {
                innermost = Some((depth, root));
            }
        }
        Ok(innermost.map(|(_, root)| root))
    }

    fn refuse(&self, cwd: &Path, directory: Directory) -> Refused {
        let path = cwd.to_owned();
        let all = || self.narrow.iter().chain(&self.wide);
        let named = all().find(|root| directory.path.starts_with(root.path()));
        match named {
            Some(root) => Refused::Moved { path, root: root.path().to_owned() },
            None => {
                let roots = all().map(|root| root.path().to_owned()).collect();
                Refused::Outside { path, real: directory.path, roots }
            }
        }
    }
}
