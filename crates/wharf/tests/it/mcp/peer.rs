//! Real clients: the official SDKs in Python (both eras) and TypeScript, and the Inspector, which holds every schema
//! against what hosts are known to accept.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::harness::{Done, Wharf, finish, json};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use wharf_testing::peers;

const RULES: &str =
    "version = 1\n[[rule]]\ndecision = \"ask\"\ncommand = [\"touch\", \"…\"]\nreason = \"makes files\"\n";

fn path(name: &str) -> String {
    peers().join(name).to_string_lossy().into_owned()
}

/// A peer with `wharf mcp` at its end.
#[expect(clippy::disallowed_methods, reason = "node is where the user has it")]
fn run(wharf: &Wharf, before: &[&str], after: &[&str]) -> Done {
    let (program, project) = (wharf.program().to_string_lossy().into_owned(), wharf.scratch());
    let project = project.to_string_lossy().into_owned();
    let mut words: Vec<&str> = before.to_vec();
    words.extend([program.as_str(), "mcp", "--structured", "--cwd", project.as_str()]);
    words.extend(after);
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).env_clear().envs(wharf.environment());
    command.env("PATH", std::env::var_os("PATH").unwrap());
    finish(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

/// Everything that a client saw is what there is to see.
fn assert_seen(done: &Done) {
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{}", done.out);
    let scenes = done.out.lines().map(json);
    let mut seen: BTreeMap<String, Value> =
        scenes.map(|scene| (scene["scenario"].as_str().unwrap().to_owned(), scene["seen"].clone())).collect();
    let mut of = |name: &str| seen.remove(name).unwrap_or_else(|| panic!("not played: {name}"));
    assert_eq!(of("list")["names"].as_array().unwrap().len(), 6);
    let run = of("run");
    assert_eq!((&run["content"], &run["exit_code"]), (&json!("hi"), &json!(1)), "{run}");
    assert!(run["text"].as_str().unwrap().starts_with("[exit code 1 ·"), "{run}");
    assert_eq!(of("remembers")["content"], "/");
    let refused = of("refused");
    assert_eq!(refused["is_error"], true);
    assert!(refused["text"].as_str().unwrap().contains("command is missing. ignored: cmd;"), "{refused}");
    let progress = of("progress");
    assert_eq!(progress["content"], "working\ndone");
    assert!(!progress["heard"].as_array().unwrap().is_empty(), "{progress}");
    let ask = of("ask");
    assert_eq!(ask["exit_code"], 0, "{ask}");
    assert!(ask["questions"][0].as_str().unwrap().contains("touch asked"), "{ask}");
}

fn place() -> Wharf {
    let wharf = Wharf::new();
    wharf.set_policy(RULES);
    wharf
}

#[test]
fn the_python_sdk_works_in_both_eras() {
    for mode in ["auto", "legacy"] {
        let wharf = place();
        let done = run(&wharf, &[&path("venv/bin/python"), &path("mcp-client.py"), mode, "--"], &[]);
        assert_seen(&done);
    }
}

#[test]
fn the_typescript_sdk_works() {
    let wharf = place();
    let done = run(&wharf, &["node", &path("mcp-client.mjs"), "--"], &[]);
    assert_seen(&done);
}

#[test]
fn the_inspector_finds_nothing_to_complain_about() {
    let inspector = path("node_modules/.bin/mcp-inspector");
    for era in ["legacy", "modern"] {
        let wharf = place();
        let list = ["--protocol-era", era, "--method", "tools/list", "--strict"];
        let done = run(&wharf, &[&inspector, "--cli"], &list);
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{}", done.out);
        let call = ["--protocol-era", era, "--method", "tools/call", "--tool-name", "terminal_execute"];
        let call: Vec<&str> = call.into_iter().chain(["--tool-arg", "command=echo hi"]).collect();
        let done = run(&wharf, &[&inspector, "--cli"], &call);
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{}", done.out);
        assert_eq!(json(&done.out)["structuredContent"]["content"], "hi");
    }
}

#[test]
fn the_inspector_follows_a_long_wait_as_a_task() {
    let inspector = path("node_modules/.bin/mcp-inspector");
    let wharf = place();
    let call = |tool: &str, arguments: &[&str]| {
        let mut words = vec!["--protocol-era", "modern", "--method", "tools/call", "--tool-name", tool];
        arguments.iter().for_each(|argument| words.extend(["--tool-arg", argument]));
        let done = run(&wharf, &[&inspector, "--cli"], &words);
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{}", done.out);
        json(&done.out)
    };
    // It runs until the next call has begun to wait for it.
    let line = "command=until [ -e go ]; do sleep 0.02; done; sleep 1.5; echo over";
    assert_eq!(call("terminal_execute", &[line, "timeout=0"])["structuredContent"]["status"], "running");
    std::fs::write(wharf.scratch().join("go"), "").unwrap();
    let waited = call("terminal_wait", &["timeout=600"]);
    assert_eq!(waited["structuredContent"]["content"], "over", "{waited}");
    assert_eq!(waited["structuredContent"]["exit_code"], 0);
    // In a call it would have been said that none waits so long.
    assert!(!waited.to_string().contains("capped"), "{waited}");
}
