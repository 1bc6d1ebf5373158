//! The mounts of a confinement, one after the other, by descriptor: what is looked at is what is mounted on.
//!
//! Everything is cloned together with what is mounted below it: the kernel would refuse an ordinary user less, since
//! that could uncover what a mount hides.

use super::fault::{Fault, Step};
use super::prepare::{Cover, Covering, Named, Source};
use super::{Absent, Entry, Identity};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatxAttributes, StatxFlags, openat2};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

pub(super) fn make(mounts: &[Covering<'_>], terminal: Option<&Named>) -> Result<(), (Fault, Errno)> {
    let at = |index| move |errno| (Fault::nth(Step::Mount, index), errno);
    // First of all: later they may be covered.
    for (index, mount) in mounts.iter().enumerate() {
        if let Covering::Over { from, .. } | Covering::Again { from, .. } | Covering::Writable { from, .. } =
            mount
        {
            from.take().map_err(at(index))?;
        }
        if let Covering::Layer { lower, files, work, .. } = mount {
            prepare_layer(lower, files, work).map_err(at(index))?;
        }
    }
    let own = match mounts.iter().position(|mount| matches!(mount, Covering::Terminals)) {
        Some(index) => terminal.map(tree_of).transpose().map_err(at(index))?,
        None => None,
    };
    let mut nothing = Nothing::default();
    for (index, mount) in mounts.iter().enumerate() {
        one(mount, mounts, own.as_ref(), &mut nothing).map_err(at(index))?;
    }
    // Last of all: until now directories on the way to something else may have been made in them.
    for (index, mount) in mounts.iter().enumerate() {
        if let Covering::View { made, .. } = mount
            && let Some(made) = made.get()
        {
            set_one(made.as_fd(), MountAttrFlags::MOUNT_ATTR_RDONLY).map_err(at(index))?;
        }
    }
    Ok(())
}

/// Goes to where the working directory is among the new mounts: one that was entered before may lie below a mount, and
/// be writable where its name is not.
pub(super) fn enter(directory: &Named) -> Result<(), Errno> {
    let found = open(&directory.path)?;
    directory.check(found.as_fd())?;
    rustix::process::fchdir(found)
}

/// `all` are those that were made before and will be made after it. `own` is the command's terminal, as it was found before
/// any of the mounts.
fn one(
    mount: &Covering<'_>,
    all: &[Covering<'_>],
    own: Option<&OwnedFd>,
    nothing: &mut Nothing,
) -> Result<(), Errno> {
    match mount {
        Covering::Hide { path, is } => match if_reached(open(path))? {
            Some(place) => nothing.cover(place.as_fd(), Some(*is)),
            None => Ok(()),
        },
        Covering::HideIn { parent, is, name } => match if_reached(open(parent))? {
            Some(parent) => {
                is.check(parent.as_fd())?;
                let place = if_there(open_at(parent.as_fd(), name, OFlags::PATH))?;
                place.map_or(Ok(()), |place| nothing.cover(place.as_fd(), None))
            }
            None => Ok(()),
        },
        Covering::ReadOnly { path, is, absent } => {
            let place = match open(path) {
                Err(Errno::NOENT) if *absent == Absent::Skip => return Ok(()),
                place => place?,
            };
            is.check(place.as_fd())?;
            let tree = clone(place.as_fd())?;
            set(tree.as_fd(), MountAttrFlags::MOUNT_ATTR_RDONLY)?;
            attach(tree.as_fd(), place.as_fd())
        }
        Covering::Fixed { path, is } => {
            let place = open(path)?;
            is.check(place.as_fd())?;
            attach(clone(place.as_fd())?.as_fd(), place.as_fd())
        }
        Covering::Link { path, is } => {
            let link = open_at(CWD, path, OFlags::PATH | OFlags::NOFOLLOW)?;
            is.check(link.as_fd())?;
            attach(clone(link.as_fd())?.as_fd(), link.as_fd())
        }
        Covering::Over { from, onto } => match if_there(open(onto))? {
            Some(place) => attach(from.taken()?, place.as_fd()),
            None => Ok(()),
        },
        // Nothing to do if its name still leads to it.
        Covering::Again { from, .. }
            if open(from.path).is_ok_and(|found| from.is.check(found.as_fd()).is_ok()) =>
        {
            Ok(())
        }
        Covering::Again { from, parents } | Covering::Writable { from, parents } => bring_back(from, parents),
        Covering::Everything => set(open(c"/")?.as_fd(), MountAttrFlags::MOUNT_ATTR_RDONLY),
        Covering::Fresh { path, size } => match if_there(open(path))? {
            Some(place) => attach(fresh(size)?.as_fd(), place.as_fd()),
            None => Ok(()),
        },
        Covering::View { path, is, options, entries, made } => {
            let Some(place) = if_reached(open(path))? else { return Ok(()) };
            // What this user cannot reach was left empty in the view around it: there is nothing to be hidden.
            if is.check(place.as_fd()).is_err() && is_left_empty(place.as_fd(), all)? {
                return Ok(());
            }
            is.check(place.as_fd())?;
            let view = view(place.as_fd(), options, entries)?;
            made.set(view).map_err(|_| Errno::BUSY)
        }
        Covering::Layer { lower, parents, .. } => match lower.tree.get() {
            Some(_) => bring_back(lower, parents),
            None => Ok(()),
        },
        Covering::Terminals => terminals(own),
        Covering::Nothing => Ok(()),
    }
}

impl Source<'_> {
    fn take(&self) -> Result<(), Errno> {
        let found = open(self.path)?;
        self.is.check(found.as_fd())?;
        self.tree.set(clone(found.as_fd())?).map_err(|_| Errno::BUSY)
    }

    fn taken(&self) -> Result<BorrowedFd<'_>, Errno> {
        self.tree.get().map(OwnedFd::as_fd).ok_or(Errno::BADF)
    }
}

