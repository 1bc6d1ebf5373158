//! What the child will need, made before the fork: it may not allocate, format or look anything up.

use super::bpf::Instruction;
use super::fault::{Fault, Step};
use super::standing::Standing;
use super::{
    Absent, Confine, Entry, Hidden, Identity, Look, Mount, Namespaces, Provision, Rule, Sandbox, capability,
    filter, namespace,
};
use rustix::io::Errno;
use rustix::thread::CapabilitySet;
use std::cell::OnceCell;
use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path};

/// A confinement that can be entered.
#[derive(Debug)]
pub(crate) struct Ready<'a> {
    pub(super) namespaces: Namespaces,
    pub(super) landlock: u32,
    pub(super) namespace: namespace::Maps,
    pub(super) entrance: Entrance<'a>,
    /// Who gets what is made, and the locks that go with it.
    pub(super) offer: Option<(BorrowedFd<'a>, Vec<BorrowedFd<'a>>)>,
    /// What has to be mounted in a sandbox that several enter.
    pub(super) covers: Vec<Cover<'a>>,
    pub(super) rules: &'a [Rule],
    pub(super) keep: CapabilitySet,
    pub(super) filter: Vec<Instruction>,
    pub(super) directory: Option<Named>,
    pub(super) terminal: Option<Named>,
}

