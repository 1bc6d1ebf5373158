//! The sandbox of one command: what it may see, write, reach and ask of the kernel.
//!
//! A [`Confine`] is decided by somebody else and carried out here: what can be made ready is made ready before the fork
//! (`prepare`), and the child enters it between fork and exec with bare system calls (`enter`). Whoever decides says what
//! of the machine is to be used; whatever part of that cannot be had fails the start. What a profile or a root is, is not
//! known here.
//!
//! What surprises: paths are opened again in the child, after it has left the mounts of everybody else, because a
//! descriptor from before belongs to those. What was judged is compared with what was found by device and inode.

mod bpf;
mod capability;
mod fault;
mod filter;
mod landlock;
mod layer;
mod mount;
mod namespace;
mod placeholder;
mod prepare;
mod sandbox;
mod standing;
mod wire;

pub use fault::{Fault, Step};
pub(crate) use landlock::version as landlock_version;
pub use placeholder::Keeper;
pub(crate) use prepare::{Entrance, Named, Ready};
pub(crate) use sandbox::MOST_PARTS;
pub use sandbox::{Answer, Offered, Provision, Sandbox};
pub(crate) use standing::Standing;

use rustix::fs::{AtFlags, Statx, StatxFlags};
use rustix::io::Errno;
use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// The whole sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confine {
    /// The profile's name, for records.
    pub name: String,
    /// Whether it lives among mounts, and perhaps in a network, of its own.
    pub namespaces: Namespaces,
    /// The version of Landlock whose rights are used; 0 for none, and then there are no rules.
    pub landlock: u32,
    /// What is different among its mounts, in this order. Only with a mount namespace.
    pub mounts: Vec<Mount>,
    /// What it may do with which files; everything else is refused. Opened after the mounts.
    pub rules: Vec<Rule>,
    /// What it may open sockets for.
    pub sockets: Sockets,
    /// Whether it may change modes, owners, times and attributes of files.
    pub metadata: Metadata,
}

/// The namespaces of its own. An ordinary user gets a user namespace with them; the child finds out by trying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespaces {
    /// None: files are governed by the rules alone.
    None,
    /// Mounts.
    Mount {
        /// And a network.
        net: OwnNet,
        /// And users.
        user: OwnUser,
    },
}

/// A user namespace of its own, in which it is the same user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnUser {
    /// Where the kernel gives no mounts without one.
    IfNeeded,
    /// Also for root: where Landlock does not keep it from looking into other processes, this does.
    Always,
}

/// A network of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnNet {
    /// The machine's.
    No,
    /// One with nothing in it.
    Down,
    /// One with a working loopback and nothing else.
    Loopback,
}

/// One difference from the mounts of everybody else. Paths are absolute and free of symbolic links: one that is met
/// fails the start, since somebody may have put it there meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mount {
    /// An empty read-only directory or an empty file over what is there.
    Hide {
        /// Where.
        path: CString,
        /// What must be there.
        is: Hidden,
    },
    /// The same thing again, read-only.
    ReadOnly {
        /// Where.
        path: CString,
        /// What it must be.
        is: Identity,
    },
    /// Kept read-only, and made first if it does not exist, so that nobody else can make it. What was made is removed
    /// when the last terminal that uses it ends. The directory around it must exist.
    Placeholder {
        /// Where.
        path: CString,
    },
    /// The same directory again, as it is. A mount point can be neither renamed nor removed, so no other directory can
    /// be put in its place: needed for every directory between a writable root and what is protected in it.
    Fixed {
        /// Where.
        path: CString,
        /// What it must be.
        is: Identity,
    },
    /// The same symbolic link again: as with [`Mount::Fixed`], no other can be put in its place. Where it leads is not
    /// looked at.
    Link {
        /// Where.
        path: CString,
        /// What it must be.
        is: Identity,
    },
    /// One directory over another place.
    Over {
        /// The directory, as it is found before any of the mounts.
        from: CString,
        /// What that must be.
        is: Identity,
        /// The place; nothing is done if there is none.
        onto: CString,
    },
    /// The same directory back at its own place, if an earlier mount covered it. Directories on the way to it are made
    /// in what covers it.
    Again {
        /// Where.
        path: CString,
        /// What it must be.
        is: Identity,
    },
    /// A private temporary file system, empty and writable. Nothing there: nothing done.
    Fresh {
        /// Where.
        path: CString,
        /// How much it can hold.
        bytes: u64,
    },
    /// Every mount read-only, for good. First of all; what is to be written comes back with [`Mount::Writable`]. Landlock
    /// alone does not keep anybody from changing modes, owners, times and attributes.
    Everything,
    /// The same file or directory at its own place, as writable as it was before everything became read-only.
    Writable {
        /// Where.
        path: CString,
        /// What it must be.
        is: Identity,
    },
    /// An empty read-only file system over a directory, with some of what was in it brought back. What is put into that
    /// directory later, under whatever name, is not seen; what is replaced later is seen as it was.
    View {
        /// Where.
        path: CString,
        /// What must be there.
        is: Identity,
        /// Its permissions and owner.
        look: Look,
        /// What is in it.
        entries: Arc<[Entry]>,
    },
    /// A directory that may be written and is not: changes go to another place, and only who has that sees them. Where the
    /// kernel cannot do that with this directory, nothing is done. Things in it have other identities afterwards.
    Layer {
        /// Where.
        path: CString,
        /// What it must be.
        is: Identity,
        /// Where changes go; made if it is missing. In there each sandbox has a place of its own while it stands.
        upper: CString,
        /// Directories in it, by their paths from there, that begin empty.
        fresh: Vec<CString>,
    },
    /// PTYs of its own at `/dev/pts`: those of other programs of the same user cannot be opened. The one that the command
    /// runs on is not one of the new ones, and gets the name `/dev/console`.
    Terminals,
}

