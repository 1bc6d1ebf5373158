//! The ground on which attempts are made: a directory with a root, a home, secrets and everything else that an attempt
//! may aim at, a program that plays the host, and another terminal.
//!
//! It is not in the temporary directory: a sandbox has one of its own, and a victim that is merely out of sight would
//! prove nothing about all the others.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use super::cast::{Surroundings, User, is_root};
use super::{POLICY, Profile};
use crate::harness::{Done, finish, json};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// In wharf's own environment, in files and in the memory of processes; never to be seen inside.
const SECRET: &str = "secret-of-the-host-7f3a";

/// Not whichever comes first on the path: a version manager's would be in a home that the user cannot enter.
pub(crate) const PYTHON: &str = "/usr/bin/python3";

const SCRIPTS: [(&str, &str); 11] = [
    ("attempt.py", include_str!("attempts/attempt.py")),
    ("channel.py", include_str!("attempts/channel.py")),
    ("driver.py", include_str!("attempts/driver.py")),
    ("file.py", include_str!("attempts/file.py")),
    ("host.py", include_str!("attempts/host.py")),
    ("kernel.py", include_str!("attempts/kernel.py")),
    ("metadata.py", include_str!("attempts/metadata.py")),
    ("mount.py", include_str!("attempts/mount.py")),
    ("process.py", include_str!("attempts/process.py")),
    ("repository.py", include_str!("attempts/repository.py")),
    ("secret.py", include_str!("attempts/secret.py")),
];

pub(crate) struct Ground {
    user: User,
    surroundings: Surroundings,
    base: TempDir,
}

/// Everything that attempts may aim at, while it is there.
pub(crate) struct Victims<'a> {
    ground: &'a Ground,
    host: Child,
    said: BufReader<ChildStdout>,
    pub(crate) facts: Value,
}

impl Ground {
    pub(crate) fn new(user: User, surroundings: Surroundings) -> Self {
        let base = tempfile::Builder::new().prefix("g").tempdir_in(place(user)).unwrap();
        let ground = Self { user, surroundings, base };
        ground.allow(ground.base(), 0o755);
        for dir in ["bin", "home", "outside", "root", "runtime", "config"] {
            std::fs::create_dir(ground.path(dir)).unwrap();
        }
        // Copies, because the user may not be able to enter the directory in which they were built.
        let built = Path::new(env!("CARGO_BIN_EXE_wharf"));
        copy(built, &ground.path("bin/wharf"));
        let shim = built.with_file_name("wharf-shim");
        if shim.is_file() {
            copy(&shim, &ground.path("bin/wharf-shim"));
        }
        ground.write("policy.toml", POLICY);
        for dir in ["", "home", "outside", "root", "runtime", "config", "policy.toml"] {
            user.own(&ground.path(dir));
        }
        ground.allow(&ground.path("runtime"), 0o700);
        ground
    }

