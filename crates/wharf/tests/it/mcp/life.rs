//! Waiting, progress, cancelling and leaving: what a client does to a call does nothing to the command.

use super::client::Client;
use crate::harness::{Wharf, finish, open_gate, signal};
use rustix::process::Signal;
use serde_json::json;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

/// Far more than leaving takes, and less than a client waits before it kills.
const SOON: Duration = Duration::from_secs(2);

/// A client that has said hello.
fn client(wharf: &Wharf) -> Client {
    let mut client = Client::start(wharf, &[]);
    client.initialize();
    client
}

#[test]
fn a_timeout_kills_nothing_and_the_next_call_goes_on() {
    let wharf = Wharf::new();
    let gate = wharf.gate();
    let mut client = client(&wharf);
    let line = format!("echo begun; read x < {}; echo done; (exit 4)", gate.display());
    let first = client.call("terminal_execute", json!({"command": line, "timeout": 0.5}));
    assert_eq!((first.get("status"), first.get("returned_because")), (&json!("running"), &json!("timeout")));
    assert_eq!(first.content(), "begun");
    let refused = client.run("echo too early");
    assert!(refused.is_error && refused.text.contains("has been running"), "{refused:?}");
    let id = client.send_call("terminal_execute", json!({"command": ""}));
    open_gate(&gate);
    let last = client.answer(id);
    assert_eq!((last.get("status"), last.get("exit_code")), (&json!("completed"), &json!(4)));
    assert_eq!((last.content(), last.get("total_lines")), ("done", &json!(2)));
    let idle = client.run("");
    assert_eq!((idle.content(), idle.get("exit_code")), ("", &json!(4)));
    assert!(idle.text.contains("nothing is running"), "{}", idle.text);
}

#[test]
fn a_key_reaches_what_another_call_waits_for_and_other_terminals_go_on_meanwhile() {
    let wharf = Wharf::new();
    let mut client = client(&wharf);
    let waiting = client.send_call("terminal_execute", json!({"command": "sleep 1000"}));
    // Runs while the other one waits.
    assert_eq!(
        client.call("terminal_execute", json!({"command": "echo b", "terminal_id": "b"})).content(),
        "b"
    );
    let pressed = loop {
        // The first call may still be opening its shell.
        let pressed = client.call("terminal_execute", json!({"command": "C-c"}));
        if !pressed.is_error {
            break pressed;
        }
    };
    assert_eq!(pressed.get("exit_code"), 130, "{pressed:?}");
    assert_eq!(client.answer(waiting).get("exit_code"), 130);
}

#[test]
fn a_timeout_beyond_the_most_is_capped_and_said() {
    let wharf = Wharf::new();
    let mut client = client(&wharf);
    let ran = client.call("terminal_execute", json!({"command": "true", "timeout": 1000}));
    assert!(ran.text.contains("capped"), "{}", ran.text);
    let ran = client.call("terminal_execute", json!({"command": "true", "timeout": 60}));
    assert!(ran.text.contains("waited 55 s at most"), "{}", ran.text);
    let id = client.send_call_with_token("terminal_execute", json!({"command": "true", "timeout": 60}), "t");
    assert!(client.answer(id).get("notice").is_null());
}

#[test]
fn progress_comes_while_a_call_waits_and_always_grows() {
    let wharf = Wharf::new();
    let gate = wharf.gate();
    let mut client = client(&wharf);
    // A reader that opens the pipe again before its writer has closed it reads its end: no reason to leave.
    let line = format!("echo compiling; while :; do read x < {0} && echo $x; done", gate.display());
    let id = client.send_call_with_token("terminal_execute", json!({"command": line, "timeout": 60}), "tok");
    let heard = |client: &mut Client| {
        let heard = client.await_message(|message| message["method"] == "notifications/progress");
        assert_eq!(heard["params"]["progressToken"], "tok");
        assert!(heard["params"]["message"].is_string(), "{heard}");
        heard["params"]["progress"].as_f64().unwrap()
    };
    let first = heard(&mut client);
    open_gate(&gate);
    assert!(heard(&mut client) > first);
    client.call("terminal_execute", json!({"command": "C-c"}));
    assert_eq!(client.answer(id).get("status"), "completed");
}

#[test]
fn cancelling_a_call_ends_the_waiting_and_not_the_command() {
    let wharf = Wharf::new();
    let gate = wharf.gate();
    let mut client = client(&wharf);
    client.run("true");
    let line = format!("read x < {}; echo finished", gate.display());
    let id = client.send_call("terminal_execute", json!({"command": line}));
    // It runs when a new command is refused.
    while !client.run("true").is_error {}
    client.cancel(id);
    assert_eq!(client.call("terminal_list", json!({})).get("terminals")[0]["status"], "running");
    open_gate(&gate);
    let rest = client.run("");
    assert_eq!((rest.content(), rest.get("exit_code")), ("finished", &json!(0)));
    assert!(client.kept().all(|message| message["id"] != id), "a cancelled call was answered");
}

#[test]
fn it_leaves_soon_when_its_input_ends_and_the_terminals_go_on() {
    let wharf = Wharf::new();
    let mut client = client(&wharf);
    client.run("true");
    client.send_call("terminal_execute", json!({"command": "sleep 1000"}));
    while !client.run("true").is_error {}
    let asked = Instant::now();
    assert_eq!(client.leave().code, Some(0));
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
    assert!(wharf.ok(["ls", "--json"]).contains("\"running\""));
}

