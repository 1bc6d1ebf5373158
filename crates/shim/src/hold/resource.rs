//! Limits on what the whole tree uses together: processes, memory, processor time.
//!
//! Where the terminal's cgroup has the controllers, the kernel keeps the first two and wakes the loop when one is met;
//! the rest is counted here. There is no event for that, so it is looked at from time to time: never before a limit
//! could have been reached, seldom while nothing runs, not at all while nothing can, and at a cost that stays near one
//! hundredth of a processor. Where the kernel keeps no account of processor time it is looked at every second while
//! something runs, and often if there are children whom nobody waits for.
//! Too many processes and too much memory are emergencies and end without grace.

use super::holder::Holder;
use super::wait;
use crate::journal::record::{Cause, Status};
use crate::plan::{Plan, Resources, nanos};
use crate::tree::Members;
use crate::tree::blocked::Tty;
use crate::tree::cgroup::Cgroup;
use crate::tree::ladder::Ladder;
use crate::tree::quota::{Alarm, Quota};
use crate::tree::rest::{self, Rest};
use crate::tree::usage::{Past, Usage};
use rustix::time::{ClockId, clock_gettime};
use std::ffi::OsStr;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The least time between two looks. A bomb doubles within a few milliseconds, but a machine takes it for this long.
const SHORTEST: Duration = Duration::from_millis(25);
/// The most for processes and memory, which can grow from nothing at any moment.
const LONGEST: Duration = Duration::from_secs(1);
/// The most if looking is dear, because the machine is crowded and there is no group.
const MOST_RESTED: Duration = Duration::from_secs(2);
/// How fast a tree can grow: what a few processors can fork, and fill, in a second.
const FORKS_PER_SECOND: u64 = 10_000;
const BYTES_PER_SECOND: u64 = 4 << 30;
/// So many times what a look has cost is the time until the next: one hundredth of a processor, or one tenth while a tree
/// grows that already uses more than half of what it may.
const SHARE: u32 = 100;
const SHARE_WHEN_NEAR: u32 = 10;

/// The counting of one terminal.
#[derive(Debug)]
pub(super) struct Meter {
    /// The limits that the kernel does not keep.
    counted: Resources,
    /// How much processor time can be used in a second.
    processors: u32,
    /// What children of this process had used before: of an earlier terminal, or of the program around a thread.
    before: Duration,
    /// Whether the kernel keeps no account of the tree's processor time.
    estimates_cpu: bool,
    past: Past,
    last: Usage,
    pause: Duration,
    /// When to look again; never, if nothing has to be counted, or nothing can change before something is heard.
    next: Option<Instant>,
    /// Whether the next look is put off until something is heard, be it the end of one of these.
    rests: bool,
    sleepers: Vec<OwnedFd>,
}

impl Meter {
    pub(super) fn new(resources: &Resources, quota: Option<&Quota>) -> Self {
        let kept = |alarm: fn(&Quota) -> &Option<Alarm>| quota.is_some_and(|quota| alarm(quota).is_some());
        let counted = Resources {
            processes: resources.processes.filter(|_| !kept(|quota| &quota.processes)),
            memory: resources.memory.filter(|_| !kept(|quota| &quota.memory)),
            ..*resources
        };
        let processors = counted.cpu.and_then(|_| std::thread::available_parallelism().ok());
        let processors = processors.and_then(|n| u32::try_from(n.get()).ok()).unwrap_or(1);
        let before = wait::spent_by_children();
        let mut meter = Self {
            counted,
            processors,
            before,
            estimates_cpu: quota.is_none(),
            past: Past::new(),
            last: Usage::default(),
            pause: SHORTEST,
            next: None,
            rests: false,
            sleepers: Vec::new(),
        };
        let first = meter.soonest(&meter.last);
        meter.next = first.and_then(|pause| Instant::now().checked_add(pause));
        meter
    }

    /// The limit that is passed.
    fn judge(&self, usage: &Usage) -> Option<Cause> {
        let Resources { processes, memory, cpu, .. } = self.counted;
        if processes.is_some_and(|most| usage.processes > u64::from(most)) {
            Some(Cause::ProcessLimit)
        } else if memory.is_some_and(|most| usage.memory > most) {
            Some(Cause::MemoryLimit)
        } else {
            cpu.is_some_and(|most| usage.cpu >= most).then_some(Cause::CpuLimit)
        }
    }

