//! Names against what tmux sent for them, and near misses.

use super::{Key, typed};
use crate::view::Modes;

const PLAIN: Modes =
    Modes { application_cursor: false, application_keypad: false, bracketed_paste: false, alternate: false };
const APPLICATION: Modes = Modes { application_cursor: true, application_keypad: true, ..PLAIN };
const PASTE: Modes = Modes { bracketed_paste: true, ..PLAIN };

fn sent(name: &str, modes: Modes) -> String {
    let bytes = Key::parse(name).unwrap_or_else(|error| panic!("{error}")).bytes(modes);
    String::from_utf8(bytes).unwrap()
}

/// `\x1b` and `\\` as they are meant.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap().to_owned();
    while let Some(part) = parts.next() {
        match part.strip_prefix('x').and_then(|hex| hex.split_at_checked(2)) {
            Some((hex, rest)) => {
                plain.push(char::from(u8::from_str_radix(hex, 16).unwrap()));
                plain.push_str(rest);
            }
            None => {
                assert_eq!(part, "", "an escape that is not in use");
                plain.push('\\');
                plain.push_str(parts.next().unwrap());
            }
        }
    }
    plain
}

#[test]
fn every_name_sends_what_tmux_sends() {
    let lines = include_str!("tmux.txt").lines().filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for line in lines {
        let (name, bytes) = line.split_once(' ').unwrap();
        let bytes: Vec<String> = bytes.split(' ').map(unescaped).collect();
        let [normal, rest @ ..] = bytes.as_slice() else { panic!("{line}") };
        assert_eq!(&sent(name, PLAIN), normal, "{name}");
        assert_eq!(&sent(name, APPLICATION), rest.first().unwrap_or(normal), "{name} in application modes");
        count += 1;
    }
    assert!(count > 300, "only {count} names");
}

#[test]
fn where_tmux_has_other_bytes_or_none_they_are_those_of_xterm() {
    for (name, plain, application) in [
        ("Home", "\x1b[H", "\x1bOH"),
        ("End", "\x1b[F", "\x1bOF"),
        ("KPEnter", "\r", "\x1bOM"),
        ("S-Tab", "\x1b[Z", "\x1b[Z"),
        ("S-BTab", "\x1b[Z", "\x1b[Z"),
        ("C-Enter", "\r", "\r"),
        ("S-Enter", "\r", "\r"),
        ("C-BSpace", "\x08", "\x08"),
        ("C-M-Enter", "\x1b\r", "\x1b\r"),
        ("S-a", "A", "A"),
        ("M-S-a", "\x1bA", "\x1bA"),
        ("C-3", "\x1b", "\x1b"),
        ("C-7", "\x1f", "\x1f"),
    ] {
        assert_eq!(
            (sent(name, PLAIN), sent(name, APPLICATION)),
            (plain.into(), application.into()),
            "{name}"
        );
    }
}

