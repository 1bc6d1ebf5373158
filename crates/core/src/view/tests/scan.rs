//! Marks found, forged and cut; what passes and what is dropped.

use super::{NONCE, Scanned, scan};

fn mark(body: &str) -> String {
    format!("\x1b]6973;{NONCE};{body}\x07")
}

/// The same result for every way to cut the bytes.
fn scanned(text: impl AsRef<[u8]>) -> Scanned {
    let whole = scan(text.as_ref(), usize::MAX);
    for piece in [1, 2, 3, 7, 64] {
        assert_eq!(scan(text.as_ref(), piece), whole, "in pieces of {piece}");
    }
    whole
}

fn bytes_of(text: impl AsRef<[u8]>) -> String {
    String::from_utf8(scanned(text).bytes).unwrap()
}

#[test]
fn a_mark_is_found_with_its_place_and_is_not_in_the_bytes() {
    let found = scanned(format!("ab{}cd", mark("A;1;x y")));
    assert_eq!(found.bytes, b"abcd");
    assert_eq!(found.marks, [("A;1;x y".to_owned(), 2, 2 + mark("A;1;x y").len() as u64)]);
}

#[test]
fn a_mark_may_end_in_a_string_terminator() {
    let found = scanned(format!("\x1b]6973;{NONCE};A;\u{e9}\x1b\\after"));
    assert_eq!((&found.bytes[..], &found.marks[0].0[..]), (&b"after"[..], "A;\u{e9}"));
}

#[test]
fn marks_of_others_are_dropped_like_any_unknown_string() {
    for forged in ["\x1b]6973;other;A\x07", "\x1b]6973;A\x07", "\x1b]6973;n0nc;A\x07", "\x1b]6973;n0nce\x07"]
    {
        let found = scanned(format!("a{forged}b"));
        assert_eq!((&found.bytes[..], found.marks.len()), (&b"ab"[..], 0), "{forged:?}");
    }
}

#[test]
fn a_mark_within_another_string_does_not_count() {
    let inner = format!("]6973;{NONCE};A");
    for outer in [format!("\x1b]0;{inner}\x07"), format!("\x1bP{inner}\x1b\\"), format!("\x1b_{inner}\x1b\\")]
    {
        let found = scanned(format!("a{outer}b"));
        assert_eq!((&found.bytes[..], found.marks.len()), (&b"ab"[..], 0), "{outer:?}");
    }
}

#[test]
fn a_mark_after_something_unfinished_counts() {
    for open in ["\x1b]0;title", "\x1bPq", "\x1b[12", "\x1b", "\x1b]6973;n0nce;half", "\x1b]0;x\x1b"] {
        let found = scanned(format!("a{open}{}b", mark("A")));
        assert_eq!((&found.bytes[..], found.marks.len()), (&b"ab"[..], 1), "{open:?}");
    }
}

#[test]
fn a_mark_that_is_cancelled_or_too_long_or_no_text_does_not_count() {
    let long = "x".repeat(64 * 1024);
    assert_eq!(scanned(mark(&long)).marks.len(), 1);
    assert_eq!(scanned(mark(&format!("{long}y"))), Scanned::default());
    assert_eq!(scanned(format!("\x1b]6973;{NONCE};A\x18b")).bytes, b"b");
    assert_eq!(scanned([b"\x1b]6973;n0nce;\xff\x07", &b"b"[..]].concat()).bytes, b"b");
}

#[test]
fn without_a_nonce_nothing_is_a_mark() {
    let mut pieces = 0;
    super::Scanner::new(None).feed(0, mark("A").as_bytes(), &mut |_| pieces += 1);
    assert_eq!(pieces, 0);
}

#[test]
fn bytes_that_are_missing_in_between_end_what_had_begun() {
    let (mut scanner, mut bytes) = (super::Scanner::new(Some(NONCE)), Vec::new());
    let mut keep = |piece: super::Piece<'_>| {
        if let super::Piece::Bytes(part) = piece {
            bytes.extend_from_slice(part);
        }
    };
    scanner.feed(0, b"a\x1b]0;ti", &mut keep);
    scanner.feed(1000, b"text", &mut keep);
    assert_eq!(bytes, b"atext");
}

#[test]
fn a_string_without_an_end_does_not_swallow_the_rest() {
    let rows: String = (0..3000).map(|n| format!("row {n}\r\n")).collect();
    let rest = bytes_of(format!("a\x1b]0;{rows}"));
    assert!(rest.starts_with("a\nrow 4") && rest.ends_with("row 2999\r\n"), "{:?}", &rest[..40]);
    assert!(rest.len() > rows.len() - 4200);
    // A short title may have line feeds in it, and a long picture has none.
    assert_eq!(bytes_of(format!("a\x1b]0;one\r\ntwo\x07b\x1b]1337;{}\x07c", "A".repeat(9000))), "abc");
}

#[test]
fn a_sequence_without_an_end_does_not_swallow_the_rest() {
    let rows: String = (0..3000).map(|n| format!("{n}\r\n")).collect();
    let rest = bytes_of(format!("\x1b[{rows}end"));
    assert!(rest.len() > rows.len() - 300 && rest.ends_with("2999\r\nend"));
}

#[test]
fn text_and_harmless_sequences_pass_as_they_are() {
    let text =
        "\x1b[1;31mred\x1b[0m\ttab\r\n\u{e9}\u{1f600}\x1b[2K\x1b(B\x1b7\x1b8\x1b]11;?\x07\x1b[6n\x1b[>q";
    assert_eq!(bytes_of(text), text);
    assert_eq!(scanned(b"\x80\x9b31m\xff\x00").bytes, b"\x80\x9b31m\xff\x00");
}

/// How many characters the repetitions among these bytes add.
fn repeated(bytes: &[u8]) -> usize {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let numbers = text.split("\x1b[").filter_map(|rest| rest.split_once('b')?.0.parse::<usize>().ok());
    numbers.sum()
}

#[test]
fn a_flood_of_repetitions_costs_a_few_characters_for_each_byte() {
    for piece in
        ["\x1b[65535b", "a\x1b[65535b", "\x1b[512b", "\x1b[6\r5535b", "x\x1b[0000099999b", "\x1b[;b\x1b[300b"]
    {
        let flood = piece.repeat((1 << 20) / piece.len());
        let passed = repeated(&scan(flood.as_bytes(), 1 << 16).bytes);
        assert!(passed < 3 << 20, "{piece:?}: {passed} characters");
        assert_eq!(passed, repeated(&scan(flood.as_bytes(), 1001).bytes), "{piece:?}");
    }
}

#[test]
fn repetitions_that_programs_paint_with_pass_as_they_are() {
    let row = "-\x1b[79b\r\n";
    let screens = row.repeat(24 * 20);
    assert_eq!(bytes_of(&screens), screens);
    // Nor is anything taken from those that come among other output, however long it goes on.
    let busy = format!("{row}{}", "text of a screen, some of it coloured\r\n".repeat(2)).repeat(2000);
    assert_eq!(scan(busy.as_bytes(), 4096).bytes, busy.as_bytes());
}
