//! A client of `wharf mcp`, spoken by the test line by line: both eras of the protocol, nothing hidden.
//!
//! A thread reads, so that a server which says nothing fails the test instead of hanging it. Whatever is not the answer
//! that is waited for is kept: notifications, questions, and answers to other calls.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::harness::{Done, GUARD, Wharf, finish};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use wharf_testing::leak;

/// The newest protocol with `initialize`.
pub(crate) const CLASSIC: &str = "2025-11-25";
/// The protocol without.
pub(crate) const MODERN: &str = "2026-07-28";

/// A running `wharf mcp` and the client that it talks to.
pub(crate) struct Client {
    pub(crate) child: Child,
    to: Option<ChildStdin>,
    from: Receiver<Value>,
    /// What came and was not waited for.
    kept: VecDeque<Value>,
    next: u64,
    era: Era,
    name: String,
    capabilities: Value,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Era {
    Classic,
    Modern,
}

/// What a tool answered.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) structured: Value,
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

impl Answer {
    pub(crate) fn of(result: &Value) -> Self {
        let blocks = result["content"].as_array().unwrap_or_else(|| panic!("no content: {result}"));
        let text = blocks.iter().map(|block| block["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n");
        let is_error = result["isError"].as_bool().unwrap_or(false);
        Self { structured: result["structuredContent"].clone(), text, is_error }
    }

    /// A value of the structured half.
    pub(crate) fn get(&self, name: &str) -> &Value {
        &self.structured[name]
    }

    pub(crate) fn content(&self) -> &str {
        self.structured["content"].as_str().unwrap_or_else(|| panic!("no content: {self:?}"))
    }
}

impl Client {
    /// In the scratch directory of the place, which is the project then. Nothing was said yet. Answers come as data too.
    pub(crate) fn start(wharf: &Wharf, args: &[&str]) -> Self {
        Self::start_in(wharf, &wharf.scratch(), args)
    }

    pub(crate) fn start_in(wharf: &Wharf, project: &Path, args: &[&str]) -> Self {
        Self::start_as_it_is(wharf, project, &[&["--structured"], args].concat())
    }

    /// As the settings of an agent's client say it.
    pub(crate) fn start_as_it_is(wharf: &Wharf, project: &Path, args: &[&str]) -> Self {
        Self::start_where(wharf, project, args, "")
    }

    /// On a machine that has no more than these failpoints say.
    pub(crate) fn start_where(wharf: &Wharf, project: &Path, args: &[&str], failpoints: &str) -> Self {
        let mut command = wharf.command(["mcp"].into_iter().chain(args.iter().copied()));
        command.current_dir(project).env(leak::MARK, wharf.state()).env("WHARF_FAILPOINTS", failpoints);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let (to, out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (tell, from) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines() {
                // Nothing but the protocol on standard output.
                let line = line.unwrap();
                let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
                if tell.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            to: Some(to),
            from,
            kept: VecDeque::new(),
            next: 0,
            era: Era::Classic,
            name: "test".to_owned(),
            capabilities: json!({}),
        }
    }

    /// Before the first word.
    pub(crate) fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// Before the first word: what this client can do.
    pub(crate) fn able(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// The classic era's beginning; the server's answer.
    pub(crate) fn initialize(&mut self) -> Value {
        self.initialize_as(CLASSIC)
    }

    pub(crate) fn initialize_as(&mut self, version: &str) -> Value {
        let info = json!({"name": self.name, "version": "1"});
        let params =
            json!({"protocolVersion": version, "capabilities": self.capabilities, "clientInfo": info});
        let answer = self.request("initialize", params);
        self.notify("notifications/initialized", json!({}));
        answer["result"].clone()
    }

    /// From now on every request says for itself who asks: there is no beginning.
    pub(crate) fn modern(mut self) -> Self {
        self.era = Era::Modern;
        self
    }

    /// Calls a tool; its answer must be a result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        let id = self.send_call(tool, arguments);
        self.answer(id)
    }

    /// A line of shell in the default terminal.
    pub(crate) fn run(&mut self, command: &str) -> Answer {
        self.call("terminal_execute", json!({"command": command}))
    }

    /// Calls a tool and does not wait.
    pub(crate) fn send_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.send("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// The same with a token for progress.
    pub(crate) fn send_call_with_token(&mut self, tool: &str, arguments: Value, token: &str) -> u64 {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": token}});
        self.send("tools/call", params)
    }

    /// The answer to a call that was sent.
    pub(crate) fn answer(&mut self, id: u64) -> Answer {
        let answer = self.await_answer(id);
        assert!(answer["result"].is_object(), "not a result: {answer}");
        Answer::of(&answer["result"])
    }

    /// Any request, and its answer whole.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.await_answer(id)
    }

    pub(crate) fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.next += 1;
        if self.era == Era::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": self.name, "version": "1"});
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        self.say(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        self.next
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The client does not want the answer any more.
    pub(crate) fn cancel(&mut self, id: u64) {
        self.notify("notifications/cancelled", json!({"requestId": id, "reason": "test"}));
    }

    pub(crate) fn say(&mut self, message: &Value) {
        let to = self.to.as_mut().unwrap();
        to.write_all(format!("{message}\n").as_bytes()).unwrap();
        to.flush().unwrap();
    }

    fn await_answer(&mut self, id: u64) -> Value {
        self.await_message(|message| message["id"] == id && message.get("method").is_none())
    }

    /// The first message, kept or new, of which this is true.
    pub(crate) fn await_message(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.kept.iter().position(&wanted) {
            return self.kept.remove(at).unwrap();
        }
        loop {
            let message = self.from.recv_timeout(GUARD).unwrap_or_else(|_| {
                panic!("the server does not say what is waited for; kept: {:?}", self.kept)
            });
            if wanted(&message) {
                return message;
            }
            self.kept.push_back(message);
        }
    }

    /// What came and was not waited for.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &Value> {
        self.kept.iter()
    }

    /// Closes its input and waits for its end.
    pub(crate) fn leave(mut self) -> Done {
        self.to = None;
        finish(self.child)
    }

    /// Ends it without asking.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