    pub(crate) fn base(&self) -> &Path {
        self.base.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.base().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn allow(&self, path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    /// A program as the user, in the root, with the environment in which wharf is.
    pub(crate) fn command(
        &self,
        surroundings: Surroundings,
        program: impl AsRef<std::ffi::OsStr>,
    ) -> Command {
        self.equip(self.user.command(surroundings, program))
    }

    /// The same for a program as whoever it is.
    pub(crate) fn equip(&self, mut command: Command) -> Command {
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_RUNTIME_DIR", self.path("runtime"))
            .env("WHARF_STATE_DIR", self.path("state"))
            .env("CLOUD_SECRET_ACCESS_KEY", SECRET)
            .current_dir(self.path("root"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// wharf with these words.
    pub(crate) fn wharf<S: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.command(self.surroundings, self.path("bin/wharf"));
        match self.surroundings {
            Surroundings::Landlock(version) | Surroundings::OnlyLandlock(version) => {
                command.env("WHARF_FAILPOINTS", format!("landlock={version}"));
            }
            Surroundings::NoLayers => {
                command.env("WHARF_FAILPOINTS", "layers=0");
            }
            Surroundings::Usual | Surroundings::NoNamespaces | Surroundings::Container => {}
        }
        command.args(args);
        command
    }

    /// `wharf run` in this profile.
    pub(crate) fn run(&self, profile: Profile, args: &[&str]) -> Command {
        let policy = self.path("policy.toml");
        let flags = profile.flags(policy.to_str().unwrap());
        self.wharf(
            ["run"].map(str::to_owned).into_iter().chain(flags).chain(args.iter().map(|&a| a.to_owned())),
        )
    }

    /// The attempts, in the root: that can be read in every profile.
    pub(crate) fn put_scripts(&self) {
        std::fs::create_dir(self.path("root/scripts")).unwrap();
        for (name, text) in SCRIPTS {
            self.write(&format!("root/scripts/{name}"), text);
        }
    }

    /// Makes the victims of these attempts.
    pub(crate) fn victims(&self, names: &[&str]) -> Victims<'_> {
        self.put_scripts();
        self.make_privileged_files();
        let mut host = self.command(Surroundings::Usual, PYTHON);
        host.args(["-B", "-E", "-s"]).arg(self.path("root/scripts/host.py")).arg(self.base()).args(names);
        let mut host = host.stdin(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let mut said = BufReader::new(host.stdout.take().unwrap());
        let mut facts = line(&mut said);
        facts["terminal"] = self.other_terminal();
        self.write("root/facts.json", &facts.to_string());
        self.allow(&self.path("root/facts.json"), 0o644);
        Victims { ground: self, host, said, facts }
    }

    /// A command on a terminal, that nobody in the sandbox has to do with.
    fn other_terminal(&self) -> Value {
        let line = "echo $$ $(tty) end; exec sleep 300";
        let done = finish(self.wharf(["run", "--detach", "--pty", "-c", line]).spawn().unwrap());
        assert_eq!(done.code, Some(0), "{done:?}");
        let id = done.out.trim().to_owned();
        let mut logs = self.wharf(["logs", "-f", &id]).spawn().unwrap();
        let said = crate::harness::read_until(logs.stdout.as_mut().unwrap(), " end");
        logs.kill().unwrap();
        logs.wait().unwrap();
        let words: Vec<&str> = said.split_whitespace().collect();
        serde_json::json!({"id": id, "pid": words[0].parse::<u32>().unwrap(), "tty": words[1]})
    }

    /// Programs that give more than their user has. Only root can make them.
    fn make_privileged_files(&self) {
        let (setuid, capable) = (self.path("setuid-id"), self.path("capable-cat"));
        copy(Path::new("/usr/bin/id"), &setuid);
        copy(Path::new("/bin/cat"), &capable);
        if is_root() {
            self.allow(&setuid, 0o4755);
            // Version 2, effective; CAP_KILL permitted.
            let words = [0x0200_0001_u32, 1 << 5, 0, 0, 0];
            let value: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let flags = rustix::fs::XattrFlags::empty();
            rustix::fs::setxattr(&capable, c"security.capability", &value, flags).unwrap();
        }
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let names = std::fs::read_dir(self.path("state/terminals")).into_iter().flatten().flatten();
        for id in names.map(|entry| entry.file_name()) {
            let mut kill = self.wharf(["kill", "--grace", "0"]);
            let _ = kill.arg(id).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }
}

impl Victims<'_> {
    /// Makes the attempts in a profile; what the driver said.
    pub(crate) fn attempt(&self, profile: Profile, names: &[&str]) -> Done {
        let driver = self.ground.path("root/scripts/driver.py");
        let facts = self.ground.path("root/facts.json");
        let words = ["--", PYTHON, "-B", "-E", "-s", driver.to_str().unwrap(), facts.to_str().unwrap()];
        let words: Vec<&str> = words.into_iter().chain(names.iter().copied()).collect();
        let agent = self.facts["agent"].as_str().unwrap();
        let bus = format!("unix:path={}/bus", self.ground.path("runtime").display());
        let mut run = self.ground.run(profile, &words);
        finish(run.env("SSH_AUTH_SOCK", agent).env("DBUS_SESSION_BUS_ADDRESS", bus).spawn().unwrap())
    }

    /// The names of attempts whose victim is not as it was, as the host sees it.
    pub(crate) fn hurt(mut self) -> Vec<(String, String)> {
        drop(self.host.stdin.take());
        let end = line(&mut self.said);
        assert!(self.host.wait().unwrap().success());
        let ended = end["ended"].as_object().unwrap().iter();
        let mut hurt: Vec<(String, String)> = ended.map(|(n, what)| (n.clone(), what.to_string())).collect();
        if end["temp"].as_array().is_some_and(|left| !left.is_empty()) {
            hurt.push(("create-in-host-temp".to_owned(), end["temp"].to_string()));
        }
        for entry in std::fs::read_dir(self.ground.path("outside")).unwrap().flatten() {
            if let Some(what) = entry.file_type().unwrap().is_dir().then(|| change(&entry.path())).flatten() {
                hurt.push((entry.file_name().to_string_lossy().into_owned(), what));
            }
        }
        hurt
    }
}

impl Drop for Victims<'_> {
    /// The host ends with its input, and takes its processes with it.
    fn drop(&mut self) {
        drop(self.host.stdin.take());
        let _ = self.said.read_to_string(&mut String::new());
        let _ = self.host.wait();
    }
}

/// What is different about a victim's directory.
fn change(dir: &Path) -> Option<String> {
    let names =
        std::fs::read_dir(dir).unwrap().flatten().map(|e| e.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    if names != ["empty", "file"] {
        return Some(format!("there are {names:?}"));
    }
    let text = std::fs::read_to_string(dir.join("file")).unwrap();
    let mode = std::fs::metadata(dir.join("file")).unwrap().permissions().mode() & 0o7777;
    let same = text == "untouched\n" && mode == 0o600;
    (!same).then(|| format!("mode {mode:o}, {text:?}"))
}

fn line(from: &mut BufReader<ChildStdout>) -> Value {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    json(&line)
}

fn copy(from: &Path, to: &Path) {
    std::fs::copy(from, to).unwrap();
}

/// Cargo's own directory for tests, if the user can get there.
fn place(user: User) -> PathBuf {
    let own = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&own).unwrap();
    let open = |dir: &Path| std::fs::metadata(dir).is_ok_and(|meta| meta.permissions().mode() & 1 == 1);
    let reachable = user.other().is_none() || own.ancestors().all(open);
    if reachable { own } else { PathBuf::from("/var/tmp") }
}
