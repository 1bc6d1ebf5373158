//! Starting a holder and handing it the plan.
//!
//! A shim is started with nothing but one socket, its standard input. The plan comes through it, and with the plan the
//! descriptors of everything it speaks of. That makes a shim that waits for its plan a ready-made spare: it knows nothing
//! yet, holds nothing, and leaves by itself when whoever started it is gone. With a plan may come one socket more, for
//! the next: then the shim says there when nothing of this terminal is left, and waits again. Starting and ending a
//! process is more work than all that a shim does for a short command.
//!
//! A [guard] is started with everything that its program is to have, and one socket more, the lease.

mod error;

pub use error::LaunchError;

use crate::confine::{MOST_PARTS, Provision};
use crate::guard;
use crate::hold::{Handover, Place, hold};
use crate::plan::{self, Plan};
use crate::shim;
use crate::spawn::{Stage, StartError};
use crate::tree::cgroup::Cgroup;
use crate::wire::frame::{Deframer, MAX_FRAME, MAX_PLAN, frame};
use crate::wire::message::{Reply, Request};
use crate::wire::value::{Reader, Writer};
use rustix::io::{Errno, FdFlags};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

/// How long a shim may take to answer its plan. It does so within milliseconds; the limit is for a machine in trouble.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// The same where somebody only wants to know whether it answers.
const BRIEFLY: Duration = Duration::from_secs(5);
/// No plan of any version, and so answered with the version that would be understood.
const NO_PLAN: [u8; 1] = [0];

/// The descriptors that travel with a plan, in this order.
#[derive(Debug)]
pub struct Descriptors {
    /// The working directory.
    pub cwd: OwnedFd,
    /// The journal's records, with the lock.
    pub events: File,
    /// The journal's output.
    pub out: File,
    /// The control socket, listening.
    pub listener: UnixListener,
    /// How the command comes by its sandbox, if it has one.
    pub provision: Provision,
}

/// Four, those of a sandbox, and the socket for the next plan.
const TRAVELLING: usize = 5 + MOST_PARTS;
/// What a shim says when it has come back.
const BACK: u8 = 1;

/// Whose child a shim is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Descent {
    /// Its starter's, who waits for it.
    Child,
    /// Nobody's that its starter knows: an orphan, which process 1 or the nearest sub-reaper inherits. Who ends its starter
    /// with all its descendants does not find it.
    Orphan,
}

/// A holder that waits for its plan.
#[derive(Debug)]
pub struct Idle {
    socket: UnixStream,
    descent: Descent,
}

/// A plan on its way to its holder, which answers it with one reply; [`started`] says what that means. From then on the
/// connection is the owner's, and the end is told there.
#[derive(Debug)]
pub struct Sent {
    /// The creator's connection. It never blocks.
    pub owner: UnixStream,
    /// What is to be written to it before there can be an answer: the rest of a long plan.
    pub rest: Vec<u8>,
    /// Its holder, if that was asked to come back.
    pub returning: Option<Returning>,
}

/// What a shim does when nothing of its terminal is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Afterwards {
    /// It ends.
    Leave,
    /// It waits for another plan.
    Return,
}

/// A shim that holds a terminal and will wait for another plan after it. Dropped, it leaves after this one.
#[derive(Debug)]
pub struct Returning {
    socket: UnixStream,
    descent: Descent,
}

/// Where a shim is that was asked to come back.
#[derive(Debug)]
pub enum Whereabouts {
    /// It waits.
    Back(Idle),
    /// Something of its terminal is left.
    Away(Returning),
    /// It will not come back.
    Gone,
}

impl Returning {
    /// Whose child it is.
    #[must_use]
    pub fn descent(&self) -> Descent {
        self.descent
    }

    /// Looks for it. Never waits.
    #[must_use]
    pub fn look(self) -> Whereabouts {
        let mut said = [0];
        match rustix::net::recv(&self.socket, &mut said, RecvFlags::DONTWAIT) {
            Ok((_, 1)) if said[0] == BACK => {
                Whereabouts::Back(Idle { socket: self.socket, descent: self.descent })
            }
            Err(Errno::AGAIN | Errno::INTR) => Whereabouts::Away(self),
            Ok(_) | Err(_) => Whereabouts::Gone,
        }
    }
}

