//! Real agents, as their users install them, in a conversation through `wharf mcp`: what a model sees there is what
//! counts, and each agent makes something else of the same answer.
//!
//! The model is a script on this machine (`peers/agents/model.mjs`). It calls the tools and keeps every result as the agent
//! showed it. The settings are those that `wharf mcp --print-config` prints.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::harness::{Wharf, finish, json};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use wharf_testing::leak::{Account, Handles, MARK};

/// An agent in a project, with a home of its own.
struct Agent {
    name: &'static str,
    /// Where the scripts and the agents are.
    dir: PathBuf,
    wharf: Wharf,
}

/// What a model was shown in one run of an agent.
struct Seen {
    results: Vec<String>,
    /// The names of the tools that it was shown before it said anything.
    tools: Vec<String>,
}

impl Agent {
    /// Codex knows this model, and does with it what it does for its users: it hides tools behind a search.
    const KNOWN_MODEL: &str = "gpt-5.5";

    fn is_searching(&self) -> bool {
        self.name == "codex"
    }

    /// Everything of it is below.
    fn place(&self) -> PathBuf {
        self.wharf.scratch().parent().unwrap().to_owned()
    }

    /// A run of the agent from its start to its end, in which the model makes these calls.
    #[expect(clippy::disallowed_methods, reason = "node is where the user has it")]
    fn run(&self, calls: &[(&str, Value)]) -> Seen {
        let mut script: Vec<Value> =
            calls.iter().map(|(tool, args)| json!({"tool": tool, "args": args})).collect();
        let mut command = Command::new("node");
        command.arg(self.dir.join("talk.mjs")).arg(self.name);
        command.arg("--wharf").arg(self.wharf.program());
        command.arg("--home").arg(self.place()).arg("--cwd").arg(self.wharf.scratch());
        if self.is_searching() {
            script.insert(0, json!({"tool": "tool_search", "args": {"query": "terminal"}}));
            command.args(["--model", Self::KNOWN_MODEL]);
        }
        command.env_clear().envs(self.wharf.environment()).env(MARK, self.place());
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(Value::from(script).to_string().as_bytes()).unwrap();
        let done = finish(child);
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{}", done.out);
        self.read(&json(&done.out), calls.len())
    }

    fn read(&self, record: &Value, calls: usize) -> Seen {
        let list = |key: &str| record[key].as_array().unwrap().clone();
        let text = |value: Value| value.as_str().unwrap().to_owned();
        let mut results: Vec<String> = list("results").into_iter().map(text).collect();
        results.drain(..usize::from(self.is_searching()));
        let said = format!("{results:#?}\n{}\n{}", record["out"], record["err"]);
        assert_eq!((record["code"].as_i64(), results.len()), (Some(0), calls), "{said}");
        assert_eq!(record["failed"], json!([]));
        Seen { results, tools: list("tools").into_iter().map(|mut tool| text(tool["name"].take())).collect() }
    }

    /// A model that has to look for a tool first takes another. What ends or opens a terminal may be looked for.
    fn assert_tools_are_shown(&self, shown: &[String]) {
        let needed: &[&str] = match self.is_searching() {
            true => &["tool_search"],
            false => &["terminal_execute", "terminal_read", "terminal_wait"],
        };
        for tool in needed {
            assert!(shown.iter().any(|name| name.ends_with(tool)), "{tool} is not shown: {shown:?}");
        }
    }
}

fn execute(command: &str) -> (&'static str, Value) {
    ("terminal_execute", json!({"command": command}))
}

fn close() -> (&'static str, Value) {
    ("terminal_close", json!({"terminal_id": "default"}))
}

/// The text as wharf writes it, once, and not as a string inside of JSON.
fn assert_plain(seen: &str, text: &str) {
    assert_eq!(seen.matches(text).count(), 1, "{text:?} is to be seen once: {seen}");
    assert!(!seen.contains(r#""content":"#) && !seen.contains(r"\n"), "that is JSON: {seen}");
}

fn assert_ended(seen: &str, code: i32) {
    assert!(seen.contains(&format!("exit code {code}")), "the exit code is to be seen: {seen}");
}

/// Commands, what they leave behind, a long output and keys.
fn shows_each_answer_once(agent: &Agent) {
    let seen = agent.run(&[
        // Nothing of an output is in its command, so that what is seen of it is counted right.
        execute(r"printf 'mar%s\n' ker; sh -c 'exit 3'"),
        execute("export KEEP=kept; cd /usr"),
        execute(r#"echo "now $KEEP in $PWD""#),
        execute("seq 1 20000"),
        execute("cat -v"),
        execute("Escape"),
        execute("C-c"),
        close(),
    ]);
    agent.assert_tools_are_shown(&seen.tools);
    let [ended, silent, kept, long, _, escape, interrupted, closed] = &seen.results[..] else {
        unreachable!()
    };
    assert_plain(ended, "marker");
    assert_ended(ended, 3);
    assert_ended(silent, 0);
    assert_plain(kept, "now kept in /usr");
    assert_long(long);
    assert!(escape.contains("^["), "{escape}");
    assert_ended(interrupted, 130);
    assert_plain(closed, "is closed");
}

/// Of an output that is too long for anybody, the end and how to read the rest arrive, and the agent has cut nothing more.
fn assert_long(seen: &str) {
    assert_ended(seen, 0);
    assert!(seen.contains("terminal_read {") && seen.contains("from_line"), "{seen}");
    assert!(seen.lines().any(|line| line == "1") && seen.lines().any(|line| line == "20000"), "{seen}");
    for cut in ["truncated", "persisted-output", "Output too large"] {
        assert!(!seen.contains(cut), "the agent has cut it: {seen}");
    }
}

/// A second run in the same project finds what the first has left in its shell, and what runs there.
fn finds_its_shell_again(agent: &Agent) {
    agent.run(&[execute("export KEEP=kept; cd /usr"), execute("sleep 1000 &")]);
    let seen = agent.run(&[execute(r#"echo "again $KEEP in $PWD"; jobs"#), close()]);
    assert!(seen.results[0].contains("again kept in /usr"), "{}", seen.results[0]);
    assert!(seen.results[0].contains("Running"), "{}", seen.results[0]);
}

/// With a place of its own; afterwards nothing is left in it.
async fn play(name: &'static str, scenario: fn(&Agent)) {
    let dir = match wharf_testing::agents() {
        Ok(dir) => dir,
        Err(reason) => return say(&format!("skipped: {reason}")),
    };
    let agent = Agent { name, dir, wharf: Wharf::new() };
    let account = Account::open(&agent.place());
    scenario(&agent);
    assert_eq!(agent.wharf.ids(), [""; 0], "terminals are left");
    // The usual place; the agent has handed on that it is another.
    assert!(!agent.place().join(".local/state/wharf").exists(), "terminals are not where they are to be");
    account.settle(Handles::Dropped).await;
}

#[expect(clippy::print_stderr, reason = "a test that did nothing says so")]
fn say(text: &str) {
    eprintln!("{text}");
}

macro_rules! agents {
    ($($name:ident: $program:literal),* $(,)?) => {
    $(
        mod $name {
            use super::{finds_its_shell_again, play, shows_each_answer_once};

            #[tokio::test]
            async fn shows_its_model_each_answer_once() {
                play($program, shows_each_answer_once).await;
            }

            #[tokio::test]
            async fn finds_its_shell_in_the_next_run() {
                play($program, finds_its_shell_again).await;
            }
        }
    )*
    };
}

agents! {
    claude_code: "claude-code",
    codex: "codex",
    gemini: "gemini",
    qwen: "qwen",
    opencode: "opencode",
}