    /// Sets the time of the next look after one that showed this and cost that much.
    fn plan_next(&mut self, usage: Usage, cost: Duration) {
        let Some(soonest) = self.soonest(&usage) else { return };
        // A tree that has not run at all since the last look is not growing either.
        let rest = if usage.cpu == self.last.cpu { (self.pause * 2).min(LONGEST) } else { SHORTEST };
        let share = if self.nears(&usage) { SHARE_WHEN_NEAR } else { SHARE };
        self.pause = soonest.max(rest).max((cost * share).min(MOST_RESTED));
        // Time that was spent by somebody who is gone without having been waited for does not come back.
        self.last = Usage { cpu: usage.cpu.max(self.last.cpu), ..usage };
        self.next = Instant::now().checked_add(self.pause);
    }

    /// Whether the tree has been asleep for so long that it is worth finding out for how long it will be.
    fn is_idle(&self, usage: &Usage) -> bool {
        self.pause >= LONGEST && usage.cpu == self.last.cpu
    }

    /// Nothing can change for a while, but for what the holder hears of.
    fn rest(&mut self, (rest, sleepers): (Rest, Vec<OwnedFd>)) {
        self.sleepers = sleepers;
        self.rests = rest != Rest::None;
        self.next = match rest {
            Rest::None => self.next,
            Rest::For(time) => self.next.max(Instant::now().checked_add(time)),
            Rest::UntilTold => None,
        };
    }

    /// Something has happened that the tree may have been woken by.
    pub(super) fn wake(&mut self) {
        if std::mem::take(&mut self.rests) {
            self.sleepers = Vec::new();
            self.pause = SHORTEST;
            self.next = Instant::now().checked_add(SHORTEST);
        }
    }

    /// Those whose end is to be heard.
    pub(super) fn sleepers(&self) -> &[OwnedFd] {
        &self.sleepers
    }

    /// How long it takes at least until a limit can be reached.
    fn soonest(&self, usage: &Usage) -> Option<Duration> {
        let Resources { processes, memory, cpu, .. } = self.counted;
        let growth = |left: u64, rate: u64| (Duration::from_secs(left) / rate_of(rate)).min(LONGEST);
        let processes =
            processes.map(|most| growth(u64::from(most).saturating_sub(usage.processes), FORKS_PER_SECOND));
        let memory = memory.map(|most| {
            // In MiB: a duration of as many seconds as there are bytes could be beyond what it can hold.
            growth(most.saturating_sub(usage.memory) >> 20, BYTES_PER_SECOND >> 20)
        });
        let cpu = cpu
            .map(|most| (most.saturating_sub(usage.cpu) / self.processors).min(self.longest_for_cpu(most)));
        Some([processes, memory, cpu].into_iter().flatten().min()?.max(SHORTEST))
    }

    /// Without an account of the kernel's, what is used by those who come and go is known only by looking.
    fn longest_for_cpu(&self, most: Duration) -> Duration {
        /// What they use before the first of them is missed is not known; so that it is a small part of the limit.
        const PART: u32 = 20;
        match self.estimates_cpu {
            true if self.past.forgets_children() => SHORTEST,
            true => (most / PART).clamp(SHORTEST, LONGEST),
            false => Duration::MAX,
        }
    }

    /// Whether more than half is used, and more than at the last look.
    fn nears(&self, usage: &Usage) -> bool {
        let Resources { processes, memory, .. } = self.counted;
        let nears = |most: u64, now: u64, before: u64| now > most / 2 && now > before;
        processes.is_some_and(|most| nears(most.into(), usage.processes, self.last.processes))
            || memory.is_some_and(|most| nears(most, usage.memory, self.last.memory))
    }
}

fn rate_of(per_second: u64) -> u32 {
    u32::try_from(per_second).unwrap_or(u32::MAX)
}

impl Holder {
    /// When to look again.
    pub(super) fn next_look(&self) -> Option<Instant> {
        self.meter.next.filter(|_| self.watches_usage())
    }

    /// The alarms to wait for.
    pub(super) fn alarms(&self) -> impl Iterator<Item = &Alarm> {
        let quota = self.cgroup.as_ref().filter(|_| self.watches_usage()).map(Cgroup::quota);
        quota.into_iter().flat_map(|quota| quota.processes.iter().chain(&quota.memory))
    }

    /// Not once everybody is being killed, and not when only the disk is waited for. But while a tree is asked to end:
    /// it may do anything in that time.
    fn watches_usage(&self) -> bool {
        let done = self.end.is_some() && self.journal.is_stalled();
        !done && self.ladder.as_ref().is_none_or(Ladder::is_asking)
    }