/// A command that starts a shim, which may make a cgroup under `cgroup_parent`, and the shim's waiting for its plan once it is started.
///
/// What is started must be waited for like any child. It is the shim itself, or, for an orphan, a process that has the
/// shim for a child and ends at once. A shim takes no harm when its parent goes away.
pub fn shim(path: &Path, cgroup_parent: Option<&Path>, descent: Descent) -> io::Result<(Command, Idle)> {
    let (ours, theirs) = pair()?;
    let mut command = bare(path);
    command.stdin(Stdio::from(OwnedFd::from(theirs)));
    if descent == Descent::Orphan {
        command.arg(shim::ORPHAN);
    }
    command.args(cgroup_parent);
    Ok((command, Idle { socket: ours, descent }))
}

/// A command that tries, with a process of its own, whether anybody reaps orphans here. Its end is the answer for
/// [`reaps`]; it takes no longer than [`probe::REAPING`](crate::probe::REAPING).
#[must_use]
pub fn tries_orphan(path: &Path) -> Command {
    let mut command = bare(path);
    command.stdin(Stdio::null()).arg(shim::TRIES_ORPHAN);
    command
}

/// What the end of [`tries_orphan`] says; nothing if it could not be tried.
#[must_use]
pub fn reaps(ended: ExitStatus) -> Option<bool> {
    match ended.code().map(u8::try_from) {
        Some(Ok(shim::SUCCESS)) => Some(true),
        Some(Ok(shim::NOT_REAPED)) => Some(false),
        _ => None,
    }
}

/// An empty environment: what the program that starts shims has in its own is nobody's business there.
fn bare(path: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "the one place that starts shims")]
    let mut command = Command::new(path);
    // A program that serves as its own shim knows by this name what it is started for.
    command.arg0("wharf-shim").env_clear().stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Starts a shim and speaks with it, to no other end: whether it can be executed, answers, and is of this version.
pub fn try_shim(path: &Path) -> Result<(), LaunchError> {
    let failed = |source| LaunchError::Shim { path: path.display().to_string(), source };
    let (mut command, Idle { mut socket, .. }) = shim(path, None, Descent::Child).map_err(failed)?;
    let mut child = command.spawn().map_err(failed)?;
    // It holds the shim's end of the socket, whose closing is to be seen.
    drop(command);
    let answer = socket
        .set_read_timeout(Some(BRIEFLY))
        .and_then(|()| socket.write_all(&frame(&NO_PLAN)))
        .and_then(|()| read_reply(&mut socket, &mut Deframer::new(MAX_FRAME)));
    // It leaves by itself, if it is one.
    let _ = child.kill();
    let _ = child.wait();
    match answer.map(started) {
        Ok(Err(LaunchError::Version { theirs: plan::VERSION, .. })) => Ok(()),
        Ok(Err(error)) => Err(error.of_new(path)),
        Ok(Ok(_)) => Err(LaunchError::Silent(io::Error::other("it answers what nobody asked")).of_new(path)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            Err(LaunchError::Silent(io::ErrorKind::TimedOut.into()))
        }
        Err(error) => Err(LaunchError::Silent(error).of_new(path)),
    }
}

/// A command that starts a guard, which starts `program` with these arguments, and the starter's hold on it.
///
/// Whatever is set on the command is the program's: standard descriptors, environment, directory. The program is looked
/// up in the `PATH` that the command gives it. Waiting for the guard is waiting for the whole tree: it ends when nothing
/// is left, with the program's exit code, or 128 and the number of its signal. Drop the command once it is spawned.
pub fn guarded<A: AsRef<OsStr>>(
    shim: &Path,
    program: &OsStr,
    args: impl IntoIterator<Item = A>,
) -> io::Result<(Command, Lease)> {
    let (ours, theirs) = pair()?;
    ours.set_nonblocking(true)?;
    // Beyond the numbers that are overwritten with the program's own descriptors.
    let theirs = rustix::io::fcntl_dupfd_cloexec(theirs, 3)?;
    #[expect(clippy::disallowed_methods, reason = "the one place that starts shims")]
    let mut command = Command::new(shim);
    command.arg0("wharf-shim").arg(guard::VERB).arg(theirs.as_raw_fd().to_string());
    command.arg(guard::SEPARATOR).arg(program).args(args);
    // It keeps its number: any other could be one that the standard library needs until the program is executed.
    let hand_down = move || Ok(rustix::io::fcntl_setfd(&theirs, FdFlags::empty())?);
    // SAFETY: one bare system call, on a descriptor that was opened before the fork.
    unsafe { command.pre_exec(hand_down) };
    Ok((command, Lease { socket: ours, deframer: Deframer::new(MAX_FRAME) }))
}