/// What stands over what is hidden. Each is mounted where it is first needed and cloned from there for all others.
#[derive(Default)]
struct Nothing {
    directory: Option<OwnedFd>,
    file: Option<OwnedFd>,
}

impl Nothing {
    /// Covers what is there, if it is what it must be.
    fn cover(&mut self, place: BorrowedFd<'_>, is: Option<Identity>) -> Result<(), Errno> {
        if let Some(is) = is {
            is.check(place)?;
        }
        let mode = rustix::fs::fstat(place)?.st_mode;
        let (first, make): (_, fn() -> Result<OwnedFd, Errno>) = match FileType::from_raw_mode(mode) {
            FileType::Directory => (&mut self.directory, empty_directory),
            _ => (&mut self.file, empty_file),
        };
        match first {
            Some(first) => attach(clone(first.as_fd())?.as_fd(), place),
            None => {
                let made = make()?;
                attach(made.as_fd(), place)?;
                *first = Some(made);
                Ok(())
            }
        }
    }
}

/// Reads as an empty file, and a connection to it is refused.
fn empty_file() -> Result<OwnedFd, Errno> {
    let tree = clone(open(c"/dev/null")?.as_fd())?;
    set(tree.as_fd(), MountAttrFlags::MOUNT_ATTR_RDONLY)?;
    Ok(tree)
}

fn empty_directory() -> Result<OwnedFd, Errno> {
    let flags = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    file_system(c"tmpfs", &[(c"mode", c"555"), (c"size", c"4096")], flags)
}

/// At its own place, with directories on the way if a mount has covered them.
fn bring_back(from: &Source<'_>, parents: &[CString]) -> Result<(), Errno> {
    let place = match open(from.path) {
        Err(Errno::NOENT) => {
            for part in parents {
                match rustix::fs::mkdir(part.as_c_str(), Mode::RWXU) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(errno),
                }
            }
            open(from.path)
        }
        place => place,
    };
    attach(from.taken()?, place?.as_fd())
}

/// Whether everything that hides or keeps something is there. A mount goes when what it is on is replaced outside, also if
/// that comes back.
pub(super) fn check(covers: &[Cover<'_>]) -> Result<(), Errno> {
    covers.iter().try_for_each(|cover| {
        let (Cover::Always(path) | Cover::IfThere(path)) = *cover;
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        match (rustix::fs::statx(CWD, path, flags, StatxFlags::empty()), cover) {
            (Ok(stat), _) if stat.stx_attributes.contains(StatxAttributes::MOUNT_ROOT) => Ok(()),
            (Err(Errno::ACCESS), _) | (Err(Errno::NOENT | Errno::NOTDIR), Cover::IfThere(_)) => Ok(()),
            _ => Err(Errno::STALE),
        }
    })
}

/// Stands over a directory, with these of it in there.
fn view(place: BorrowedFd<'_>, options: &[(&CStr, CString)], entries: &[Entry]) -> Result<OwnedFd, Errno> {
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let made = fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        fsconfig_set_string(&made, *name, value.as_c_str())?;
    }
    fsconfig_create(&made)?;
    let view = fsmount(made.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, flags)?;
    // First, since nothing can be mounted on what is not mounted itself.
    attach(view.as_fd(), place)?;
    for entry in entries {
        match entry {
            Entry::Directory(name) => {
                rustix::fs::mkdirat(&view, name, Mode::RWXU)?;
                bring(place, view.as_fd(), name)?;
            }
            Entry::File(name) => {
                blank(view.as_fd(), name)?;
                bring(place, view.as_fd(), name)?;
            }
            Entry::Link { name, target } => rustix::fs::symlinkat(target, &view, name)?,
            Entry::Empty(name) => rustix::fs::mkdirat(&view, name, Mode::from_raw_mode(0o755))?,
            Entry::Blank(name) => blank(view.as_fd(), name)?,
        }
    }
    Ok(view)
}

