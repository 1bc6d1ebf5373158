//! `wharf doctor`: what this machine offers, what each missing thing costs, and what that means for the commands of agents.

mod agents;

use crate::cli::Doctor;
use crate::exit_code::{self, Code};
use crate::json::Capability;
use crate::place::Place;
use crate::report::Failure;
use crate::show;
use anstyle::AnsiColor;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use wharf_core::Holder;
use wharf_core::policy::LANDLOCK_NEEDED;
use wharf_shim::confine::{OwnNet, OwnUser};
use wharf_shim::launch;
use wharf_shim::probe::{self, Answer};

/// Enough descriptors for a front end with some hundred terminals.
const ENOUGH_FILES: u64 = 1024;
/// What a front end with one terminal takes, and some more.
const LEAST_FILES: u64 = 64;

pub(crate) fn run(args: &Doctor, place: &Place) -> Result<Code, Failure> {
    // Takes seconds where nobody does it, so everything else is looked at meanwhile.
    let orphans = std::thread::spawn(probe::orphans);
    let (needed, mut prospect) = (needed(place), agents::Prospect::find(place)?);
    if needed.iter().all(|capability| capability.have) {
        prospect = prospect.tried();
    }
    let mut capabilities = [needed, helpful(place), for_limits(), for_sandboxes()].concat();
    let orphans = orphans.join().unwrap_or_else(|_| Err("it could not be tried".to_owned()));
    capabilities.push(reaped(orphans));
    capabilities.push(agents::capability(&prospect, place));
    let works = capabilities.iter().all(|c| c.have || !c.required);
    if args.json {
        show::print_json(&capabilities)?;
    } else {
        let last = if works { agents::answer(&prospect, place) } else { BROKEN.to_owned() };
        show::print(&(page(&capabilities) + &last))?;
    }
    let runs = works && prospect.is_good();
    Ok(if runs { exit_code::DONE } else { exit_code::REFUSED })
}

/// What is said last where nothing can be started.
const BROKEN: &str = "wharf does not work here; see what is MISSING.\n";

impl Capability {
    fn new(name: &'static str, answer: Answer, [used_for, without_it, advice]: [&'static str; 3]) -> Self {
        let have = answer.is_ok();
        let detail = answer.unwrap_or_else(|why| why);
        Self { name, have, required: false, detail, used_for, without_it, advice: advice.into() }
    }

    fn required(mut self) -> Self {
        self.required = true;
        self
    }
}

/// Without one of these nothing works.
fn needed(place: &Place) -> Vec<Capability> {
    let opened = place.store().map(|_| ()).map_err(|failure| failure.message);
    let terminals = opened.clone().and_then(|()| directory(&place.dirs.state.join("terminals")));
    let state = terminals.and_then(|_| directory(&place.dirs.state));
    let sockets = opened.and_then(|()| probe::sockets(&place.dirs.state));
    let required = [
        Capability::new(
            "state directory",
            state,
            [
                "output and ends of terminals",
                "nothing can be started",
                "make it yours with mode 0700, or set WHARF_STATE_DIR",
            ],
        ),
        Capability::new(
            "sockets",
            sockets,
            [
                "reaching running terminals, beside their output",
                "nothing can be started",
                "set WHARF_STATE_DIR to a directory on a local file system, such as ext4 or tmpfs",
            ],
        ),
        Capability::new(
            "shim",
            shim(place),
            [
                "holding one terminal each",
                "nothing can be started",
                "install wharf-shim of the same version beside wharf, or remove it: wharf then holds them itself",
            ],
        ),
        Capability::new(
            "pidfd",
            probe::pidfd(),
            [
                "signalling a process and never another one with its number",
                "nothing can be started",
                "use Linux 5.4 or later; in a container, allow pidfd_open",
            ],
        ),
        Capability::new(
            "sub-reaper",
            probe::sub_reaper(),
            [
                "ending daemons that leave their process tree",
                "nothing can be started",
                "allow prctl in this sandbox",
            ],
        ),
    ];
    required.map(Capability::required).to_vec()
}

/// What makes it better.
fn helpful(place: &Place) -> Vec<Capability> {
    vec![
        Capability::new(
            "PTYs",
            probe::ptys(),
            [
                "commands that want a terminal",
                "`wharf mcp` and `wharf run --pty` open nothing; plain commands work",
                "end what holds them, raise kernel.pty.max, or mount devpts",
            ],
        ),
        Capability::new(
            "disk space",
            room(place),
            [
                "keeping what commands print",
                "nothing new is started, and what prints stands still until there is room",
                "free some (df, df -i); `wharf rm --ended` gives back what ended terminals use",
            ],
        ),
        Capability::new(
            "hole punching",
            probe::hole_punching(&place.dirs.state),
            [
                "keeping only the newest output on disk while it grows",
                "a command that prints more than is kept is ended instead",
                "keep the state directory on ext4, xfs, btrfs or tmpfs",
            ],
        ),
        Capability::new(
            "own cgroup",
            probe::own_cgroup(),
            [
                "a kill that no fork can outrun",
                "trees are ended by searching /proc instead, a little slower",
                "run under a systemd user session, or mount cgroup2 writable",
            ],
        ),
        Capability::new(
            "clone3",
            probe::clone3(),
            [
                "starting a command inside its cgroup",
                "commands start outside it and are found by searching /proc",
                "allow clone3 in this sandbox's filter",
            ],
        ),
        descriptors(),
    ]
}