/// A command that starts `program` without a guard, in a process group of its own: all that can be had without a shim.
pub fn unguarded<A: AsRef<OsStr>>(program: &OsStr, args: impl IntoIterator<Item = A>) -> Command {
    #[expect(clippy::disallowed_methods, reason = "the one place that starts programs outside of terminals")]
    let mut command = Command::new(program);
    command.args(args).process_group(0);
    command
}

/// The hold on a guard: when it is dropped, or its process ends in whatever way, the guarded tree is ended.
#[derive(Debug)]
pub struct Lease {
    socket: UnixStream,
    deframer: Deframer,
}

impl Lease {
    /// What the guard has to say once it is spawned: the program's process id, or why there is none; in that case it
    /// leaves with 127 if there is no such program, 126 if it cannot be executed. Never waits: if nothing has been said
    /// yet, the error is that it would have to.
    pub fn answer(&mut self) -> io::Result<Result<u32, StartError>> {
        match started(read_reply(&mut self.socket, &mut self.deframer)?) {
            Ok(pid) => Ok(Ok(pid)),
            Err(LaunchError::Start(error)) => Ok(Err(error)),
            Err(other) => Err(io::Error::other(other)),
        }
    }

    /// A second handle to the socket, to wait on until there is something to hear. For as long as it is open the guard
    /// believes that the lease is.
    pub fn socket(&self) -> io::Result<UnixStream> {
        self.socket.try_clone()
    }

    /// Has the tree asked to end, and after that long killed. A grace of nothing kills at once. Never waits; the guard's
    /// own end is the answer.
    pub fn end(&self, grace: Duration) -> io::Result<()> {
        let grace_ms = Some(u64::try_from(grace.as_millis()).unwrap_or(u64::MAX));
        let kill = frame(&Request::Kill { grace_ms, author: String::new() }.encode(1));
        rustix::net::send(&self.socket, &kill, SendFlags::NOSIGNAL)?;
        Ok(())
    }
}

impl Idle {
    /// Whose child it is.
    #[must_use]
    pub fn descent(&self) -> Descent {
        self.descent
    }

    /// Gives the shim its plan, as much of it as can be sent without waiting.
    pub fn send(
        self,
        plan: &Plan,
        descriptors: &Descriptors,
        afterwards: Afterwards,
    ) -> Result<Sent, LaunchError> {
        let Self { socket: owner, descent } = self;
        owner.set_nonblocking(true).map_err(LaunchError::Gone)?;
        let next = match afterwards {
            Afterwards::Leave => None,
            Afterwards::Return => Some(pair().map_err(LaunchError::Gone)?),
        };
        let (returning, theirs) =
            next.map(|(socket, theirs)| (Returning { socket, descent }, theirs)).unzip();
        let rest = send_plan(&owner, plan, descriptors, theirs.as_ref()).map_err(LaunchError::Gone)?;
        Ok(Sent { owner, rest, returning })
    }
}

/// Holds the terminal on a thread of this process.
pub fn hold_on_thread(
    plan: Plan,
    descriptors: Descriptors,
    cgroup_parent: Option<&Path>,
) -> Result<Sent, LaunchError> {
    let (owner, creator) = pair().map_err(LaunchError::Silent)?;
    owner.set_nonblocking(true).map_err(LaunchError::Silent)?;
    let Descriptors { cwd, events, out, listener, provision } = descriptors;
    let name = format!("wharf-{}", plan.id.get(..8).unwrap_or(&plan.id));
    let cgroup_parent = cgroup_parent.map(Path::to_owned);
    let handover = Handover { plan, provision, cwd, events, out, listener, creator };
    std::thread::Builder::new()
        .name(name)
        .spawn(move || {
            let cgroup = cgroup_parent.and_then(|parent| Cgroup::make(&parent).ok());
            hold(handover, Place::Thread, cgroup)
        })
        .map_err(LaunchError::Silent)?;
    Ok(Sent { owner, rest: Vec::new(), returning: None })
}

fn pair() -> io::Result<(UnixStream, UnixStream)> {
    let (a, b) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    Ok((a.into(), b.into()))
}

