//! `wharf acp` between programs on the official SDKs: agents on five of them, clients on two.
//!
//! Every agent plays every scenario of `peers/` and says what it saw; one table says what that must be. Meanwhile both
//! ends record every message, and what wharf wrote is held against the official schema.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::harness::{Wharf, finish, json};
use crate::shown::Shown;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use wharf_testing::acp_schema::{Author, Direction, Transcript};
use wharf_testing::peers;

/// A command line of a peer.
type Line = Vec<String>;

/// Every scenario, as the client saw it.
type Scenes = BTreeMap<String, Value>;

fn path(name: &str) -> String {
    peers().join(name).to_string_lossy().into_owned()
}

fn node(script: &str) -> Line {
    vec!["node".into(), path(script)]
}

fn python(script: &str) -> Line {
    vec![path("venv/bin/python"), path(script)]
}

/// A place for one conversation, and the program between the two.
struct Stage {
    wharf: Wharf,
}

impl Stage {
    fn new() -> Self {
        Self { wharf: Wharf::new() }
    }

    fn record(&self, side: &str) -> PathBuf {
        self.wharf.scratch().join(format!("{side}.jsonl"))
    }

    /// A conversation of that client and that agent, with what is said to `wharf acp` in between; or without it.
    fn play(&self, client: &Line, acp: Option<&[&str]>, agent: &Line, scenarios: &[&str]) -> Scenes {
        let recorded = |side| self.record(side).to_string_lossy().into_owned();
        let mut words = client.clone();
        let cwd = self.wharf.scratch().join("project");
        words.extend([
            "--cwd".into(),
            cwd.to_string_lossy().into_owned(),
            "--record".into(),
            recorded("client"),
        ]);
        words.push("--scenario".into());
        words.extend(scenarios.iter().map(|&name| name.to_owned()));
        words.push("--".into());
        if let Some(options) = acp {
            words.extend([self.wharf.program().to_string_lossy().into_owned(), "acp".into()]);
            words.extend(options.iter().map(|&word| word.to_owned()));
            words.push("--".into());
        }
        words.extend(agent.iter().cloned().chain(["--record".into(), recorded("agent")]));
        self.run(&words)
    }

    #[expect(clippy::disallowed_methods, reason = "node is where the user has it")]
    fn run(&self, words: &[String]) -> Scenes {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env_clear().envs(self.wharf.environment());
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let done = finish(command.spawn().unwrap());
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{}", done.out);
        let scenes = done.out.lines().map(json);
        scenes.map(|scene| (scene["scenario"].as_str().unwrap().to_owned(), scene)).collect()
    }
}

fn expected() -> Value {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/expected.json");
    json(&std::fs::read_to_string(table).unwrap())
}