#[test]
fn it_leaves_at_once_when_it_is_told_to() {
    for (with, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let wharf = Wharf::new();
        let mut client = client(&wharf);
        client.call("terminal_execute", json!({"command": "sleep 1000", "timeout": 0}));
        let asked = Instant::now();
        signal(&client.child, with);
        assert_eq!(finish(client.child).code, Some(code));
        assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
        assert!(wharf.ok(["ls", "--json"]).contains("\"running\""));
    }
}

#[test]
fn a_fresh_shell_takes_the_place_of_one_that_exited() {
    let wharf = Wharf::new();
    let mut client = client(&wharf);
    client.run("mkdir sub; cd sub; x=1");
    let last = client.run("exit 3");
    assert_eq!((last.get("returned_because"), last.get("exit_code")), (&json!("shell_exited"), &json!(3)));
    let listed = client.call("terminal_list", json!({}));
    assert_eq!(listed.get("terminals")[0]["status"], "exited", "{listed:?}");
    let next = client.run("echo ${x-unset} $(basename $PWD)");
    assert_eq!(next.content(), "unset sub");
    assert!(next.text.contains("exited with code 3; this is a fresh one"), "{}", next.text);
}

#[test]
fn waiting_finds_what_was_printed_since_the_last_answer() {
    let wharf = Wharf::new();
    let gate = wharf.gate();
    let mut client = client(&wharf);
    let line = format!("echo starting; read x < {}; echo listening on 80; sleep 1000", gate.display());
    client.call("terminal_execute", json!({"command": line, "timeout": 0.3}));
    open_gate(&gate);
    let found = client.call("terminal_wait", json!({"until": "pattern", "pattern": "listening on (\\d+)"}));
    assert_eq!(found.get("returned_because"), "pattern", "{found:?}");
    assert_eq!(found.get("match"), &json!({"line": 2, "text": "listening on 80"}));
    let quiet = client.call("terminal_wait", json!({"until": "silence", "silence_ms": 100}));
    assert_eq!((quiet.get("returned_because"), quiet.content()), (&json!("silence"), ""), "{quiet:?}");
}

#[test]
fn terminals_are_opened_listed_and_closed_by_name() {
    let wharf = Wharf::new();
    let mut client = client(&wharf);
    let open = json!({"terminal_id": "t", "env": {"COLOUR": "red"}, "shell": "bash", "rows": 30, "cols": 90});
    let opened = client.call("terminal_open", open.clone());
    assert_eq!((opened.get("status"), opened.get("size")), (&json!("idle"), &json!("90x30")), "{opened:?}");
    let again = client.call("terminal_open", open);
    assert!(again.is_error && again.text.contains("open already"), "{again:?}");
    let ran =
        client.call("terminal_execute", json!({"command": "echo $COLOUR; stty size", "terminal_id": "t"}));
    assert_eq!(ran.content(), "red\n30 90");
    let closed = client.call("terminal_close", json!({"terminal_id": "t"}));
    assert!(!closed.is_error && closed.text.contains("is closed"), "{closed:?}");
    assert_eq!(client.call("terminal_list", json!({})).get("terminals"), &json!([]));
    assert_eq!(wharf.ids(), [""; 0]);
}

#[test]
fn any_line_can_be_read_again_by_number_or_by_search() {
    let wharf = Wharf::new();
    let mut client = client(&wharf);
    client.run("seq 1 300; printf 'x%.0s' $(seq 1 5000); echo");
    client.run("echo later");
    let read = |client: &mut Client, arguments| client.call("terminal_read", arguments);
    let range = read(&mut client, json!({"command_id": 1, "from_line": 9, "to_line": 11}));
    assert_eq!((range.content(), range.get("total_lines")), ("9\n10\n11", &json!(301)));
    assert_eq!(read(&mut client, json!({"last": 1})).content(), "later");
    let found = read(&mut client, json!({"command_id": 1, "search": "^29[89]$", "context": 1}));
    assert_eq!(found.content(), "297- 297\n298: 298\n299: 299\n300- 300");
    assert_eq!(found.get("matches"), 2);
    let piece = json!({"command_id": 1, "from_line": 301, "to_line": 301, "column": 4998});
    assert_eq!(read(&mut client, piece).content(), "xxx");
    // More than fits: the rest is the next call's, and nothing is lost or twice.
    let (mut all, mut from) = (Vec::new(), 1);
    while from <= 300 {
        let page =
            read(&mut client, json!({"command_id": 1, "from_line": from, "to_line": 300, "max_bytes": 1024}));
        all.extend(page.content().lines().map(str::to_owned));
        from = page.get("shown")["to_line"].as_u64().unwrap() + 1;
    }
    assert_eq!(all, (1..=300).map(|n| n.to_string()).collect::<Vec<_>>());
}

#[test]
fn a_server_that_is_killed_while_it_opens_a_shell_leaves_its_name_free() {
    for place in ["create.after_files", "create.after_start"] {
        let wharf = Wharf::new();
        let failpoint = format!("{place}=kill");
        let mut first = Client::start_where(&wharf, &wharf.scratch(), &["--structured"], &failpoint);
        first.initialize();
        first.send_call("terminal_execute", json!({"command": "echo first"}));
        assert!(first.child.wait().unwrap().signal().is_some(), "{place}");
        let mut second = client(&wharf);
        assert_eq!(second.run("echo second").content(), "second", "{place}");
        let listed = second.call("terminal_list", json!({}));
        assert_eq!(listed.get("terminals").as_array().unwrap().len(), 1, "{place}: {listed:?}");
    }
}
