//! A sandbox that stands: namespaces with their mounts, and a ruleset, which one command after the other can enter.
//!
//! Making one takes hundreds of mounts, entering it a handful of calls. The command that makes it hands it, before it
//! gives up its privileges, to whoever sent its plan: as descriptors of the namespaces, of the top of their file system
//! and of the ruleset, with the locks of what its layers write to. It stands as long as any of them is open or anything
//! runs in it.
//!
//! What surprises: it shows what was there when it was made. Whoever keeps one has to know whether the same would be made
//! now. System V memory and message queues are not part of it: those of a command go with the command.

use super::namespace::{self, Users};
use super::{Fault, Namespaces, OwnNet, OwnUser, Step};
use crate::wire::value::{DecodeError, Reader, Writer};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use std::ffi::CStr;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// One that stands, by its descriptors, in the order in which they are entered.
#[derive(Debug)]
pub struct Sandbox {
    parts: Vec<(Part, OwnedFd)>,
}

/// What a descriptor of a sandbox is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    User = 1,
    Net = 2,
    Mount = 3,
    /// The top of the file system, which is not that of the namespace for who runs in a `chroot`.
    Root = 4,
    Ruleset = 5,
    /// Of what a layer writes to.
    Lock = 6,
}

impl Part {
    const ALL: [Self; 6] = [Self::User, Self::Net, Self::Mount, Self::Root, Self::Ruleset, Self::Lock];

    fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|part| *part as u8 == code)
    }
}

/// One of each kind, and a lock for each layer, of which there are no more than kinds of caches. The kernel sends 253.
pub(crate) const MOST_PARTS: usize = 128;

/// How a command comes by its sandbox.
#[derive(Debug, Clone)]
pub enum Provision {
    /// It makes one that nobody else enters.
    Own,
    /// It makes one and hands it to who is at the other end.
    Offer(Arc<UnixStream>),
    /// It enters one that stands.
    Join(Arc<Sandbox>),
}

impl Provision {
    const OWN: u8 = 0;
    const OFFER: u8 = 1;
    const JOIN: u8 = 2;

    /// What it is, without the descriptors.
    pub(crate) fn write(&self, w: &mut Writer) {
        match self {
            Self::Own => w.u8(Self::OWN),
            Self::Offer(_) => w.u8(Self::OFFER),
            Self::Join(sandbox) => w.u8(Self::JOIN).bytes(&sandbox.codes()),
        };
    }

    /// With the descriptors from `next`, of which it takes as many as [`Provision::descriptors`] gave.
    pub(crate) fn read(
        r: &mut Reader<'_>,
        mut next: impl FnMut() -> Option<OwnedFd>,
    ) -> Result<Self, DecodeError> {
        let mut next = || next().ok_or(DecodeError::Short);
        match r.u8()? {
            Self::OWN => Ok(Self::Own),
            Self::OFFER => Ok(Self::Offer(Arc::new(next()?.into()))),
            Self::JOIN => {
                let part = |code: &u8| Part::from_code(*code).ok_or(DecodeError::Unknown);
                let parts = r.bytes()?.iter().map(|code| Ok((part(code)?, next()?)));
                Ok(Self::Join(Arc::new(Sandbox { parts: parts.collect::<Result<_, _>>()? })))
            }
            _ => Err(DecodeError::Unknown),
        }
    }

    /// The descriptors that travel with it.
    pub(crate) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        match self {
            Self::Own => Vec::new(),
            Self::Offer(to) => vec![to.as_fd()],
            Self::Join(sandbox) => sandbox.parts.iter().map(|(_, fd)| fd.as_fd()).collect(),
        }
    }
}

/// What a command will hand over once it is made.
#[derive(Debug)]
pub struct Offered {
    from: UnixStream,
}

/// What has become of an offer.
#[derive(Debug)]
pub enum Answer {
    /// It stands.
    Stands(Sandbox),
    /// It is still being made.
    NotYet,
    /// There will be none.
    None,
}

impl Offered {
    /// An offer, and what is given to who is to make it.
    pub fn ask() -> std::io::Result<(Self, Provision)> {
        let (from, to) = UnixStream::pair()?;
        Ok((Self { from }, Provision::Offer(Arc::new(to))))
    }

    /// Looks for it. Never waits.
    #[must_use]
    pub fn look(&self) -> Answer {
        let (mut codes, mut parts) = ([0; MOST_PARTS], Vec::new());
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_PARTS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        let received = match recvmsg(&self.from, &mut [IoSliceMut::new(&mut codes)], &mut ancillary, flags) {
            Err(Errno::AGAIN | Errno::INTR) => return Answer::NotYet,
            Err(_) => return Answer::None,
            Ok(received) => received.bytes,
        };
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(arrived) = message {
                parts.extend(arrived.filter_map(beyond_standard));
            }
        }
        let kinds: Option<Vec<Part>> = codes[..received].iter().map(|code| Part::from_code(*code)).collect();
        match kinds {
            Some(kinds) if !kinds.is_empty() && kinds.len() == parts.len() => {
                Answer::Stands(Sandbox { parts: kinds.into_iter().zip(parts).collect() })
            }
            _ => Answer::None,
        }
    }
}

