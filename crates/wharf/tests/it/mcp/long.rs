//! Very long outputs: exact answers from little memory, every line there to be read.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use super::client::Client;
use crate::harness::Wharf;
use serde_json::{Value, json};

/// Without optimisation more would take minutes, and so many tell the same.
const LINES: u64 = if cfg!(debug_assertions) { 600_000 } else { 3_000_000 };
/// Above what it takes at its start: the screen, 8 MB of lines, an answer, and what an allocator does not give back. All
/// lines would take 140 bytes each.
const MOST_MB: u64 = 50;

/// The most that a process has ever had in memory, in megabytes.
fn peak(client: &Client) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", client.child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1024
}

/// Waits until what runs has ended; the last answer.
fn finished(client: &mut Client, line: &str) -> Value {
    let mut ran = client.run(line);
    while ran.get("status") == "running" {
        ran = client.run("");
    }
    ran.structured
}

/// Bytes of these numbers, each on a line.
fn bytes(numbers: std::ops::RangeInclusive<u64>) -> u64 {
    numbers.map(|number| u64::from(number.ilog10()) + 2).sum()
}

#[test]
fn millions_of_lines_are_answered_exactly_and_held_nowhere() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    client.run("true");
    let before = peak(&client);
    let ran = finished(&mut client, &format!("seq 1 {LINES}"));
    assert_eq!(
        (&ran["total_lines"], &ran["total_bytes"]),
        (&json!(LINES), &json!(bytes(1..=LINES))),
        "{ran}"
    );
    let omitted = &ran["omitted"];
    let (from, to) = (omitted["from_line"].as_u64().unwrap(), omitted["to_line"].as_u64().unwrap());
    assert_eq!(omitted["bytes"], bytes(from..=to));
    let content = ran["content"].as_str().unwrap();
    assert!(content.ends_with(&format!("\n{LINES}")) && content.contains(&format!("\n{}\n", to + 1)));
    // What was left out, by the call that the answer names, from its middle, and from its end.
    let call = omitted["read"].as_str().unwrap().strip_prefix("terminal_read ").unwrap();
    let read = client.call("terminal_read", serde_json::from_str(call).unwrap());
    assert!(read.content().starts_with(&format!("{from}\n{}\n", from + 1)), "{read:?}");
    for line in [LINES / 2, to] {
        let read = client.call("terminal_read", json!({"from_line": line, "to_line": line}));
        assert_eq!((read.content(), read.get("total_lines")), (line.to_string().as_str(), &json!(LINES)));
    }
    let last = client.call("terminal_read", json!({"last": LINES}));
    assert_eq!(last.get("omitted")["from_line"], 1);
    assert_eq!(last.get("shown")["to_line"], LINES);
    // The same once it is not the newest.
    client.run("true");
    let found = client.call("terminal_read", json!({"command_id": 2, "search": format!("^{}$", LINES / 3)}));
    assert_eq!(found.content(), format!("{0}: {0}", LINES / 3));
    let last = client.call("terminal_read", json!({"command_id": 2, "last": 2}));
    assert_eq!(last.content(), format!("{}\n{LINES}", LINES - 1));
    let whole = client.call("terminal_read", json!({"command_id": 2}));
    assert_eq!((whole.content(), whole.get("omitted")), (content, omitted));
    assert!(peak(&client) - before < MOST_MB, "{before} MB at first, {} MB at most", peak(&client));
}

#[test]
fn each_answer_begins_where_the_one_before_ended_however_much_was_printed() {
    let wharf = Wharf::new();
    let gate = wharf.gate();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    // More than is held of lines, before the first answer and after it.
    let line = format!("seq 1 200000; read x < {}; seq 200001 400000", gate.display());
    let first = client.call("terminal_execute", json!({"command": line, "timeout": 0.5}));
    assert_eq!(first.get("status"), "running");
    // Whatever of the first part was told: the rest of it, then.
    client.call("terminal_wait", json!({"until": "pattern", "pattern": "^200000$"}));
    let id = client.send_call("terminal_execute", json!({"command": ""}));
    crate::harness::open_gate(&gate);
    let mut second = client.answer(id).structured;
    let mut news = second["content"].as_str().unwrap().to_owned();
    while second["status"] == "running" {
        second = client.run("").structured;
        news.push_str(second["content"].as_str().unwrap());
    }
    assert!(news.starts_with("200001\n200002\n"), "{}", &news[..news.len().min(200)]);
    assert_eq!(
        (&second["total_lines"], &second["total_bytes"]),
        (&json!(400_000), &json!(bytes(1..=400_000)))
    );
}

