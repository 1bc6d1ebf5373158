//! A human sits down at an agent's shell, with `wharf sh` at a real terminal, while a client of `wharf mcp` works in it.

use super::client::{Answer, Client};
use super::scenario::hints;
use crate::harness::{GUARD, Wharf, open_gate, signal};
use crate::pty::Seat;
use rustix::process::Signal;
use serde_json::json;
use std::time::Instant;

const DETACH: &str = "\x1d";
const WINDOW: (u16, u16) = (80, 24);

fn client(wharf: &Wharf) -> Client {
    let mut client = Client::start(wharf, &[]);
    client.initialize();
    client
}

/// Somebody who looks on, and has typed nothing yet.
fn human(wharf: &Wharf) -> Seat {
    let seat = Seat::take_in(&wharf.scratch(), wharf, ["sh", "default"], WINDOW);
    seat.see("typing takes it over");
    seat
}

/// Leaving is over when the shell is given back.
fn leave(mut seat: Seat) {
    seat.type_keys(DETACH);
    assert_eq!(seat.leave(), Some(0));
}

/// Asks again what no call waits for while somebody holds the shell.
fn eventually(mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + GUARD;
    while !is_so() {
        assert!(Instant::now() < until, "it never came");
    }
}

fn notice(answer: &Answer) -> String {
    answer.get("notice").to_string()
}

fn assert_held(answer: &Answer) {
    assert!(answer.is_error, "{answer:?}");
    assert_eq!(answer.get("error"), "held_by_human", "{answer:?}");
    assert!(answer.text.contains("a human has taken"), "{answer:?}");
}

#[test]
fn a_call_that_waits_is_told_of_the_human_and_the_agent_goes_on_when_the_shell_is_given_back() {
    let wharf = Wharf::new();
    let gate = wharf.gate();
    let mut client = client(&wharf);
    assert_eq!(client.run("x=5; echo ready").content(), "ready");
    let line = format!("echo begun; read y < {}; printf 'fin%s\\n' ished; (exit 3)", gate.display());
    let waiting = client.send_call("terminal_execute", json!({"command": line, "timeout": 50}));
    let mut seat = human(&wharf);
    seat.see("begun");
    seat.type_keys(" ");
    seat.see("you have taken over");
    let told = client.answer(waiting);
    assert_eq!(
        (told.get("status"), told.get("returned_because")),
        (&json!("running"), &json!("held_by_human"))
    );
    // The terminal echoes what the human types.
    assert_eq!(told.content().trim_end(), "begun");
    assert!(notice(&told).contains("a human has taken this terminal"), "{told:?}");
    // Neither to wait nor to interrupt would come to anything now.
    assert!(
        hints(&told.text).iter().all(|hint| hint.as_ref().is_ok_and(|(tool, _)| tool == "terminal_wait"))
    );
    // Whatever would type is not done, and says why; reading goes on.
    assert_held(&client.call("terminal_execute", json!({"command": "C-c"})));
    assert_held(&client.call("terminal_execute", json!({"command": "yes", "is_input": true})));
    // Even what would be refused for another reason.
    assert_held(&client.run("echo too early"));
    let waited = client.call("terminal_wait", json!({"timeout": 0.2}));
    assert_eq!(waited.get("returned_because"), "held_by_human", "{waited:?}");
    let read = client.call("terminal_read", json!({}));
    assert!(!read.is_error && read.content().contains("begun"), "{read:?}");
    open_gate(&gate);
    seat.see("finished");
    let mut notices = vec![notice(&told), notice(&waited)];
    assert_held(&client.run("echo too early"));
    // This waits for the human to leave.
    let waiting = client.send_call("terminal_wait", json!({"timeout": 50}));
    leave(seat);
    let waited = client.answer(waiting);
    assert_eq!((waited.get("returned_because"), waited.get("exit_code")), (&json!("exited"), &json!(3)));
    notices.push(notice(&waited));
    let back = client.run("echo back $x");
    assert_eq!((back.content(), back.get("exit_code")), ("back 5", &json!(0)), "{back:?}");
    notices.push(notice(&back));
    notices.push(notice(&client.run("echo again")));
    let typed = notices.iter().filter(|notice| notice.contains("a human has typed"));
    assert_eq!(typed.count(), 1, "what was typed is told once: {notices:?}");
}

#[test]
fn at_a_prompt_no_agent_types_while_a_human_does_and_what_the_human_did_is_there_afterwards() {
    let wharf = Wharf::new();
    let mut client = client(&wharf);
    assert_eq!(client.run("echo ready").content(), "ready");
    let mut seat = human(&wharf);
    // Looking on takes nothing.
    assert_eq!(client.run("echo both").content(), "both");
    seat.see("both");
    seat.type_keys("cd /; z=seven; echo human\\ was\\ here\r");
    seat.see("you have taken over");
    seat.see("human was here");
    assert_held(&client.run("touch typed-by-the-agent"));
    let listed = client.call("terminal_list", json!({}));
    assert_eq!(listed.get("terminals")[0]["held_by_human"], true, "{listed:?}");
    assert!(listed.text.contains(" · held by a human · "), "{}", listed.text);
    leave(seat);
    let back = client.run("echo $z; pwd");
    assert_eq!(back.content(), "seven\n/");
    assert!(notice(&back).contains("a human has typed"), "{back:?}");
    // Which command, how it ended, and how to read it.
    let said = "[a human ran `cd /; z=seven; echo human\\ was\\ here`, which has ended with exit code 0: terminal_read {";
    assert!(back.text.contains(said), "{}", back.text);
    let (tool, arguments) = hints(&back.text).remove(0).unwrap();
    let read = client.call(&tool, arguments);
    assert_eq!((read.content(), read.get("exit_code")), ("human was here", &json!(0)), "{read:?}");
    let listed = client.call("terminal_list", json!({}));
    assert!(listed.get("terminals")[0].get("held_by_human").is_none(), "{listed:?}");
    assert!(!client.run("true").text.contains("human"), "told once");
    assert!(!wharf.scratch().join("typed-by-the-agent").exists(), "it was typed all the same");
}

#[test]
fn a_human_who_is_killed_gives_the_shell_back() {
    let wharf = Wharf::new();
    let mut client = client(&wharf);
    assert_eq!(client.run("echo ready").content(), "ready");
    let mut seat = human(&wharf);
    seat.type_keys("echo here\r");
    seat.see("you have taken over");
    assert_held(&client.run("echo no"));
    signal(seat.child(), Signal::KILL);
    // The kernel takes the hold away when the process is gone, which is not when the signal was sent.
    eventually(|| !client.run("echo back").is_error);
    assert_eq!(client.run("echo again").content(), "again");
}
