//! Leaving the mounts, the shared memory, and perhaps the network, of everybody else.
//!
//! What surprises: an ordinary user may do so only in a user namespace of their own, where they are themselves and, until
//! they execute something, have every capability over what was made there. Root does without one if it may, because in
//! a user namespace the files of all others belong to nobody.

use super::fault::{Fault, Step};
use super::{OwnNet, OwnUser};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Own numbers, each mapped to itself, as the kernel reads them.
#[derive(Debug)]
pub(super) struct Maps {
    users: String,
    groups: String,
}

impl Maps {
    pub(super) fn own() -> Self {
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        Self { users: format!("{user} {user} 1"), groups: format!("{group} {group} 1") }
    }
}

/// Whose user namespace a process is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Users {
    /// That of everybody else.
    Everybodys,
    /// One of its own.
    Own,
}

/// Leaves, and makes sure that nothing done among the new mounts reaches the old ones.
pub(super) fn leave(maps: &Maps, net: OwnNet, user: OwnUser) -> Result<Users, (Fault, Errno)> {
    let at = |step| move |errno| (Fault::new(step), errno);
    // Shared memory and queues without a path go by the user alone, so there are none but its own.
    let wanted = libc::CLONE_NEWNS
        | libc::CLONE_NEWIPC
        | match net {
            OwnNet::No => 0,
            OwnNet::Down | OwnNet::Loopback => libc::CLONE_NEWNET,
        };
    let with_user = || {
        unshare(wanted | libc::CLONE_NEWUSER).map_err(at(Step::Namespace))?;
        stay_oneself(maps).map_err(at(Step::User))?;
        Ok(Users::Own)
    };
    let users = match user {
        OwnUser::Always => with_user()?,
        OwnUser::IfNeeded => match unshare(wanted) {
            Err(Errno::PERM) => with_user()?,
            done => done.map(|()| Users::Everybodys).map_err(at(Step::Namespace))?,
        },
    };
    die_with_parent().map_err(at(Step::Namespace))?;
    // In both directions: what is mounted on the machine later would be here without having been judged, and not
    // read-only as everything else. The price is that what the machine unmounts stays in use here until the end.
    let own = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change(c"/", own).map_err(at(Step::Propagation))?;
    if net == OwnNet::Loopback {
        switch_on_loopback().map_err(at(Step::Loopback))?;
    }
    Ok(users)
}

/// Enters one that stands.
pub(super) fn enter(namespace: BorrowedFd<'_>) -> Result<(), Errno> {
    // SAFETY: takes no pointer, and this process has one thread that shares nothing with others. No kind is asked for: the
    // descriptor says which it is.
    match unsafe { libc::setns(namespace.as_raw_fd(), 0) } {
        0 => Ok(()),
        _ => Err(super::last_errno()),
    }
}

/// After entering those that others are in, too: what is counted by command, and goes with it, is its own.
pub(super) fn part_from_others() -> Result<(), Errno> {
    unshare(libc::CLONE_NEWIPC)?;
    die_with_parent()
}

/// The kernel forgets this when credentials change, and another user namespace is such a change.
fn die_with_parent() -> Result<(), Errno> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
}

fn unshare(flags: i32) -> Result<(), Errno> {
    // SAFETY: takes no pointer, and this process has one thread that shares nothing with others.
    match unsafe { libc::unshare(flags) } {
        0 => Ok(()),
        _ => Err(super::last_errno()),
    }
}

fn stay_oneself(maps: &Maps) -> Result<(), Errno> {
    // Without this an ordinary user may not map a group: leaving one could open what it is kept from.
    write(c"/proc/self/setgroups", b"deny")?;
    write(c"/proc/self/uid_map", maps.users.as_bytes())?;
    write(c"/proc/self/gid_map", maps.groups.as_bytes())?;
    // These are counted by user, and whoever takes all of them leaves none for the person's editor. A kernel that does
    // not count them here goes without.
    match write(c"/proc/sys/user/max_inotify_instances", WATCHERS) {
        Ok(()) | Err(Errno::NOENT | Errno::ACCESS | Errno::PERM | Errno::ROFS) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// How many inotify instances all that runs in one sandbox may have: half of the usual 128 that a user has.
const WATCHERS: &[u8] = b"64";

fn write(path: &CStr, text: &[u8]) -> Result<(), Errno> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(file, text).map(|_| ())
}

fn switch_on_loopback() -> Result<(), Errno> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    // SAFETY: all-zero is a valid request: an empty name and no flags.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, letter) in request.ifr_name.iter_mut().zip(b"lo") {
        *place = *letter as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
    // SAFETY: the request is initialised and the kernel only reads it.
    match unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) } {
        0 => Ok(()),
        _ => Err(super::last_errno()),
    }
}
