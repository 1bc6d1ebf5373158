//! What ordinary programs print passes as it is, and paints the same.

use super::{Quiet, Reports, however_cut, passed};
use crate::sequence::LONGEST_STRING;
use std::fs;
use std::path::Path;
use wharf_core::Size;
use wharf_core::view::{Display, Piece, Scanner};

/// Unchanged, each.
const PASSES: &[&[u8]] = &[
    b"plain\ttext\r\nmore\x07\x08\x0b\x0c\x0e\x0f",
    "gr\u{fc}n \u{20ac} \u{1f600} \u{645}\u{6cc}\u{200c}\u{62e} \u{200f}".as_bytes(),
    b"\x1b[31mred\x1b[0m \x1b[00;01;34m \x1b[38;5;200m \x1b[38:2::1:2:3m \x1b[4:3m\x1b[58:5:9m \x1b[m",
    b"\x1b[A\x1b[2B\x1b[3C\x1b[4D\x1b[E\x1b[F\x1b[7G\x1b[H\x1b[1;1H\x1b[9999;9999H\x1b[5d\x1b[5e\x1b[5;6f\x1b[5`\x1b[5a",
    b"\x1b[I\x1b[2Z\x1b[g\x1b[3g\x1b[?5W\x1bH",
    b"\x1b[J\x1b[1J\x1b[2J\x1b[3J\x1b[K\x1b[1K\x1b[2K\x1b[4X",
    b"\x1b[@\x1b[2P\x1b[L\x1b[2M\x1b[S\x1b[2T\x1b[80b\x1b[b",
    b"\x1b[5;10r\x1b[r\x1b[?69h\x1b[2;40s\x1b[s\x1b[u\x1b[?69l",
    b"\x1b[4h\x1b[4l\x1b[!p\x1b[ q\x1b[2 q\x1b[06 q",
    b"\x1b[?1049h\x1b[?25l\x1b[?12;25h\x1b[?1h\x1b=\x1b[?7l\x1b[?7h\x1b[?6h\x1b[?5h\x1b[?5l\x1b[?1049l\x1b>",
    b"\x1b[?47h\x1b[?1047l\x1b[?1048h\x1b[?2004h\x1b[?2026h\x1b[?2026l\x1b[?1034h\x1b[?2027h",
    b"\x1b[?9h\x1b[?1000h\x1b[?1002;1006h\x1b[?1003h\x1b[?1005h\x1b[?1007h\x1b[?1015h\x1b[?1016l",
    b"\x1b[>4;2m\x1b[>4m\x1b[>4n\x1b[>1u\x1b[<u\x1b[<2u\x1b[=5;1u",
    b"\x1b[22;0;0t\x1b[22t\x1b[23;0;0t\x1b[23;2t",
    b"\x1b(0qqq\x1b(B\x1b)0\x1b*B\x1b+A\x1b7\x1b8\x1bD\x1bE\x1bM\x1bc\x1b#8\x1b#3",
    b"\x1b]0;title\x07\x1b]1;icon\x07\x1b]2;vim: a (~/b)\x1b\\\x1b]2;\x07",
    "\u{1b}]2;gr\u{fc}n \u{1f468}\u{200d}\u{1f469}; x\u{7}".as_bytes(),
    b"\x1b]7;file://host/home/me/a%20b\x1b\\",
    b"\x1b]8;;https://example.org/?q=1\x07link\x1b]8;;\x07",
    "\u{1b}]8;id=7;file:///tmp/gr\u{fc}n\u{1b}\\link\u{1b}]8;;\u{1b}\\".as_bytes(),
    b"\x1b]133;A\x07\x1b]133;B\x07\x1b]133;C\x07\x1b]133;D;1\x1b\\\x1b]133;A;cl=m;aid=7\x07",
];

