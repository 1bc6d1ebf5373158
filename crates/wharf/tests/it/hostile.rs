//! A command that prints what it likes, and the terminal of whoever looks on.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::harness::Wharf;
use crate::pty::Seat;
use std::fs;

const DETACH: &str = "\x1d";
const SIZE: (u16, u16) = (80, 24);

/// Questions, the clipboard, remote control, a printer and what a multiplexer would hand on; then a string that is never
/// ended.
const HOSTILE: &[u8] = b"begins\r\n\x1b[6n\x1b[018t\x1b[c\x1b]052;c;eA==\x07\x1b]52;c;eA==\x1b\\\x1b]11;?\x07\
    \x1bP0$qm\x1b\\\x1bP@kitty-cmd{}\x1b\\\x1bPtmux;\x1b\x1b]52;c;eA==\x07\x1b\\\x1b[5i\x1b]1337;Copy=:eA==\x07\
    \x1b_Ga=q;\x1b\\\x05\xc2\x9b6n\x1b]2;safe title\x07\x1b[31mends\x1b[0m\r\n\x1b]0;unended";

fn file(wharf: &Wharf) -> String {
    let path = wharf.scratch().join("hostile");
    fs::write(&path, HOSTILE).unwrap();
    path.display().to_string()
}

/// Nothing of it but text, colours and a title, and no string that is open.
#[track_caller]
fn check(shown: &str) {
    for never in [
        "\x1b[6n", "18t", "\x1b[c", "52;", "eA==", "11;?", "\x1bP", "kitty", "tmux", "[5i", "1337", "\x1b_",
        "\x05", "\u{9b}", "unended",
    ] {
        // What was typed or is said by wharf itself has none of these.
        assert!(!shown.contains(never), "{never:?} in {shown:?}");
    }
    for strings in shown.split("\x1b]").skip(1) {
        let end = strings.find(['\x07', '\x1b']).map(|at| &strings[at..]);
        assert!(end.is_some_and(|end| end.starts_with('\x07') || end.starts_with("\x1b\\")), "{shown:?}");
    }
}

#[test]
fn run_shows_a_person_only_what_paints() {
    let wharf = Wharf::new();
    for pty in [&[][..], &["--pty"]] {
        let line = ["run"].into_iter().chain(pty.iter().copied()).chain(["--", "cat"]);
        let path = file(&wharf);
        let seat = Seat::take(&wharf, line.chain([path.as_str()]), SIZE);
        seat.see("ends");
        seat.see("\x1b]2;safe title\x07");
        let shown = seat.leave_shown(Some(0));
        check(&shown);
    }
    assert_eq!(
        wharf.call(["run", "--", "cat", &file(&wharf)]).out.as_bytes(),
        String::from_utf8_lossy(HOSTILE).as_bytes()
    );
}

#[test]
fn what_a_command_switches_on_where_nobody_types_is_not_switched_on_or_off_again() {
    let wharf = Wharf::new();
    let line = r"printf '\033[?1000h\033[?2004h\033[?1049hfull\033[?25l'";
    let seat = Seat::take(&wharf, ["run", "-c", line], SIZE);
    seat.see("full");
    let shown = seat.leave_shown(Some(0));
    assert!(!shown.contains("1000") && !shown.contains("2004"), "{shown:?}");
    assert!(shown.ends_with("\x1b[?25h\x1b[?1049l"), "{shown:?}");
}

#[test]
fn attach_shows_only_what_paints_of_the_past_and_of_what_comes() {
    let wharf = Wharf::new();
    let (path, gate) = (file(&wharf), wharf.gate());
    let line = format!(
        "cat {path}; printf '\\030again\\r\\n'; read x < {}; cat {path}; printf '\\030last'; cat",
        gate.display()
    );
    let id = wharf.detach(["--pty", "-c", &line]);
    wharf.wait_for_output(&id, "again");
    let mut seat = Seat::take(&wharf, ["attach", &id], SIZE);
    seat.see("again");
    crate::harness::open_gate(&gate);
    seat.see("last");
    check(&seat.shown());
    seat.type_keys(DETACH);
    check(&seat.leave_shown(Some(0)));
}

#[test]
fn sh_and_logs_show_only_what_paints() {
    let wharf = Wharf::new();
    let path = file(&wharf);
    let mut seat = Seat::take_in(&wharf.scratch(), &wharf, ["sh", "--shell", "bash"], SIZE);
    seat.see("your own");
    seat.type_keys(&format!("cat {path}; printf '\\030'; echo l\"\"ast\r"));
    seat.see("last");
    seat.type_keys(DETACH);
    check(&seat.leave_shown(Some(0)));
    let id = wharf.ids().remove(0);
    let seat = Seat::take(&wharf, ["logs", &id], SIZE);
    seat.see("last");
    let shown = seat.leave_shown(Some(0));
    check(&shown);
    assert!(!shown.contains("safe title") && shown.contains("\x1b[31mends\x1b[0m"), "{shown:?}");
    let seat = Seat::take(&wharf, ["logs", "--raw", &id], SIZE);
    seat.see("\x1b]052;c;eA==\x07");
    seat.leave_shown(Some(0));
}

/// Asks for the cursor, reads the answer, and whether there is another.
const ASK: &str = r#"stty -echo; printf 'xyz\033[6n'; IFS= read -r -d R -t 20 a; printf '%q' "$a"; if read -r -n 1 -t 1 b; then echo " and more"; else echo " and no more"; fi"#;

#[test]
fn what_a_command_asks_is_answered_once_by_those_who_sit_at_it() {
    let wharf = Wharf::new();
    let seat = Seat::take(&wharf, ["run", "--pty", "--", "bash", "-c", ASK], SIZE);
    seat.see("$'\\E[1;4' and no more");
    assert!(!seat.shown().contains("\x1b[6n"));
    assert_eq!(seat.leave(), Some(0));
    // Two of them, and questions of before that nobody waits for any more.
    let gate = wharf.gate();
    let line = format!("printf 'ready\\033[6n\\r\\n'; read x < {}; {ASK}; cat", gate.display());
    let id = wharf.detach(["--pty", "--", "bash", "-c", &line]);
    wharf.wait_for_output(&id, "ready");
    let mut seats = [(); 2].map(|()| Seat::take(&wharf, ["attach", &id], SIZE));
    seats.iter().for_each(|seat| seat.see("ready"));
    crate::harness::open_gate(&gate);
    for seat in &mut seats {
        seat.see("$'\\E[2;4' and no more");
        seat.type_keys(DETACH);
    }
    seats.into_iter().for_each(|seat| assert_eq!(seat.leave(), Some(0)));
}
