//! What passes and what does not, however it is cut.

use super::*;

/// What makes no terminal answer.
const PASSES: &[&[u8]] = &[
    b"plain\ttext\r\nmore\x07\x08\x0c",
    "gr\u{fc}n \u{20ac} \u{1f600}".as_bytes(),
    b"\x1b[31mred\x1b[0m \x1b[38:2::1:2:3m",
    b"\x1b[?1049h\x1b[?25l\x1b[2J\x1b[1;1H\x1b[5;10r\x1b[3;4t",
    b"\x1b]0;title\x07\x1b]2;title\x1b\\",
    b"\x1b]8;;https://example.org/?q=1\x07link\x1b]8;;\x07",
    b"\x1b]4;1;rgb:ff/00/00\x07\x1b]11;#000000\x07\x1b]104\x07",
    b"\x1bPq#0;2;0;0;0~-\x1b\\",
    b"\x1b(0qqq\x1b(B\x1b7\x1b8\x1bM\x1b=\x1b>\x1bc",
    b"\x1b[>4;2m\x1b[>1u\x1b[<u\x1b[=5;1u\x1b[2 q\x1b[!p\x1b[?2004h",
    b"\x1b[31\nm",
    b"\x1b]0;cut\x18after",
    b"bad \xff\xfe bytes",
];

/// What does, and what is left of it.
const HELD_BACK: &[(&[u8], &[u8])] = &[
    (b"a\x1b[cb\x1b[0cc\x1b[>cd\x1b[>0ce\x1b[=cf\x1bZg", b"abcdefg"),
    (b"a\x1b[5nb\x1b[6nc\x1b[?6nd\x1b[?15ne", b"abcde"),
    (b"a\x1b[?2026$pb\x1b[4$pc\x1b[>qd\x1b[>0qe", b"abcde"),
    (b"a\x1b[?ub\x1b[?4mc\x1b[?1;1;0Sd", b"abcd"),
    (b"a\x1b[14tb\x1b[18tc\x1b[21td\x1b[xe\x1b[1xf", b"abcdef"),
    (b"a\x1b[1;1;1;1;1;1*yb", b"ab"),
    (b"a\x1b]10;?\x07b\x1b]11;?\x1b\\c\x1b]4;1;?;2;?\x07d", b"abcd"),
    (b"a\x1b]21;foreground=?\x1b\\b", b"ab"),
    (b"a\x1b]52;c;ZXZpbA==\x07b\x1b]52;c;?\x07c", b"abc"),
    (b"a\x1b]6973;nonce;A;1;2\x07b\x1b]6973;nonce\x1b\\c", b"abc"),
    (b"a\x1bP$qm\x1b\\b\x1bP+q544e\x1b\\c\x1bPtmux;\x1b\x1b[6n\x1b\\d", b"abc\x1b\\d"),
    (b"a\x1b_Gi=1,a=q;AAAA\x1b\\b\x1b^pm\x1b\\c\x1bXsos\x1b\\d", b"abcd"),
    (b"a\x1b[?1004hb\x1b[?1004;2004hc\x1b[?1000;2031;1006hd", b"ab\x1b[?2004hc\x1b[?1000;1006hd"),
    (b"a\x05b\x9b6nc\xc2\x9b6nd", b"ab6nc6nd"),
    (b"a\x1b]52;cut\x1b[6nb", b"ab"),
    (b"a\x1b]0;t\x1b[6nb", b"a\x1b]0;tb"),
    (b"a\x1b[6\x1b[31mb", b"a\x1b[31mb"),
];

fn passed(bytes: &[u8]) -> Vec<u8> {
    Quiet::default().pass(bytes)
}

#[test]
fn what_asks_nothing_passes_byte_for_byte() {
    for bytes in PASSES {
        // A control within a sequence is done at once, so it comes before; nothing else moves.
        let expected: &[u8] = if *bytes == b"\x1b[31\nm" { b"\n\x1b[31m" } else { bytes };
        let shown = passed(bytes);
        assert_eq!(shown.escape_ascii().to_string(), expected.escape_ascii().to_string());
    }
}

#[test]
fn what_makes_a_terminal_answer_is_held_back() {
    for (bytes, left) in HELD_BACK {
        let shown = passed(bytes);
        assert_eq!(shown.escape_ascii().to_string(), left.escape_ascii().to_string());
    }
}

#[test]
fn however_the_bytes_are_cut_the_same_passes() {
    for bytes in PASSES.iter().copied().chain(HELD_BACK.iter().map(|(bytes, _)| *bytes)) {
        let whole = passed(bytes);
        for cut in 0..=bytes.len() {
            let mut filter = Quiet::default();
            let mut shown = filter.pass(&bytes[..cut]);
            shown.extend(filter.pass(&bytes[cut..]));
            assert_eq!(shown, whole, "{} cut at {cut}", bytes.escape_ascii());
        }
    }
}

#[test]
fn nothing_is_let_through_in_halves() {
    for bytes in [&b"x\x1b[3"[..], b"x\x1b]0;ti", b"x\xe2\x82", b"x\x1b", b"x\x1bPq"] {
        assert_eq!(passed(bytes), b"x", "{}", bytes.escape_ascii());
    }
}

#[test]
fn what_never_ends_is_not_kept_and_a_long_string_is_decided_by_its_beginning() {
    let mut filter = Quiet::default();
    assert_eq!(filter.pass(b"\x1b]1337;File=:"), b"");
    let image = vec![b'A'; 100_000];
    let shown = filter.pass(&image);
    assert!(shown.starts_with(b"\x1b]1337;File=:A") && filter.held.len() <= LONGEST_STRING);
    assert_eq!(shown.len(), image.len() + b"\x1b]1337;File=:".len());
    assert_eq!(filter.pass(b"\x07x"), b"\x07x");
    for beginning in [&b"\x1b]52;c;"[..], b"\x1b]6973;", b"\x1b_G", b"\x1b["] {
        let mut filter = Quiet::default();
        filter.pass(beginning);
        assert_eq!(filter.pass(&vec![b'1'; 100_000]), b"");
        assert!(filter.held.len() <= LONGEST_STRING);
        assert!(filter.pass(b"m\x1b\\x").ends_with(b"x"));
    }
}
