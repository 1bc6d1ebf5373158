//! Holding one terminal, from its start to the moment when nothing of it is left.
//!
//! One thread, one loop, one owner of all state; nothing here waits for anybody but the kernel. The same code runs as
//! the `wharf-shim` program and, where that is not installed, on a thread of the embedding program.

pub(crate) mod connection;
mod ending;
mod foreground;
mod holder;
mod input;
mod killing;
mod output;
mod resource;
mod serve;
mod settling;
pub(crate) mod wait;

use crate::confine::{Provision, Standing};
use crate::failpoint;
use crate::journal::record::{Record, Start};
use crate::journal::write::Journal;
use crate::plan::{Io, Plan};
use crate::spawn::{self, Running, Stage, StartError};
use crate::tree::cgroup::Cgroup;
use crate::tree::{Identity, Members, proc};
use crate::wire::frame::frame;
use crate::wire::message::Reply;
use holder::Holder;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};

/// Everything a holder is given: the plan, and descriptors for all that the plan talks about.
#[derive(Debug)]
pub struct Handover {
    /// What to run.
    pub plan: Plan,
    /// How it comes by its sandbox.
    pub provision: Provision,
    /// The working directory.
    pub cwd: OwnedFd,
    /// The journal's records; the exclusive lock on it travels with the descriptor.
    pub events: File,
    /// The journal's output.
    pub out: File,
    /// Where front ends ask.
    pub listener: UnixListener,
    /// The creator's connection: gets the answer to the plan, and is the first owner.
    pub creator: UnixStream,
}

/// Where the holder runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a process of its own: it may be sub-reaper and take signals.
    Process,
    /// On a thread of a program that has children and signals of its own.
    Thread,
}

/// What may become of a holder when nothing of its terminal is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parting {
    /// It may hold another.
    Free,
    /// Somebody has asked it to go, and it has ended its terminal for that.
    Dismissed,
}

/// Starts the command, in a cgroup of its own if there is one, and holds the terminal until nothing of it is left.
pub fn hold(handover: Handover, place: Place, mut cgroup: Option<Cgroup>) -> Parting {
    failpoint::arm(&handover.plan.env);
    let Handover { plan, provision, cwd, events, out, listener, mut creator } = handover;
    // On a PTY there is a mount and a rule for that, which are nobody else's.
    let provision = if matches!(plan.io, Io::Pty(_)) { Provision::Own } else { provision };
    let mut journal = match Journal::begin(events, out, plan.limits.keep) {
        Ok(journal) => journal,
        Err(error) => {
            remove(cgroup);
            refuse(&mut creator, &plan, StartError::journal(&error));
            return Parting::Free;
        }
    };
    // Before anybody is in it, so that not even the first instruction runs without them.
    if let Some(cgroup) = &mut cgroup {
        cgroup.limit(&plan.resources);
    }
    let started = prepare(place).and_then(|signals| {
        let standing = Standing::make(plan.confine.as_ref(), provision)
            .map_err(|(fault, errno)| Stage::Confine(fault).failed()(errno))?;
        match start(&plan, cwd, place, &mut journal, &mut cgroup, &standing, &creator) {
            Ok((running, root)) => Ok((running, root, standing, signals)),
            Err(error) => {
                standing.remove();
                Err(error)
            }
        }
    });
    match started {
        Ok((running, root, standing, signals)) => {
            let members = match place {
                Place::Process => Members::Descendants,
                Place::Thread => Members::Marked { root: Some(root), id: plan.id.clone(), since: root.1 },
            };
            let answer = Reply::Started { pid: running.pid.as_raw_nonzero().get().cast_unsigned() };
            let leave = Leave { cgroup, standing };
            Holder::new(plan, journal, running, members, leave, listener, creator, signals, &answer).run()
        }
        Err(error) => {
            journal.record(Record::NotStarted { stage: error.stage.number(), errno: error.errno });
            remove(cgroup);
            refuse(&mut creator, &plan, error);
            Parting::Free
        }
    }
}

/// What is taken away when nothing of the tree is left.
#[derive(Debug)]
struct Leave {
    cgroup: Option<Cgroup>,
    standing: Standing,
}

