//! `wharf mcp` as an agent has it: JSON-RPC over standard streams.

use crate::Outcome;
use crate::place::{Place, program};
use crate::side::{Answer, Side};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// As much as one call gives.
const PAGE: u64 = 100_000;

struct Mcp {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    next: u64,
    opened: Vec<String>,
}

pub(crate) fn start(place: &Place) -> Outcome<Box<dyn Side>> {
    let mut wharf = program(place.path(), env!("CARGO_BIN_EXE_wharf"));
    // Who the shell is run by must not matter.
    wharf
        .args(["mcp", "--structured"])
        .env("SHELL", "/bin/bash")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    wharf.stderr(std::fs::File::create(place.path().join("log"))?);
    let mut child = wharf.spawn()?;
    let (to, from) = child.stdin.take().zip(child.stdout.take()).ok_or("wharf has no pipes")?;
    let mut mcp = Mcp { child, to: Some(to), from: BufReader::new(from), next: 0, opened: Vec::new() };
    let client = json!({ "name": "bench", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let id = mcp.send("initialize", &params)?;
    mcp.answers(&[id])?;
    mcp.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    Ok(Box::new(mcp))
}

impl Mcp {
    fn write(&mut self, message: &Value) -> Outcome {
        let to = self.to.as_mut().ok_or("wharf has no input")?;
        Ok(to.write_all(format!("{message}\n").as_bytes())?)
    }

    fn send(&mut self, method: &str, params: &Value) -> Outcome<u64> {
        self.next += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }))?;
        Ok(self.next)
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Outcome<u64> {
        self.send("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// The answers to these requests, in their order.
    fn answers(&mut self, ids: &[u64]) -> Outcome<Vec<Value>> {
        let mut results: HashMap<u64, Value> = HashMap::new();
        while results.len() < ids.len() {
            let mut line = String::new();
            if self.from.read_line(&mut line)? == 0 {
                return Err("wharf is gone".into());
            }
            let mut message: Value = serde_json::from_str(&line)?;
            let Some(id) = message["id"].as_u64().filter(|id| ids.contains(id)) else { continue };
            let result = message["result"].take();
            if result.is_null() || result["isError"] == true {
                return Err(format!("wharf answered {message} {result}").into());
            }
            results.insert(id, result);
        }
        Ok(ids.iter().filter_map(|id| results.remove(id)).collect())
    }

    /// The structured half of each.
    fn structured(&mut self, ids: &[u64]) -> Outcome<Vec<Value>> {
        Ok(self.answers(ids)?.into_iter().map(|mut result| result["structuredContent"].take()).collect())
    }
}

impl Side for Mcp {
    fn open(&mut self, names: &[String]) -> Outcome {
        for name in names {
            let id = self.call("terminal_open", &json!({ "terminal_id": name }))?;
            self.answers(&[id])?;
            self.opened.push(name.clone());
        }
        Ok(())
    }

    fn run(&mut self, names: &[String], command: &str) -> Outcome<Vec<Answer>> {
        let call = |name| json!({ "terminal_id": name, "command": command, "timeout": 60 });
        let ids = names
            .iter()
            .map(|name| self.call("terminal_execute", &call(name)))
            .collect::<Outcome<Vec<_>>>()?;
        let one = |value: Value| Answer {
            exit_code: value["exit_code"].as_i64(),
            output: value["content"].as_str().unwrap_or_default().to_owned(),
        };
        Ok(self.structured(&ids)?.into_iter().map(one).collect())
    }

    /// Page by page, as an agent would.
    fn rest(&mut self, name: &str) -> Outcome<String> {
        let (mut text, mut from) = (String::new(), 1);
        loop {
            let range =
                json!({ "terminal_id": name, "from_line": from, "to_line": from + 900, "max_bytes": PAGE });
            let id = self.call("terminal_read", &range)?;
            let page = self.structured(&[id])?.pop().ok_or("there is no answer")?;
            text.push_str(page["content"].as_str().unwrap_or_default());
            text.push('\n');
            let to = page["shown"]["to_line"].as_u64().ok_or("the answer does not say what it shows")?;
            if to >= page["total_lines"].as_u64().unwrap_or_default() {
                return Ok(text);
            }
            from = to + 1;
        }
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        for name in std::mem::take(&mut self.opened) {
            let closed = self.call("terminal_close", &json!({ "terminal_id": name }));
            let _ = closed.and_then(|id| self.answers(&[id]));
        }
        drop(self.to.take());
        let _ = self.child.wait();
    }
}
