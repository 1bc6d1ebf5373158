//! `wharf acp` with both its ends spoken by the test, byte for byte: the client's over its pipes, and the agent's through
//! a program that only copies what it reads to the test and what the test says to its own output.
//!
//! Nothing here reads unless it is told to: a peer that does not listen is one that is not asked to.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::harness::{Done, GUARD, Wharf, finish};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use wharf_testing::leak;

/// One end of the conversation.
pub(crate) struct Peer {
    pub(crate) to: Speaker,
    pub(crate) from: Listener,
}

/// What is written to. Nothing once it is closed.
pub(crate) struct Speaker(Option<OwnedFd>);

/// What is read from, and what was read and not asked for yet.
pub(crate) struct Listener {
    from: OwnedFd,
    read: Vec<u8>,
}

impl Speaker {
    fn new(to: OwnedFd) -> Self {
        do_not_block(&to);
        Self(Some(to))
    }

    /// Waits for room, but not for ever.
    pub(crate) fn say(&mut self, bytes: impl AsRef<[u8]>) {
        let (mut rest, until) = (bytes.as_ref(), Instant::now() + GUARD);
        let to = self.0.as_ref().unwrap();
        while !rest.is_empty() {
            match rustix::io::write(to, rest) {
                Ok(written) => rest = &rest[written..],
                Err(Errno::AGAIN) => await_event(to, PollFlags::OUT, until),
                Err(error) => panic!("{error} with {} bytes to say", rest.len()),
            }
        }
    }

    pub(crate) fn say_json(&mut self, message: &Value) {
        self.say(format!("{message}\n"));
    }

    /// Says lines until there is no room for more, and stays so.
    pub(crate) fn fill(&mut self) {
        let line = format!("{{\"method\":\"_{}\"}}\n", "x".repeat(4000));
        let to = self.0.as_ref().unwrap();
        loop {
            let mut fds = [PollFd::new(to, PollFlags::OUT)];
            let a_while = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };
            if poll(&mut fds, Some(&a_while)).unwrap() == 0 {
                return;
            }
            let _ = rustix::io::write(to, line.as_bytes());
        }
    }

    pub(crate) fn close(&mut self) {
        self.0 = None;
    }
}

impl Listener {
    fn new(from: OwnedFd) -> Self {
        do_not_block(&from);
        Self { from, read: Vec::new() }
    }

    /// The next line with its newline; what there was before the end, if that comes first.
    pub(crate) fn hear(&mut self) -> Vec<u8> {
        let mut seen = 0;
        loop {
            // `contains` is quick, also where tests are not optimised.
            if self.read[seen..].contains(&b'\n')
                && let Some(at) = self.read[seen..].iter().position(|byte| *byte == b'\n')
            {
                let rest = self.read.split_off(seen + at + 1);
                return std::mem::replace(&mut self.read, rest);
            }
            seen = self.read.len();
            if self.more() == 0 {
                return std::mem::take(&mut self.read);
            }
        }
    }

    pub(crate) fn hear_json(&mut self) -> Value {
        let line = self.hear();
        serde_json::from_slice(&line).unwrap_or_else(|error| panic!("{error}: {}", text(&line)))
    }

