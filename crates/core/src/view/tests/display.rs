//! Output, the screen it paints and the answers it gets.

use super::{shown, size};
use crate::view::{Display, Highlight, Painting};

#[track_caller]
fn replies(text: &str) -> String {
    String::from_utf8(shown(text).take_replies()).unwrap()
}

#[test]
fn a_picture_has_rows_cursor_and_highlights() {
    let picture = shown("one  \r\n\x1b[7mtwo\x1b[27m x\t\x1b[?25l\x1b[3;2H\x1b[7m    \x1b[m").picture();
    assert_eq!(picture.rows, ["one", "two x"]);
    assert_eq!((picture.cursor, picture.cursor_visible, picture.alternate), ((2, 5), false, false));
    assert_eq!(picture.highlights, [Highlight { row: 1, from: 0, to: 3, text: "two".to_owned() }]);
    assert_eq!(picture.size, size(4, 10));
}

#[test]
fn the_alternate_screen_is_shown_and_left() {
    let mut display = shown("shell\r\n\x1b[?1049h\x1b[?1h\x1b=\x1b[?2004h\x1b[Hvim");
    assert_eq!((&display.picture().rows[0][..], display.picture().alternate), ("vim", true));
    let modes = display.modes();
    assert!(modes.alternate && modes.application_cursor && modes.application_keypad && modes.bracketed_paste);
    display.feed(b"\x1b[?1049l");
    assert_eq!(display.picture().rows, ["shell"]);
}

#[test]
fn what_a_killed_program_has_left_behind_is_tidied_up() {
    let mut display = shown("shell\r\n\x1b[?1049h\x1b[?1h\x1b[?25l\x1b(0\x1b[2;3r\x1b[7mvim");
    display.settle();
    display.feed(b"q\r\n\r\n\r\nz");
    let picture = display.picture();
    assert_eq!(picture.rows, ["q", "", "", "z"]);
    assert!(picture.cursor_visible && picture.highlights.is_empty() && !display.modes().application_cursor);
}

#[test]
fn questions_are_answered_in_order() {
    assert_eq!(replies("\x1b[c\x1b[0c\x1bZ"), "\x1b[?62;22c".repeat(3));
    assert_eq!(replies("\x1b[>c\x1b[=c"), "\x1b[>0;10;1c\x1bP!|00000000\x1b\\");
    assert_eq!(replies("\x1b[5nab\x1b[6n\r\n\x1b[6n\x1b[?6n"), "\x1b[0n\x1b[1;3R\x1b[2;1R\x1b[?2;1;1R");
    assert_eq!(replies("\x1b[>q\x1b[>0q").matches("\x1bP>|wharf(").count(), 2);
    assert_eq!(
        replies("\x1b[14t\x1b[16t\x1b[18t\x1b[19t"),
        "\x1b[4;80;100t\x1b[6;20;10t\x1b[8;4;10t\x1b[9;4;10t"
    );
}

#[test]
fn modes_and_colours_are_told() {
    assert_eq!(
        replies("\x1b[?25$p\x1b[?2026$p\x1b[?1049$p\x1b[4$p\x1b[99$p"),
        "\x1b[?25;1$y\x1b[?2026;0$y\x1b[?1049;2$y\x1b[4;2$y\x1b[99;0$y"
    );
    assert_eq!(
        replies("\x1b]11;?\x07\x1b]10;?\x1b\\"),
        "\x1b]11;rgb:0000/0000/0000\x07\x1b]10;rgb:e5e5/e5e5/e5e5\x1b\\"
    );
    assert_eq!(
        replies("\x1b]12;?\x07\x1b]4;1;?\x07"),
        "\x1b]12;rgb:e5e5/e5e5/e5e5\x07\x1b]4;1;rgb:cdcd/0000/0000\x07"
    );
    assert_eq!(
        replies("\x1b]4;196;?\x07\x1b]4;255;?\x07"),
        "\x1b]4;196;rgb:ffff/0000/0000\x07\x1b]4;255;rgb:eeee/eeee/eeee\x07"
    );
}

#[test]
fn what_is_not_supported_or_not_to_be_told_is_not_answered() {
    assert_eq!(replies("\x1b[?u\x1b]52;c;?\x07\x1b[21t\x1b]0;x\x07\x1b[>5u\x1bP+q544e\x1b\\"), "");
}

#[test]
fn answers_that_nobody_fetches_are_bounded_and_each_is_given_once() {
    let mut display = shown(&"\x1b[c".repeat(100_000));
    assert!(display.take_replies().len() <= 16 * 1024);
    assert!(display.take_replies().is_empty());
}

#[test]
fn a_screen_of_any_size_can_be_had() {
    for (rows, cols) in [(0, 0), (1, 1), (u16::MAX, u16::MAX), (24, 80)] {
        let mut display = Display::new(size(rows, cols));
        display.feed("\u{65e5}\u{672c}abc\r\n\x1b[14t".as_bytes());
        display.resize(size(cols, rows));
        display.resize(size(3, 3));
        assert_eq!(display.picture().size, size(3, 3));
    }
}

/// The same screen, painted anew.
fn repainted(display: &Display) -> Display {
    let Painting { cells, pen } = display.repaint();
    let modes = if display.picture().alternate { "\x1b[?1049h" } else { "" };
    shown(&format!("{modes}{cells}{pen}"))
}

#[test]
fn a_screen_can_be_painted_again_with_its_colours_cursor_and_pen() {
    for text in [
        "plain\r\ntext",
        "\x1b[1;3;31mbold\x1b[0;38;5;200;48;2;1;2;3mx\x1b[7m \x1b[m\x1b[4:3;58;5;9mcurl\x1b[0;97;104mbright",
        "\u{65e5}\u{672c}e\u{301}\r\n\x1b[9mstruck  ",
        "0123456789",
        "12345678\u{65e5}",
        "\x1b[2;3r\x1b[3;4Hin\x1b[?25l",
        "\x1b(0qqq\x1b)0\x0e",
        "\x1b[?1049h\x1b[44m\x1b[2Jfull\x1b[3;3Hscreen",
        "\x1b[4;10Hx",
    ] {
        let first = shown(text);
        let mut second = repainted(&first);
        assert_eq!(second.repaint(), first.repaint(), "{text:?}");
        // What is printed next comes out alike.
        let mut first = first;
        for display in [&mut first, &mut second] {
            display.feed(b"q\r\n\r\nz");
        }
        assert_eq!(second.repaint(), first.repaint(), "{text:?} and more");
    }
}

#[test]
fn what_nobody_sees_is_named_in_a_picture_and_moves_nothing() {
    let picture = shown("a\u{202e}b\u{e0041}\x1b[2;1H\x1b[7m\u{feff}x\u{2066}\x1b[m\x1b[3;1Hy").picture();
    assert_eq!(picture.rows, ["a⟨U+202E⟩b⟨U+E0041⟩", "x⟨U+FEFF⟩⟨U+2066⟩", "y"]);
    assert_eq!(picture.highlights[0].text, "x⟨U+FEFF⟩⟨U+2066⟩");
    assert_eq!((picture.highlights[0].from, picture.highlights[0].to, picture.cursor), (0, 1, (2, 1)));
}
