//! What a shell leaves when another takes its name, and what is left of one that was not needed.

use super::client::Client;
use crate::harness::{Wharf, open_gate};
use serde_json::{Value, json};

fn client(wharf: &Wharf) -> Client {
    let mut client = Client::start(wharf, &[]);
    client.initialize();
    client
}

/// The output of a command by its number.
fn read(client: &mut Client, command: u64) -> Result<String, String> {
    let read = client.call("terminal_read", json!({"command_id": command}));
    if read.is_error { Err(read.text) } else { Ok(read.content().to_owned()) }
}

#[test]
fn the_output_of_a_shell_that_exited_stays_readable_and_the_oldest_goes() {
    let wharf = Wharf::new();
    let mut first = client(&wharf);
    for shell in 1..=5 {
        let ran = first.run(&format!("echo of shell {shell}"));
        assert_eq!(ran.get("command_id"), 2 * shell - 1);
        assert_eq!(first.run("exit").get("returned_because"), "shell_exited");
    }
    // The fifth is the newest; the three before it are kept.
    assert_eq!(read(&mut first, 9).unwrap(), "of shell 5");
    let next = first.run("echo of shell 6");
    assert!(next.text.contains("exited with code 0; this is a fresh one in"), "{}", next.text);
    for shell in 3..=6 {
        assert_eq!(read(&mut first, 2 * shell - 1).unwrap(), format!("of shell {shell}"));
    }
    let gone = read(&mut first, 3).unwrap_err();
    assert!(gone.contains("has no command 3: there are 5 to 11"), "{gone}");
    assert_eq!(wharf.ids().len(), 4);
    assert_eq!(first.call("terminal_list", json!({})).get("terminals").as_array().unwrap().len(), 1);
    // Whoever comes back finds them, too; and they go with the name.
    first.leave();
    let mut second = client(&wharf);
    assert_eq!(read(&mut second, 5).unwrap(), "of shell 3");
    second.call("terminal_close", json!({"terminal_id": "default"}));
    assert_eq!(wharf.ids(), [""; 0]);
}

#[test]
fn that_a_shell_is_fresh_is_told_once_and_not_lost_with_a_cancelled_call() {
    let wharf = Wharf::new();
    let gate = wharf.gate();
    let mut client = client(&wharf);
    client.run("exit 3");
    let line = format!("read x < {}; echo done", gate.display());
    let id = client.send_call("terminal_execute", json!({"command": line}));
    // The command itself: a shell that starts is said to be running, too.
    while client.call("terminal_list", json!({})).get("terminals")[0]["command"] != json!(line) {}
    client.cancel(id);
    // The server has heard of it before the command can end.
    client.request("ping", json!({}));
    open_gate(&gate);
    let rest = client.run("");
    assert_eq!((rest.content(), rest.get("exit_code")), ("done", &json!(0)));
    assert!(rest.text.contains("exited with code 3; this is a fresh one"), "{}", rest.text);
    assert!(!client.run("true").text.contains("fresh"), "told once");
    client.run("exit");
    client.call("terminal_open", json!({"terminal_id": "default"}));
    assert!(!client.run("true").text.contains("fresh"), "it was asked for");
}

#[test]
fn what_a_shell_left_running_is_ended_when_another_takes_its_name() {
    let wharf = Wharf::new();
    let mut client = client(&wharf);
    let left = client.run("setsid sleep 1000 & echo $!; disown");
    let pid = left.content().lines().last().unwrap().to_owned();
    client.run("exit");
    let next = client.run("echo next");
    assert_eq!(next.content(), "next");
    let state = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    assert!(!state.contains("sleep"), "{pid} runs");
    assert_eq!(read(&mut client, 1).unwrap().lines().last(), Some(pid.as_str()));
}

#[test]
fn calls_that_open_a_name_at_once_leave_nothing_of_those_that_were_too_late() {
    let wharf = Wharf::new();
    let mut client = client(&wharf);
    client.run("true");
    let open = |client: &mut Client| {
        client.send_call("terminal_execute", json!({"command": "true", "terminal_id": "new"}))
    };
    let calls: Vec<u64> = (0..6).map(|_| open(&mut client)).collect();
    let ran = calls.into_iter().filter(|id| !client.answer(*id).is_error).count();
    assert!(ran >= 1);
    let entries = std::fs::read_dir(wharf.state().join("tmp")).unwrap().flatten();
    let temporary = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("run-")).count();
    assert_eq!((temporary, wharf.ids().len()), (2, 2));
    // Each that was allowed has begun, or it is written down that it has not.
    let audit = std::fs::read_to_string(wharf.state().join("audit.jsonl")).unwrap();
    let entries: Vec<Value> = audit.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |what: &str, with: &str| {
        entries.iter().filter(|entry| entry["what"] == what && entry.to_string().contains(with)).count()
    };
    assert_eq!(of("decision", "\"-i\""), 2 + of("not_started", "already_open"), "{audit}");
}
