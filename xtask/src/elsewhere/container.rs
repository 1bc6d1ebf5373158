//! `cargo xtask container`: tests in a container, with the filter and the capabilities that Docker gives by default.
//!
//! The engine is Debian's, unpacked and not installed, and lives in namespaces of its own: its network is not this
//! machine's, and everything in there goes with its first process, which goes with us. The container has this machine's
//! programs, read-only; the image is nothing but the places where they go.

use super::suite::{PATH, Suite};
use super::{PLACE, Scratch, skip, split};
use crate::program::{lines, program, run as step, start};
use crate::{Failure, debian, root};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What the engine consists of on Debian 12, with the libraries that few others need.
const PACKAGES: [&str; 5] = ["docker.io", "containerd", "runc", "libdevmapper1.02.1", "libseccomp2"];

/// The engine is gone after so many seconds, whatever becomes of us.
const LIMIT: &str = "1200";

/// What the engine says once it can be asked.
const READY: &str = "API listen on";

/// Of the image, and of the control group below which the engine makes its own.
const NAME: &str = "wharf-xtask";

/// As whom the tests run: by name, and by number.
const USERS: [(&str, &str); 2] = [("root", "0:0"), ("an ordinary user", "65534:65534")];

/// What a sandbox without namespaces must hold, and how it is refused where it needs them.
const USUAL: [&str; 2] = [
    "-E",
    "test(/^sandbox::(cast|escape::no_attempt_succeeds_in_(workspace|locked)$|week::on_this_machine::)/)",
];

pub(crate) fn run(args: &[&str]) -> Result<(), Failure> {
    let (own, filter) = split(args);
    let filter = if filter.is_empty() { &USUAL } else { filter };
    if let [other, ..] = own {
        return Err(Failure::new(format!("`container` does not take `{other}`; tests follow `--`")));
    }
    if let Some(why) = debian::absent() {
        return skip("container", why);
    }
    let scratch = Scratch::new()?;
    let suite = Suite::build(&scratch)?;
    let engine = Engine::start(&scratch)?;
    let image = lay_image(&scratch)
        .map_err(|error| Failure::new(format!("the container's file system cannot be made: {error}")))?;
    step(engine.import(&image), "the engine does not take the image")?;
    let mut failed = Vec::new();
    for (who, id) in USERS {
        eprintln!("\n── in a container, as {who}");
        if let Err(failure) = step(engine.test(&suite, &scratch, id, filter), "see above") {
            eprintln!("{failure}");
            failed.push(who);
        }
    }
    match failed.as_slice() {
        [] => Ok(()),
        who => Err(Failure::new(format!("the tests failed in a container, as {}", who.join(" and as ")))),
    }
}

/// A directory as the container's root: what is on this machine is put over it.
fn lay_image(scratch: &Scratch) -> std::io::Result<PathBuf> {
    let image = scratch.path().join("image");
    for dir in ["dev", "etc", "proc", "root", "run", "sys", "usr", "var/tmp", "tmp"] {
        fs::create_dir_all(image.join(dir))?;
    }
    for merged in ["bin", "lib", "lib64", "sbin"] {
        symlink(format!("usr/{merged}"), image.join(merged))?;
    }
    let workplace = scratch.path().join("workplace");
    fs::create_dir(&workplace)?;
    for open in [image.join("tmp"), image.join("var/tmp"), workplace] {
        fs::set_permissions(open, fs::Permissions::from_mode(0o1777))?;
    }
    Ok(image)
}

/// The engine, as long as it runs.
struct Engine {
    files: PathBuf,
    socket: String,
    process: Child,
}

