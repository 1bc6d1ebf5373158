//! What this machine offers, found out by trying each thing in the smallest way that changes nothing.
//!
//! Kernel versions are not looked at: containers and hardened systems take away what the version promises, and
//! distributions bring what it does not. Nothing here is needed to hold a terminal; `wharf doctor` asks.

use crate::confine::{
    self, Absent, Access, Confine, Fault, Identity, Metadata, Mount, Namespaces, OwnNet, OwnUser, Provision,
    Ready, Rule, Sockets, Standing, Step,
};
use crate::failpoint;
use crate::plan::Size;
use crate::spawn::pty;
use crate::tree::cgroup::{self, Cgroup};
use rustix::event::{Timespec, poll};
use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::{PidfdFlags, Resource, WaitOptions, getpid, getrlimit, pidfd_open, waitpid};
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// What trying it showed: a detail worth telling, or why it does not work.
pub type Answer = Result<String, String>;

/// A cgroup of its own, with a kill that no fork can outrun.
pub fn own_cgroup() -> Answer {
    let parent = cgroup::parent().ok_or("no cgroup v2 group that this user may divide")?;
    let group = Cgroup::make(&parent).map_err(text)?;
    let kills = group.path().join("cgroup.kill").exists();
    group.remove();
    if kills { Ok(parent.display().to_string()) } else { Err("the kernel has no cgroup.kill".to_owned()) }
}

/// How the limits on a whole tree are kept here, in words.
#[derive(Debug, Clone, Copy)]
pub struct Kept {
    /// On processes.
    pub processes: &'static str,
    /// On memory.
    pub memory: &'static str,
    /// On processor time.
    pub cpu: &'static str,
}

/// Looks which files a group of its own has.
#[must_use]
pub fn limits() -> Kept {
    const COUNTED: &str = "counted by wharf, in /proc";
    const ESTIMATED: &str = "estimated by wharf, from /proc";
    let group = cgroup::parent().and_then(|parent| Cgroup::make(&parent).ok());
    let has = |file: &str| group.as_ref().is_some_and(|group| group.path().join(file).exists());
    let first = |words: &[(&str, &'static str)], otherwise| {
        words.iter().find(|(file, _)| has(file)).map_or(otherwise, |(_, words)| *words)
    };
    let kept = Kept {
        processes: first(
            &[
                ("pids.events", "by the kernel, with pids.max of the cgroup"),
                ("cgroup.threads", "counted by wharf, in the cgroup"),
            ],
            COUNTED,
        ),
        memory: first(&[("memory.events", "by the kernel, with memory.max of the cgroup")], ESTIMATED),
        cpu: first(&[("cpu.stat", "counted by the kernel, in the cgroup")], ESTIMATED),
    };
    if let Some(group) = group {
        group.remove();
    }
    kept
}

fn leave(code: i32) -> ! {
    // SAFETY: ends this process at once, running nothing of the parent's.
    unsafe { libc::_exit(code) }
}

/// Why mounts of its own cannot be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Obstacle {
    /// What was being done.
    pub step: Step,
    /// What the kernel said, as a number.
    pub errno: i32,
}

impl std::fmt::Display for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let doing = self.step.doing();
        match self.errno {
            // What the kernel says of a limit on namespaces has nothing to do with a disk.
            libc::ENOSPC | libc::EUSERS => write!(f, "{doing}: the limit on namespaces is reached"),
            errno => write!(f, "{doing}: {}", io::Error::from_raw_os_error(errno)),
        }
    }
}

/// Mounts of its own for a command of this user, and perhaps a network: all of it is really made, in a process of its own.
/// Says what refused it, since many systems allow the namespace and then nothing in it.
pub fn own_mounts(net: OwnNet, user: OwnUser) -> Result<(), Obstacle> {
    if failpoint::number("namespaces") == Some(0) {
        return Err(Obstacle { step: Step::Namespace, errno: libc::EPERM });
    }
    let mounts = vec![Mount::Fresh { path: c"/".into(), bytes: 4096 }];
    try_inside(&with_mounts(mounts, net, user), &Standing::none(), &|| Ok(()))
}

/// How the names of directories begin in which layers are tried.
pub const LAYERS: &str = ".layers-";