/// What has the number of a standard descriptor, in a program that has closed its own, would be overwritten in the child.
fn beyond_standard(fd: OwnedFd) -> Option<OwnedFd> {
    if fd.as_raw_fd() > 2 { Some(fd) } else { rustix::io::fcntl_dupfd_cloexec(&fd, 3).ok() }
}

impl Sandbox {
    fn codes(&self) -> Vec<u8> {
        self.parts.iter().map(|(part, _)| *part as u8).collect()
    }

    fn has(&self, part: Part) -> bool {
        self.parts.iter().any(|(has, _)| *has == part)
    }

    /// Enters the namespaces, if they are all that the command is to have. In a child between fork and exec.
    pub(super) fn join(&self, wanted: Namespaces) -> Result<(), (Fault, Errno)> {
        let at = |errno| (Fault::new(Step::Join), errno);
        let complete = match wanted {
            Namespaces::None => true,
            Namespaces::Mount { net, user } => {
                self.has(Part::Mount)
                    && self.has(Part::Root)
                    && (net == OwnNet::No || self.has(Part::Net))
                    && (user == OwnUser::IfNeeded || self.has(Part::User))
            }
        };
        if !complete {
            return Err(at(Errno::BADF));
        }
        let mut spaces = false;
        for (part, fd) in &self.parts {
            match part {
                Part::User | Part::Net | Part::Mount => {
                    namespace::enter(fd.as_fd()).map_err(at)?;
                    spaces = true;
                }
                Part::Root => {
                    rustix::process::fchdir(fd).map_err(at)?;
                    rustix::process::chroot(c".").map_err(at)?;
                }
                Part::Ruleset | Part::Lock => {}
            }
        }
        if spaces { namespace::part_from_others().map_err(at) } else { Ok(()) }
    }

    pub(super) fn ruleset(&self) -> Option<BorrowedFd<'_>> {
        self.parts.iter().find(|(part, _)| *part == Part::Ruleset).map(|(_, fd)| fd.as_fd())
    }
}

/// What the process that has made a sandbox has of it.
pub(super) struct Made<'a> {
    /// Whether there are mounts of its own, and in whose user namespace.
    pub(super) mounts: Option<(Users, OwnNet)>,
    pub(super) ruleset: Option<BorrowedFd<'a>>,
    pub(super) locks: &'a [BorrowedFd<'a>],
}

impl Made<'_> {
    /// Hands it over. In a child between fork and exec, among its mounts. What cannot be handed over is this command's
    /// alone, and no fault.
    pub(super) fn hand_to(&self, to: BorrowedFd<'_>) {
        let _ = self.try_hand_to(to);
    }

    fn try_hand_to(&self, to: BorrowedFd<'_>) -> Result<(), Errno> {
        let spaces = match self.mounts {
            Some((users, net)) => {
                let user = (users == Users::Own).then(|| namespace_of(c"/proc/self/ns/user")).transpose()?;
                let net = (net != OwnNet::No).then(|| namespace_of(c"/proc/self/ns/net")).transpose()?;
                let root = openat(CWD, c"/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
                Some((user, net, namespace_of(c"/proc/self/ns/mnt")?, root))
            }
            None => None,
        };
        let mut all = List::new(to);
        if let Some((user, net, mount, root)) = &spaces {
            all.push(Part::User, user.as_ref().map(AsFd::as_fd))?;
            all.push(Part::Net, net.as_ref().map(AsFd::as_fd))?;
            all.push(Part::Mount, Some(mount.as_fd()))?;
            all.push(Part::Root, Some(root.as_fd()))?;
        }
        all.push(Part::Ruleset, self.ruleset)?;
        for lock in self.locks {
            all.push(Part::Lock, Some(*lock))?;
        }
        all.send(to)
    }
}

fn namespace_of(name: &CStr) -> Result<OwnedFd, Errno> {
    openat(CWD, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

/// Parts on the stack, since a child may not allocate.
struct List<'a> {
    codes: [u8; MOST_PARTS],
    fds: [BorrowedFd<'a>; MOST_PARTS],
    len: usize,
}

impl<'a> List<'a> {
    /// Empty; `filler` stands where nothing is.
    fn new(filler: BorrowedFd<'a>) -> Self {
        Self { codes: [0; MOST_PARTS], fds: [filler; MOST_PARTS], len: 0 }
    }

    fn push(&mut self, part: Part, fd: Option<BorrowedFd<'a>>) -> Result<(), Errno> {
        let Some(fd) = fd else { return Ok(()) };
        if self.len == MOST_PARTS {
            return Err(Errno::NOBUFS);
        }
        (self.codes[self.len], self.fds[self.len]) = (part as u8, fd);
        self.len += 1;
        Ok(())
    }

    fn send(&self, to: BorrowedFd<'_>) -> Result<(), Errno> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_PARTS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&self.fds[..self.len]));
        let codes = [IoSlice::new(&self.codes[..self.len])];
        sendmsg(to, &codes, &mut ancillary, SendFlags::NOSIGNAL).map(drop)
    }
}