    /// Looks whether the tree uses more than it may, if it is time to.
    pub(super) fn check_usage(&mut self) {
        if self.next_look().is_none_or(|at| Instant::now() < at) {
            return;
        }
        let before = clock();
        let mut usage = self.usage();
        usage.cpu = usage.cpu.max(self.meter.last.cpu);
        let rest = if self.meter.is_idle(&usage) { self.rest() } else { (Rest::None, Vec::new()) };
        self.meter.plan_next(usage, clock().saturating_sub(before));
        self.meter.rest(rest);
        if let Some(cause) = self.meter.judge(&usage) {
            self.end_by_limit(cause);
        }
    }

    /// For how long nothing of the tree can run, unless one of these ends.
    fn rest(&self) -> (Rest, Vec<OwnedFd>) {
        let tty = self.slave.as_ref().and_then(|slave| Tty::of(slave).ok());
        let command = self.pid.as_raw_nonzero().get();
        rest::of(|| self.living(), tty, |process| process.pid == command && self.edits_line())
    }

    /// Whether the command is a shell, the one that was asked for, at its own prompt: those catch alarms for nothing but
    /// their own time limits. Any other program does so in order to run then, and so may a script that reads a line.
    fn edits_line(&self) -> bool {
        let file = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
        let runs = PathBuf::from(format!("/proc/{}/exe", self.pid.as_raw_nonzero()));
        let program = Path::new(OsStr::from_bytes(self.plan.program.to_bytes()));
        // The link has the shell's own name, also if it was asked for as `sh`.
        let is_shell = || fs::read_link(&runs).is_ok_and(|path| rest::is_shell(&path));
        let is_planned = || file(program).is_some_and(|planned| file(&runs) == Some(planned));
        self.exit.is_none() && !self.cuts_lines() && is_shell() && is_planned()
    }

    fn usage(&mut self) -> Usage {
        let (limits, past) = (&self.meter.counted, &mut self.meter.past);
        if let Some(group) = &self.cgroup {
            return Usage::of_group(group.path(), limits, past);
        }
        let mut usage = Usage::of_members(&self.members, limits, past);
        if matches!(self.members, Members::Descendants) {
            usage.cpu += wait::spent_by_children().saturating_sub(self.meter.before);
        }
        usage
    }

    /// The kernel has something to say about a limit that it keeps.
    pub(super) fn hear_alarms(&mut self) {
        if let Some(cause) = self.rung() {
            self.end_by_limit(cause);
        }
    }

    fn rung(&self) -> Option<Cause> {
        let quota = self.cgroup.as_ref()?.quota();
        let rings = |alarm: &Option<Alarm>| alarm.as_ref().is_some_and(Alarm::has_rung);
        // Both are read, since reading is what silences them.
        match (rings(&quota.memory), rings(&quota.processes)) {
            (true, _) => Some(Cause::MemoryLimit),
            (false, true) => Some(Cause::ProcessLimit),
            (false, false) => None,
        }
    }

    fn end_by_limit(&mut self, cause: Cause) {
        let grace = match cause {
            Cause::CpuLimit if self.ladder.is_some() => return,
            Cause::CpuLimit => self.plan.grace,
            _ => Duration::ZERO,
        };
        self.begin_kill(cause, String::new(), grace);
    }

    /// What ended a command that nobody here has ended: itself, or the kernel for the sake of a limit.
    pub(super) fn own_cause(&self, status: Status) -> Cause {
        match status {
            Status::Signal(libc::SIGXFSZ) if self.plan.resources.file_size.is_some() => Cause::FileSizeLimit,
            Status::Code(0) => Cause::Exited,
            _ => self.rung().unwrap_or(Cause::Exited),
        }
    }
}

/// Processor time of this thread: on a crowded machine the clock on the wall says nothing of what a look costs.
fn clock() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    let part = |n: i64| u64::try_from(n).unwrap_or(0);
    Duration::from_secs(part(now.tv_sec)) + Duration::from_nanos(part(now.tv_nsec))
}