/// A place that something is mounted on, to hide it or to keep it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cover<'a> {
    /// There is one, unless this user cannot get there.
    Always(&'a CStr),
    /// There is one if there is something of that name.
    IfThere(&'a CStr),
}

impl<'a> Cover<'a> {
    fn of(mount: &'a Mount) -> Option<Self> {
        match mount {
            Mount::Hide { path, is: Hidden::In(_) } => Some(Self::IfThere(path)),
            Mount::Hide { path, is: Hidden::Exactly(_) }
            | Mount::ReadOnly { path, .. }
            | Mount::Fixed { path, .. }
            | Mount::Link { path, .. }
            | Mount::View { path, .. } => Some(Self::Always(path)),
            _ => None,
        }
    }
}

/// How a sandbox is entered.
#[derive(Debug)]
pub(crate) enum Entrance<'a> {
    /// By making it, with these mounts.
    Make(Vec<Covering<'a>>),
    /// It stands.
    Join(&'a Sandbox),
}

/// A mount with everything it takes.
#[derive(Debug)]
pub(crate) enum Covering<'a> {
    Hide {
        path: &'a CStr,
        is: Identity,
    },
    /// By its name in a directory.
    HideIn {
        parent: CString,
        is: Identity,
        name: CString,
    },
    ReadOnly {
        path: &'a CStr,
        is: Identity,
        absent: Absent,
    },
    Fixed {
        path: &'a CStr,
        is: Identity,
    },
    Link {
        path: &'a CStr,
        is: Identity,
    },
    Over {
        from: Source<'a>,
        onto: &'a CStr,
    },
    Again {
        from: Source<'a>,
        parents: Vec<CString>,
    },
    Everything,
    Writable {
        from: Source<'a>,
        parents: Vec<CString>,
    },
    Fresh {
        path: &'a CStr,
        size: CString,
    },
    View {
        path: &'a CStr,
        is: Identity,
        options: [(&'static CStr, CString); 5],
        entries: &'a [Entry],
        /// The child fills it in its own copy.
        made: OnceCell<OwnedFd>,
    },
    Layer {
        lower: Source<'a>,
        files: Named,
        work: Named,
        parents: Vec<CString>,
    },
    Terminals,
    /// There is nothing to protect, and nobody who could make it.
    Nothing,
}

/// What is cloned before any mount can cover or change it. The child fills the cell in its own copy of it.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    pub(super) path: &'a CStr,
    pub(super) is: Identity,
    pub(super) tree: OnceCell<OwnedFd>,
}

/// Something that is open, by a name under which the new mounts can be asked for it.
#[derive(Debug)]
pub(crate) struct Named {
    pub(super) path: CString,
    /// What must be there; nothing where that cannot be known before it is made.
    pub(super) is: Option<Identity>,
}

impl Named {
    /// What has no name any more cannot be found again; that is found out by asking for it.
    pub(crate) fn of(fd: BorrowedFd<'_>) -> Result<Self, Errno> {
        let link = format!("/proc/self/fd/{}", fd.as_raw_fd());
        let path = std::fs::read_link(link).map_err(|e| Errno::from_io_error(&e).unwrap_or(Errno::NOENT))?;
        let path = CString::new(path.into_os_string().into_vec()).map_err(|_| Errno::INVAL)?;
        Ok(Self { path, is: Some(Identity::of(fd)?) })
    }
}

impl Named {
    /// Fails if it must be something, and that is not what is open there.
    pub(super) fn check(&self, fd: BorrowedFd<'_>) -> Result<(), Errno> {
        self.is.map_or(Ok(()), |is| is.check(fd))
    }

    /// By the name that it has among these mounts: what is mounted over another place is called by that.
    fn among(self, mounts: &[Mount]) -> Self {
        let below = |from: &CStr| {
            let rest = self.path.to_bytes().strip_prefix(from.to_bytes())?;
            (rest.is_empty() || rest[0] == b'/').then_some(rest)
        };
        let moved = mounts.iter().find_map(|mount| match mount {
            Mount::Over { from, onto, .. } => CString::new([onto.to_bytes(), below(from)?].concat()).ok(),
            _ => None,
        });
        // A view is made over what it was checked to be made over.
        let viewed =
            mounts.iter().any(|mount| matches!(mount, Mount::View { path, .. } if *path == self.path));
        Self { path: moved.unwrap_or(self.path), is: self.is.filter(|_| !viewed) }
    }
}

impl<'a> Ready<'a> {
    pub(crate) fn new(
        confine: &'a Confine,
        standing: &'a Standing,
        directory: Option<Named>,
        terminal: Option<Named>,
    ) -> Result<Self, (Fault, Errno)> {
        let mounts = || {
            confine.mounts.iter().enumerate().map(|(at, mount)| {
                covering(mount, standing, at).map_err(|errno| (Fault::nth(Step::Mount, at), errno))
            })
        };
        let (entrance, offer) = match &standing.provision {
            Provision::Join(sandbox) => (Entrance::Join(sandbox), None),
            Provision::Own => (Entrance::Make(mounts().collect::<Result<_, _>>()?), None),
            Provision::Offer(to) => {
                let offer = (to.as_fd(), standing.layers.locks().collect());
                (Entrance::Make(mounts().collect::<Result<_, _>>()?), Some(offer))
            }
        };
        Ok(Self {
            namespaces: confine.namespaces,
            landlock: confine.landlock,
            namespace: namespace::Maps::own(),
            entrance,
            offer,
            covers: match standing.provision {
                Provision::Own => Vec::new(),
                Provision::Offer(_) | Provision::Join(_) => {
                    confine.mounts.iter().filter_map(Cover::of).collect()
                }
            },
            rules: &confine.rules,
            keep: capability::kept(),
            filter: filter::program(confine).map_err(|errno| (Fault::new(Step::Filter), errno))?,
            directory: directory.map(|directory| directory.among(&confine.mounts)),
            terminal,
        })
    }
}

fn covering<'a>(mount: &'a Mount, standing: &Standing, at: usize) -> Result<Covering<'a>, Errno> {
    Ok(match mount {
        Mount::Hide { path, is: Hidden::Exactly(is) } => Covering::Hide { path: absolute(path)?, is: *is },
        Mount::Hide { path, is: Hidden::In(is) } => {
            let (parent, name) = split(path)?;
            Covering::HideIn { parent, is: *is, name }
        }
        // What has gone since is not there to be kept, as if it had never been.
        Mount::ReadOnly { path, is } => {
            Covering::ReadOnly { path: absolute(path)?, is: *is, absent: Absent::Skip }
        }
        Mount::Placeholder { path } => match standing.placeholders.identity(at) {
            Some(is) => Covering::ReadOnly { path: absolute(path)?, is, absent: Absent::Fail },
            None => Covering::Nothing,
        },
        Mount::Fixed { path, is } => Covering::Fixed { path: absolute(path)?, is: *is },
        Mount::Link { path, is } => Covering::Link { path: absolute(path)?, is: *is },
        Mount::Over { from, is, onto } => Covering::Over { from: source(from, *is)?, onto: absolute(onto)? },
        Mount::Again { path, is } => Covering::Again { from: source(path, *is)?, parents: parents(path)? },
        Mount::Fresh { path, bytes } => Covering::Fresh {
            path: absolute(path)?,
            size: CString::new(bytes.to_string()).map_err(|_| Errno::INVAL)?,
        },
        Mount::Everything => Covering::Everything,
        Mount::Writable { path, is } => {
            Covering::Writable { from: source(path, *is)?, parents: parents(path)? }
        }
        Mount::View { path, is, look, entries } => Covering::View {
            path: absolute(path)?,
            is: *is,
            options: options(*look)?,
            entries,
            made: OnceCell::new(),
        },
        Mount::Layer { path, is, .. } => {
            let [files, work] = standing.layers.of(at).ok_or(Errno::NOENT)?;
            let named = |(path, is)| Named { path, is: Some(is) };
            let (lower, parents) = (source(path, *is)?, parents(path)?);
            Covering::Layer { lower, files: named(files), work: named(work), parents }
        }
        Mount::Terminals => Covering::Terminals,
    })
}

