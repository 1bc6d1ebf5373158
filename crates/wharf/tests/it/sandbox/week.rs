//! A week of work as agents do it: in one shell of `wharf mcp` that was opened in an empty project, and by commands of an
//! agent behind `wharf acp`, on every class of machine.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use super::cast::{Surroundings, User};
use super::ground::Ground;
use super::job::workshop_in;
use crate::harness::{Done, finish, json};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

const UPSTREAM: &str = include_str!("attempts/upstream.sh");
const WEEK: &str = include_str!("attempts/week.sh");
const SUBDIRECTORY: &str = include_str!("attempts/subdirectory.sh");

/// By which way commands come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Mcp,
    Acp,
}

/// An agent that runs one command in a terminal of its client's and writes down what became of it.
const AGENT: &str = r#"
read -r initialize; printf '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}\n'
read -r new; printf '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}\n'
ask() { printf '{"jsonrpc":"2.0","id":"%s","method":"terminal/%s","params":{"sessionId":"s",%s}}\n' "$1" "$1" "$2"; read -r answer; }
ask create "\"command\":\"/bin/bash\",\"args\":$1"
terminal=${answer#*'"terminalId":"'}; terminal=${terminal%%\"*}
ask wait_for_exit "\"terminalId\":\"$terminal\""
ask output "\"terminalId\":\"$terminal\""
printf '%s\n' "$answer" > "$2"
"#;

/// Runs a script with these arguments; all that it printed.
fn run(ground: &Ground, way: Way, cwd: &Path, script: &str, arguments: &[&str]) -> (Value, String) {
    let words: Vec<&str> = ["-c", script, "script"].iter().chain(arguments).copied().collect();
    let (mut wharf, said) = match way {
        Way::Mcp => {
            ground.write("script.sh", script);
            let line = format!("bash {} {}", ground.path("script.sh").display(), arguments.join(" "));
            (ground.wharf(["mcp", "--structured"]), mcp_lines(&line))
        }
        Way::Acp => {
            let args = json!(words).to_string();
            let answer = ground.path("home/answer").display().to_string();
            (ground.wharf(["acp", "--", "/bin/bash", "-c", AGENT, "agent", &args, &answer]), acp_lines(cwd))
        }
    };
    let done = speak(wharf.current_dir(cwd), &said);
    match way {
        Way::Mcp => {
            let lines: Vec<Value> = done.out.lines().map(json).collect();
            let answer = lines.iter().find(|line| line["id"] == 2).unwrap_or_else(|| panic!("{done:?}"));
            let structured = &answer["result"]["structuredContent"];
            (structured["exit_code"].clone(), structured["content"].as_str().unwrap_or_default().to_owned())
        }
        Way::Acp => {
            let text =
                std::fs::read_to_string(ground.path("home/answer")).unwrap_or_else(|_| panic!("{done:?}"));
            let answer = json(&text);
            let result = &answer["result"];
            (
                result["exitStatus"]["exitCode"].clone(),
                result["output"].as_str().unwrap_or_default().to_owned(),
            )
        }
    }
}

fn mcp_lines(line: &str) -> Vec<Value> {
    let info = json!({"name": "test", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
    let call = json!({"name": "terminal_execute", "arguments": {"command": line, "timeout": 60, "max_bytes": 100_000}});
    vec![
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
    ]
}

fn acp_lines(cwd: &Path) -> Vec<Value> {
    vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": cwd, "mcpServers": []}}),
    ]
}

/// Says all of it. Hangs up when the call is answered; the agent of ACP leaves by itself.
fn speak(command: &mut Command, lines: &[Value]) -> Done {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut to = child.stdin.take().unwrap();
    for line in lines {
        writeln!(to, "{line}").unwrap();
    }
    let mut out = String::new();
    let mut from = BufReader::new(child.stdout.take().unwrap());
    while from.read_line(&mut out).unwrap() > 0 {
        if out.lines().last().is_some_and(|line| line.contains("\"id\":2,")) {
            break;
        }
    }
    drop((to, from));
    Done { out, ..finish(child) }
}

fn upstream(ground: &Ground) -> String {
    let base = ground.path("home").display().to_string();
    let mut bash = ground.command(Surroundings::Usual, "/bin/bash");
    let done = finish(bash.args(["-c", UPSTREAM, "upstream", &base]).spawn().unwrap());
    assert_eq!(done.code, Some(0), "{done:?}");
    base
}

fn week(surroundings: Surroundings) {
    for (user, way) in User::all().into_iter().flat_map(|user| [(user, Way::Mcp), (user, Way::Acp)]) {
        let ground = workshop_in(user, surroundings);
        let base = upstream(&ground);
        let (code, said) = run(&ground, way, &ground.path("root"), WEEK, &[&base]);
        let case = format!("as {user:?} by {way:?} on {surroundings:?}");
        assert_eq!((code, said.lines().last()), (json!(0), Some("end")), "{case}: {said}");
        assert_eq!(said.lines().filter(|line| line.starts_with("ok ")).count(), 23, "{case}: {said}");
    }
}

fn subdirectory(surroundings: Surroundings) {
    for (user, way) in User::all().into_iter().flat_map(|user| [(user, Way::Mcp), (user, Way::Acp)]) {
        let ground = workshop_in(user, surroundings);
        let prepare =
            "git init -q . && mkdir part && echo one > part/inner && git add -A && git commit -qm first";
        let mut bash = ground.command(Surroundings::Usual, "/bin/bash");
        assert_eq!(finish(bash.args(["-ec", prepare]).spawn().unwrap()).code, Some(0));
        let (code, said) = run(&ground, way, &ground.path("root/part"), SUBDIRECTORY, &[]);
        let case = format!("as {user:?} by {way:?} on {surroundings:?}");
        let expected = "inner\nbeside\nagain\ninner\nthe rest is read";
        assert_eq!((code, said.trim()), (json!(0), expected), "{case}: {said}");
    }
}

macro_rules! classes {
    ($($name:ident: $surroundings:expr;)*) => { $(
        mod $name {
            use super::*;
            #[test]
            fn git_and_scaffolding_work() {
                week($surroundings);
            }
            #[test]
            fn a_part_of_a_working_tree_commits() {
                subdirectory($surroundings);
            }
        }
    )* };
}

classes! {
    on_this_machine: Surroundings::Usual;
    without_namespaces: Surroundings::NoNamespaces;
    with_landlock_4: Surroundings::Landlock(4);
    with_landlock_2: Surroundings::Landlock(2);
    with_landlock_1: Surroundings::Landlock(1);
    in_a_container: Surroundings::Container;
    with_landlock_4_alone: Surroundings::OnlyLandlock(4);
    with_landlock_2_alone: Surroundings::OnlyLandlock(2);
}
