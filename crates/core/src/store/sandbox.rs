//! Sandboxes that stand, for the commands that come after the one that made them: most commands of a session are to run
//! in the same one, and making it takes longer than everything else.
//!
//! One is used again only while the very same would be made: what the judge has drawn up is the same in every part, what it
//! was drawn up from has not changed, and nothing was mounted or unmounted since. Nor for long: as long as it stands, what
//! was unmounted outside stays in use, and layers do not see what is new below them.

use crate::grant::Grant;
use crate::policy::Basis;
use crate::spec::SpecIo;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wharf_shim::confine::{Answer, Confine, Mount, Offered, Provision, Sandbox};

/// How long one is used after it was made.
pub(super) const LIFE: Duration = Duration::from_secs(30);
/// As many as there are sessions that are at work at the same time, each in its own.
const MOST: usize = 8;
/// After so many failures in a row no other is tried: there may be machines that do not let a process enter what another made.
const MOST_FAILURES: u32 = 3;

/// Those of a store.
#[derive(Debug, Default)]
pub(super) struct Sandboxes {
    held: Mutex<Vec<Held>>,
    /// How often in a row one could not be entered.
    failures: AtomicU32,
}

#[derive(Debug)]
struct Held {
    confine: Confine,
    basis: Basis,
    mounts: MountTable,
    since: Instant,
    state: State,
}

#[derive(Debug)]
enum State {
    /// A command is about to make it.
    Offered(Offered),
    Stands(Arc<Sandbox>),
}

impl Sandboxes {
    /// How this command is to come by its sandbox.
    pub(super) fn provide(&self, grant: &Grant) -> Provision {
        let Some(confine) = &grant.confine else { return Provision::Own };
        let mut held = self.held();
        held.retain_mut(Held::is_good);
        let may_share =
            self.failures.load(Ordering::Relaxed) < MOST_FAILURES && can_be_shared(grant, confine);
        let basis = grant.basis.as_ref().filter(|_| may_share);
        let same = |held: &&Held| Some(&held.basis) == basis && held.confine == *confine;
        match held.iter().find(same).map(|held| &held.state) {
            Some(State::Stands(sandbox)) => return Provision::Join(sandbox.clone()),
            Some(State::Offered(_)) => return Provision::Own,
            None => {}
        }
        // What commands have left in a layer is found by the next one, which must not be kept from it by a sandbox that
        // nobody enters any more.
        held.retain(|held| !held.confine.shares_layer(confine));
        let Some((new, provision)) = basis.and_then(|basis| Held::ask(confine, basis)) else {
            return Provision::Own;
        };
        if held.len() == MOST {
            held.remove(0);
        }
        held.push(new);
        provision
    }

    /// One was entered.
    pub(super) fn succeeded(&self) {
        self.failures.store(0, Ordering::Relaxed);
    }

    /// One could not be entered, for whatever reason: the next command makes its own. Where that happens again and again,
    /// all do.
    pub(super) fn failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        self.held().clear();
    }

    /// Lets go of those that nobody would enter any more.
    pub(super) fn forget_old(&self) {
        self.held().retain_mut(Held::is_good);
    }

    fn held(&self) -> MutexGuard<'_, Vec<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Not on a PTY, which only its own command sees; not where the holder counts memory, since shared memory in a common
/// directory would count for everybody; not without Landlock, which keeps commands from looking into each other; and not
/// with what stands in for missing files, which comes and goes with its users.
fn can_be_shared(grant: &Grant, confine: &Confine) -> bool {
    let is_placeholder = |mount: &Mount| matches!(mount, Mount::Placeholder { .. });
    !matches!(grant.spec.io, SpecIo::Pty(_))
        && grant.spec.resources.memory.is_none()
        && confine.landlock > 0
        && !confine.mounts.iter().any(is_placeholder)
}

impl Held {
    fn ask(confine: &Confine, basis: &Basis) -> Option<(Self, Provision)> {
        // Before anything is made: a change from here on is noticed.
        let mounts = MountTable::open()?;
        let (offered, provision) = Offered::ask().ok()?;
        let (confine, basis, state) = (confine.clone(), basis.clone(), State::Offered(offered));
        Some((Self { confine, basis, mounts, since: Instant::now(), state }, provision))
    }

    /// Whether it can be entered, or will be.
    fn is_good(&mut self) -> bool {
        if self.since.elapsed() >= LIFE || self.mounts.has_changed() {
            return false;
        }
        let State::Offered(offered) = &self.state else { return true };
        match offered.look() {
            Answer::Stands(sandbox) => self.state = State::Stands(Arc::new(sandbox)),
            Answer::NotYet => {}
            Answer::None => return false,
        }
        true
    }
}

/// The mounts that everybody sees.
#[derive(Debug)]
struct MountTable {
    table: File,
}

impl MountTable {
    fn open() -> Option<Self> {
        File::open("/proc/self/mountinfo").ok().map(|table| Self { table })
    }

    /// Since it was opened. As `proc_pid_mountinfo(5)` says of `/proc/PID/mounts`: a change is an exceptional condition.
    fn has_changed(&self) -> bool {
        let mut watched = [PollFd::new(&self.table, PollFlags::PRI)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        !matches!(poll(&mut watched, Some(&now)), Ok(0))
    }
}