/// Whether something is a name in one of our own views on which nothing was mounted.
fn is_left_empty(place: BorrowedFd<'_>, all: &[Covering<'_>]) -> Result<bool, Errno> {
    let mount = |fd: BorrowedFd<'_>| {
        rustix::fs::statx(fd, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).map(|stat| stat.stx_mnt_id)
    };
    let here = mount(place)?;
    let views = all.iter().filter_map(|mount| match mount {
        Covering::View { made, .. } => made.get(),
        _ => None,
    });
    Ok(views.into_iter().any(|view| mount(view.as_fd()) == Ok(here)))
}

/// Makes a layer that is mounted later: when everything is read-only, so is what it would write to. One that cannot be made
/// is left out.
fn prepare_layer(lower: &Source<'_>, files: &Named, work: &Named) -> Result<(), Errno> {
    let found = open(lower.path)?;
    lower.is.check(found.as_fd())?;
    let (upper, own) = (open(&files.path)?, open(&work.path)?);
    files.check(upper.as_fd())?;
    work.check(own.as_fd())?;
    match overlay(found.as_fd(), upper.as_fd(), own.as_fd()) {
        Ok(layer) => lower.tree.set(layer).map_err(|_| Errno::BUSY),
        Err(_) => Ok(()),
    }
}

/// Its marks are attributes that a user may set, since in a user namespace others cannot be had. Without an index: a mount
/// of a terminal that has just ended may not be quite gone.
fn overlay(lower: BorrowedFd<'_>, upper: BorrowedFd<'_>, work: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    let made = fsopen(c"overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, fd) in [(c"lowerdir", lower), (c"upperdir", upper), (c"workdir", work)] {
        fsconfig_set_string(&made, name, ByDescriptor::of(fd).as_c_str()?)?;
    }
    fsconfig_set_string(&made, c"index", c"off")?;
    fsconfig_set_flag(&made, c"userxattr")?;
    fsconfig_create(&made)?;
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    fsmount(made.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, flags)
}

/// `/proc/self/fd/N`: a name for what is open, made without allocating, in which no character means something else to
/// overlayfs.
struct ByDescriptor([u8; 32]);

impl ByDescriptor {
    fn of(fd: BorrowedFd<'_>) -> Self {
        const PREFIX: &[u8] = b"/proc/self/fd/";
        let (mut name, mut digits) = ([0; 32], [0; 10]);
        let (mut rest, mut first) = (fd.as_raw_fd().unsigned_abs(), digits.len());
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        let digits = &digits[first..];
        name[..PREFIX.len()].copy_from_slice(PREFIX);
        name[PREFIX.len()..PREFIX.len() + digits.len()].copy_from_slice(digits);
        Self(name)
    }

    fn as_c_str(&self) -> Result<&CStr, Errno> {
        CStr::from_bytes_until_nul(&self.0).map_err(|_| Errno::INVAL)
    }
}

/// Mounts what a name is in one directory on the same name in another. What has gone meanwhile stays empty, and so does what
/// this user cannot reach.
fn bring(from: BorrowedFd<'_>, to: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW
        | OpenTreeFlags::AT_NO_AUTOMOUNT;
    let tree = match open_tree(from, name, flags) {
        Err(Errno::NOENT | Errno::ACCESS) => return Ok(()),
        tree => tree?,
    };
    match move_mount(&tree, c"", to, name, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH) {
        Err(Errno::NOENT) => Ok(()),
        moved => moved,
    }
}

fn blank(dir: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    rustix::fs::mknodat(dir, name, FileType::RegularFile, Mode::RUSR, 0)
}

