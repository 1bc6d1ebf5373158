//! What a model types while something runs, where there are rules.

use super::client::{Answer, Client};
use super::rule::ruled;
use crate::harness::{Wharf, open_gate};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

fn client(wharf: &Wharf) -> Client {
    let mut client = Client::start(wharf, &["--shell", "bash"]);
    client.initialize();
    client.run("echo kept > file");
    client
}

fn input(client: &mut Client, text: &str) -> Answer {
    client.call("terminal_execute", json!({"command": text, "is_input": true, "timeout": 10}))
}

#[test]
fn what_is_typed_ahead_for_the_shell_is_judged() {
    let wharf = ruled();
    let gate = wharf.gate();
    let mut client = client(&wharf);
    let line = format!("cat < {} > /dev/null; echo over", gate.display());
    client.call("terminal_execute", json!({"command": line, "timeout": 0}));
    let denied = input(&mut client, "rm file");
    assert_eq!((denied.is_error, denied.get("error")), (true, &json!("denied")), "{denied:?}");
    assert!(denied.text.contains("not typed") && denied.text.contains("takes files away"), "{}", denied.text);
    let asked = input(&mut client, "touch made");
    assert_eq!(asked.get("error"), "nobody_to_ask", "{asked:?}");
    for (text, no_enter) in [("r", true), ("r\\", false), ("x\u{15}rm file", false)] {
        let arguments = json!({"command": text, "is_input": true, "no_enter": no_enter, "timeout": 0});
        let refused = client.call("terminal_execute", arguments);
        assert_eq!(refused.get("error"), "piece", "{text:?}: {refused:?}");
    }
    assert_eq!(client.run("Up").get("error"), "piece");
    let sent =
        client.call("terminal_execute", json!({"command": "cp file copy", "is_input": true, "timeout": 0}));
    assert!(!sent.is_error, "{sent:?}");
    open_gate(&gate);
    // The shell reads and runs what was allowed, and nothing else.
    let copied = loop {
        let ran = client.run("cat copy");
        if !ran.is_error {
            break ran;
        }
    };
    assert_eq!(copied.content(), "kept", "{copied:?}");
    assert!(wharf.scratch().join("file").exists() && !wharf.scratch().join("made").exists());
    let log = std::fs::read_to_string(wharf.state().join("audit.jsonl")).unwrap();
    assert!(log.contains("cp file copy") && log.contains("rm file"), "{log}");
}

#[test]
fn what_a_program_reads_is_free() {
    let wharf = ruled();
    let mut client = client(&wharf);
    let waits = client.run("cat");
    assert_eq!(waits.get("returned_because"), "awaiting_input", "{waits:?}");
    let echoed = input(&mut client, "rm file");
    assert!(!echoed.is_error && echoed.content().contains("rm file"), "{echoed:?}");
    client.run("C-d");
    assert_eq!(client.run("cat file").content(), "kept");
}

#[test]
fn what_another_shell_reads_is_judged() {
    let wharf = ruled();
    let nested = wharf.scratch().join("nested");
    std::fs::write(&nested, "#!/bin/sh\nexec bash --norc --noprofile -i\n").unwrap();
    std::fs::set_permissions(&nested, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut client = client(&wharf);
    let waits = client.run("./nested");
    assert_eq!(waits.get("status"), "running", "{waits:?}");
    let denied = input(&mut client, "rm file");
    assert_eq!(denied.get("error"), "denied", "{denied:?}");
    let said = input(&mut client, "cat file");
    assert!(!said.is_error && said.content().contains("kept"), "{said:?}");
    assert_eq!(client.run("Up").get("error"), "piece");
    let left = input(&mut client, "exit");
    assert_eq!(left.get("status"), "completed", "{left:?}");
}

#[test]
fn without_rules_everything_may_be_typed() {
    let wharf = Wharf::new();
    let mut client = client(&wharf);
    client.call("terminal_execute", json!({"command": "sleep 1000", "timeout": 0}));
    let typed = json!({"command": "rm file", "is_input": true, "timeout": 0});
    assert!(!client.call("terminal_execute", typed).is_error);
    client.run("C-c");
}
