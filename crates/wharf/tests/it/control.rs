//! Kill, send and rm.

use crate::harness::{Wharf, json};

#[test]
fn kill_ends_the_tree_and_says_how_many() {
    let wharf = Wharf::new();
    let id = wharf.detach(["-c", "(setsid sleep 1000 &) ; sleep 1000 & echo ready; wait"]);
    wharf.wait_for_output(&id, "ready");
    assert_eq!(wharf.ok(["kill", &id]), format!("{}: ended 3 processes\n", &id[..8]));
    assert_eq!(wharf.call(["wait", &id]).code, Some(143));
    assert_eq!(wharf.ok(["kill", &id]), format!("{}: had already ended\n", &id[..8]));
    assert_eq!(json(&wharf.ok(["kill", "--json", &id]))[0]["processes"], 0);
}

#[test]
fn without_grace_kill_does_not_ask() {
    let wharf = Wharf::new();
    let id = wharf.detach(["-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"]);
    wharf.wait_for_output(&id, "ready");
    wharf.ok(["kill", "--grace", "0", &id]);
    assert_eq!(wharf.call(["wait", &id]).code, Some(137));
}

#[test]
fn with_a_signal_kill_only_sends_it() {
    let wharf = Wharf::new();
    let id = wharf.detach(["-c", "trap 'echo reloaded' HUP; echo ready; while :; do sleep 0.05; done"]);
    wharf.wait_for_output(&id, "ready");
    assert_eq!(wharf.ok(["kill", "-s", "HUP", &id]), format!("{}: sent SIGHUP\n", &id[..8]));
    wharf.wait_for_output(&id, "reloaded");
    wharf.ok(["kill", "--grace", "0", &id]);
    assert_eq!(wharf.call(["kill", "-s", "HUP", &id]).code, Some(1), "nothing is there to signal");
}

#[test]
fn a_wrong_id_among_several_changes_nothing() {
    let wharf = Wharf::new();
    let id = wharf.detach(["--", "sleep", "1000"]);
    assert_eq!(wharf.call(["kill", &id, "not-an-id"]).code, Some(3));
    assert!(wharf.ok(["ls", "--json"]).contains("\"running\""));
}

#[test]
fn sent_text_arrives_and_eof_ends_it() {
    let wharf = Wharf::new();
    let id = wharf.detach(["--stdin", "--", "cat"]);
    wharf.ok(["send", &id, "hello", "there", "--enter"]);
    wharf.ok(["send", &id, "again", "--eof"]);
    assert_eq!(wharf.call(["wait", &id]).code, Some(0));
    assert_eq!(wharf.ok(["logs", &id]), "hello there\nagain");
}

#[test]
fn enter_on_a_pty_is_the_enter_key() {
    let wharf = Wharf::new();
    let id = wharf.detach(["--pty", "-c", "stty -echo; echo ready; read x; echo got $x"]);
    wharf.wait_for_output(&id, "ready");
    wharf.ok(["send", &id, "it", "--enter"]);
    assert_eq!(wharf.call(["wait", &id]).code, Some(0));
    assert!(wharf.ok(["logs", &id]).ends_with("got it\r\n"));
}

#[test]
fn a_command_without_input_refuses_it_with_a_hint() {
    let wharf = Wharf::new();
    let id = wharf.detach(["--", "sleep", "1000"]);
    let done = wharf.call(["send", &id, "x"]);
    assert_eq!(done.code, Some(1));
    assert!(done.err.contains("--stdin"), "{}", done.err);
}

#[test]
fn rm_ends_and_forgets_and_ended_spares_the_living() {
    let wharf = Wharf::new();
    let living = wharf.detach(["--", "sleep", "1000"]);
    for _ in 0..3 {
        wharf.ok(["run", "--", "true"]);
    }
    assert_eq!(wharf.ok(["rm", "--ended"]), "removed 3 terminals\n");
    assert_eq!(wharf.ids(), std::slice::from_ref(&living));
    assert_eq!(wharf.ok(["rm", &living]), format!("{}: ended 1 process and removed\n", &living[..8]));
    assert!(wharf.ids().is_empty());
    assert_eq!(wharf.call(["rm", &living]).code, Some(3));
}