/// What is left of such that pass in part.
const IN_PART: &[(&[u8], &[u8])] = &[
    // A control within a sequence is done at once, so it comes before.
    (b"\x1b[31\nm", b"\n\x1b[31m"),
    (b"\x1b[?1004hb\x1b[?1004;2004hc\x1b[?1000;2031;1006hd", b"b\x1b[?2004hc\x1b[?1000;1006hd"),
    (b"\x1b[?3;4l\x1b[?h\x1b[h", b"\x1b[?4l"),
    (b"\x1b[?01004;0002004h", b"\x1b[?2004h"),
    (b"\x1b[65535b\x1b[513b\x1b[512b", b"\x1b[512b\x1b[512b\x1b[512b"),
    (b"\x1b[99999999999;2H", b"\x1b[65535;2H"),
    (b"\x1b]002;title\x07\x1b]0;a\nb\x07", b"\x1b]2;title\x07\x1b]0;ab\x07"),
    ("\u{1b}]2;x\u{202e}y\u{e0041}\u{7}".as_bytes(), "\u{1b}]2;x⟨U+202E⟩y⟨U+E0041⟩\u{7}".as_bytes()),
    (b"\x1b]2;ends\xc2\x9cso", b"\x1b]2;ends\x1b\\so"),
    (b"bad \xff\xfe bytes", "bad \u{fffd}\u{fffd} bytes".as_bytes()),
    (b"\x1b]0;cut\x18after", b"after"),
];

#[test]
fn what_paints_passes_byte_for_byte() {
    for bytes in PASSES {
        assert_eq!(however_cut(bytes).escape_ascii().to_string(), bytes.escape_ascii().to_string());
    }
}

#[test]
fn of_some_a_part_passes() {
    for (bytes, left) in IN_PART {
        assert_eq!(however_cut(bytes).escape_ascii().to_string(), left.escape_ascii().to_string());
    }
}

#[test]
fn nothing_is_let_through_in_halves() {
    for bytes in [&b"x\x1b[3"[..], b"x\x1b]0;ti", b"x\xe2\x82", b"x\x1b", b"x\x1bPq"] {
        assert_eq!(passed(bytes), b"x", "{}", bytes.escape_ascii());
    }
}

#[test]
fn bytes_that_are_missing_end_what_had_begun() {
    let mut filter = Quiet::new(Reports::Mouse);
    assert_eq!(filter.pass(b"a\x1b]0;half"), b"a");
    filter.forget();
    assert_eq!(filter.pass(b"b\x07"), b"b\x07");
}

#[test]
fn a_title_has_room_for_what_titles_are() {
    let longest = format!("\x1b]2;{}\x07", "A".repeat(LONGEST_STRING - 2));
    assert_eq!(passed(longest.as_bytes()), longest.as_bytes());
}

#[test]
fn who_reads_the_keyboard_decides_what_a_terminal_may_send() {
    let focus = b"\x1b[?1004h";
    let keys = b"\x1b[?1000h\x1b[?2004h\x1b[?1h\x1b=\x1b[>1u\x1b[>4;2m";
    let paints = b"\x1b[?1049h\x1b[?25l\x1b[31mx";
    for (reports, passing) in [
        (Reports::None, &[&paints[..]][..]),
        (Reports::Mouse, &[paints, keys]),
        (Reports::MouseAndFocus, &[paints, keys, focus]),
    ] {
        let all = [&paints[..], keys, focus].concat();
        assert_eq!(Quiet::new(reports).pass(&all), passing.concat(), "{reports:?}");
    }
}

/// What a screen shows of some output, and what its terminal answers.
fn shown(bytes: &[u8]) -> (wharf_core::view::Painting, bool, Vec<u8>) {
    let (mut scanner, mut display) = (Scanner::new(None), Display::new(Size { cols: 80, rows: 24 }));
    scanner.feed(0, bytes, &mut |piece| {
        if let Piece::Bytes(bytes) = piece {
            display.feed(bytes);
        }
    });
    (display.repaint(), display.picture().cursor_visible, display.take_replies())
}

#[test]
fn recordings_of_real_programs_paint_the_same_and_ask_nothing() {
    let recordings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/golden");
    let (mut seen, mut asked) = (0, 0);
    for path in fs::read_dir(recordings).unwrap().map(|file| file.unwrap().path()) {
        if path.extension().is_none_or(|end| end != "bytes") {
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let mut filter = Quiet::new(Reports::Mouse);
        let filtered: Vec<u8> = bytes.chunks(7).flat_map(|part| filter.pass(part)).collect();
        let ((before, before_cursor, answers), (after, cursor, none)) = (shown(&bytes), shown(&filtered));
        assert_eq!((after, cursor), (before, before_cursor), "{}", path.display());
        assert_eq!(none, b"", "{}", path.display());
        assert_eq!(passed(&filtered), filtered, "{}", path.display());
        asked += usize::from(!answers.is_empty());
        seen += 1;
    }
    assert!(seen >= 30 && asked > 0, "{seen} recordings, {asked} with questions");
}