/// How the top of a [`Mount::View`] looks to who lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Permissions.
    pub mode: u32,
    /// User and group; the ones who make it, if they may not choose.
    pub owner: Option<(u32, u32)>,
}

/// One name in a [`Mount::View`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// The directory of that name, with everything in it.
    Directory(CString),
    /// The file of that name, or whatever else is no directory.
    File(CString),
    /// A symbolic link.
    Link {
        /// Its name.
        name: CString,
        /// Where it leads.
        target: CString,
    },
    /// An empty directory that something else is mounted on.
    Empty(CString),
    /// An empty file that something else is mounted on.
    Blank(CString),
}

/// What may be done with what is at a path and below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Where. Symbolic links are followed, so a rule that gives more than reading should say what it leads to.
    pub path: CString,
    /// What may be done.
    pub access: Access,
    /// What must be there, if that was seen before.
    pub is: Option<Identity>,
    /// What it means if nothing is there.
    pub absent: Absent,
}

/// What a rule gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading files, listing directories and executing.
    Read,
    /// Also writing, making, removing and moving; but no device files.
    Write,
    /// Reading, writing and controlling a device file, or those of a directory.
    Device,
    /// Listing directories only.
    List,
}

/// What it means if a rule's path leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// The rule is left out.
    Skip,
    /// The start fails.
    Fail,
}

/// What is hidden. Something that was moved away since it was seen would be readable at its new place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hidden {
    /// Exactly this; the start fails if it is gone.
    Exactly(Identity),
    /// Whatever has that name in exactly this directory, or nothing: programs write their settings and histories anew
    /// and rename them into place at any moment. Only where no command can do the same.
    In(Identity),
}

/// Which sockets can be opened. Pairs of connected ones always can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sockets {
    /// None.
    None,
    /// Those that lead to programs of this machine by a path; only where mounts hide what must not be reached.
    Unix,
    /// Internet, and asking the kernel about the network.
    Network,
    /// Both.
    UnixAndNetwork,
}

/// What may be done to what is said about files, which no rule governs: it is judged wherever the file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metadata {
    /// What the user may, and the mounts allow.
    Usual,
    /// Nothing.
    Refused,
}

impl Confine {
    /// What is needed of it where it stands already: all but what only who makes it has to know.
    #[must_use]
    pub fn standing(mut self) -> Self {
        if self.namespaces != Namespaces::None {
            self.rules.clear();
        }
        for mount in &mut self.mounts {
            if let Mount::View { entries, .. } = mount {
                *entries = Arc::default();
            }
        }
        self
    }

    /// Whether both write to the same layer.
    #[must_use]
    pub fn shares_layer(&self, other: &Self) -> bool {
        let uppers = |confine: &Self| -> Vec<CString> {
            let upper = |mount: &Mount| match mount {
                Mount::Layer { upper, .. } => Some(upper.clone()),
                _ => None,
            };
            confine.mounts.iter().filter_map(upper).collect()
        };
        let others = uppers(other);
        uppers(self).iter().any(|upper| others.contains(upper))
    }
}

/// Names one file or directory, for good: an inode's number is given to the next file at once when it is free, so the
/// time at which it was made is a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Its device.
    pub dev: u64,
    /// Its inode.
    pub ino: u64,
    /// When it was made, in nanoseconds of the clock of its file system; 0 where that is not kept.
    pub born: u64,
}

