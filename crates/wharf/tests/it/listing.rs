//! `wharf ls`, and what is kept for how long.

use crate::harness::{Wharf, json};

#[test]
fn the_living_come_first_and_states_are_told_in_words() {
    let wharf = Wharf::new();
    wharf.call(["run", "-c", "exit 3"]);
    wharf.call(["run", "-c", "kill -9 $$"]);
    wharf.call(["run", "--timeout", "100ms", "--", "sleep", "1000"]);
    wharf.detach(["--", "sleep", "1000"]);
    let out = wharf.ok(["ls"]);
    let lines: Vec<&str> = out.lines().skip(1).collect();
    for (line, state) in lines.iter().zip(["running", "timed out", "SIGKILL", "exit 3"]) {
        assert!(line[10..].starts_with(state), "{state}: {out}");
    }
    assert_eq!(lines.len(), 4);
    assert!(out.starts_with("ID "), "{out}");
    assert!(!out.contains('\x1b'), "no colours where there is no terminal");
}

#[test]
fn a_listing_is_an_array_of_records() {
    let wharf = Wharf::new();
    assert_eq!(wharf.ok(["ls", "--json"]), "[]\n");
    wharf.call(["run", "-c", "echo hi; exit 3"]);
    let record = json(&wharf.ok(["ls", "--json"]))[0].clone();
    assert_eq!(
        (&record["state"], &record["exit_code"], &record["bytes"]),
        (&json("\"ended\""), &json("3"), &json("3"))
    );
    assert_eq!((&record["alive"], &record["shell"]), (&json("false"), &json("true")));
    assert_eq!(record["command"], json("[\"echo hi; exit 3\"]"));
    assert_eq!((&record["origin"], &record["session"]), (&json("\"wharf run\""), &json("null")));
}

#[test]
fn only_the_last_ten_are_shown_unless_all_are_asked_for() {
    let wharf = Wharf::new();
    for _ in 0..12 {
        wharf.ok(["run", "--", "true"]);
    }
    let done = wharf.call(["ls"]);
    assert_eq!(done.out.lines().count(), 11);
    assert!(done.err.contains("2 more"), "{}", done.err);
    assert_eq!(wharf.ok(["ls", "-a"]).lines().count(), 13);
}

#[test]
fn a_command_cannot_draw_on_the_listing() {
    let wharf = Wharf::new();
    wharf.call(["run", "--", "echo", "\x1b[2J\nfake"]);
    let out = wharf.ok(["ls"]);
    assert_eq!(out.lines().count(), 2, "{out}");
    assert!(!out.contains('\x1b'));
}

#[test]
fn what_has_been_kept_long_enough_is_removed_in_passing() {
    let wharf = Wharf::new();
    run_to_its_very_end(&wharf);
    let listed = wharf.command(["ls", "--json"]).env("WHARF_KEEP_FOR", "0").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&listed.stdout), "[]\n");
    run_to_its_very_end(&wharf);
    let listed = wharf.command(["ls", "--json"]).env("WHARF_KEEP_TOTAL", "0").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&listed.stdout), "[]\n");
    let wrong = wharf.command(["ls"]).env("WHARF_KEEP_FOR", "long").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}

/// Following the output ends when the holder is gone too; before that nothing of a terminal is removed in passing.
fn run_to_its_very_end(wharf: &Wharf) {
    wharf.ok(["run", "--", "true"]);
    wharf.ok(["logs", "-f", &wharf.ids()[0]]);
}

#[test]
fn a_listing_shows_what_cannot_be_seen_and_does_nothing_to_a_terminal() {
    let wharf = Wharf::new();
    wharf.call([
        "run",
        "-c",
        "true # \u{202e}x\u{e0041}\u{9b}6n\x1b]52;c;eA==\x07 \u{645}\u{6cc}\u{200c}\u{62e}",
    ]);
    let out = wharf.ok(["ls"]);
    let shown = "# ⟨U+202E⟩x⟨U+E0041⟩⟨U+009B⟩6n⟨U+001B⟩]52;c;eA==⟨U+0007⟩ \u{645}\u{6cc}\u{200c}\u{62e}";
    assert!(out.contains(shown), "{out:?}");
    // In records every value is as it is, and nothing of it reaches a terminal.
    let out = wharf.ok(["ls", "--json"]);
    assert!(!out.contains(['\u{202e}', '\u{9b}', '\u{e0041}']), "{out:?}");
    let command = json(&out)[0]["command"].clone();
    assert!(command.to_string().contains("\u{202e}x\u{e0041}\u{9b}6n"), "{command}");
}
