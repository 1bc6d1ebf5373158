//! Every hint that an answer gives does what it says when it is followed to the letter.
//!
//! Each test brings the product to say something and then makes exactly the calls that it named.

use super::client::{Answer, Client};
use super::scenario::hints;
use crate::harness::Wharf;
use serde_json::{Value, json};

fn client(wharf: &Wharf) -> Client {
    let mut client = Client::start(wharf, &[]);
    client.initialize();
    client
}

/// All calls that it names, the first word of each command.
fn named(answer: &Answer) -> Vec<(String, Value)> {
    hints(&answer.text).into_iter().map(Result::unwrap).collect()
}

/// Makes the call that this answer names with these words in it.
fn follow(client: &mut Client, answer: &Answer, with: &str) -> Answer {
    let found =
        named(answer).into_iter().find(|(tool, arguments)| format!("{tool} {arguments}").contains(with));
    let (tool, arguments) = found.unwrap_or_else(|| panic!("nothing with {with} in {}", answer.text));
    let followed = client.call(&tool, arguments);
    assert!(!followed.is_error, "{with}: {}", followed.text);
    followed
}

/// A program that waits, with the kind that it is said to wait for.
fn waiting(client: &mut Client, line: &str, kind: &str) -> Answer {
    let answer = client.run(line);
    assert_eq!(answer.get("awaiting")["kind"], kind, "{}", answer.text);
    answer
}

#[test]
fn a_question_is_answered_by_the_call_that_is_named() {
    let wharf = Wharf::new();
    let mut client = client(&wharf);
    let asked = waiting(&mut client, "printf 'name: '; read n; echo \"[$n]\"", "text");
    assert!(follow(&mut client, &asked, "is_input").content().ends_with("[…]"));
    let asked = waiting(&mut client, "printf 'Go on? [y/N] '; read n; echo \"[$n]\"", "confirm");
    assert!(follow(&mut client, &asked, "is_input").content().ends_with("[y]"));
}

#[test]
fn programs_that_take_keys_are_left_by_the_calls_that_are_named() {
    let wharf = Wharf::new();
    let mut client = client(&wharf);
    let pager = waiting(&mut client, "seq 500 | LESSHISTFILE=- less", "pager");
    assert_eq!(follow(&mut client, &pager, "\"q\"").get("status"), "completed");
    let repl = waiting(&mut client, "python3", "repl");
    assert!(follow(&mut client, &repl, "is_input").content().contains("SyntaxError"));
    assert_eq!(follow(&mut client, &repl, "C-d").get("status"), "completed");
    let editor = waiting(&mut client, "vim -u NONE -i NONE -n f.txt", "editor");
    follow(&mut client, &editor, "…");
    follow(&mut client, &editor, "Escape");
    assert_eq!(follow(&mut client, &editor, ":q!").get("status"), "completed");
    let line = "stty raw -echo; dd bs=1 count=3 2>/dev/null; sleep 100; stty sane";
    let keys = waiting(&mut client, line, "keys");
    follow(&mut client, &keys, "\"Down\"");
    follow(&mut client, &keys, "…");
    client.call("terminal_close", json!({"terminal_id": "default"}));
}

#[test]
fn a_secret_is_the_persons_and_the_rest_of_the_hint_works() {
    let wharf = Wharf::new();
    let mut client = client(&wharf);
    let secret = waiting(&mut client, "stty -echo; read n; stty echo", "secret");
    let hint = secret.get("awaiting")["hint"].as_str().unwrap().to_owned();
    let id = hint.split("`wharf sh ").nth(1).unwrap().split('`').next().unwrap();
    // By its id a person finds it from anywhere.
    let mut seat = crate::pty::Seat::take_in(std::path::Path::new("/"), &wharf, ["sh", id], (80, 24));
    seat.see("typing takes it over");
    seat.type_keys("\x1d");
    assert_eq!(seat.leave(), Some(0));
    // It waits for the person, not for the prompt.
    let (tool, mut arguments) = named(&secret).remove(0);
    arguments["timeout"] = json!(1);
    let waited = client.call(&tool, arguments);
    assert_eq!(waited.get("awaiting")["kind"], "secret", "{}", waited.text);
    assert!(
        waited.get("duration_ms").as_u64() >= secret.get("duration_ms").as_u64().map(|ms| ms + 900),
        "{waited:?}"
    );
    assert_eq!(follow(&mut client, &secret, "C-c").get("status"), "completed");
}