/// What [`Identity::of_stat`] needs to be asked for.
pub const IDENTIFYING: StatxFlags = StatxFlags::INO.union(StatxFlags::BTIME);

impl Identity {
    /// Of what is open there.
    pub fn of(fd: BorrowedFd<'_>) -> Result<Self, Errno> {
        rustix::fs::statx(fd, c"", AtFlags::EMPTY_PATH, IDENTIFYING).map(|stat| Self::of_stat(&stat))
    }

    /// Of what the kernel has told of, if it was asked for [`IDENTIFYING`].
    #[must_use]
    pub fn of_stat(stat: &Statx) -> Self {
        let knows = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME);
        let born = i128::from(stat.stx_btime.tv_sec) * 1_000_000_000 + i128::from(stat.stx_btime.tv_nsec);
        Self {
            dev: rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor),
            ino: stat.stx_ino,
            born: if knows { u64::try_from(born).unwrap_or(0) } else { 0 },
        }
    }

    /// Fails with ESTALE if that is not what is open there.
    fn check(self, fd: BorrowedFd<'_>) -> Result<(), Errno> {
        if Self::of(fd)? == self { Ok(()) } else { Err(Errno::STALE) }
    }
}

/// Enters the sandbox; there is no way back out. Only in a child between fork and exec: bare system calls throughout.
/// `terminal` is the command's own PTY, which it may always use.
pub(crate) fn enter(ready: &Ready<'_>, terminal: Option<BorrowedFd<'_>>) -> Result<(), (Fault, Errno)> {
    let at = |step| move |errno| (Fault::new(step), errno);
    let own = match &ready.entrance {
        Entrance::Make(mounts) => make(ready, mounts, terminal)?,
        Entrance::Join(sandbox) => {
            sandbox.join(ready.namespaces)?;
            mount::check(&ready.covers).map_err(at(Step::Join))?;
            enter_directory(ready)?;
            None
        }
    };
    let ruleset = match &ready.entrance {
        Entrance::Make(_) => own.as_ref().map(AsFd::as_fd),
        Entrance::Join(sandbox) => sandbox.ruleset(),
    };
    // What dies in a sandbox may have read what it must not write.
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::setrlimit(rustix::process::Resource::Core, none).map_err(at(Step::Privileges))?;
    capability::drop_all_but(ready.keep).map_err(at(Step::Privileges))?;
    rustix::thread::set_no_new_privs(true).map_err(at(Step::Privileges))?;
    match ruleset {
        Some(ruleset) => landlock::enter(ruleset)?,
        // Never without, where there should be one.
        None if ready.landlock > 0 => return Err(at(Step::Ruleset)(Errno::BADF)),
        None => {}
    }
    if ready.namespaces == Namespaces::None && ready.landlock > 0 {
        landlock::check_reach(ready.rules).map_err(at(Step::Reach))?;
    }
    filter::load_into_kernel(&ready.filter).map_err(at(Step::Filter))
}

/// Makes a sandbox around this process, but for what it gives up for good. Answers with the ruleset, if it has one.
fn make(
    ready: &Ready<'_>,
    mounts: &[prepare::Covering<'_>],
    terminal: Option<BorrowedFd<'_>>,
) -> Result<Option<OwnedFd>, (Fault, Errno)> {
    let spaces = match ready.namespaces {
        Namespaces::Mount { net, user } => {
            let users = namespace::leave(&ready.namespace, net, user)?;
            mount::make(mounts, ready.terminal.as_ref())?;
            Some((users, net))
        }
        Namespaces::None => None,
    };
    enter_directory(ready)?;
    let ruleset = match ready.landlock {
        0 => None,
        version => Some(landlock::make(version, ready.rules, terminal)?),
    };
    if let Some((to, locks)) = &ready.offer
        && mount::check(&ready.covers).is_ok()
    {
        let ruleset = ruleset.as_ref().map(AsFd::as_fd);
        sandbox::Made { mounts: spaces, ruleset, locks }.hand_to(*to);
    }
    Ok(ruleset)
}

fn enter_directory(ready: &Ready<'_>) -> Result<(), (Fault, Errno)> {
    let entered = ready.directory.as_ref().map_or(Ok(()), mount::enter);
    entered.map_err(|errno| (Fault::new(Step::Directory), errno))
}

/// Of the last call that was made through the C library.
fn last_errno() -> Errno {
    let errno = std::io::Error::last_os_error().raw_os_error();
    Errno::from_raw_os_error(errno.unwrap_or(libc::EIO))
}
