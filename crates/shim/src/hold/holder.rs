//! The loop: wait for the kernel, do what it reports, tell those who asked.

use super::connection::{Connection, Watch};
use super::input::Queue;
use super::output::{GATHER, IoKind};
use super::resource::Meter;
use super::settling::Settling;
use super::wait::{Exit, Signals, time_until};
use super::{Leave, Parting};
use crate::confine::Standing;
use crate::failpoint;
use crate::journal::record::{Cause, End, Record};
use crate::journal::write::Journal;
use crate::plan::{Backlog, Plan};
use crate::spawn::Running;
use crate::tree::cgroup::Cgroup;
use crate::tree::ladder::Ladder;
use crate::tree::{Members, proc};
use crate::wire::message::{Reply, State, UNASKED};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::Pid;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

/// How often is looked where the kernel has no event: whether a full disk still is, and whether processes that are not
/// our children are gone.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// One terminal and everything about it.
#[derive(Debug)]
pub(super) struct Holder {
    pub(super) plan: Plan,
    pub(super) journal: Journal,
    pub(super) members: Members,
    pub(super) cgroup: Option<Cgroup>,
    standing: Option<Standing>,
    pub(super) listener: UnixListener,
    pub(super) connections: Vec<Connection>,
    /// Children ending and requests to go; only in a process of its own.
    signals: Option<Signals>,

    pub(super) pid: Pid,
    /// Readable when the command has ended.
    pidfd: OwnedFd,
    /// One of those left after the command's end, readable when it has ended; only on a thread.
    survivor: Option<OwnedFd>,
    /// The pipe's reading end or the PTY's master.
    pub(super) output: OwnedFd,
    pub(super) output_open: bool,
    pub(super) slave: Option<OwnedFd>,
    pub(super) input: Queue,
    pub(super) io_kind: IoKind,
    pub(super) buffer: Vec<u8>,

    pub(super) meter: Meter,
    pub(super) started: Instant,
    pub(super) last_activity: Instant,
    /// What the kernel said of the command, once it has.
    pub(super) exit: Option<Exit>,
    /// Since then: until its helpers have settled, its end is not on record.
    pub(super) settling: Option<Settling>,
    /// How much of the command's output is still to be read before its end may be recorded, if that was interrupted.
    pub(super) drain_left: Option<usize>,
    /// Whether the command's number may have been used anew.
    pub(super) reaped: bool,
    /// The end as it was recorded.
    pub(super) end: Option<End>,
    /// Why the command is being ended, and by whom.
    pub(super) why: Option<(Cause, String)>,
    pub(super) ladder: Option<Ladder>,
    /// Processes ended by all kills so far.
    pub(super) killed: u32,
    /// How far the owner has read, if the command is to wait for it.
    pub(super) taken: Option<u64>,
    /// While set, nobody new is let in.
    pub(super) deaf_until: Option<Instant>,
    /// Whether the kernel said at the command's end that nobody was left, so that nobody can have come since.
    pub(super) alone: bool,
    /// Whether the last record is written, or waits for the disk.
    closed: bool,
    parting: Parting,
    /// Whether a kill is over: what is left to be written waits for no disk any more.
    pub(super) hurried: bool,
}

/// What the loop can be woken by.
#[derive(Debug, Clone, Copy)]
enum Source {
    Output,
    Input,
    Exit,
    Survivor,
    /// One of a tree that was at rest has ended.
    Sleeper,
    /// A limit that the kernel keeps.
    Alarm,
    Signals,
    Listener,
    Connection(usize),
    /// The other side is gone while nothing was being read from it.
    HungUp(usize),
}

