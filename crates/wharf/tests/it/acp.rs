//! `wharf acp` between a client that the test speaks and an agent that is a line of shell.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::harness::{Done, Wharf, finish, json, signal};
use crate::rig::{marked, nothing_is_left};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use wharf_testing::leak;

/// What every agent here does first: learns of a session in the present directory.
const GREETED: &str = r#"
read -r initialize; printf '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}\n'
read -r new; printf '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}\n'
ask() { printf '{"jsonrpc":"2.0","id":"%s","method":"terminal/%s","params":{"sessionId":"s",%s}}\n' "$1" "$1" "$2"; read -r answer; }
id() { terminal=${answer#*'"terminalId":"'}; terminal=${terminal%%\"*}; }
"#;

/// A client's end.
pub(crate) struct Client {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Client {
    /// Starts it with an agent, and does what comes first.
    pub(crate) fn start(wharf: &Wharf, options: &[&str], agent: &str) -> Self {
        Self::start_with(wharf, options, agent, &[])
    }

    /// The same with more in its environment.
    pub(crate) fn start_with(
        wharf: &Wharf,
        options: &[&str],
        agent: &str,
        environment: &[(&str, &str)],
    ) -> Self {
        let agent = format!("{GREETED}{agent}");
        let mut args = vec!["acp"];
        args.extend_from_slice(options);
        args.extend_from_slice(&["--", "/bin/bash", "-c", &agent]);
        let mut command = wharf.command(args);
        command
            .env(leak::MARK, wharf.state())
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Self { child, to, from };
        client.say(&json!({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}));
        client.hear();
        client.say(&json!({"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":wharf.scratch()}}));
        client.hear();
        client
    }

    pub(crate) fn say(&mut self, message: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    pub(crate) fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        json(&line)
    }

    /// What is left to hear, and how it ended.
    pub(crate) fn finish(mut self) -> (String, Done) {
        let mut rest = String::new();
        self.from.read_to_string(&mut rest).unwrap();
        // Only now: closing it is a reason to end.
        drop(self.to.take());
        (rest, finish(self.child))
    }

    fn close(mut self) -> Done {
        drop(self.to.take());
        let mut rest = Vec::new();
        self.from.read_to_end(&mut rest).unwrap();
        finish(self.child)
    }
}

#[test]
fn an_agent_gets_terminals_and_its_exit_code_is_the_exit_code() {
    let wharf = Wharf::new();
    let client = Client::start(
        &wharf,
        &[],
        r#"
        ask create '"command":"echo from $PWD; exit 5"'; id
        ask wait_for_exit "\"terminalId\":\"$terminal\""; printf '{"method":"_waited","params":%s}\n' "$answer"
        ask output "\"terminalId\":\"$terminal\""; printf '{"method":"_output","params":%s}\n' "$answer"
        ask release "\"terminalId\":\"$terminal\""
        echo "on stderr" >&2
        exit 42"#,
    );
    let scratch = wharf.scratch();
    let (rest, done) = client.finish();
    let lines: Vec<Value> = rest.lines().map(json).collect();
    assert_eq!(lines[0]["params"]["result"]["exitCode"], 5, "{rest}");
    assert_eq!(lines[1]["params"]["result"]["output"], format!("from {}\n", scratch.display()));
    assert_eq!((done.code, done.err.as_str()), (Some(42), "on stderr\n"));
    nothing_is_left(&wharf);
    assert!(wharf.ids().is_empty(), "released");
}

#[test]
fn a_command_is_not_started_in_a_session_that_is_not_there() {
    let wharf = Wharf::new();
    let client = Client::start(
        &wharf,
        &[],
        r#"
        printf '{"id":9,"method":"terminal/create","params":{"sessionId":"x","command":"touch here"}}\n'
        read -r answer; printf '{"method":"_answer","params":%s}\n' "$answer""#,
    );
    let (rest, done) = client.finish();
    assert_eq!(json(&rest)["params"]["error"]["code"], -32002, "{rest}");
    assert_eq!(done.code, Some(0));
    assert!(!wharf.scratch().join("here").exists());
}

#[test]
fn when_the_client_closes_its_end_the_agent_and_its_terminals_are_gone() {
    let wharf = Wharf::new();
    let mut client = Client::start(
        &wharf,
        &[],
        r#"
        ask create '"command":"setsid sleep 1000 & exec sleep 1000"'
        printf '{"method":"_running"}\n'; setsid sleep 1000 & cat >/dev/null; exit 7"#,
    );
    assert_eq!(client.hear()["method"], "_running");
    let done = client.close();
    assert_eq!(done.code, Some(7), "{done:?}");
    nothing_is_left(&wharf);
}

#[test]
fn an_agent_that_does_not_leave_is_ended() {
    let wharf = Wharf::new();
    let mut client = Client::start(
        &wharf,
        &[],
        r#"trap '' TERM; printf '{"method":"_running"}\n'; while :; do sleep 1000 & wait; done"#,
    );
    assert_eq!(client.hear()["method"], "_running");
    let done = client.close();
    assert_eq!(done.code, Some(128 + 9), "{done:?}");
    nothing_is_left(&wharf);
}

#[test]
fn when_the_agent_crashes_its_terminals_are_gone() {
    let wharf = Wharf::new();
    let client = Client::start(
        &wharf,
        &[],
        r#"ask create '"command":"setsid sleep 1000 & exec sleep 1000"'; sleep 1000 & kill -SEGV $$"#,
    );
    let (_, done) = client.finish();
    assert_eq!(done.code, Some(128 + 11), "{done:?}");
    nothing_is_left(&wharf);
}

#[test]
fn a_signal_ends_the_agent_and_its_terminals() {
    for (sent, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let wharf = Wharf::new();
        let mut client = Client::start(
            &wharf,
            &[],
            r#"ask create '"command":"exec sleep 1000"'; printf '{"method":"_running"}\n'; cat >/dev/null"#,
        );
        assert_eq!(client.hear()["method"], "_running");
        signal(&client.child, sent);
        let (_, done) = client.finish();
        assert_eq!(done.code, Some(code), "{done:?}");
        nothing_is_left(&wharf);
    }
}

#[test]
fn killed_outright_it_leaves_nothing_either() {
    let wharf = Wharf::new();
    let mut client = Client::start(
        &wharf,
        &[],
        r#"
        ask create '"command":"setsid sleep 1000 & exec sleep 1000"'
        setsid sleep 1000 & printf '{"method":"_running"}\n'; while :; do sleep 1000; done"#,
    );
    assert_eq!(client.hear()["method"], "_running");
    let before = marked(&wharf.state());
    assert!(before.len() >= 5, "the agent, its daemon, the command and its own: {before:?}");
    client.child.kill().unwrap();
    client.child.wait().unwrap();
    nothing_is_left(&wharf);
}

#[test]
fn an_agent_that_is_not_there_is_a_failure_with_a_hint() {
    let wharf = Wharf::new();
    let done = wharf.call(["acp", "--", "no-such-agent"]);
    assert_eq!(done.code, Some(127));
    assert!(done.err.contains("no-such-agent") && done.err.contains("hint:"), "{}", done.err);
}

#[test]
fn the_log_tells_what_was_run_and_how_it_ended() {
    let wharf = Wharf::new();
    let log = wharf.scratch().join("log");
    let client = Client::start(
        &wharf,
        &["--log", log.to_str().unwrap()],
        r#"
        ask create '"command":"printf","args":["abc"]'; id
        ask wait_for_exit "\"terminalId\":\"$terminal\""
        ask release "\"terminalId\":\"$terminal\""
        ask create '"command":"exec sleep 1000"'; id
        ask kill "\"terminalId\":\"$terminal\""
        ask create '"command":"true","cwd":"relative"'
        ask create '"command":"a b","args":["c d"],"cwd":"relative"'
        exit 3"#,
    );
    let (_, done) = client.finish();
    assert_eq!(done.code, Some(3), "{done:?}");
    let text = std::fs::read_to_string(&log).unwrap();
    let records: Vec<Value> = text.lines().map(json).collect();
    let of = |event: &str| -> Vec<&Value> { records.iter().filter(|r| r["event"] == event).collect() };
    for record in &records {
        assert_eq!(record["agent"], "/bin/bash");
        assert!(record["time"].as_str().unwrap().ends_with('Z'));
    }
    assert_eq!((&records[0]["event"], &records[0]["command"][1]), (&json!("started"), &json!("-c")));
    assert_eq!(of("session")[0]["cwd"], wharf.scratch().to_str().unwrap());
    let created = of("created");
    assert_eq!((&created[0]["command"], &created[0]["session"]), (&json!(["printf", "abc"]), &json!("s")));
    assert_eq!(created[0]["cwd"], wharf.scratch().to_str().unwrap());
    let ended = of("ended");
    assert_eq!((&ended[0]["exit_code"], &ended[0]["bytes"]), (&json!(0), &json!(3)));
    assert_eq!((&ended[1]["signal"], &ended[1]["cause"]), (&json!("SIGTERM"), &json!("killed")));
    assert_eq!(ended[0]["terminal"], created[0]["terminal"]);
    let refused = of("refused");
    assert_eq!((&refused[0]["command"], &refused[0]["error"]["code"]), (&json!(["true"]), &json!(-32602)));
    assert_eq!(refused[1]["command"], json!(["a b", "c d"]));
    for record in records.iter().filter(|record| record.get("command").is_some()) {
        assert!(record["command"].is_array(), "a command is a list in every record: {record}");
    }
    assert_eq!(of("released").len(), 2);
    let last = records.last().unwrap();
    assert_eq!(
        (&last["event"], &last["exit_code"], &last["by"]),
        (&json!("finished"), &json!(3), &json!("agent"))
    );
}

#[test]
fn a_recording_has_everything_that_was_printed_and_the_status() {
    let wharf = Wharf::new();
    let dir = wharf.scratch().join("casts");
    let client = Client::start(
        &wharf,
        &["--record", dir.to_str().unwrap()],
        r#"
        ask create '"command":"printf \"caf\\303\\251\\n\\377\\n\"; exit 4"'; id
        ask wait_for_exit "\"terminalId\":\"$terminal\""
        ask release "\"terminalId\":\"$terminal\"""#,
    );
    client.finish();
    let casts: Vec<_> = std::fs::read_dir(&dir).unwrap().flatten().collect();
    assert_eq!(casts.len(), 1);
    let cast = std::fs::read_to_string(casts[0].path()).unwrap();
    let lines: Vec<Value> = cast.lines().map(json).collect();
    assert_eq!((&lines[0]["version"], &lines[0]["term"]["cols"]), (&json!(3), &json!(80)));
    assert!(lines[0]["command"].as_str().unwrap().starts_with("printf"), "{cast}");
    let of = |code: &str| -> String {
        lines[1..].iter().filter(|event| event[1] == code).map(|event| event[2].as_str().unwrap()).collect()
    };
    assert_eq!(of("o"), "café\r\n\u{fffd}\r\n");
    assert_eq!(of("x"), "4");
    assert!(lines[1..].iter().all(|event| event[0].as_f64().unwrap() >= 0.0));
}

#[test]
fn a_log_or_a_recording_that_cannot_be_written_is_said_before_anything_runs() {
    let wharf = Wharf::new();
    for option in ["--log", "--record"] {
        let done = wharf.call(["acp", option, "/dev/null/x", "--", "touch", "ran"]);
        assert_eq!(done.code, Some(125), "{done:?}");
        assert!(done.err.contains("/dev/null/x"), "{}", done.err);
    }
    assert!(!wharf.state().parent().unwrap().join("ran").exists());
}