/// What the answer to a plan means: the command's process id, or why there is none.
pub fn started(reply: Reply) -> Result<u32, LaunchError> {
    match reply {
        Reply::Started { pid } => Ok(pid),
        Reply::NotStarted { stage: Stage::CONFINE, errno, doing } => {
            Err(LaunchError::Sandbox { doing, source: io::Error::from_raw_os_error(errno) })
        }
        Reply::NotStarted { stage, errno, .. } => {
            let stage = Stage::from_number(stage).unwrap_or(Stage::Exec);
            Err(StartError { stage, errno }.into())
        }
        Reply::OtherVersion { plans } => {
            Err(LaunchError::Version { path: String::new(), theirs: plans, ours: plan::VERSION })
        }
        other => Err(LaunchError::Silent(io::Error::other(format!("unexpected answer {other:?}")))),
    }
}

fn read_reply(socket: &mut UnixStream, deframer: &mut Deframer) -> io::Result<Reply> {
    let mut bytes = [0; 4096];
    loop {
        if let Some(body) = deframer.next_frame().map_err(io::Error::other)? {
            return Reply::decode(body).map(|(_, reply)| reply).map_err(io::Error::other);
        }
        match socket.read(&mut bytes) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => deframer.push(&bytes[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// What of the plan is still to be sent; the descriptors go with its first byte.
fn send_plan(
    socket: &UnixStream,
    plan: &Plan,
    with: &Descriptors,
    next: Option<&UnixStream>,
) -> io::Result<Vec<u8>> {
    let mut w = Writer::new();
    plan.write(&mut w);
    with.provision.write(&mut w);
    let mut message = frame(&w.into_bytes());
    let mut fds = vec![with.cwd.as_fd(), with.events.as_fd(), with.out.as_fd(), with.listener.as_fd()];
    fds.extend(with.provision.descriptors());
    fds.extend(next.map(AsFd::as_fd));
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(TRAVELLING))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&fds));
    let sent = sendmsg(socket, &[IoSlice::new(&message)], &mut ancillary, SendFlags::NOSIGNAL)?;
    message.drain(..sent);
    Ok(message)
}

/// The shim's side: says that it waits for another plan. True if somebody hears it.
pub(crate) fn come_back(next: &UnixStream) -> bool {
    rustix::net::send(next, &[BACK], SendFlags::NOSIGNAL).is_ok()
}

/// A plan with its descriptors, and where the next one will come from.
pub type Received = (Handover, Option<UnixStream>);

/// The shim's side: waits for the plan. `None` if whoever started the shim is gone without sending one.
pub fn receive(mut creator: UnixStream) -> io::Result<Option<Received>> {
    // Small: what is touched here stays with the shim for its whole life.
    let mut bytes = vec![0; 8 * 1024];
    let mut fds = Vec::new();
    let mut deframer = Deframer::new(MAX_PLAN);
    loop {
        let n = receive_some(&mut creator, &mut bytes, &mut fds)?;
        if n == 0 {
            return Ok(None);
        }
        deframer.push(&bytes[..n]);
        if let Some(body) = deframer.next_frame().map_err(io::Error::other)? {
            let mut reader = Reader::new(body);
            let plan = match Plan::read(&mut reader) {
                Ok(plan) => plan,
                Err(error) => {
                    let answer = Reply::OtherVersion { plans: plan::VERSION };
                    creator.write_all(&frame(&answer.encode(0)))?;
                    return Err(io::Error::other(error));
                }
            };
            return unpack(plan, reader, fds, creator).map(Some);
        }
    }
}

fn receive_some(socket: &mut UnixStream, bytes: &mut [u8], fds: &mut Vec<OwnedFd>) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(TRAVELLING))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let into = &mut [IoSliceMut::new(bytes)];
        match recvmsg(&*socket, into, &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            other => break other?,
        }
    };
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(arrived) = message {
            fds.extend(arrived);
        }
    }
    Ok(received.bytes)
}

fn unpack(plan: Plan, mut rest: Reader<'_>, fds: Vec<OwnedFd>, creator: UnixStream) -> io::Result<Received> {
    let mut fds = fds.into_iter();
    let mut take = || fds.next().ok_or_else(|| io::Error::other("the plan came without its descriptors"));
    let (cwd, events, out, listener) = (take()?, take()?.into(), take()?.into(), take()?.into());
    let provision = Provision::read(&mut rest, || fds.next()).map_err(io::Error::other)?;
    rest.done().map_err(io::Error::other)?;
    let next = fds.next().map(UnixStream::from);
    Ok((Handover { plan, provision, cwd, events, out, listener, creator }, next))
}