fn descriptors() -> Capability {
    let texts = [
        "one program with many terminals",
        "a few hundred terminals in one program reach the limit, and with less than 64 the first does",
        "ulimit -n 65536",
    ];
    let files = Capability::new("open files", open_files(), texts);
    match probe::open_files() {
        (Some(0..LEAST_FILES), _) => files.required(),
        _ => files,
    }
}

fn reaped(orphans: Answer) -> Capability {
    Capability::new(
        "orphans reaped",
        orphans,
        [
            "shells that are no children of `wharf mcp`, where clients end everything below it",
            "shells stay its children, and such a client ends them; ended daemons stay as zombies",
            "give the container a process 1 that reaps: docker run --init, or tini",
        ],
    )
}

/// What keeps commands within their limits. There is always a way; the line says which.
fn for_limits() -> Vec<Capability> {
    const DELEGATE: &str = "hand the pids and memory controllers down to the cgroup that wharf runs in";
    let kept = probe::limits();
    let line = |name, how: &str, used_for| {
        Capability::new(name, Ok(how.to_owned()), [used_for, "the limit is not kept", DELEGATE])
    };
    vec![
        line("process limit", kept.processes, "ending a command that forks without end"),
        line("memory limit", kept.memory, "ending a command that takes too much memory"),
        line("CPU time limit", kept.cpu, "ending a command that computes for too long"),
        line("file limits", "by the kernel, with rlimits", "the size of files, the number of open ones"),
    ]
}

/// What confining commands rests on. Either of the first two will do.
fn for_sandboxes() -> Vec<Capability> {
    const USERS: &str = "see the last lines";
    let mounts =
        |net, user| probe::own_mounts(net, user).map(|()| String::new()).map_err(|why| why.to_string());
    let landlock = probe::landlock_version();
    let user = if landlock < LANDLOCK_NEEDED.0 { OwnUser::Always } else { OwnUser::IfNeeded };
    vec![
        Capability::new(
            "own mounts",
            mounts(OwnNet::No, user),
            [
                "sandboxes: hiding secrets, keeping everything else as it is",
                "Landlock holds what it can: hooks and settings in the project are not protected, and there are no Unix sockets",
                USERS,
            ],
        ),
        Capability::new(
            "Landlock",
            probe::landlock(),
            [
                "sandboxes: which files a command may touch, which processes it may signal",
                "mounts hold what they can; without either, commands run only with --sandbox open",
                "use Linux 5.19 or later, better 6.12, with landlock among its security modules (lsm=)",
            ],
        ),
        Capability::new(
            "seccomp",
            probe::seccomp(),
            [
                "sandboxes: which system calls a command may make",
                "commands run only with --sandbox open",
                "use a kernel with seccomp filters",
            ],
        ),
        Capability::new(
            "own network",
            mounts(OwnNet::Loopback, user),
            ["profiles with a loopback of their own", "such a profile has no network at all", USERS],
        ),
    ]
}

fn directory(path: &Path) -> Answer {
    let meta = std::fs::metadata(path).map_err(|error| error.to_string())?;
    let use_it = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    rustix::fs::access(path, use_it)
        .map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
    Ok(format!("{} mode {:04o}", path.display(), meta.mode() & 0o7777))
}

/// It is really started and spoken with.
fn shim(place: &Place) -> Answer {
    let Holder::Process(path) = &place.holder else { return Err("none was found".to_owned()) };
    launch::try_shim(path).map_err(|error| error.to_string())?;
    let itself = ", wharf itself, which takes more memory per terminal than wharf-shim";
    Ok(format!("{}{}", path.display(), if place.is_own_shim() { itself } else { "" }))
}

/// Below this much, what is printed soon finds no room.
const LITTLE: u64 = 16 << 20;

/// What is left on the disk of the journals.
fn room(place: &Place) -> Answer {
    let dir = &place.dirs.state;
    let disk = rustix::fs::statvfs(dir).map_err(|error| error.to_string())?;
    let bytes = disk.f_bavail.saturating_mul(disk.f_frsize);
    let detail = format!("{} for {}", show::size(bytes), dir.display());
    // Where files are not counted, there are none in all.
    match disk.f_files > 0 && disk.f_favail == 0 {
        true => Err(format!("no inodes are left for {}", dir.display())),
        false if bytes < LITTLE => Err(format!("only {detail}")),
        false => Ok(detail),
    }
}

fn open_files() -> Answer {
    let (now, most) = probe::open_files();
    let text = |limit: Option<u64>| limit.map_or_else(|| "unlimited".to_owned(), show::count);
    let detail = format!("{}, at most {}", text(now), text(most));
    if now.is_none_or(|limit| limit >= ENOUGH_FILES) { Ok(detail) } else { Err(detail) }
}

fn page(capabilities: &[Capability]) -> String {
    let (good, bad, poor) =
        (AnsiColor::Green.on_default(), AnsiColor::Red.on_default().bold(), AnsiColor::Yellow.on_default());
    let width = capabilities.iter().map(|c| c.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for c in capabilities {
        let (style, word) = match (c.have, c.required) {
            (true, _) => (good, "have"),
            (false, false) => (poor, "missing"),
            (false, true) => (bad, "MISSING"),
        };
        let detail = if c.detail.is_empty() { String::new() } else { format!(" ({})", c.detail) };
        text += &format!("{style}{word:7}{style:#}  {:width$}  {}{detail}\n", c.name, c.used_for);
        if !c.have {
            let indent = " ".repeat(width + 11);
            text += &format!("{indent}without it: {}\n{indent}to get it:  {}\n", c.without_it, c.advice);
        }
    }
    text
}
