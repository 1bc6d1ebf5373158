//! A directory with everything a confined command needs, and the holder that runs it.

use rustix::fs::{Mode, OFlags};
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use wharf_shim::confine::{
    Absent, Access, Answer, Confine, Hidden, Identity, Metadata, Mount, Namespaces, Offered, OwnNet, OwnUser,
    Provision, Rule, Sockets,
};
use wharf_shim::journal::read::Events;
use wharf_shim::journal::record::Status;
use wharf_shim::launch::{self, Afterwards, Descent, Descriptors, LaunchError, Sent, shim};
use wharf_shim::plan::{Backlog, DEFAULT_GRACE, Io, Limits, OnOwnerExit, PipeInput, Plan, Resources, Size};
use wharf_shim::wire::message::Reply;

/// An ordinary user that owns nothing.
const NOBODY: u32 = 65534;

/// As whom a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Root,
    /// As in most containers: root without the right to make namespaces directly.
    ContainedRoot,
    Ordinary,
}

/// Everybody that this process can be.
pub(crate) fn everybody() -> Vec<Who> {
    if rustix::process::geteuid().is_root() {
        vec![Who::Root, Who::ContainedRoot, Who::Ordinary]
    } else {
        vec![Who::Ordinary]
    }
}

/// A directory with a root to work in, owned by whoever the command runs as.
pub(crate) struct Place {
    pub(crate) who: Who,
    dir: TempDir,
}

/// A holder at work.
pub(crate) struct Held {
    child: Child,
    state: TempDir,
    pub(crate) pid: u32,
    /// Closing it ends the terminal.
    pub(crate) owner: UnixStream,
}

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: Status,
    pub(crate) output: String,
    pub(crate) sandbox: String,
}

impl Outcome {
    /// Fails unless the command exited with zero.
    #[track_caller]
    pub(crate) fn succeeded(self) -> String {
        assert_eq!(self.status, Status::Code(0), "{}", self.output);
        self.output
    }
}

impl Place {
    pub(crate) fn new(who: Who) -> Self {
        Self::at(who, tempfile::tempdir().unwrap())
    }

    /// Below `/tmp`, whatever this machine's temporary directory is.
    pub(crate) fn below_tmp(who: Who) -> Self {
        Self::at(who, tempfile::Builder::new().tempdir_in("/tmp").unwrap())
    }

    fn at(who: Who, dir: TempDir) -> Self {
        let place = Self { who, dir };
        fs::set_permissions(place.dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
        place.own(place.dir.path());
        place.make_dir("root");
        // Where an ordinary user can execute it.
        fs::copy(env!("CARGO_BIN_EXE_wharf-shim"), place.path("shim")).unwrap();
        place
    }

    /// A path in it, without links on the way.
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(below)
    }

    pub(crate) fn make_dir(&self, below: &str) -> PathBuf {
        let path = self.path(below);
        fs::create_dir_all(&path).unwrap();
        self.own(&path);
        path
    }

    pub(crate) fn make_file(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        fs::write(&path, text).unwrap();
        self.own(&path);
        path
    }