#[test]
fn a_line_is_told_once_by_calls_that_are_answered_and_not_by_those_that_are_cancelled() {
    const COUNT: u64 = 600;
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    client.run("true");
    let line = format!("for n in $(seq 1 {COUNT}); do echo $n; read -t 0.002 x < /dev/tty; done; echo end");
    let first = client.call("terminal_execute", json!({"command": line, "timeout": 0}));
    let mut told = vec![first.content().to_owned()];
    let look = json!({"command": "", "timeout": 0});
    let (mut cancelled, mut is_over) = (Vec::new(), false);
    while !is_over {
        let id = client.send_call("terminal_execute", look.clone());
        client.cancel(id);
        cancelled.push(id);
        // Two at once.
        let both = [0; 2].map(|_| client.send_call("terminal_execute", look.clone()));
        for id in both {
            let answer = client.answer(id);
            told.push(answer.content().to_owned());
            is_over |= answer.get("status") == "completed";
        }
    }
    // One that was answered before it was cancelled has told something, too.
    for message in client.kept().filter(|message| cancelled.iter().any(|id| message["id"] == *id)) {
        told.extend(message["result"]["structuredContent"]["content"].as_str().map(str::to_owned));
    }
    let mut lines: Vec<&str> =
        told.iter().flat_map(|text| text.lines()).filter(|line| *line != "end").collect();
    lines.sort_by_key(|line| line.parse::<u64>().unwrap());
    assert_eq!(lines, (1..=COUNT).map(|n| n.to_string()).collect::<Vec<_>>());
}

/// In all: the program, and of each shell its screen, the end of its newest output, and an answer.
const ALL_MB: u64 = 100;
/// Bytes without a line end. Without optimisation more would take minutes.
const ENDLESS: u64 = if cfg!(debug_assertions) { 32_000_000 } else { 200_000_000 };

#[test]
fn lines_without_an_end_take_little_memory_in_however_many_shells() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    let arguments = |shell: u32, command: &str| json!({"command": command, "terminal_id": format!("s{shell}"), "timeout": 60});
    let line = format!("head -c {ENDLESS} /dev/zero | tr '\\0' y");
    // All at once.
    let begun: Vec<u64> =
        (0..8).map(|shell| client.send_call("terminal_execute", arguments(shell, &line))).collect();
    for (shell, id) in (0..8).zip(begun) {
        let mut ran = client.answer(id);
        while ran.get("status") == "running" {
            ran = client.call("terminal_execute", arguments(shell, ""));
        }
        // Each megabyte is a line, and has an end.
        let lines = ENDLESS.div_ceil(1 << 20);
        assert_eq!(
            (ran.get("total_lines"), ran.get("total_bytes")),
            (&json!(lines), &json!(ENDLESS + lines)),
            "{ran:?}"
        );
        assert!(peak(&client) < ALL_MB, "{} MB after shell {shell}", peak(&client));
    }
}

#[test]
fn totals_are_exact_of_long_lines_that_come_fast() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    let ran = finished(&mut client, "yes $(head -c 5000 /dev/zero | tr '\\0' z) | head -n 40000; echo END");
    let totals = (&ran["total_lines"], &ran["total_bytes"]);
    // On a machine that is too slow for it, that they are not is said.
    let is_said = ran["notice"].to_string().contains("lower bound");
    assert!(totals == (&json!(40_001), &json!(200_040_004)) || is_said, "{ran}");
}