/// Directories that are written in layers of their own, with what is written kept below `dir`: in a container its file
/// system can be one that does not take them.
pub fn layers(dir: &Path, user: OwnUser) -> Result<(), Obstacle> {
    static TRIED: AtomicU32 = AtomicU32::new(0);
    if failpoint::number("layers") == Some(0) {
        return Err(Obstacle { step: Step::Mount, errno: libc::EINVAL });
    }
    // One that is missing is not made for this, and would be on the same file system.
    let dir = dir.ancestors().find(|dir| dir.is_dir()).unwrap_or(dir);
    let base = dir.join(format!("{LAYERS}{}-{}", std::process::id(), TRIED.fetch_add(1, Ordering::Relaxed)));
    let tried = try_layer(&base, user);
    // The kernel's own directory has a mode with which only root could empty it.
    let _ = fs::set_permissions(base.join("upper/0/work/work"), PermissionsExt::from_mode(0o700));
    let _ = fs::remove_dir_all(&base);
    tried
}

fn try_layer(base: &Path, user: OwnUser) -> Result<(), Obstacle> {
    let lower = base.join("lower");
    fs::create_dir_all(lower.join("kept")).map_err(|error| failed(&error))?;
    let c_path =
        |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(|_| failed(&Errno::INVAL.into()));
    let open = File::open(&lower).map_err(|error| failed(&error))?;
    let is = Identity::of(open.as_fd()).map_err(|errno| failed(&errno.into()))?;
    let (path, upper) = (c_path(&lower)?, c_path(&base.join("upper"))?);
    let layer = Mount::Layer { path: path.clone(), is, upper, fresh: vec![c"kept".into()] };
    let confine = with_mounts(vec![Mount::Everything, layer], OwnNet::No, user);
    let standing = Standing::make(Some(&confine), Provision::Own).map_err(told)?;
    let kept = c_path(&lower.join("kept"))?;
    let made = c_path(&lower.join("made"))?;
    // A directory that was there can be replaced, and one can be made.
    let tried = try_inside(&confine, &standing, &|| {
        rustix::fs::rmdir(&kept)?;
        rustix::fs::mkdir(&kept, Mode::RWXU)?;
        rustix::fs::mkdir(&made, Mode::RWXU)
    });
    standing.remove();
    tried
}

fn with_mounts(mounts: Vec<Mount>, net: OwnNet, user: OwnUser) -> Confine {
    Confine {
        name: String::new(),
        namespaces: Namespaces::Mount { net, user },
        landlock: 0,
        mounts,
        rules: Vec::new(),
        sockets: Sockets::None,
        metadata: Metadata::Usual,
    }
}

fn told((fault, errno): (Fault, Errno)) -> Obstacle {
    Obstacle { step: fault.step, errno: errno.raw_os_error() }
}

fn failed(error: &io::Error) -> Obstacle {
    Obstacle { step: Step::Namespace, errno: error.raw_os_error().unwrap_or(libc::EIO) }
}

/// Enters a confinement in a process of its own and does something there, with bare system calls.
fn try_inside(
    confine: &Confine,
    standing: &Standing,
    inside: &dyn Fn() -> Result<(), Errno>,
) -> Result<(), Obstacle> {
    let ready = Ready::new(confine, standing, None, None).map_err(told)?;
    let (hear, tell) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(|errno| failed(&errno.into()))?;
    let mount = |errno| (Fault::new(Step::Mount), errno);
    // SAFETY: the child makes bare system calls on what was prepared, and leaves.
    match unsafe { libc::fork() } {
        -1 => Err(failed(&io::Error::last_os_error())),
        0 => leave(match confine::enter(&ready, None).and_then(|()| inside().map_err(mount)) {
            Ok(()) => 0,
            Err((fault, errno)) => {
                let _ = rustix::io::write(&tell, &fault.to_bytes());
                errno.raw_os_error()
            }
        }),
        child => {
            drop(tell);
            let errno = error_of(child).map_err(|error| failed(&error))?;
            let mut fault = [0; 3];
            // Nothing is heard from a child that could do it all.
            let _ = rustix::io::read(&hear, &mut fault);
            match (errno, Fault::from_bytes(fault)) {
                (0, _) => Ok(()),
                (errno, fault) => {
                    Err(Obstacle { step: fault.map_or(Step::Namespace, |fault| fault.step), errno })
                }
            }
        }
    }
}

