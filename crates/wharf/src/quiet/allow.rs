//! The sequences that pass to a person's terminal.
//!
//! What is here paints, moves the cursor, or switches something on that is switched off again when the person leaves. A
//! sequence that is not here is dropped, so a new one of some terminal does nothing until somebody has looked at it.

use super::Reports;
use crate::sequence::{Csi, Osc, number};
use wharf_core::reveal;

/// More than any row is wide. Terminals repeat characters one by one, as often as they are told.
const MOST_REPEATS: u32 = 512;
/// The largest number that all terminals can hold.
const MOST: u32 = 65_535;

/// Bell, backspace, tab, line feed and its like, return, and shifts between character sets.
pub(super) fn control(byte: u8) -> Option<u8> {
    matches!(byte, 0x07..=0x0f).then_some(byte)
}

pub(super) fn escape(between: &[u8], last: u8, reports: Reports) -> bool {
    match (between, last) {
        // The cursor saved and restored, lines and columns scrolled, a tab stop set, everything set back.
        (b"", b'6'..=b'9' | b'D' | b'E' | b'H' | b'M' | b'c') => true,
        // The keypad.
        (b"", b'=' | b'>') => reports != Reports::None,
        // Character sets: ASCII, British, line drawing, alternates, that of the Linux console.
        (b"(" | b")" | b"*" | b"+", b'0' | b'1' | b'2' | b'A' | b'B' | b'U') => true,
        // Lines of double height or width, and the test screen.
        (b"#", b'3'..=b'6' | b'8') => true,
        _ => false,
    }
}

pub(super) fn csi(csi: &Csi<'_>, reports: Reports, shown: &mut Vec<u8>) {
    // Colours and styles of underlines have parts.
    if (csi.marker, csi.between, csi.last) == (None, b"", b'm') {
        return csi.write(shown);
    }
    let Some(numbers) = csi.numbers() else { return };
    match (csi.marker, csi.last) {
        (None, b'b') => repeat(csi, &numbers, shown),
        (None, b'h' | b'l') if csi.between.is_empty() => modes(csi, &numbers, |mode| mode == 4, shown),
        (Some(b'?'), b'h' | b'l') if csi.between.is_empty() => {
            modes(csi, &numbers, |mode| private_mode(mode, reports), shown);
        }
        _ if passes(csi, &numbers, reports) => write(csi, &numbers, shown),
        _ => {}
    }
}

fn passes(csi: &Csi<'_>, numbers: &[u32], reports: Reports) -> bool {
    let first = numbers.first().copied().unwrap_or(0);
    match (csi.marker, csi.between, csi.last) {
        // The cursor; insert, delete, erase, by characters and lines; margins above and below.
        (None, b"", b'@'..=b'I' | b'K'..=b'M' | b'P' | b'X' | b'Z' | b'`' | b'a' | b'd'..=b'f' | b'r') => {
            true
        }
        (None, b"", b'J') => first <= 3,
        (None, b"", b'S') => true,
        // With more numbers it begins to track the mouse, and waits for an answer.
        (None, b"", b'T') => numbers.len() <= 1,
        // Tab stops.
        (None, b"", b'g') => matches!(first, 0 | 3),
        (None, b"", b'W') => matches!(first, 0 | 2 | 5),
        (Some(b'?'), b"", b'W') => first == 5,
        // The cursor saved, or margins at the left and right; the cursor restored.
        (None, b"", b's') => numbers.len() <= 2,
        (None, b"", b'u') => numbers.is_empty(),
        // The title laid aside and taken back; all other operations on the window ask or move it.
        (None, b"", b't') => matches!(first, 22 | 23),
        // The shape of the cursor; modes set back.
        (None, b" ", b'q') => first <= 6,
        (None, b"!", b'p') => numbers.is_empty(),
        // Encodings of the keyboard.
        (Some(b'>'), b"", b'm' | b'n') => reports != Reports::None && first == 4,
        (Some(b'>' | b'<' | b'='), b"", b'u') => reports != Reports::None,
        _ => false,
    }
}