/// Signals are seen to before anything can end: one that nobody takes would be gone.
fn prepare(place: Place) -> Result<Option<wait::Signals>, StartError> {
    // A command that fails before it is let go leaves nobody at the other end.
    wait::block_sigpipe();
    match place {
        Place::Process => wait::Signals::take().map(Some).map_err(|error| StartError {
            stage: Stage::Pipe,
            errno: error.raw_os_error().unwrap_or(libc::EIO),
        }),
        Place::Thread => {
            wait::block_signals();
            Ok(None)
        }
    }
}

fn remove(cgroup: Option<Cgroup>) {
    if let Some(cgroup) = cgroup {
        cgroup.remove();
    }
}

/// Prepares the command in its group, or in another one, or in none.
fn in_group<T>(
    plan: &Plan,
    cgroup: &mut Option<Cgroup>,
    prepare: &mut dyn FnMut(Option<BorrowedFd<'_>>) -> Result<T, StartError>,
) -> Result<T, StartError> {
    let mut prepared = prepare(cgroup.as_ref().map(Cgroup::as_fd));
    // Somebody who cannot see this process, in a container say, took the group for one that was left behind.
    if let Err(StartError { stage: Stage::Fork, errno: libc::ENOENT | libc::ENODEV }) = prepared
        && let Some(gone) = cgroup.take()
    {
        *cgroup = gone.another().ok();
        if let Some(cgroup) = cgroup {
            cgroup.limit(&plan.resources);
        }
        prepared = prepare(cgroup.as_ref().map(Cgroup::as_fd));
    }
    match prepared {
        // Some kernels and sandboxes allow the group but not starting in it; the sweep serves as well.
        Err(StartError {
            stage: Stage::Fork,
            errno:
                libc::EACCES
                | libc::EPERM
                | libc::EBUSY
                | libc::ENOSYS
                | libc::ENODEV
                | libc::EOPNOTSUPP
                | libc::EINVAL
                | libc::E2BIG,
        }) if cgroup.is_some() => {
            remove(cgroup.take());
            prepare(None)
        }
        prepared => prepared,
    }
}

/// No command runs that is not on record: its process waits at the barrier while the start is written. Nor one whose
/// creator has gone meanwhile: nobody would know of it.
fn start(
    plan: &Plan,
    cwd: OwnedFd,
    place: Place,
    journal: &mut Journal,
    cgroup: &mut Option<Cgroup>,
    standing: &Standing,
    creator: &UnixStream,
) -> Result<(Running, Identity), StartError> {
    let waiting = in_group(plan, cgroup, &mut |group| spawn::prepare(plan, cwd.as_fd(), group, standing))?;
    failpoint::hit("create.before_record");
    let pid = waiting.pid.as_raw_nonzero().get();
    let ticks = proc::look(pid).map_or(0, |p| p.ticks);
    let holder = std::process::id();
    journal.record(Record::Start(Start {
        holder,
        holder_ticks: match place {
            Place::Process => proc::look(holder.cast_signed()).map_or(0, |p| p.ticks),
            Place::Thread => 0,
        },
        pid: pid.cast_unsigned(),
        ticks,
        boot: proc::boot(),
        cgroup: cgroup.as_ref().map_or_else(String::new, |c| c.path().to_string_lossy().into_owned()),
        sandbox: plan.confine.as_ref().map_or_else(String::new, |confine| confine.name.clone()),
    }));
    if journal.is_stalled() {
        waiting.abandon();
        return Err(StartError { stage: Stage::Journal, errno: libc::ENOSPC });
    }
    failpoint::hit("create.after_record");
    if connection::has_hung_up(creator) {
        waiting.abandon();
        return Err(StartError { stage: Stage::Plan, errno: libc::EPIPE });
    }
    Ok((waiting.let_go()?, (pid, ticks)))
}

fn refuse(creator: &mut UnixStream, plan: &Plan, error: StartError) {
    let doing = match (error.stage, &plan.confine) {
        (Stage::Confine(fault), Some(confine)) => confine.describe(fault),
        _ => String::new(),
    };
    let reply = Reply::NotStarted { stage: error.stage.number(), errno: error.errno, doing };
    // If the creator is gone too, nobody is left who could want to know.
    let _ = creator.write_all(&frame(&reply.encode(0)));
}

impl StartError {
    fn journal(error: &std::io::Error) -> Self {
        Self { stage: Stage::Journal, errno: error.raw_os_error().unwrap_or(libc::EIO) }
    }
}