/// The value of the limit that a cause is about.
pub(super) fn limit_of(plan: &Plan, cause: Cause) -> Option<u64> {
    let Plan { limits, resources, .. } = plan;
    match cause {
        Cause::TimeLimit => limits.time.map(nanos),
        Cause::IdleLimit => limits.idle.map(nanos),
        Cause::OutputLimit => limits.output,
        Cause::ProcessLimit => resources.processes.map(u64::from),
        Cause::MemoryLimit => resources.memory,
        Cause::CpuLimit => resources.cpu.map(nanos),
        Cause::FileSizeLimit => resources.file_size,
        Cause::Exited | Cause::Killed | Cause::OwnerGone | Cause::Lost => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Resources =
        Resources { processes: None, memory: None, cpu: None, file_size: Some(1), open_files: Some(1) };

    fn meter(resources: Resources) -> Meter {
        Meter { processors: 4, ..Meter::new(&resources, None) }
    }

    fn used(processes: u64, memory: u64, cpu: u64) -> Usage {
        Usage { processes, memory, cpu: Duration::from_millis(cpu) }
    }

    #[test]
    fn nothing_is_looked_at_without_a_limit_to_count_for() {
        assert_eq!(meter(NOTHING).next, None);
        assert!(meter(Resources { cpu: Some(Duration::from_secs(1)), ..NOTHING }).next.is_some());
    }

    #[test]
    fn the_limit_that_is_passed_is_named() {
        let most = Resources { processes: Some(10), memory: Some(100), ..NOTHING };
        let meter = meter(Resources { cpu: Some(Duration::from_millis(50)), ..most });
        assert_eq!(meter.judge(&used(10, 100, 49)), None);
        assert_eq!(meter.judge(&used(11, 101, 50)), Some(Cause::ProcessLimit));
        assert_eq!(meter.judge(&used(10, 101, 50)), Some(Cause::MemoryLimit));
        assert_eq!(meter.judge(&used(10, 100, 50)), Some(Cause::CpuLimit));
    }

    #[test]
    fn the_next_look_is_when_a_limit_could_be_reached() {
        let pause = |resources, usage, cost| {
            let mut meter = meter(resources);
            meter.plan_next(usage, cost);
            meter.pause
        };
        let ms = Duration::from_millis;
        let processes = |most| Resources { processes: Some(most), ..NOTHING };
        assert_eq!(pause(processes(64), used(1, 0, 5), ms(0)), SHORTEST);
        assert_eq!(pause(processes(2000), used(0, 0, 5), ms(0)), ms(200));
        assert_eq!(pause(processes(1_000_000), used(1, 0, 5), ms(0)), LONGEST);
        let memory = Resources { memory: Some(1 << 30), ..NOTHING };
        assert_eq!(pause(memory, used(0, 0, 5), ms(0)), ms(250));
        assert_eq!(pause(Resources { memory: Some(u64::MAX), ..NOTHING }, used(0, 0, 5), ms(0)), LONGEST);
        let cpu = Resources { cpu: Some(Duration::from_secs(4000)), ..NOTHING };
        let mut kept = Meter { processors: 4, ..Meter::new(&cpu, Some(&Quota::default())) };
        kept.plan_next(used(0, 0, 0), ms(0));
        assert_eq!(kept.pause, Duration::from_secs(1000), "four processors, not sooner");
        assert_eq!(pause(cpu, used(0, 0, 0), ms(0)), LONGEST, "those who come and go are known by looking");
        assert_eq!(pause(processes(64), used(1, 0, 5), ms(3)), ms(300), "one hundredth of a processor");
        assert_eq!(pause(processes(64), used(40, 0, 5), ms(3)), ms(30), "but more when it becomes dangerous");
        assert_eq!(pause(processes(64), used(1, 0, 5), ms(900)), MOST_RESTED);
    }

    #[test]
    fn a_tree_that_sleeps_is_looked_at_ever_more_seldom_until_it_runs() {
        let mut meter = meter(Resources { processes: Some(64), ..NOTHING });
        let mut pauses = Vec::new();
        for cpu in [5, 5, 5, 5, 5, 5, 5, 5, 9] {
            meter.plan_next(used(1, 0, cpu), Duration::ZERO);
            pauses.push(meter.pause.as_millis());
        }
        assert_eq!(pauses, [25, 50, 100, 200, 400, 800, 1000, 1000, 25]);
    }

    #[test]
    fn a_tree_that_cannot_run_is_looked_at_when_something_is_heard() {
        let mut meter = meter(Resources { processes: Some(64), ..NOTHING });
        assert!(!meter.is_idle(&used(1, 0, 0)), "it has only just begun");
        meter.pause = LONGEST;
        assert!(meter.is_idle(&used(1, 0, 0)) && !meter.is_idle(&used(1, 0, 1)));
        meter.rest((Rest::For(Duration::from_secs(60)), Vec::new()));
        assert!(meter.next > Instant::now().checked_add(Duration::from_secs(50)));
        meter.rest((Rest::For(Duration::ZERO), Vec::new()));
        assert!(meter.next > Instant::now().checked_add(Duration::from_secs(50)), "not sooner than planned");
        meter.rest((Rest::UntilTold, Vec::new()));
        assert_eq!(meter.next, None);
        meter.wake();
        assert!(meter.next.is_some_and(|at| at <= Instant::now() + SHORTEST));
        let next = meter.next;
        meter.wake();
        assert_eq!(meter.next, next, "who is awake is not woken");
    }
}
