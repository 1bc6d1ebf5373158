//! A state directory of its own for each test, and the program started in an environment that says nothing else.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use tempfile::TempDir;
use wharf_testing::leak;

/// Nothing here takes this long; a test that does hangs. It is ended by the runner a little later, which does not know where.
pub(crate) const GUARD: Duration = Duration::from_secs(45);

pub(crate) struct Wharf {
    program: PathBuf,
    dir: TempDir,
}

/// What came of one call.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Wharf {
    pub(crate) fn new() -> Self {
        Self::of(Path::new(env!("CARGO_BIN_EXE_wharf")))
    }

    pub(crate) fn of(program: &Path) -> Self {
        let wharf = Self { program: program.to_owned(), dir: tempfile::tempdir().unwrap() };
        // By this variable the tests find what is left, so agents' commands have to inherit it.
        wharf.set_policy(&format!("version = 1\n[env]\npass = [\"{}\"]\n", leak::MARK));
        wharf
    }

    /// The person's policy file.
    pub(crate) fn policy(&self) -> PathBuf {
        self.dir.path().join(".config/wharf/policy.toml")
    }

    pub(crate) fn set_policy(&self, text: &str) {
        std::fs::create_dir_all(self.policy().parent().unwrap()).unwrap();
        std::fs::write(self.policy(), text).unwrap();
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// A directory for what the commands need.
    pub(crate) fn scratch(&self) -> PathBuf {
        let dir = self.dir.path().join("scratch");
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir).unwrap();
        dir
    }

    /// A named pipe on which a command waits until the test lets it go on.
    pub(crate) fn gate(&self) -> PathBuf {
        let path = self.scratch().join("gate");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        path
    }

    #[expect(clippy::disallowed_methods, reason = "tests start the program")]
    pub(crate) fn command<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(args)
            .env_clear()
            .envs(self.environment())
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn environment(&self) -> [(&'static str, PathBuf); 3] {
        [
            ("PATH", "/usr/bin:/bin".into()),
            ("HOME", self.dir.path().into()),
            ("WHARF_STATE_DIR", self.state()),
        ]
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Runs it to its end.
    pub(crate) fn call<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Done {
        finish(self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// As [`Wharf::call`], behind a limit that a shell sets.
    #[expect(clippy::disallowed_methods, reason = "tests start the program")]
    pub(crate) fn limited<'a>(&self, limit: &str, args: impl IntoIterator<Item = &'a str>) -> Done {
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(format!("{limit}; exec \"$0\" \"$@\"")).arg(&self.program).args(args);
        shell.env_clear().envs(self.environment()).current_dir(self.dir.path()).stdin(Stdio::null());
        finish(shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// As [`Wharf::call`], and it must succeed.
    pub(crate) fn ok<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> String {
        let done = self.call(args);
        assert_eq!(done.code, Some(0), "{done:?}");
        done.out
    }

    /// Starts it and leaves it running, with its output to be read.
    pub(crate) fn spawn<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// A detached command; its id.
    pub(crate) fn detach<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> String {
        let id = self.ok(["run", "--detach"].into_iter().chain(args));
        id.trim().to_owned()
    }

    /// Returns when the terminal has printed `text`.
    pub(crate) fn wait_for_output(&self, id: &str, text: &str) {
        let mut logs = self.spawn(["logs", "-f", id]);
        read_until(logs.stdout.as_mut().unwrap(), text);
        logs.kill().unwrap();
        logs.wait().unwrap();
    }

    pub(crate) fn ids(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.state().join("terminals")).into_iter().flatten().flatten();
        names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

impl Drop for Wharf {
    fn drop(&mut self) {
        for id in self.ids() {
            let _ = self.command(["kill", "--grace", "0", &id]).stdout(Stdio::null()).status();
        }
        // Clients that start servers with an environment of their own have them keep their terminals elsewhere.
        leak::end_all(self.dir.path());
    }
}

/// Waits for a program's end, but not for ever.
pub(crate) fn finish(child: Child) -> Done {
    let pid = rustix::process::Pid::from_child(&child);
    let (sender, receiver) = mpsc::channel();
    let waiter = std::thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(GUARD) else {
        // Not waited for yet, so the number is still its own.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        panic!("the program did not end");
    };
    let _ = waiter.join();
    Done::from(output.unwrap())
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Reads until `text` has come; everything read so far.
pub(crate) fn read_until(from: &mut impl Read, text: &str) -> String {
    let mut all = Vec::new();
    let mut byte = [0];
    while !String::from_utf8_lossy(&all).contains(text) {
        match from.read(&mut byte).unwrap() {
            0 => panic!("the output ended before {text:?}: {:?}", String::from_utf8_lossy(&all)),
            _ => all.push(byte[0]),
        }
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// Sends a signal to a program that the test has started and not waited for.
pub(crate) fn signal(child: &Child, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).unwrap();
}

/// Lets the command go on that waits at the gate.
pub(crate) fn open_gate(gate: &Path) {
    std::fs::write(gate, "go\n").unwrap();
}

/// Reads one record.
pub(crate) fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text:?}"))
}
