//! The handle in the example agent against a client on the official TypeScript SDK with terminals of its own.
//!
//! The client records every message, and all must be what the official schema says; without unknown keys where the handle
//! wrote them.

use crate::examples::{example, project};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use wharf_testing::acp_schema::{Author, Direction, Transcript};
use wharf_testing::{GUARD, peers};

/// One prompt: what the client was shown, and every message in order with whom it went to.
struct Scene {
    updates: Vec<Value>,
    messages: Vec<(Direction, Value)>,
}

fn play(project: &Path, limit: &str) -> Scene {
    let record = project.join("record.jsonl");
    #[expect(clippy::disallowed_methods, reason = "as a person would run it")]
    let mut command = Command::new("timeout");
    command.arg(GUARD.as_secs().to_string()).arg("node").arg(peers().join("client-2-terminals.mjs"));
    command.arg("--cwd").arg(project).arg("--record").arg(&record).args(["--scenario", "build", "--"]);
    let output = command.arg(example("agent")).arg(limit).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // The client's exit code tells of everything that is against the protocol.
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let scene: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(scene["errors"], json!([]), "{scene}");
    let updates = scene["updates"].as_array().unwrap().iter().map(|update| update["update"].clone());
    let recorded = std::fs::read_to_string(record).unwrap();
    let messages = recorded.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let to = if line["to"] == "agent" { Direction::ToAgent } else { Direction::ToClient };
        (to, line["message"].take())
    });
    Scene { updates: updates.collect(), messages: messages.collect() }
}

impl Scene {
    /// All that the agent has asked of the client's terminals, by name.
    fn asked(&self) -> Vec<&str> {
        let methods = self.messages.iter().filter_map(|(_, message)| message["method"].as_str());
        methods.filter_map(|method| method.strip_prefix("terminal/")).collect()
    }

    /// What was last said of the tool call, and what of it was said at any time.
    fn call(&self) -> (&Value, Vec<&str>) {
        let mut calls = self.updates.iter().filter(|update| update["toolCallId"] == "build");
        let states = calls.clone().filter_map(|update| update["status"].as_str()).collect();
        (calls.next_back().unwrap(), states)
    }

    fn verdict(&self) -> &str {
        self.updates.last().unwrap()["content"]["text"].as_str().unwrap()
    }

    fn assert_valid(&self) {
        let mut transcript = Transcript::new();
        for (to, message) in &self.messages {
            // Its answers are the SDK's, which names a capability that the schema does not know.
            let is_ours = *to == Direction::ToClient && message["method"].is_string();
            let author = if is_ours { Author::Wharf } else { Author::Peer };
            let problems = transcript.value(*to, message, author);
            assert!(problems.is_empty(), "{problems:?}: {message}");
        }
        let (client, agent) = (Direction::ToClient, Direction::ToAgent);
        assert_eq!((transcript.unanswered(client), transcript.unanswered(agent)), (vec![], vec![]));
    }

    /// The client's own terminal was shown while it ran, and the client may forget it.
    fn assert_embedded_and_released(&self) {
        let created = self.messages.iter().find_map(|(_, message)| message["result"]["terminalId"].as_str());
        let first = self.updates.iter().find(|update| update["toolCallId"] == "build").unwrap();
        assert_eq!(first["sessionUpdate"], "tool_call");
        let item = json!({"type":"terminal","terminalId":created.unwrap()});
        let shown = self.updates.iter().any(|update| update["content"] == json!([item]));
        assert!(shown, "{:?}", self.updates);
        assert_eq!(self.asked().last(), Some(&"release"));
    }
}

#[test]
fn a_build_that_succeeds_in_the_terminal_of_a_typescript_client() {
    let project = project("echo compiling; echo linking >&2");
    let scene = play(project.path(), "60");
    scene.assert_valid();
    scene.assert_embedded_and_released();
    let (last, states) = scene.call();
    assert_eq!(states, ["in_progress", "completed"], "{last}");
    assert!(last["rawOutput"].to_string().contains("compiling"), "{last}");
    assert_eq!(scene.verdict(), "It builds.");
    assert!(!scene.asked().contains(&"kill"));
}

#[test]
fn a_build_that_fails_in_the_terminal_of_a_typescript_client() {
    let project = project("echo broken; exit 2");
    let scene = play(project.path(), "60");
    scene.assert_valid();
    scene.assert_embedded_and_released();
    let (last, states) = scene.call();
    assert_eq!(states, ["in_progress", "failed"], "{last}");
    assert!(last["rawOutput"].to_string().contains("broken"), "{last}");
    assert_eq!(scene.verdict(), "The build failed: exit code 2.");
}

#[test]
fn a_build_that_takes_too_long_in_the_terminal_of_a_typescript_client() {
    let project = project("echo begun; exec sleep 1000");
    let scene = play(project.path(), "1");
    scene.assert_valid();
    scene.assert_embedded_and_released();
    let (last, states) = scene.call();
    assert_eq!(states, ["in_progress", "failed"], "{last}");
    // The protocol's recipe: what was printed is read after the end and before it is forgotten.
    assert!(last["rawOutput"].to_string().contains("begun"), "{last}");
    let asked = scene.asked();
    let kill = asked.iter().position(|method| *method == "kill").unwrap();
    assert!(asked[kill..].contains(&"output"), "{asked:?}");
    assert_eq!(scene.verdict(), "The build took longer than 1s and was ended.");
}