/// It holds names only. Where they may not be chosen, the owner is whoever makes it.
fn options(look: Look) -> Result<[(&'static CStr, CString); 5], Errno> {
    let own = || (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let (user, group) = look.owner.unwrap_or_else(own);
    let value = |text: String| CString::new(text).map_err(|_| Errno::INVAL);
    Ok([
        (c"mode", value(format!("{:o}", look.mode & 0o777))?),
        (c"uid", value(user.to_string())?),
        (c"gid", value(group.to_string())?),
        (c"size", c"4m".into()),
        (c"nr_inodes", c"16384".into()),
    ])
}

fn source(path: &CStr, is: Identity) -> Result<Source<'_>, Errno> {
    Ok(Source { path: absolute(path)?, is, tree: OnceCell::new() })
}

/// A relative path would be looked for in the command's directory.
fn absolute(path: &CStr) -> Result<&CStr, Errno> {
    if path.to_bytes().first() == Some(&b'/') { Ok(path) } else { Err(Errno::INVAL) }
}

/// The directory that something is in, and its name there.
pub(super) fn split(path: &CStr) -> Result<(CString, CString), Errno> {
    let path = Path::new(OsStr::from_bytes(absolute(path)?.to_bytes()));
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::INVAL) };
    let c_string = |text: &OsStr| CString::new(text.as_bytes()).map_err(|_| Errno::INVAL);
    Ok((c_string(parent.as_os_str())?, c_string(name)?))
}

/// Every directory on the way to a path, and the path itself.
fn parents(path: &CStr) -> Result<Vec<CString>, Errno> {
    let path = Path::new(OsStr::from_bytes(absolute(path)?.to_bytes()));
    if path.components().any(|part| part == Component::ParentDir) {
        return Err(Errno::INVAL);
    }
    let below = |part: &&Path| part.parent().is_some();
    let mut found: Vec<CString> = path
        .ancestors()
        .filter(below)
        .map(|part| CString::new(part.as_os_str().as_bytes()).map_err(|_| Errno::INVAL))
        .collect::<Result<_, _>>()?;
    found.reverse();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_path_begins_at_the_top_and_ends_with_it() {
        let way = [c"/tmp".to_owned(), c"/tmp/a".to_owned(), c"/tmp/a/b".to_owned()];
        assert_eq!(parents(c"/tmp/a/b"), Ok(way.to_vec()));
        assert_eq!(parents(c"/tmp/../a"), Err(Errno::INVAL));
        assert_eq!(parents(c"tmp"), Err(Errno::INVAL));
    }
}