/// Whether rules for what is in the root directory are rules for nothing else; in a `chroot` they may be for everything.
#[must_use]
pub fn rules_keep_in(landlock: u32) -> bool {
    let entries = fs::read_dir("/").into_iter().flatten().flatten();
    let real = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let paths = real.filter_map(|entry| CString::new(entry.path().as_os_str().as_bytes()).ok());
    let rule = |path| Rule { path, access: Access::Read, is: None, absent: Absent::Skip };
    let confine = Confine {
        namespaces: Namespaces::None,
        landlock,
        rules: paths.map(rule).collect(),
        ..with_mounts(Vec::new(), OwnNet::No, OwnUser::IfNeeded)
    };
    try_inside(&confine, &Standing::none(), &|| Ok(())).is_ok()
}

/// The error number with which a child has left.
fn error_of(child: i32) -> io::Result<i32> {
    let ended = waitpid(rustix::process::Pid::from_raw(child), WaitOptions::empty())?;
    Ok(ended.and_then(|(_, status)| status.exit_status()).unwrap_or(libc::EINTR))
}

/// Landlock's version; 0 where the kernel has none.
#[must_use]
pub fn landlock_version() -> u32 {
    confine::landlock_version().unwrap_or(0)
}

/// Landlock, by its version.
pub fn landlock() -> Answer {
    match confine::landlock_version() {
        Ok(0) | Err(Errno::NOSYS) => Err("the kernel was built without it".to_owned()),
        Ok(version) => Ok(format!("ABI {version}")),
        Err(Errno::OPNOTSUPP) => Err("the kernel has it switched off (boot parameter lsm=)".to_owned()),
        Err(errno) => Err(text(errno)),
    }
}

/// Filters on system calls.
pub fn seccomp() -> Answer {
    let action = libc::SECCOMP_RET_ERRNO;
    let ask = libc::SECCOMP_GET_ACTION_AVAIL;
    // SAFETY: the pointer is to a local number, which the kernel reads.
    match unsafe { libc::syscall(libc::SYS_seccomp, ask, 0, &raw const action) } {
        0 => Ok(String::new()),
        _ => Err(text(io::Error::last_os_error())),
    }
}

/// Handles on processes that stay true after the number is used anew.
pub fn pidfd() -> Answer {
    pidfd_open(getpid(), PidfdFlags::empty()).map(|_| String::new()).map_err(text)
}

/// The call that starts a process inside its cgroup. Sandboxes often hide it.
pub fn clone3() -> Answer {
    let nothing = std::ptr::null::<u8>();
    // SAFETY: a size of zero is refused before the pointer is looked at.
    unsafe { libc::syscall(libc::SYS_clone3, nothing, 0usize) };
    match io::Error::last_os_error() {
        error if error.raw_os_error() == Some(libc::EINVAL) => Ok(String::new()),
        error => Err(text(error)),
    }
}

/// Inheriting the orphans of one's descendants.
pub fn sub_reaper() -> Answer {
    rustix::process::child_subreaper().map(|_| String::new()).map_err(text)
}

/// How long whoever inherits orphans may take to reap one. Some inits look only every few seconds.
pub const REAPING: Duration = Duration::from_secs(3);
/// How often it is looked whether it has: that the remains of somebody else's child are gone is no event.
const LOOKING: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// Whether process 1, or whichever sub-reaper is the nearest, reaps what it inherits. Where it does not, the attempt itself
/// leaves its remains, once.
pub fn orphans_are_reaped() -> io::Result<bool> {
    let (told, tell) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    let (held, hold) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    // SAFETY: the child makes bare system calls on descriptors made before, and leaves.
    let parent = match unsafe { libc::fork() } {
        -1 => return Err(io::Error::last_os_error()),
        // SAFETY: as above.
        0 => match unsafe { libc::fork() } {
            0 => {
                drop(hold);
                // Until it is being watched.
                let _ = rustix::io::read(&held, &mut [0; 1]);
                leave(0)
            }
            orphan => {
                let _ = rustix::io::write(&tell, &orphan.to_ne_bytes());
                leave(0)
            }
        },
        parent => parent,
    };
    drop(tell);
    let mut number = [0; 4];
    rustix::io::read(&told, &mut number)?;
    waitpid(rustix::process::Pid::from_raw(parent), WaitOptions::empty())?;
    let orphan = Some(i32::from_ne_bytes(number)).filter(|number| *number > 0);
    let orphan = orphan.and_then(rustix::process::Pid::from_raw).ok_or(io::ErrorKind::WouldBlock)?;
    let orphan = pidfd_open(orphan, PidfdFlags::empty())?;
    drop(hold);
    let until = Instant::now() + REAPING;
    while is_there(&orphan) {
        if Instant::now() >= until {
            return Ok(false);
        }
        poll(&mut [], Some(&LOOKING))?;
    }
    Ok(true)
}