#[test]
fn what_runs_is_waited_for_answered_and_interrupted_by_the_calls_that_are_named() {
    let wharf = Wharf::new();
    let mut client = client(&wharf);
    let running = client.call("terminal_execute", json!({"command": "cat >f; sleep 100", "timeout": 0}));
    assert_eq!(follow(&mut client, &running, "\"command\":\"\"").get("status"), "running");
    let busy = client.run("echo no");
    assert_eq!(busy.get("error"), "busy", "{busy:?}");
    let busy = Answer { is_error: false, ..busy };
    follow(&mut client, &busy, "is_input");
    assert_eq!(follow(&mut client, &busy, "\"command\":\"\"").get("status"), "running");
    assert_eq!(follow(&mut client, &busy, "C-c").get("status"), "completed");
    assert_eq!(std::fs::read_to_string(wharf.scratch().join("f")).unwrap(), "…\n");
}

#[test]
fn what_is_not_shown_is_read_and_words_are_typed_by_the_calls_that_are_named() {
    let wharf = Wharf::new();
    let mut client = client(&wharf);
    let long = client.run("seq 1 20000");
    let first = long.get("omitted")["from_line"].as_u64().unwrap();
    assert!(follow(&mut client, &long, "terminal_read").content().starts_with(&format!("{first}\n")));
    let found = client.call("terminal_read", json!({"search": "7", "max_bytes": 1024}));
    let next = follow(&mut client, &found, "\"search\"");
    assert!(next.content().starts_with(&format!("{}: ", found.get("omitted")["from_line"])), "{next:?}");
    let wide = client.run("head -c 50000 /dev/zero | tr '\\0' x");
    assert!(follow(&mut client, &wide, "column").content().starts_with('x'));
    client.run("cat >f");
    let pressed = client.call("terminal_execute", json!({"command": "Tab", "is_input": true, "timeout": 0}));
    follow(&mut client, &pressed, "literal");
    client.call("terminal_execute", json!({"command": "C-d"}));
    assert_eq!(std::fs::read_to_string(wharf.scratch().join("f")).unwrap(), "\tTab\n");
    // A word that is nearly a key.
    client.run("cat >g");
    let wrong = Answer { is_error: false, ..client.run("Ctrl-D") };
    follow(&mut client, &wrong, "is_input");
    assert_eq!(client.run("C-d").get("exit_code"), 0);
    assert_eq!(std::fs::read_to_string(wharf.scratch().join("g")).unwrap(), "Ctrl-D\n");
}

#[test]
fn what_is_in_the_way_is_closed_or_opened_by_the_calls_that_are_named() {
    let wharf = Wharf::new();
    let mut client = client(&wharf);
    client.run("true");
    let there = Answer { is_error: false, ..client.call("terminal_open", json!({"terminal_id": "default"})) };
    assert_eq!(follow(&mut client, &there, "terminal_close").get("terminal_id"), "default");
    let missed = client.call("terminal_execute", json!({"command": "sleep 0.3; echo over", "timeout": 0}));
    assert_eq!(missed.get("status"), "running");
    client.call("terminal_wait", json!({"until": "pattern", "pattern": "over", "timeout": 0}));
    let next = loop {
        let next = client.run("true");
        if !next.is_error {
            break next;
        }
    };
    assert_eq!(follow(&mut client, &next, "terminal_read").content(), "over", "{}", next.text);
}