/// As it was written, unless a number is larger than some terminals bear.
fn write(csi: &Csi<'_>, numbers: &[u32], shown: &mut Vec<u8>) {
    if numbers.iter().all(|number| *number <= MOST) {
        return csi.write(shown);
    }
    let numbers: Vec<String> = numbers.iter().map(|number| number.min(&MOST).to_string()).collect();
    Csi { parameters: &numbers.join(";"), ..*csi }.write(shown);
}

fn repeat(csi: &Csi<'_>, numbers: &[u32], shown: &mut Vec<u8>) {
    match (csi.between, numbers) {
        (b"", [] | [..=MOST_REPEATS]) => csi.write(shown),
        (b"", [_]) => Csi { parameters: &MOST_REPEATS.to_string(), ..*csi }.write(shown),
        _ => {}
    }
}

/// Those among some modes that pass.
fn modes(csi: &Csi<'_>, numbers: &[u32], passes: impl Fn(u32) -> bool, shown: &mut Vec<u8>) {
    let left: Vec<String> = numbers.iter().filter(|mode| passes(**mode)).map(u32::to_string).collect();
    if left.len() == numbers.len() && !left.is_empty() {
        csi.write(shown);
    } else if !left.is_empty() {
        Csi { parameters: &left.join(";"), ..*csi }.write(shown);
    }
}

fn private_mode(mode: u32, reports: Reports) -> bool {
    match mode {
        // Smooth scrolling, inverted screen, origin, wrapping, blinking and visible cursor, wrapping backwards, left and right
        // margins.
        4..=7 | 12 | 25 | 45 | 69 => true,
        // Alternate screens and the cursor saved with them; updates as a whole; characters of several parts.
        47 | 1047..=1049 | 2026 | 2027 => true,
        // Cursor keys, keypad, meta key, pasting.
        1 | 66 | 1034 | 2004 => reports != Reports::None,
        // The mouse, its encodings, and its wheel as keys. Not 1001, which lets a terminal wait for an answer.
        9 | 1000 | 1002 | 1003 | 1005..=1007 | 1015 | 1016 => reports != Reports::None,
        1004 => reports == Reports::MouseAndFocus,
        _ => false,
    }
}

pub(super) fn osc(osc: &Osc<'_>, shown: &mut Vec<u8>) {
    let body = String::from_utf8_lossy(osc.body);
    let (command, text) = body.split_once(';').unwrap_or((&body, ""));
    let Some(command) = number(command).filter(|_| !command.is_empty()) else { return };
    let text = match command {
        0..=2 if body.contains(';') => title(text),
        7 if is_directory(text) => text.to_owned(),
        8 if is_link(text) => text.to_owned(),
        133 if is_prompt_mark(text) => text.to_owned(),
        _ => return,
    };
    shown.extend_from_slice(format!("\x1b]{command};{text}").as_bytes());
    shown.extend_from_slice(osc.end);
}

/// Without controls, and with everything in it to be seen.
fn title(text: &str) -> String {
    reveal(&text.replace(|c: char| c.is_ascii_control(), "")).into_owned()
}

/// The address of a directory, which has no blanks.
fn is_directory(text: &str) -> bool {
    text.starts_with("file://") && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Parameters, and an address or none, which ends a link.
fn is_link(text: &str) -> bool {
    let proper = |c: char| !c.is_whitespace() && !c.is_control() && c != '\u{fffd}';
    text.contains(';') && text.chars().all(proper) && reveal(text) == text
}

/// Where a prompt, a line or its output begins or ends, with what shells tell about it.
fn is_prompt_mark(text: &str) -> bool {
    let (mark, rest) = text.split_at_checked(1).unwrap_or_default();
    let known = matches!(mark, "A" | "B" | "C" | "D" | "I" | "L" | "N" | "P");
    known
        && (rest.is_empty() || rest.starts_with(';'))
        && text.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
}
