//! Landlock: which files may be used how, and, from version 6 on, no signal or abstract socket out of the sandbox. Every
//! version also keeps the command from looking into any process that is not in it.
//!
//! A right that a version does not know is not governed there at all: whoever decides on a version closes that otherwise.
//!
//! What surprises: a rule belongs to an inode, not to a path, and looking up from a file passes over mounts to the
//! place they are mounted on. So rules are opened after the mounts, and a file on a mount counts as being where that is.

use super::fault::{Fault, Step};
use super::{Absent, Access, IDENTIFYING, Identity, Rule};
use crate::failpoint;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const REMOVE_DIR: u64 = 1 << 4;
const REMOVE_FILE: u64 = 1 << 5;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_DIR: u64 = 1 << 7;
const MAKE_REG: u64 = 1 << 8;
const MAKE_SOCK: u64 = 1 << 9;
const MAKE_FIFO: u64 = 1 << 10;
const MAKE_BLOCK: u64 = 1 << 11;
const MAKE_SYM: u64 = 1 << 12;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;

const READ: u64 = EXECUTE | READ_FILE | READ_DIR;
const WRITE: u64 = READ
    | WRITE_FILE
    | TRUNCATE
    | REMOVE_DIR
    | REMOVE_FILE
    | MAKE_DIR
    | MAKE_REG
    | MAKE_SOCK
    | MAKE_FIFO
    | MAKE_SYM
    | REFER;
const DEVICE: u64 = READ_FILE | WRITE_FILE | TRUNCATE | READ_DIR | IOCTL_DEV;

/// Everything that a version knows of: what is not named here is allowed everywhere. Before version 2 files cannot be moved
/// from one directory to another whatever the rules say.
const fn handled(version: u32) -> u64 {
    let all = WRITE | DEVICE | MAKE_CHAR | MAKE_BLOCK;
    let unknown = match version {
        0..=1 => REFER | TRUNCATE | IOCTL_DEV,
        2 => TRUNCATE | IOCTL_DEV,
        3..=4 => IOCTL_DEV,
        _ => 0,
    };
    all & !unknown
}

const fn scoped(version: u32) -> u64 {
    if version < 6 { 0 } else { SCOPE_ABSTRACT_SOCKET | SCOPE_SIGNAL }
}

/// All that a rule on a file can give.
const ON_FILE: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;

const SCOPE_ABSTRACT_SOCKET: u64 = 1;
const SCOPE_SIGNAL: u64 = 1 << 1;

const RULE_PATH_BENEATH: libc::c_long = 1;
const ASK_VERSION: libc::c_long = 1;

/// As in `linux/landlock.h`.
#[repr(C)]
struct RulesetAttr {
    handled_fs: u64,
    handled_net: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct PathBeneathAttr {
    allowed: u64,
    parent: i32,
}

impl Access {
    fn rights(self) -> u64 {
        match self {
            Self::Read => READ,
            Self::Write => WRITE,
            Self::Device => DEVICE,
            Self::List => READ_DIR,
        }
    }
}

/// The kernel's version.
pub(crate) fn version() -> Result<u32, Errno> {
    let kernels = kernels_version()?;
    Ok(failpoint::number("landlock").map_or(kernels, |pretended| pretended.min(kernels)))
}

fn kernels_version() -> Result<u32, Errno> {
    let nothing = std::ptr::null::<u8>();
    // SAFETY: with this flag the kernel takes no pointer and no size.
    match unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0usize, ASK_VERSION) } {
        version if version > 0 => Ok(u32::try_from(version).unwrap_or(u32::MAX)),
        _ => Err(super::last_errno()),
    }
}

/// A ruleset with all of the rules. `terminal` is the one that the command runs on, if it does.
pub(super) fn make(
    version: u32,
    rules: &[Rule],
    terminal: Option<BorrowedFd<'_>>,
) -> Result<OwnedFd, (Fault, Errno)> {
    let at = |step| move |errno| (Fault::new(step), errno);
    let (ruleset, known) = (ruleset(version).map_err(at(Step::Ruleset))?, handled(version));
    for (index, rule) in rules.iter().enumerate() {
        add(ruleset.as_fd(), rule, known).map_err(|errno| (Fault::nth(Step::Rule, index), errno))?;
    }
    if let Some(terminal) = terminal {
        allow(ruleset.as_fd(), terminal, DEVICE & ON_FILE & known).map_err(at(Step::Ruleset))?;
    }
    Ok(ruleset)
}

/// From here on the rules hold. The kernel copies them: each who enters is by itself, and a rule that is added later is for
/// later ones.
pub(super) fn enter(ruleset: BorrowedFd<'_>) -> Result<(), (Fault, Errno)> {
    // SAFETY: takes no pointer.
    match unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) } {
        0 => Ok(()),
        _ => Err((Fault::new(Step::Ruleset), super::last_errno())),
    }
}

/// In a `chroot` the kernel goes on looking for rules above the root directory, where the very directories that rules are
/// for may lie around it: then everything is allowed. Where that is so, the root directory can be listed without a rule.
pub(super) fn check_reach(rules: &[Rule]) -> Result<(), Errno> {
    if rules.iter().any(|rule| rule.path.as_c_str() == c"/") {
        return Ok(());
    }
    match rustix::fs::open(c"/", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
        Err(Errno::ACCESS) => Ok(()),
        Err(errno) => Err(errno),
        Ok(_) => Err(Errno::XDEV),
    }
}

/// A kernel of an earlier version says EINVAL or E2BIG, one without Landlock ENOSYS or EOPNOTSUPP.
fn ruleset(version: u32) -> Result<OwnedFd, Errno> {
    let wanted = RulesetAttr { handled_fs: handled(version), handled_net: 0, scoped: scoped(version) };
    let size = size_of::<RulesetAttr>();
    // SAFETY: the kernel reads as many bytes as it is told there are.
    match unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const wanted, size, 0) } {
        -1 => Err(super::last_errno()),
        // SAFETY: the kernel has just made this descriptor, and nothing else owns it.
        fd => Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) }),
    }
}

fn add(ruleset: BorrowedFd<'_>, rule: &Rule, known: u64) -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let found = match rustix::fs::open(rule.path.as_c_str(), flags, Mode::empty()) {
        // What cannot be reached now needs no rule.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) if rule.absent == Absent::Skip => return Ok(()),
        found => found?,
    };
    let asked = IDENTIFYING | StatxFlags::TYPE;
    let stat = rustix::fs::statx(&found, c"", AtFlags::EMPTY_PATH, asked)?;
    if rule.is.is_some_and(|is| is != Identity::of_stat(&stat)) {
        return Err(Errno::STALE);
    }
    let rights = match FileType::from_raw_mode(stat.stx_mode.into()) {
        FileType::Directory => rule.access.rights(),
        _ => rule.access.rights() & ON_FILE,
    };
    allow(ruleset, found.as_fd(), rights & known)
}

fn allow(ruleset: BorrowedFd<'_>, parent: BorrowedFd<'_>, rights: u64) -> Result<(), Errno> {
    // The kernel refuses a rule that gives nothing, such as listing a file.
    if rights == 0 {
        return Ok(());
    }
    let rule = PathBeneathAttr { allowed: rights, parent: parent.as_raw_fd() };
    // SAFETY: the kernel reads a rule of this kind, which is what it is given.
    let done = unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, ruleset.as_raw_fd(), RULE_PATH_BENEATH, &raw const rule, 0)
    };
    match done {
        0 => Ok(()),
        _ => Err(super::last_errno()),
    }
}
