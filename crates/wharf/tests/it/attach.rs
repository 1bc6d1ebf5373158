//! Somebody at a real terminal.

use crate::harness::{Wharf, signal};
use crate::pty::Seat;
use rustix::process::Signal;

const DETACH: &str = "\x1d";

#[test]
fn a_late_joiner_sees_what_is_there_types_and_leaves_it_running() {
    let wharf = Wharf::new();
    let id = wharf.detach(["--pty", "-c", "echo on the screen; cat"]);
    wharf.wait_for_output(&id, "on the screen");
    let mut seat = Seat::take(&wharf, ["attach", &id[..6]], (80, 24));
    seat.see("on the screen");
    seat.type_keys("typed here\r");
    seat.see("typed here\r\ntyped here");
    assert!(seat.is_raw());
    seat.type_keys(DETACH);
    seat.see("running");
    assert_eq!(seat.leave(), Some(0));
    assert!(wharf.ok(["ls", "--json"]).contains("\"running\""));
    let seat = Seat::take(&wharf, ["attach", &id], (80, 24));
    seat.see("typed here");
    wharf.ok(["kill", &id]);
    assert_eq!(seat.leave(), Some(143));
}

#[test]
fn the_size_of_the_window_arrives_at_once_and_when_it_changes() {
    let wharf = Wharf::new();
    // Not by a trap for WINCH: a shell that is busy with one such signal misses the next.
    let line = "echo ready; while :; do new=$(stty size); test \"$new\" = \"$old\" || echo $new; old=$new; sleep 0.05; done";
    let id = wharf.detach(["--pty", "--size", "80x24", "-c", line]);
    wharf.wait_for_output(&id, "ready");
    let mut seat = Seat::take(&wharf, ["attach", &id], (100, 30));
    seat.see("30 100");
    seat.resize((120, 40));
    seat.see("40 120");
    seat.type_keys(DETACH);
    assert_eq!(seat.leave(), Some(0));
}

#[test]
fn attach_ends_as_the_command_ends_and_says_how() {
    let wharf = Wharf::new();
    let id = wharf.detach(["--pty", "--", "sh"]);
    let mut seat = Seat::take(&wharf, ["attach", &id], (80, 24));
    seat.type_keys("exit 5\r");
    seat.see("ended with exit code 5");
    assert_eq!(seat.leave(), Some(5));
    let seat = Seat::take(&wharf, ["attach", &id], (80, 24));
    seat.see("wharf logs");
    assert_eq!(seat.leave(), Some(1), "there is nothing to sit at any more");
}

#[test]
fn what_the_command_switched_on_is_switched_off_when_leaving() {
    let wharf = Wharf::new();
    let id = wharf.detach(["--pty", "-c", r"printf '\033[?1049h\033[?2004h\033[?25lfull screen'; cat"]);
    wharf.wait_for_output(&id, "full screen");
    let mut seat = Seat::take(&wharf, ["attach", &id], (80, 24));
    seat.see("\x1b[?1049h");
    seat.see("full screen");
    seat.type_keys(DETACH);
    seat.see("\x1b[?25h");
    seat.see("\x1b[?2004l");
    seat.see("\x1b[?1049l");
    assert_eq!(seat.leave(), Some(0));
}

#[test]
fn another_detach_key_can_be_chosen() {
    let wharf = Wharf::new();
    let id = wharf.detach(["--pty", "-c", "echo ready; cat"]);
    let mut seat = Seat::take(&wharf, ["attach", "--detach-key", "ctrl-a", &id], (80, 24));
    seat.see("ready");
    seat.type_keys("\x1d still here\r");
    seat.see("still here\r\n");
    seat.type_keys("\x01");
    assert_eq!(seat.leave(), Some(0));
}

#[test]
fn told_to_go_it_gives_the_terminal_back() {
    let wharf = Wharf::new();
    let id = wharf.detach(["--pty", "-c", "echo ready; cat"]);
    let seat = Seat::take(&wharf, ["attach", &id], (80, 24));
    seat.see("ready");
    signal(seat.child(), Signal::TERM);
    assert_eq!(seat.leave(), Some(143));
    assert!(wharf.ok(["ls", "--json"]).contains("\"running\""));
}

#[test]
fn a_plain_command_can_only_be_watched() {
    let wharf = Wharf::new();
    let gate = wharf.gate();
    let id = wharf.detach(["-c", &format!("echo watched; read x < {}; exit 2", gate.display())]);
    wharf.wait_for_output(&id, "watched");
    let seat = Seat::take(&wharf, ["attach", &id], (80, 24));
    seat.see("not on a PTY");
    seat.see("watched");
    crate::harness::open_gate(&gate);
    seat.see("ended with exit code 2");
    assert_eq!(seat.leave(), Some(2));
}

#[test]
fn without_a_terminal_to_sit_at_attach_says_what_else_to_do() {
    let wharf = Wharf::new();
    let id = wharf.detach(["--pty", "--", "cat"]);
    let done = wharf.call(["attach", &id]);
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("logs -f"), "{}", done.err);
}

#[test]
fn run_on_a_pty_is_interactive_where_somebody_sits() {
    let wharf = Wharf::new();
    let mut seat =
        Seat::take(&wharf, ["run", "--pty", "-c", "stty size; read x; echo got $x; exit 4"], (90, 20));
    seat.see("20 90");
    seat.type_keys("it\r");
    seat.see("got it");
    assert_eq!(seat.leave(), Some(4));
}

#[test]
fn whoever_detaches_from_run_leaves_it_running() {
    let wharf = Wharf::new();
    let mut seat = Seat::take(&wharf, ["run", "--pty", "-c", "echo ready; cat"], (80, 24));
    seat.see("ready");
    seat.type_keys(DETACH);
    seat.see("wharf attach");
    assert_eq!(seat.leave(), Some(0));
    assert!(wharf.ok(["ls", "--json"]).contains("\"running\""));
}