    fn own(&self, path: &Path) {
        if self.who == Who::Ordinary && rustix::process::geteuid().is_root() {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    /// Reads everything, writes the root, uses the usual devices.
    pub(crate) fn confine(&self) -> Confine {
        let device = |path: &str| rule(Path::new(path), Access::Device);
        let root = self.path("root");
        let write = Rule { is: Some(identity(&root)), ..rule(&root, Access::Write) };
        let devices = ["/dev/null", "/dev/zero", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"];
        let mut rules = vec![rule(Path::new("/"), Access::Read), write];
        rules.extend(devices.map(device));
        Confine {
            name: "test".to_owned(),
            namespaces: Namespaces::Mount { net: OwnNet::No, user: OwnUser::IfNeeded },
            landlock: 6,
            mounts: Vec::new(),
            rules,
            sockets: Sockets::UnixAndNetwork,
            metadata: Metadata::Usual,
        }
    }

    /// Without namespaces.
    pub(crate) fn plain_confine(&self) -> Confine {
        Confine { namespaces: Namespaces::None, ..self.confine() }
    }

    /// A shell line in the root.
    pub(crate) fn line(&self, line: &str, confine: Option<Confine>) -> Plan {
        self.plan(Path::new("/bin/sh"), &["sh", "-c", line], confine)
    }

    pub(crate) fn plan(&self, program: &Path, argv: &[&str], confine: Option<Confine>) -> Plan {
        Plan {
            id: "confined".to_owned(),
            program: c_path(program),
            argv: argv.iter().map(|argument| CString::new(*argument).unwrap()).collect(),
            env: vec![c"PATH=/usr/bin:/bin".into(), c"LC_ALL=C".into()],
            io: Io::Pipe(PipeInput::Empty),
            limits: Limits { time: Some(Duration::from_secs(30)), ..Limits::default() },
            grace: DEFAULT_GRACE,
            on_owner_exit: OnOwnerExit::Kill,
            backlog: Backlog::Drop,
            confine,
            resources: Resources::default(),
        }
    }

    pub(crate) fn on_pty(plan: Plan) -> Plan {
        Plan { io: Io::Pty(Size::default()), ..plan }
    }

    /// Runs a shell line in the root, to its end.
    #[track_caller]
    pub(crate) fn run(&self, line: &str, confine: Confine) -> Outcome {
        self.launch(&self.line(line, Some(confine))).unwrap().end()
    }

    pub(crate) fn launch(&self, plan: &Plan) -> Result<Held, LaunchError> {
        self.launch_in(plan, &self.path("root"))
    }

    pub(crate) fn launch_in(&self, plan: &Plan, cwd: &Path) -> Result<Held, LaunchError> {
        self.launch_with(plan, cwd, Provision::Own)
    }

    /// What a sandbox is that one command has made and handed over before it ended.
    #[track_caller]
    pub(crate) fn standing(&self, confine: &Confine) -> Provision {
        let (offered, provision) = Offered::ask().unwrap();
        let plan = self.line("true", Some(confine.clone()));
        self.launch_with(&plan, &self.path("root"), provision).unwrap().end().succeeded();
        match offered.look() {
            Answer::Stands(sandbox) => Provision::Join(Arc::new(sandbox)),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn launch_with(
        &self,
        plan: &Plan,
        cwd: &Path,
        provision: Provision,
    ) -> Result<Held, LaunchError> {
        let (mut command, idle) = shim(&self.path("shim"), None, Descent::Child).unwrap();
        match self.who {
            Who::Ordinary if rustix::process::geteuid().is_root() => {
                command.uid(NOBODY).gid(NOBODY);
            }
            // SAFETY: one bare system call.
            Who::ContainedRoot => unsafe {
                command.pre_exec(give_up_administration);
            },
            Who::Root | Who::Ordinary => {}
        }
        let mut child = command.spawn().unwrap();
        drop(command);
        let state = tempfile::tempdir().unwrap();
        let descriptors = Descriptors { provision, ..descriptors(&state, cwd) };
        match idle.send(plan, &descriptors, Afterwards::Leave).and_then(answered) {
            Ok((pid, owner)) => Ok(Held { child, state, pid, owner }),
            Err(error) => {
                child.wait().unwrap();
                Err(error)
            }
        }
    }
}

/// Waits for what a holder says of its plan: the command's process, and then the connection is its owner's.
pub(crate) fn answered(sent: Sent) -> Result<(u32, UnixStream), LaunchError> {
    let mut owner = sent.owner;
    owner.set_nonblocking(false).unwrap();
    owner.set_read_timeout(Some(launch::PATIENCE)).unwrap();
    owner.write_all(&sent.rest).unwrap();
    let mut length = [0; 4];
    owner.read_exact(&mut length).unwrap();
    let mut body = vec![0; u32::from_le_bytes(length) as usize];
    owner.read_exact(&mut body).unwrap();
    let (_, reply) = Reply::decode(&body).unwrap();
    launch::started(reply).map(|pid| (pid, owner))
}

/// What a journal says, once its holder is gone.
#[track_caller]
pub(crate) fn outcome(state: &TempDir) -> Outcome {
    let events = Events::read(&File::open(state.path().join("events")).unwrap()).unwrap();
    let output = String::from_utf8_lossy(&fs::read(state.path().join("out")).unwrap()).into_owned();
    let (_, end) = events.end().unwrap();
    let (_, start) = events.start().unwrap();
    Outcome { status: end.status, output, sandbox: start.sandbox.clone() }
}

/// For a holder whose journal is in `state`.
pub(crate) fn descriptors(state: &TempDir, cwd: &Path) -> Descriptors {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Descriptors {
        cwd: rustix::fs::open(cwd, flags, Mode::empty()).unwrap(),
        events: read_write(&state.path().join("events")),
        out: read_write(&state.path().join("out")),
        listener: UnixListener::bind(state.path().join("control")).unwrap(),
        provision: Provision::Own,
    }
}

/// A program that is executed afterwards cannot get it back.
fn give_up_administration() -> std::io::Result<()> {
    const CAP_SYS_ADMIN: i32 = 21;
    // SAFETY: takes no pointer.
    match unsafe { libc::prctl(libc::PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

fn read_write(path: &Path) -> File {
    File::options().read(true).write(true).create_new(true).open(path).unwrap()
}

impl Held {
    /// Waits until the holder is gone, and with it everything of the command.
    #[track_caller]
    pub(crate) fn end(mut self) -> Outcome {
        self.child.wait().unwrap();
        outcome(&self.state)
    }

    /// Ends the terminal by leaving it, and waits until nothing of it is left.
    pub(crate) fn close(mut self) {
        drop(self.owner);
        self.child.wait().unwrap();
    }

    /// As if the machine had run out of memory.
    pub(crate) fn kill_holder(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

pub(crate) fn rule(path: &Path, access: Access) -> Rule {
    Rule { path: c_path(path), access, is: None, absent: Absent::Skip }
}

pub(crate) fn hide(path: &Path) -> Mount {
    Mount::Hide { path: c_path(path), is: Hidden::Exactly(identity(path)) }
}

pub(crate) fn read_only(path: &Path) -> Mount {
    Mount::ReadOnly { path: c_path(path), is: identity(path) }
}

pub(crate) fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

pub(crate) fn identity(path: &Path) -> Identity {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Identity::of(rustix::fs::open(path, flags, Mode::empty()).unwrap().as_fd()).unwrap()
}