impl Engine {
    /// Returns when it can be asked.
    fn start(scratch: &Scratch) -> Result<Self, Failure> {
        let files = root().join(PLACE).join("docker");
        if !files.is_dir() {
            debian::update("the engine cannot be found without them")?;
            debian::unpack(&PACKAGES, &files)?;
        }
        let socket = format!("unix://{}", scratch.path().join("docker.sock").display());
        let mut process = start(engine(&files, &socket, scratch.path()))?;
        let says = process.stderr.take();
        let engine = Self { files, socket, process };
        let mut says = lines(says.ok_or_else(|| Failure::new("the engine cannot be heard"))?);
        let mut heard = Vec::new();
        while let Some(line) = says.next() {
            heard.push(line);
            if heard.last().is_some_and(|line| line.contains(READY)) {
                // It would stand still when nobody listens.
                std::thread::spawn(move || says.for_each(drop));
                return Ok(engine);
            }
        }
        Err(Failure::new(format!("the engine did not start:\n{}", heard.join("\n"))))
    }

    fn ask(&self, words: &[&str]) -> Command {
        let mut command = program(&self.files.join("usr/bin/docker").display().to_string());
        command.arg("--host").arg(&self.socket).args(words);
        command
    }

    fn import(&self, image: &Path) -> Command {
        let client = self.ask(&[]);
        let mut command = program("sh");
        command.args(["-ec", "dir=$1; shift; tar -C \"$dir\" -c . | \"$@\"", "sh"]).arg(image);
        command.arg(client.get_program()).args(client.get_args()).args(["import", "-", NAME]);
        command.stdout(Stdio::null());
        command
    }

    /// The tests, with no capability and no call that Docker does not give to everybody.
    fn test(&self, suite: &Suite, scratch: &Scratch, user: &str, filter: &[&str]) -> Command {
        let root = root().display();
        let volumes = [
            "/usr:/usr:ro".to_owned(),
            "/etc:/etc:ro".to_owned(),
            format!("{root}:{root}:ro"),
            format!("{}:{}", scratch.path().join("workplace").display(), Suite::workplace().display()),
            format!("{}:/runner:ro", suite.runner.display()),
        ];
        let mut command = self.ask(&["run", "--rm", "--network", "none", "--user", user]);
        command.arg("--workdir").arg(super::root()).args(["--env", "HOME=/tmp", "--env"]);
        command.arg(format!("PATH={PATH}")).args(volumes.iter().flat_map(|volume| ["--volume", volume]));
        command.arg(NAME).arg("/runner").args(suite.args(filter));
        command
    }
}

impl Drop for Engine {
    /// Its first process ends with its input and takes everything with it but the control groups, which the kernel
    /// keeps until they are removed.
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
        let groups = Path::new("/sys/fs/cgroup");
        for place in directories(groups).chain([groups.to_owned()]) {
            // Of a run that was killed, too: a group for each container.
            directories(&place.join(NAME)).chain([place.join(NAME)]).for_each(|group| {
                let _ = fs::remove_dir(group);
            });
        }
    }
}

fn directories(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir())
}

/// What becomes the first process of the engine's namespaces: it starts the engine, and ends when we close its input or
/// are gone. What is left in `/run` is left in there. Only the engine has our pipe for what it says.
const FIRST: &str = "mount -t tmpfs tmpfs /run; \"$@\" & exec 2> /dev/null; read -r end";

/// The engine below its first process.
fn engine(files: &Path, socket: &str, place: &Path) -> Command {
    let mut command = program("unshare");
    command.args(["--mount", "--net", "--pid", "--fork", "--mount-proc"]);
    command.args(["sh", "-ec", FIRST, "sh"]);
    command.args(["timeout", "--signal=KILL", LIMIT]).arg(files.join("usr/sbin/dockerd"));
    // The network of a container is none, so nothing is to be done for one.
    command.args(["--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false"]);
    command.args(["--storage-driver=vfs", "--cgroup-parent", NAME, "--host", socket]);
    command.arg("--data-root").arg(place.join("data")).arg("--exec-root").arg("/run/docker");
    command.arg("--pidfile").arg("/run/docker.pid");
    let below = |dir: &str| files.join(dir).display().to_string();
    command.env("PATH", format!("{}:{}:{PATH}", below("usr/bin"), below("usr/sbin")));
    let libraries = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"].map(below).join(":");
    command.env("LD_LIBRARY_PATH", libraries);
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    command
}
