//! `wharf logs`: from any byte, any line, and what is no longer there is counted.

use crate::harness::Wharf;
use crate::pty::Seat;

#[test]
fn logs_begin_where_they_are_asked_to() {
    let wharf = Wharf::new();
    wharf.ok(["run", "-c", "seq 1 5"]);
    let id = wharf.ids()[0].clone();
    for (args, out) in [
        (&["--from", "4"][..], "3\n4\n5\n"),
        (&["--from", "-3"], "\n5\n"),
        (&["--from", "-300"], "1\n2\n3\n4\n5\n"),
        (&["--from", "300"], ""),
        (&["--tail", "2"], "4\n5\n"),
        (&["-n", "0"], ""),
        (&["-n", "99"], "1\n2\n3\n4\n5\n"),
    ] {
        assert_eq!(wharf.ok(["logs", &id].into_iter().chain(args.iter().copied())), out, "{args:?}");
    }
}

#[test]
fn a_last_line_that_is_not_finished_is_a_line() {
    let wharf = Wharf::new();
    wharf.ok(["run", "-c", "printf 'a\\nb\\nc'"]);
    assert_eq!(wharf.ok(["logs", "-n", "2", &wharf.ids()[0]]), "b\nc");
}

#[test]
fn many_lines_are_found_from_the_end_of_much_output() {
    let wharf = Wharf::new();
    wharf.ok(["run", "-c", "seq 1 200000"]);
    let out = wharf.ok(["logs", "-n", "50000", &wharf.ids()[0]]);
    assert!(out.starts_with("150001\n") && out.ends_with("\n200000\n"));
}

#[test]
fn dropped_bytes_are_counted_exactly() {
    let wharf = Wharf::new();
    wharf.ok(["run", "--json", "--keep", "64K", "-c", "seq 1 100000"]);
    let all: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
    let done = wharf.call(["logs", &wharf.ids()[0]]);
    let dropped = all.len() - done.out.len();
    assert!(dropped > 100_000 && all.ends_with(&done.out));
    let digits: String = done.err.chars().take_while(|c| *c != 'b').filter(char::is_ascii_digit).collect();
    assert_eq!(digits, dropped.to_string(), "{}", done.err);
    assert!(done.err.ends_with(&format!(" bytes were dropped before offset {dropped}\n")), "{}", done.err);
}

#[test]
fn a_terminal_is_shown_only_what_is_harmless() {
    let wharf = Wharf::new();
    wharf.ok(["run", "-c", r"printf 'a\033]52;c;ZXZpbA==\007b\033[2Jc\033[31md\033[0m end\n'"]);
    let id = wharf.ids()[0].clone();
    let seat = Seat::take(&wharf, ["logs", &id], (80, 24));
    seat.see("abc\x1b[31md\x1b[0m end");
    assert_eq!(seat.leave(), Some(0));
    let seat = Seat::take(&wharf, ["logs", "--raw", &id], (80, 24));
    seat.see("\x1b]52;c;ZXZpbA==\x07b\x1b[2J");
    assert_eq!(seat.leave(), Some(0));
}