impl Holder {
    #[expect(
        clippy::too_many_arguments,
        reason = "called once, by the start; every part is owned from here on"
    )]
    pub(super) fn new(
        plan: Plan,
        journal: Journal,
        running: Running,
        members: Members,
        leave: Leave,
        listener: UnixListener,
        creator: UnixStream,
        signals: Option<Signals>,
        started: &Reply,
    ) -> Self {
        let mut connections = Vec::new();
        if let Ok(mut connection) = Connection::new(creator) {
            connection.lease = Some(plan.on_owner_exit);
            connection.send(0, started);
            connection.watches.push(Watch { tag: UNASKED, past: u64::MAX, seen: State::Running });
            connections.push(connection);
        }
        let _ = listener.set_nonblocking(true);
        let io_kind = IoKind::from(&running.ends.input);
        let now = Instant::now();
        Self {
            meter: Meter::new(&plan.resources, leave.cgroup.as_ref().map(Cgroup::quota)),
            plan,
            journal,
            members,
            cgroup: leave.cgroup,
            standing: Some(leave.standing),
            listener,
            connections,
            signals,
            pid: running.pid,
            pidfd: running.pidfd,
            survivor: None,
            output: running.ends.output,
            output_open: true,
            slave: running.ends.slave,
            input: Queue::new(running.ends.input),
            io_kind,
            buffer: vec![0; GATHER],
            started: now,
            last_activity: now,
            exit: None,
            settling: None,
            drain_left: None,
            reaped: false,
            end: None,
            why: None,
            ladder: None,
            killed: 0,
            taken: None,
            deaf_until: None,
            alone: false,
            closed: false,
            parting: Parting::Free,
            hurried: false,
        }
    }

    /// Until nothing is left of the tree.
    pub(super) fn run(mut self) -> Parting {
        if self.plan.backlog == Backlog::Wait {
            self.owner_took(0);
        }
        while !self.close() {
            for source in self.wait() {
                self.meter.wake();
                self.react(source);
            }
            self.on_time();
            self.serve_held();
            self.watch_survivors();
            self.forget_closed();
            self.answer_watches();
        }
        self.answer_watches();
        self.answer_kills(0);
        self.parting
    }

    /// On a thread no signal says that a descendant has ended. So one of those who are left is watched, then the next.
    fn watch_survivors(&mut self) {
        let on_thread = matches!(self.members, Members::Marked { .. });
        if on_thread && self.may_be_left() && self.survivor.is_none() {
            self.survivor = self.living().iter().find_map(proc::open);
        }
    }

    /// Whether the command is over and somebody of its tree may not be, though nobody holds the output any more.
    fn may_be_left(&self) -> bool {
        self.end.is_some() && !self.output_open && !self.alone
    }

    fn react(&mut self, source: Source) {
        match source {
            Source::Output => {
                self.read_output(GATHER);
                self.check_output_limit();
            }
            Source::Input => self.input.write(&self.output),
            Source::Exit => self.check_exit(),
            Source::Survivor => self.survivor = None,
            // As with everything that is heard, the tree is looked at again.
            Source::Sleeper => {}
            Source::Alarm => self.hear_alarms(),
            Source::Signals => {
                if self.signals.as_ref().is_some_and(Signals::asked_to_go) {
                    self.parting = Parting::Dismissed;
                    self.begin_kill(Cause::Killed, "signal".to_owned(), self.plan.grace);
                }
                self.reap_others();
                self.check_exit();
                self.climb();
            }
            Source::Listener => self.accept(),
            Source::Connection(at) => {
                self.connections[at].flush();
                if self.connections[at].wants_read() {
                    self.serve(at);
                }
            }
            Source::HungUp(at) => self.connections[at].hang_up(),
        }
    }

    /// What is due.
    fn on_time(&mut self) {
        if self.journal.is_stalled() && self.journal.retry() {
            self.resume();
            self.check_exit();
        }
        let now = Instant::now();
        self.deaf_until = self.deaf_until.filter(|until| now < *until);
        if self.ladder.is_none() && self.time_limit().is_some_and(|at| now >= at) && !self.waits_for_disk() {
            self.begin_kill(Cause::TimeLimit, String::new(), self.plan.grace);
        }
        if self.ladder.is_none() && self.idle_limit().is_some_and(|at| now >= at) {
            self.begin_kill(Cause::IdleLimit, String::new(), self.plan.grace);
        }
        self.check_usage();
        self.climb();
    }

    /// The command could not write, because of us, and can again: its silence counts from now.
    pub(super) fn resume(&mut self) {
        self.last_activity = Instant::now();
    }

    fn time_limit(&self) -> Option<Instant> {
        if self.closed {
            return None;
        }
        self.started.checked_add(self.plan.limits.time?)
    }

    /// Not while the disk is full or the owner behind: then the command is kept from writing by us.
    fn idle_limit(&self) -> Option<Instant> {
        if self.journal.is_stalled() || self.is_ahead() || self.closed {
            return None;
        }
        self.last_activity.checked_add(self.plan.limits.idle?)
    }

    fn next_deadline(&self) -> Option<Instant> {
        let stalled = self.journal.is_stalled();
        let limits = match self.ladder {
            // The record of the end waits for the disk, and is looked after soon enough.
            _ if self.exit.is_some() && stalled => [None, None],
            Some(ref ladder) => [Some(ladder.next()), None],
            None => [self.time_limit(), self.idle_limit()],
        };
        let soon = (stalled || self.must_look_again()).then(|| Instant::now() + LOOK_AGAIN);
        let looks = [self.next_look(), self.next_settling(), self.deaf_until].into_iter().flatten();
        limits.into_iter().flatten().chain(soon).chain(looks).min()
    }

    /// On a thread, when nothing will wake the loop: during a kill, and when nobody of those left could be watched.
    fn must_look_again(&self) -> bool {
        let unwatched = self.may_be_left() && self.survivor.is_none();
        matches!(self.members, Members::Marked { .. }) && (self.ladder.is_some() || unwatched)
    }

    /// Waits for the kernel and says what it reported.
    fn wait(&self) -> Vec<Source> {
        let mut sources = Vec::with_capacity(5 + self.connections.len());
        let mut fds = Vec::with_capacity(5 + self.connections.len());
        let mut add = |source, fd| {
            sources.push(source);
            fds.push(fd);
        };
        if self.wants_output() {
            add(Source::Output, PollFd::new(&self.output, PollFlags::IN));
        }
        if let Some(fd) = self.input.wants(&self.output) {
            add(Source::Input, PollFd::from_borrowed_fd(fd, PollFlags::OUT));
        }
        if self.exit.is_none() {
            add(Source::Exit, PollFd::new(&self.pidfd, PollFlags::IN));
        }
        if let Some(survivor) = &self.survivor {
            add(Source::Survivor, PollFd::new(survivor, PollFlags::IN));
        }
        for sleeper in self.meter.sleepers() {
            add(Source::Sleeper, PollFd::new(sleeper, PollFlags::IN));
        }
        for alarm in self.alarms() {
            add(Source::Alarm, PollFd::new(&alarm.file, PollFlags::PRI));
        }
        if let Some(signals) = &self.signals {
            add(Source::Signals, PollFd::new(signals.fd(), PollFlags::IN));
        }
        for (at, connection) in self.connections.iter().enumerate() {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, connection.wants_read());
            flags.set(PollFlags::OUT, connection.wants_write());
            add(Source::Connection(at), PollFd::new(&connection.stream, flags));
        }
        // Last, because letting somebody in can mean putting somebody out, and then the numbers above are others'.
        if self.deaf_until.is_none() {
            add(Source::Listener, PollFd::new(&self.listener, PollFlags::IN));
        }
        let timeout = self.next_deadline().map(time_until);
        // A failed poll (interrupted, out of memory for a moment) reports nothing, and the loop comes back.
        if poll(&mut fds, timeout.as_ref()).is_err() {
            return Vec::new();
        }
        let reported = sources.into_iter().zip(fds.iter().map(PollFd::revents));
        reported
            .filter(|(_, events)| !events.is_empty())
            .map(|(source, events)| self.name(source, events))
            .collect()
    }

    fn name(&self, source: Source, events: PollFlags) -> Source {
        match source {
            Source::Connection(at) if !events.intersects(PollFlags::IN | PollFlags::OUT) => {
                Source::HungUp(at)
            }
            Source::Connection(at)
                if !self.connections[at].wants_read() && events.contains(PollFlags::HUP) =>
            {
                Source::HungUp(at)
            }
            source => source,
        }
    }

    /// Once nothing is left of the tree: the last output and the last record. True when they are on disk.
    fn close(&mut self) -> bool {
        self.write_at_last();
        if self.ladder.is_some() || self.journal.is_stalled() || !self.is_empty() {
            return false;
        }
        // With our own side closed, the PTY says for certain when all has been read.
        self.slave = None;
        while self.read_output(GATHER) > 0 {
            self.write_at_last();
            if self.journal.is_stalled() {
                return false;
            }
        }
        if let Some(cgroup) = self.cgroup.take() {
            cgroup.remove();
        }
        if let Some(standing) = self.standing.take() {
            standing.remove();
        }
        if !self.closed {
            failpoint::hit("exit.before_closed");
            self.closed = true;
            self.journal.record(Record::Closed { killed: self.killed });
            self.write_at_last();
        }
        !self.journal.is_stalled()
    }
}
