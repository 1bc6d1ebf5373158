//! A host with its agent, and the line on which the agent is told whose turn it is.

use crate::floor::plain;
use crate::work::{Tally, Turn};
use crate::{Outcome, agent};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use wharf_testing::peers;

/// Ends with this value.
pub(crate) struct Side {
    host: Child,
    line: BufReader<UnixStream>,
}

impl Side {
    /// `wharf acp`, with a client at its other end that has nothing to do but begin. The other hosts have no sandbox, so
    /// only `open` is like for like.
    pub(crate) fn wharf(dir: &Path, sandbox: &str) -> Outcome<Self> {
        let project = dir.join(format!("project-{sandbox}"));
        std::fs::create_dir(&project)?;
        let mut host = plain(env!("CARGO_BIN_EXE_wharf"));
        host.args(["acp", "--sandbox", sandbox, "--"]);
        host.env("WHARF_STATE_DIR", dir.join(format!("state-{sandbox}")));
        host.stdin(Stdio::piped()).stdout(Stdio::piped());
        Self::start(host, dir, |host| begin(host, &project))
    }

    /// The client of the usual kind.
    pub(crate) fn peer(dir: &Path, options: &[&str]) -> Outcome<Self> {
        let mut host = plain("node");
        host.arg(peers().join("client-2-bench.mjs")).args(options).arg(dir).stdin(Stdio::null());
        Self::start(host, dir, |_| Ok(()))
    }

    fn start(mut host: Command, dir: &Path, begin: impl FnOnce(&mut Child) -> Outcome) -> Outcome<Self> {
        let socket = dir.join("line");
        let listener = UnixListener::bind(&socket)?;
        let mut host = host.arg(std::env::current_exe()?).arg(agent::WORD).arg(&socket).spawn()?;
        begin(&mut host)?;
        let (line, _) = listener.accept()?;
        std::fs::remove_file(&socket)?;
        Ok(Self { host, line: BufReader::new(line) })
    }

    pub(crate) fn take(&mut self, turn: Turn) -> Outcome<Tally> {
        self.line.get_mut().write_all(turn.to_line().as_bytes())?;
        let mut answer = String::new();
        if self.line.read_line(&mut answer)? == 0 {
            return Err("the agent is gone; it says above why".into());
        }
        Tally::from_line(&answer)
    }
}

/// What a client says first, each time after an answer.
fn begin(host: &mut Child, dir: &Path) -> Outcome {
    let (to, from) = host.stdin.as_mut().zip(host.stdout.as_mut()).ok_or("the host has no pipes")?;
    let mut from = BufReader::new(from);
    let cwd: PathBuf = dir.into();
    for (id, (method, params)) in [
        ("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} })),
        ("session/new", json!({ "cwd": cwd, "mcpServers": [] })),
    ]
    .into_iter()
    .enumerate()
    {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        to.write_all(format!("{request}\n").as_bytes())?;
        from.read_line(&mut String::new())?;
    }
    let prompt = json!({ "sessionId": agent::SESSION, "prompt": [{ "type": "text", "text": "go" }] });
    let request = json!({ "jsonrpc": "2.0", "id": "prompt", "method": "session/prompt", "params": prompt });
    Ok(to.write_all(format!("{request}\n").as_bytes())?)
}

impl Drop for Side {
    fn drop(&mut self) {
        // The agent ends its turn and leaves, and so does its host.
        let _ = self.line.get_mut().shutdown(std::net::Shutdown::Write);
        drop(self.host.stdin.take());
        let _ = self.host.wait();
    }
}