    /// Everything until the other side closes.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        while self.more() > 0 {}
        std::mem::take(&mut self.read)
    }

    /// How much there is that was not read.
    pub(crate) fn waiting(&self) -> u64 {
        rustix::io::ioctl_fionread(&self.from).unwrap()
    }

    fn more(&mut self) -> usize {
        let until = Instant::now() + GUARD;
        let mut bytes = [0; 1 << 16];
        loop {
            // Before it is read: a pipe that nobody has opened yet would seem to be at its end.
            await_event(&self.from, PollFlags::IN, until);
            match rustix::io::read(&self.from, &mut bytes) {
                Ok(n) => {
                    self.read.extend_from_slice(&bytes[..n]);
                    return n;
                }
                Err(Errno::AGAIN) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}

fn do_not_block(fd: &OwnedFd) {
    rustix::fs::fcntl_setfl(fd, rustix::fs::fcntl_getfl(fd).unwrap() | OFlags::NONBLOCK).unwrap();
}

fn await_event(fd: impl AsFd, event: PollFlags, until: Instant) {
    let left = until.saturating_duration_since(Instant::now());
    let left = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: 0 };
    let mut fds = [PollFd::from_borrowed_fd(fd.as_fd(), event)];
    assert!(poll(&mut fds, Some(&left)).unwrap() > 0, "the other side does nothing");
}

/// A running `wharf acp` with both its ends.
pub(crate) struct Rig {
    pub(crate) wharf: Wharf,
    pub(crate) child: Child,
    agent_id: Pid,
    pub(crate) client: Peer,
    pub(crate) agent: Peer,
}

impl Rig {
    /// `before` is a line of shell that the agent runs first.
    pub(crate) fn new(before: &str) -> Self {
        let wharf = Wharf::new();
        let (said, heard) = (fifo(&wharf, "said"), fifo(&wharf, "heard"));
        let agent = format!(
            "exec 4>'{}'; echo $$ >&4; {before}\ncat <'{}' & exec cat >&4",
            heard.display(),
            said.display()
        );
        let mut command = wharf.command(["acp", "--", "/bin/bash", "-c", &agent]);
        command.env(leak::MARK, wharf.state());
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut from = Listener::new(rustix::fs::open(&heard, flags, Mode::empty()).unwrap());
        let mut child = command.spawn().unwrap();
        let agent_id = String::from_utf8(from.hear()).unwrap().trim().parse().unwrap();
        let agent = Peer { to: Speaker::new(open_when_read(&said)), from };
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let client = Peer { to: Speaker::new(to.into()), from: Listener::new(from.into()) };
        Self { wharf, child, agent_id: Pid::from_raw(agent_id).unwrap(), client, agent }
    }

    /// After `initialize` of a client without terminals that can do this, with the session `s` open.
    pub(crate) fn begun(before: &str, capabilities: &Value) -> Self {
        let mut rig = Self::new(before);
        rig.begin(capabilities);
        rig
    }

    pub(crate) fn begin(&mut self, capabilities: &Value) {
        let params = json!({"protocolVersion":1,"clientCapabilities":capabilities});
        self.client.to.say_json(&json!({"jsonrpc":"2.0","id":0,"method":"initialize","params":params}));
        self.agent.from.hear();
        self.agent.to.say_json(&json!({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}));
        self.client.from.hear();
        let params = json!({"cwd":self.wharf.scratch(),"mcpServers":[]});
        self.client.to.say_json(&json!({"jsonrpc":"2.0","id":"new","method":"session/new","params":params}));
        self.agent.from.hear();
        self.agent.to.say_json(&json!({"jsonrpc":"2.0","id":"new","result":{"sessionId":"s"}}));
        self.client.from.hear();
    }

    /// A request of the agent, and its answer, which must be the next that it hears and must not take long.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let asked = Instant::now();
        let request = json!({"jsonrpc":"2.0","id":"ask","method":method,"params":params});
        self.agent.to.say_json(&request);
        let answer = self.agent.from.hear_json();
        assert_eq!(answer["id"], "ask", "{answer}");
        assert!(asked.elapsed() < PROMPT, "{method} took {:?}", asked.elapsed());
        answer
    }

    /// A request about a terminal.
    pub(crate) fn about(&mut self, method: &str, terminal: &str) -> Value {
        self.ask(&format!("terminal/{method}"), &json!({"sessionId":"s","terminalId":terminal}))
    }

    /// A shell line; its id.
    pub(crate) fn start(&mut self, line: &str) -> String {
        let answer = self.ask("terminal/create", &json!({"sessionId":"s","command":line}));
        answer["result"]["terminalId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Terminals still work from end to end.
    pub(crate) fn works(&mut self) {
        let terminal = self.start("echo works");
        assert_eq!(self.about("wait_for_exit", &terminal)["result"]["exitCode"], 0);
        assert_eq!(self.about("output", &terminal)["result"]["output"], "works\n");
        assert!(self.about("release", &terminal)["result"].is_object());
    }

    /// What a client says passes to the agent, and what the agent says to the client, byte for byte.
    pub(crate) fn passes(&mut self, line: &[u8]) {
        self.client.to.say(line);
        assert_eq!(text(&self.agent.from.hear()), text(line));
        self.agent.to.say(line);
        assert_eq!(text(&self.client.from.hear()), text(line));
    }

    /// The most memory that the program has had, in bytes.
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    }

    pub(crate) fn kill_agent(&self) {
        rustix::process::kill_process(self.agent_id, Signal::KILL).unwrap();
    }

    /// The client closes its end, and the agent leaves when it hears of it.
    pub(crate) fn finish(mut self) {
        self.client.to.close();
        let (wharf, done) = self.ended();
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
        nothing_is_left(&wharf);
        assert_eq!(wharf.ids(), [""; 0], "terminals are left");
    }

    /// How it ended, when it has.
    pub(crate) fn ended(self) -> (Wharf, Done) {
        (self.wharf, finish(self.child))
    }
}

/// Whatever else goes on, an answer takes no longer: hundreds of times what it takes on an idle machine.
pub(crate) const PROMPT: Duration = Duration::from_secs(5);

/// Opens a pipe to write to when somebody has opened it to read.
fn open_when_read(path: &Path) -> OwnedFd {
    let (flags, until) = (OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Instant::now() + GUARD);
    loop {
        match rustix::fs::open(path, flags, Mode::empty()) {
            Err(Errno::NXIO) => assert!(Instant::now() < until, "nobody reads {}", path.display()),
            opened => return opened.unwrap(),
        }
        std::thread::yield_now();
    }
}

fn fifo(wharf: &Wharf, name: &str) -> PathBuf {
    let path = wharf.scratch().join(name);
    rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    path
}

/// Readable, and different for different bytes.
pub(crate) fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

/// Returns when nothing runs any more that the test has started, in whatever way it got away.
pub(crate) fn nothing_is_left(wharf: &Wharf) {
    let deadline = Instant::now() + GUARD;
    while let Some(process) = marked(&wharf.state()).first() {
        assert!(Instant::now() < deadline, "still there: {process}");
        std::thread::yield_now();
    }
}

/// Processes with the mark in their environment, but those that have only to be buried.
pub(crate) fn marked(state: &Path) -> Vec<String> {
    let mark = format!("{}={}", leak::MARK, state.display());
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let carries = |path: &Path| {
        let environment = std::fs::read(path.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    let named = processes.filter(|path| path.join("environ").exists() && carries(path));
    named.map(|path| format!("{} {:?}", path.display(), std::fs::read_to_string(path.join("comm")))).collect()
}