/// Whether anything of a process is there, be it only its remains.
fn is_there(process: &OwnedFd) -> bool {
    let nothing = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: signal 0 is never sent: it only asks whether it could be.
    unsafe { libc::syscall(libc::SYS_pidfd_send_signal, process.as_raw_fd(), 0, nothing, 0) == 0 }
}

/// The same in words.
pub fn orphans() -> Answer {
    match orphans_are_reaped() {
        Ok(true) => Ok(String::new()),
        Ok(false) => Err(format!("not within {} s", REAPING.as_secs())),
        Err(error) => Err(text(error)),
    }
}

/// A PTY, and how many more the machine has.
pub fn ptys() -> Answer {
    pty::open(Size::default()).map_err(|error| error.to_string())?;
    let number = |name| {
        let text = fs::read_to_string(format!("/proc/sys/kernel/pty/{name}")).ok()?;
        text.trim().parse::<u64>().ok()
    };
    match (number("max"), number("nr")) {
        (Some(max), Some(used)) => Ok(format!("{} of {max} left", max.saturating_sub(used))),
        _ => Ok(String::new()),
    }
}

/// Giving back the front of a file in that directory while its end is being written.
pub fn hole_punching(dir: &Path) -> Answer {
    const LEN: usize = 256 * 1024;
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let mut file: File = rustix::fs::open(dir, flags, Mode::RUSR | Mode::WUSR).map_err(text)?.into();
    file.write_all(&[1; LEN]).map_err(text)?;
    file.sync_all().map_err(text)?;
    let before = file.metadata().map_err(text)?.blocks();
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(&file, punch, 0, LEN as u64 / 2).map_err(text)?;
    let after = file.metadata().map_err(text)?.blocks();
    if after < before { Ok(String::new()) } else { Err("no space is given back".to_owned()) }
}

/// Sockets in that directory.
pub fn sockets(dir: &Path) -> Answer {
    let dir = rustix::fs::open(dir, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let dir = dir.map_err(text)?;
    // By its descriptor: an address is shorter than many a path.
    let name = format!("/proc/self/fd/{}/.socket-{}", dir.as_raw_fd(), std::process::id());
    let made = UnixListener::bind(&name);
    let _ = fs::remove_file(&name);
    match made {
        Ok(_) => Ok(String::new()),
        // Says nothing of the file system.
        Err(error) if error.kind() == io::ErrorKind::StorageFull => {
            Ok("not tried: there is no room".to_owned())
        }
        Err(error) => Err(text(error)),
    }
}

/// How many descriptors a process may have: now, and if it asks for more.
#[must_use]
pub fn open_files() -> (Option<u64>, Option<u64>) {
    let limit = getrlimit(Resource::Nofile);
    (limit.current, limit.maximum)
}

fn text(error: impl Into<io::Error>) -> String {
    let error: io::Error = error.into();
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_holder_cannot_do_without_is_found_here() {
        for (name, answer) in [("pidfd", pidfd()), ("sub-reaper", sub_reaper()), ("PTY", ptys())] {
            assert!(answer.is_ok(), "{name}: {answer:?}");
        }
    }

    #[test]
    fn trying_leaves_no_child_behind() {
        let _ = own_mounts(OwnNet::Loopback, OwnUser::IfNeeded);
        let dir = tempfile::tempdir().unwrap();
        let _ = layers(&dir.path().join("missing/state"), OwnUser::IfNeeded);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        let _ = orphans_are_reaped();
        let own = format!("/proc/self/task/{}/children", rustix::thread::gettid().as_raw_nonzero());
        assert_eq!(fs::read_to_string(own).unwrap_or_default(), "");
    }
}