/// Everything was seen as the table says, but for the scenarios named.
fn assert_seen(scenes: &Scenes, but: &[&str]) {
    let expected = expected();
    let expected = expected.as_object().unwrap();
    let played: Vec<&String> = scenes.keys().collect();
    let mut known: Vec<&String> = expected.keys().collect();
    known.sort();
    assert_eq!(played, known);
    let wrong = scenes.iter().filter(|(name, scene)| {
        let is_as_expected = scene["report"]["seen"] == expected[*name];
        is_as_expected == but.contains(&name.as_str()) || scene["report"]["capabilities"]["terminal"] != true
    });
    let wrong: Vec<String> =
        wrong.map(|(name, scene)| format!("{name}: {}\n  not {}", scene["report"], expected[name])).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every message at both ends is what the official schema says; without unknown keys where wharf wrote it.
fn assert_valid(stage: &Stage) {
    for side in ["agent", "client"] {
        let (mut transcript, mut asked) = (Transcript::new(), HashSet::new());
        let (mut found, mut written) = (Vec::new(), 0);
        for line in std::fs::read_to_string(stage.record(side)).unwrap().lines().map(json) {
            let message = &line["message"];
            let to = if line["to"] == "agent" { Direction::ToAgent } else { Direction::ToClient };
            let author = author(message, to, &mut asked);
            written += usize::from(author == Author::Wharf);
            let problems = transcript.value(to, message, author);
            let begin: String = message.to_string().chars().take(400).collect();
            found.extend(problems.iter().map(|problem| format!("{problem}: {begin}")));
        }
        assert!(found.is_empty(), "{side}: {}", found.join("\n"));
        assert!(written >= 5, "{side}: {written} messages cannot be all that was shown or answered");
        let (client, agent) = (Direction::ToClient, Direction::ToAgent);
        assert_eq!((transcript.unanswered(client), transcript.unanswered(agent)), (vec![], vec![]));
    }
}

/// Wharf answers for terminals and shows them; the rest it passes on.
fn author(message: &Value, to: Direction, asked: &mut HashSet<String>) -> Author {
    let method = message["method"].as_str();
    if to == Direction::ToClient && method.is_some_and(|method| method.starts_with("terminal/")) {
        asked.insert(message["id"].to_string());
    }
    let is_answer =
        to == Direction::ToAgent && method.is_none() && asked.contains(&message["id"].to_string());
    let update = message["params"]["update"]["sessionUpdate"].as_str();
    let is_shown = update.is_some_and(|update| update.starts_with("tool_call"));
    if is_answer || is_shown { Author::Wharf } else { Author::Peer }
}

/// All scenarios through `wharf acp`, for a client that has no terminals.
fn assert_hosted(client: &Line, agent: &Line) {
    let stage = Stage::new();
    let scenes = stage.play(client, Some(&[]), agent, &["all"]);
    assert_seen(&scenes, &[]);
    assert_valid(&stage);
    assert_eq!(stage.wharf.ids(), [""; 0], "terminals are left");
}

#[test]
fn an_agent_on_the_current_typescript_sdk_has_terminals() {
    assert_hosted(&node("client-2.mjs"), &node("agent-2.mjs"));
}

#[test]
fn an_agent_on_the_last_typescript_sdk_1_has_terminals() {
    assert_hosted(&node("client-2.mjs"), &node("agent-1.mjs"));
}

#[test]
fn an_agent_on_the_last_typescript_sdk_0_has_terminals() {
    assert_hosted(&node("client-2.mjs"), &node("agent-0.mjs"));
}

#[test]
fn an_agent_on_the_first_typescript_sdk_has_terminals() {
    assert_hosted(&node("client-2.mjs"), &node("agent-zed.mjs"));
}

#[test]
fn an_agent_on_the_python_sdk_has_terminals() {
    assert_hosted(&node("client-2.mjs"), &python("agent.py"));
}

#[test]
fn a_client_on_the_python_sdk_is_served_as_well() {
    assert_hosted(&python("client.py"), &python("agent.py"));
}

#[test]
fn a_client_on_the_python_sdk_understands_what_is_shown_of_a_typescript_agent() {
    assert_hosted(&python("client.py"), &node("agent-2.mjs"));
}

#[test]
fn the_table_holds_without_wharf_but_for_what_child_processes_cannot() {
    let stage = Stage::new();
    let scenes = stage.play(&node("client-2-terminals.mjs"), None, &node("agent-2.mjs"), &["all"]);
    let (order, escaped) = ("interleaved", "kill_reaches_the_tree");
    // Two pipes have no order between them, so by chance it is right.
    let by_chance = scenes[order]["report"]["seen"] == expected()[order];
    let but: &[&str] = if by_chance { &[escaped] } else { &[order, escaped] };
    assert_seen(&scenes, but);
    assert_valid(&stage);
}

#[test]
fn a_client_that_has_terminals_keeps_its_own_when_only_missing_ones_are_hosted() {
    let stage = Stage::new();
    let options: &[&str] = &["--terminals", "missing"];
    let names = ["kill_reaches_the_tree", "embed"];
    let scenes = stage.play(&node("client-2-terminals.mjs"), Some(options), &node("agent-2.mjs"), &names);
    let seen = &scenes["kill_reaches_the_tree"]["report"]["seen"];
    assert_eq!(seen["escaped"], false, "wharf's would not have escaped: {seen}");
    let shown = Shown::of(&scenes["embed"], "embed");
    assert_eq!(shown.references().len(), 1, "{shown:?}");
    assert!(shown.output.is_empty() && shown.exits.is_empty(), "{shown:?}");
}

#[test]
fn what_a_tool_call_embeds_is_shown_as_text_that_grows() {
    for client in [node("client-2.mjs"), python("client.py")] {
        let names = ["embed", "embed_by_update", "embed_in_permission"];
        let scenes = Stage::new().play(&client, Some(&[]), &node("agent-2.mjs"), &names);
        for (name, id, end) in [
            ("embed", "embed", "exit code 0"),
            ("embed_by_update", "by-update", "exit code 4"),
            ("embed_in_permission", "permission", "exit code 0"),
        ] {
            let shown = Shown::of(&scenes[name], id);
            assert_eq!(shown.references(), [""; 0], "{name}: a reference that this client cannot follow");
            let text = shown.text();
            assert!(text.contains("first\nsecond\n") && text.contains(end), "{name}: {text:?}");
            let grew = shown.texts.iter().any(|text| text.contains("first\n") && !text.contains("second"));
            assert!(grew || name != "embed", "{name}: {:?}", shown.texts);
        }
        assert_eq!(Shown::of(&scenes["embed"], "embed").status, "completed");
        let beside = Shown::of(&scenes["embed_by_update"], "by-update");
        assert_eq!((beside.content.len(), beside.status.as_str()), (2, "failed"));
        assert_eq!(beside.content[0]["content"]["text"], "beside");
        let asked = &scenes["embed_in_permission"]["permissions"][0]["toolCall"];
        assert!(asked.to_string().contains("first"), "{asked}");
        assert!(!asked.to_string().contains("\"terminalId\""), "{asked}");
    }
}

#[test]
fn what_a_tool_call_embeds_is_shown_by_the_convention_of_the_client_that_announces_it() {
    for client in [node("client-2.mjs"), python("client.py")] {
        let client = client.into_iter().chain(["--meta".to_owned()]).collect();
        let names = ["embed", "embed_by_update", "embed_in_permission"];
        let scenes = Stage::new().play(&client, Some(&[]), &node("agent-2.mjs"), &names);
        for (name, id, code) in [
            ("embed", "embed", 0),
            ("embed_by_update", "by-update", 4),
            ("embed_in_permission", "permission", 0),
        ] {
            let shown = Shown::of(&scenes[name], id);
            assert_eq!(shown.output, "first\nsecond\n", "{name}");
            assert_eq!(shown.infos.len(), 1, "{name}: {shown:?}");
            assert_eq!(shown.references(), [shown.infos[0].as_str()], "{name}");
            let ends =
                shown.exits.iter().map(|exit| (&exit["exit_code"], &exit["signal"], &exit["terminal_id"]));
            let end = (&code.into(), &Value::Null, &shown.infos[0].as_str().into());
            assert_eq!(ends.collect::<Vec<_>>(), [end], "{name}");
        }
    }
}