fn fresh(size: &CStr) -> Result<OwnedFd, Errno> {
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    file_system(c"tmpfs", &[(c"mode", c"1777"), (c"size", size)], flags)
}

/// Each mount of this file system has numbers of its own, and a multiplexer of its own that must be the one in use.
/// The command's own terminal is not one of them, and programs that ask for its name look through the devices.
fn terminals(own: Option<&OwnedFd>) -> Result<(), Errno> {
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let options = [(c"mode", c"600"), (c"ptmxmode", c"666")];
    // Where there are none, there are none of others.
    let Some(place) = if_there(open(c"/dev/pts"))? else { return Ok(()) };
    let made = file_system(c"devpts", &options, flags)?;
    attach(made.as_fd(), place.as_fd())?;
    if let (Some(own), Some(console)) = (own, if_there(open(c"/dev/console"))?) {
        attach(own.as_fd(), console.as_fd())?;
    }
    match open(c"/dev/ptmx") {
        // A link to the one that was just mounted.
        Err(Errno::LOOP | Errno::NOENT) => Ok(()),
        place => attach(clone(open(c"/dev/pts/ptmx")?.as_fd())?.as_fd(), place?.as_fd()),
    }
}

fn tree_of(named: &Named) -> Result<OwnedFd, Errno> {
    let found = open(&named.path)?;
    named.check(found.as_fd())?;
    clone(found.as_fd())
}

fn file_system(
    kind: &CStr,
    options: &[(&CStr, &CStr)],
    attributes: MountAttrFlags,
) -> Result<OwnedFd, Errno> {
    let made = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        fsconfig_set_string(&made, *name, *value)?;
    }
    fsconfig_create(&made)?;
    fsmount(made.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// What is there, without following a link anywhere on the way.
fn open(path: &CStr) -> Result<OwnedFd, Errno> {
    open_at(CWD, path, OFlags::PATH)
}

/// The same from a directory on. With `NOFOLLOW`, a link at the end is opened itself.
fn open_at(from: BorrowedFd<'_>, path: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let strict = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(from, path, flags | OFlags::CLOEXEC, Mode::empty(), strict)
}

/// What this user cannot reach the command cannot reach either. A command cannot bring that about: here, until it runs,
/// the user's own files are reached whatever their modes.
fn if_reached(found: Result<OwnedFd, Errno>) -> Result<Option<OwnedFd>, Errno> {
    match found {
        Err(Errno::ACCESS) => Ok(None),
        found => found.map(Some),
    }
}

/// The same, and it may be missing.
fn if_there(found: Result<OwnedFd, Errno>) -> Result<Option<OwnedFd>, Errno> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => Ok(None),
        Err(errno) => Err(errno),
    }
}

fn clone(place: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    open_tree(place, c"", flags)
}

fn attach(tree: BorrowedFd<'_>, place: BorrowedFd<'_>) -> Result<(), Errno> {
    let by_descriptor = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree, c"", place, c"", by_descriptor)
}

/// Adds attributes to a whole tree of mounts.
fn set(tree: BorrowedFd<'_>, attributes: MountAttrFlags) -> Result<(), Errno> {
    change(tree, attributes, libc::AT_RECURSIVE)
}

/// Adds attributes to one mount and to none that is on it.
fn set_one(mount: BorrowedFd<'_>, attributes: MountAttrFlags) -> Result<(), Errno> {
    change(mount, attributes, 0)
}

fn change(tree: BorrowedFd<'_>, attributes: MountAttrFlags, how: i32) -> Result<(), Errno> {
    /// As in `linux/mount.h`.
    #[repr(C)]
    struct MountAttr {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    let change = MountAttr { set: attributes.bits().into(), clear: 0, propagation: 0, user_namespace: 0 };
    let flags = libc::AT_EMPTY_PATH | how;
    // SAFETY: the path is an empty C string, and the kernel reads as many bytes of the change as it has.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const change,
            size_of::<MountAttr>(),
        )
    };
    match done {
        0 => Ok(()),
        _ => Err(super::last_errno()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_is_named_by_its_number() {
        // SAFETY: nothing is done with it but to look at its number.
        let name =
            |fd| ByDescriptor::of(unsafe { BorrowedFd::borrow_raw(fd) }).as_c_str().unwrap().to_owned();
        assert_eq!(name(0).as_c_str(), c"/proc/self/fd/0");
        assert_eq!(name(1020).as_c_str(), c"/proc/self/fd/1020");
        assert_eq!(name(i32::MAX).as_c_str(), c"/proc/self/fd/2147483647");
    }
}
