//! The leak check: what a test may not leave behind, counted before and after.
//!
//! Counted are processes (descendants of the test, and whoever carries the place's mark in its environment or has a file
//! of the place open: that finds daemons and holders whose parent is gone), descriptors of the test's own process (PTYs
//! and sockets among them), its holder threads, and cgroups. The whole machine's lists of processes, PTYs and cgroups are
//! not compared: other tests and other people work on it at the same time. Zombies count if they are ours to wait
//! for; one that waits for a slow process 1 is none of our doing.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use wharf_shim::tree::{cgroup, proc};

/// The variable that marks everything started in a place.
pub const MARK: &str = "TEST_PLACE";

/// A holder answers before it has left; it may take a moment, not more.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was there at the beginning.
#[derive(Debug)]
pub struct Account {
    place: PathBuf,
    before: BTreeSet<String>,
    groups: BTreeSet<PathBuf>,
}

/// Whether the test still has handles to terminals, each with its descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handles {
    /// It may have some: descriptors of files in the place and of sockets do not count.
    Held,
    /// It has none: every descriptor counts.
    Dropped,
}

impl Account {
    /// Writes down what is there now.
    #[must_use]
    pub fn open(place: &Path) -> Self {
        Self { place: place.to_owned(), before: inventory(place), groups: groups() }
    }

    /// What is there now and was not before.
    #[must_use]
    pub fn left(&self, handles: Handles) -> Vec<String> {
        let new_groups = groups().into_iter().filter(|g| !self.groups.contains(g) && holder_is_gone(g));
        let groups = new_groups.map(|group| format!("cgroup {}", group.display()));
        let of_a_handle = |thing: &String| {
            thing.starts_with("descriptor")
                && (thing.contains("-> socket:") || thing.contains(&self.place.display().to_string()))
        };
        let all = inventory(&self.place);
        let new =
            all.difference(&self.before).filter(|thing| handles == Handles::Dropped || !of_a_handle(thing));
        new.cloned().chain(groups).collect()
    }

    /// Waits until nothing is left.
    ///
    /// # Panics
    /// If something stays, with a list of it.
    pub async fn settle(&self, handles: Handles) {
        let until = Instant::now() + PATIENCE;
        let mut left = self.left(handles);
        while !left.is_empty() {
            assert!(Instant::now() < until, "left behind: {left:#?}");
            pause().await;
            // What stays is a leak; what comes and goes belongs to another test.
            let now = self.left(handles);
            left.retain(|thing| now.contains(thing));
        }
    }
}

/// There is no event for "nothing is there any more" on things of other processes.
async fn pause() {
    #[expect(clippy::disallowed_methods, reason = "looks again at what gives no event, within a limit")]
    tokio::time::sleep(Duration::from_millis(10)).await;
}

fn inventory(place: &Path) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    all.extend(processes(place).iter().map(describe));
    all.extend(descriptors());
    all.extend(holder_threads());
    all
}

/// Every process that belongs to a place or to this test.
#[must_use]
pub fn processes(place: &Path) -> Vec<proc::Process> {
    let own = i32::try_from(std::process::id()).unwrap();
    let all = proc::all();
    let family = family(&all, own);
    let ours = |p: &proc::Process| {
        p.pid != own
            && (family.contains(&p.pid) || (!p.is_zombie() && (is_marked(p, place) || uses(p, place))))
    };
    all.iter().filter(|p| ours(p)).cloned().collect()
}

/// Those of them that live, described, other than some that are meant to.
#[must_use]
pub fn living(place: &Path, but: &[u32]) -> Vec<String> {
    let all = processes(place);
    let living = all.iter().filter(|p| !p.is_zombie() && !but.contains(&p.pid.cast_unsigned()));
    living.map(describe).collect()
}

/// Everybody below a process by their parents' numbers, as clients look for them that end a program with all it started.
#[must_use]
pub fn descendants(of: u32) -> Vec<i32> {
    let mut family = family(&proc::all(), of.cast_signed());
    family.remove(&of.cast_signed());
    family.into_iter().collect()
}

/// Sends them a signal; those that have gone meanwhile need none.
pub fn hunt(descendants_of: u32, signal: rustix::process::Signal) {
    for pid in descendants(descendants_of) {
        let _ = rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal);
    }
}

fn family(all: &[proc::Process], root: i32) -> BTreeSet<i32> {
    let mut family = BTreeSet::from([root]);
    loop {
        let before = family.len();
        let children: Vec<i32> = all.iter().filter(|p| family.contains(&p.parent)).map(|p| p.pid).collect();
        family.extend(children);
        if family.len() == before {
            return family;
        }
    }
}

fn is_marked(process: &proc::Process, place: &Path) -> bool {
    let mark = [MARK.as_bytes(), b"=", place.as_os_str().as_bytes()].concat();
    let environment = fs::read(process.dir().join("environ")).unwrap_or_default();
    environment.split(|b| *b == 0).any(|pair| pair == mark)
}

/// A holder has an empty environment, but always a file of its terminal open.
fn uses(process: &proc::Process, place: &Path) -> bool {
    let fds = fs::read_dir(process.dir().join("fd")).into_iter().flatten().flatten();
    fds.filter_map(|fd| fs::read_link(fd.path()).ok()).any(|target| target.starts_with(place))
}

fn describe(process: &proc::Process) -> String {
    let command = fs::read(process.dir().join("cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).replace('\0', " ");
    format!("process {} ({}) {command}", process.pid, process.state)
}

/// What descriptors of this process lead to. The reading of the list itself is not among them.
fn descriptors() -> Vec<String> {
    let fds: Vec<PathBuf> =
        fs::read_dir("/proc/self/fd").into_iter().flatten().flatten().map(|fd| fd.path()).collect();
    let target = |fd: PathBuf| {
        let target = fs::read_link(&fd).ok()?;
        Some(format!("descriptor {} -> {}", fd.file_name()?.to_str()?, target.display()))
    };
    fds.into_iter().filter_map(target).collect()
}

/// Threads that hold terminals; the runtime's own come and go as they like.
fn holder_threads() -> Vec<String> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let name = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("comm")).ok();
    threads
        .filter_map(name)
        .filter(|name| name.starts_with("wharf-"))
        .map(|name| format!("thread {name}"))
        .collect()
}

/// The cgroups of terminals on this machine that this process could have made.
fn groups() -> BTreeSet<PathBuf> {
    let Some(parent) = cgroup::parent() else { return BTreeSet::new() };
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries.filter(|e| e.file_name().as_bytes().starts_with(b"wharf-")).map(|e| e.path()).collect()
}

/// A group is named for the process that made it, and goes with it.
fn holder_is_gone(group: &Path) -> bool {
    let name = group.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let holder = name.split('-').nth(1).and_then(|pid| pid.parse().ok());
    holder.is_some_and(|pid| proc::look(pid).is_none_or(|p| p.is_zombie()))
}

/// Everything in a store's directory that belongs to a terminal.
#[must_use]
pub fn files(state: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(state.join("terminals")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Kills everything that belongs to a place, until nothing does. Not our own children's remains: those are waited for.
pub fn end_all(place: &Path) {
    for _ in 0..200 {
        let all = processes(place);
        let living: Vec<_> = all.iter().filter(|p| !p.is_zombie()).collect();
        if living.is_empty() {
            // The groups of holders that were just ended.
            groups().iter().filter(|g| holder_is_gone(g)).for_each(|group| drop(cgroup::remove(group)));
            return;
        }
        for process in living {
            wharf_shim::tree::signal(process, rustix::process::Signal::KILL);
        }
        std::thread::yield_now();
    }
}