#[test]
fn a_wrong_name_is_answered_with_the_right_one() {
    for (wrong, right) in [
        ("Ctrl-C", "C-c"),
        ("CTRL+C", "C-c"),
        ("ctrl-c", "C-c"),
        ("Ctrl + C", "C-c"),
        ("ctrl c", "C-c"),
        ("^C", "C-c"),
        ("^[", "C-["),
        ("c-c", "C-c"),
        ("<C-c>", "C-c"),
        ("<c-c>", "C-c"),
        ("Control-x", "C-x"),
        ("Ctrl-Shift-C", "C-c"),
        ("C-S-c", "C-c"),
        ("C-C-c", "C-c"),
        ("Ctrl-Alt-Delete", "C-M-DC"),
        ("Ctrl-Right", "C-Right"),
        ("Ctrl+-", "C--"),
        ("Alt-f", "M-f"),
        ("alt+F4", "M-F4"),
        ("Meta-x", "M-x"),
        ("Shift-Tab", "BTab"),
        ("Shift+F6", "S-F6"),
        ("Esc", "Escape"),
        ("ESC", "Escape"),
        ("<Esc>", "Escape"),
        ("escape", "Escape"),
        ("Return", "Enter"),
        ("ENTER", "Enter"),
        ("{ENTER}", "Enter"),
        ("<CR>", "Enter"),
        ("Backspace", "BSpace"),
        ("Delete", "DC"),
        ("Del", "DC"),
        ("Insert", "IC"),
        ("Spacebar", "Space"),
        ("C-space", "C-Space"),
        ("PGUP", "PPage"),
        ("Page Up", "PPage"),
        ("page_down", "NPage"),
        ("PgDown", "NPage"),
        ("ArrowUp", "Up"),
        ("up arrow", "Up"),
        ("f1", "F1"),
        ("home", "Home"),
    ] {
        let error = Key::parse(wrong).expect_err(wrong);
        assert_eq!(error.meant.as_deref(), Some(right), "{wrong}");
        assert_eq!(error.to_string(), format!("{wrong:?} is not the name of a key; it is {right}"));
        assert_eq!(Key::parse(right).unwrap().to_string(), right);
    }
}

#[test]
fn what_only_looks_like_a_key_is_none_and_nothing_is_suggested() {
    for text in [
        "",
        " ",
        "a",
        "y",
        "7",
        "é",
        "C-compile",
        "C-compile --help",
        "F1x",
        "F0",
        "F13",
        "M-",
        "C-",
        "S-",
        "-",
        "^",
        "^^C",
        "Homes",
        "ls",
        "make",
        "C-M-",
        "C-é",
        "C-1",
        "S-1",
        "C-KP1",
        "<>",
        "C",
        "M",
        "Ctrl",
        "Up Up",
        "C- ",
        "tabs",
        "C-\u{7}",
        "M-\u{7}",
        "s-expression",
        "c-ares",
        "alt-tabs",
        "up -d",
        "next dev",
    ] {
        let error = Key::parse(text).expect_err(text);
        assert_eq!((error.name.as_str(), error.meant), (text, None), "{text:?}");
    }
}

#[test]
fn names_of_the_same_key_are_the_same_key() {
    for (one, other) in [
        ("PgUp", "PPage"),
        ("PageUp", "PPage"),
        ("PgDn", "NPage"),
        ("PageDown", "NPage"),
        ("S-Tab", "BTab"),
        ("M-C-x", "C-M-x"),
        ("C-C", "C-c"),
        ("S-M-Up", "M-S-Up"),
    ] {
        assert_eq!(Key::parse(one), Key::parse(other), "{one} {other}");
    }
}

#[test]
fn typed_text_has_enter_for_newline_and_else_stays_as_it_is() {
    for (text, keys) in [
        ("", ""),
        ("yes", "yes"),
        ("a\nb", "a\rb"),
        ("a\r\nb\n", "a\rb\r"),
        ("\ttab\x03\x1b[A é😀", "\ttab\x03\x1b[A é😀"),
        ("\x1b[201~", "\x1b[201~"),
    ] {
        assert_eq!(typed(text, PLAIN), keys.as_bytes(), "{text:?}");
    }
}

#[test]
fn several_lines_are_pasted_where_the_program_asked_for_that() {
    for (text, keys) in [
        ("one line", "one line"),
        ("one line\n", "one line\r"),
        ("a\nb", "\x1b[200~a\rb\x1b[201~"),
        ("a\nb\n", "\x1b[200~a\rb\r\x1b[201~"),
        ("\nb", "\x1b[200~\rb\x1b[201~"),
        // Neither as it is, nor put together by taking one out.
        ("a\x1b[201~; rm\n-r", "\x1b[200~a; rm\r-r\x1b[201~"),
        ("a\x1b[20\x1b[201~1~b\nc", "\x1b[200~ab\rc\x1b[201~"),
    ] {
        assert_eq!(typed(text, PASTE), keys.as_bytes(), "{text:?}");
    }
}
