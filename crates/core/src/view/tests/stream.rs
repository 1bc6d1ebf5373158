//! Output and the lines that must come of it.

use super::{lines, lines_of, size, through};
use crate::view::Stream;

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(lines(text), expected, "{text:?}");
}

#[test]
fn plain_lines_come_out_as_they_went_in() {
    check("", &[]);
    check("one\r\ntwo\r\n", &["one", "two"]);
    check("one\r\n\r\n\r\nfour", &["one", "", "", "four"]);
    check("no end", &["no end"]);
    check("a\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng\r\nh\r\ni\r\n", &["a", "b", "c", "d", "e", "f", "g", "h", "i"]);
}

#[test]
fn long_lines_are_one_line() {
    let long = "0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRSTxyz";
    check(&format!("{long}\r\nnext\r\n"), &[long, "next"]);
    check("0123456789\r\n0123456789\r\n", &["0123456789", "0123456789"]);
    check(
        "\u{65e5}\u{672c}\u{8a9e}\u{65e5}x\u{672c}\u{8a9e}\r\n",
        &["\u{65e5}\u{672c}\u{8a9e}\u{65e5}x\u{672c}\u{8a9e}"],
    );
}

#[test]
fn tabs_and_blanks_are_kept_as_printed() {
    check("a\tb\r\n", &["a\tb"]);
    check("\tx: y\r\n\t\tz\r\n", &["\tx: y", "\t\tz"]);
    check("a\t\tb\tc\t\r\n", &["a\t\tb\tc\t"]);
    check("1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\t12\r\nx", &["1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\t12", "x"]);
    check("end  \r\n  \r\nx", &["end  ", "  ", "x"]);
    check("name: ", &["name: "]);
    // Something was printed where the tab had jumped over.
    check("\tb\r\x1b[3Cx\r\n", &["   x    b"]);
}

#[test]
fn progress_on_one_line_collapses() {
    check("10%\r50%\r100%\r\ndone\r\n", &["100%", "done"]);
    check("long text\rshort\x1b[K\r\n", &["short"]);
    check("long text\r         \rok\r\n", &["ok"]);
    check("abc\x08\x08X\r\n", &["aXc"]);
    check("p\x08 \x08q\r\n", &["q"]);
    // As zsh does before each prompt, and as prompts do on the first row.
    check("%         \r \r\x1b[Jnext", &["next"]);
    check("\x1b[G\x1b[J> a\x1b[G\x1b[J> ab\r\n", &["> ab"]);
}

#[test]
fn redraws_of_several_lines_collapse() {
    check("a: 0\r\nb: 0\r\n\x1b[2Aa: 9\r\nb: 9\r\nend\r\n", &["a: 9", "b: 9", "end"]);
    check("a\r\nb\r\n\x1b[1F\x1b[2Knew\r\n", &["a", "new"]);
    check("a  \r\nlonger\r\n\x1b[1Fshort   \r\n", &["a  ", "short"]);
}

#[test]
fn clearing_the_screen_loses_nothing() {
    check("before\r\n\x1b[H\x1b[2J\x1b[3Jafter\r\n", &["before", "after"]);
    check("before\r\n\x1b[H\x1b[Jafter\r\n", &["before", "after"]);
    check("before\r\n\x1bcafter\r\n", &["before", "after"]);
    check("before\r\n\x1b[?3hafter\r\n", &["before", "after"]);
    check("\x1b[2J\x1b[Hfirst\r\n", &["first"]);
    check("0123456789wrap\x1b[2J\x1b[Hnext", &["0123456789wrap", "next"]);
}

#[test]
fn what_has_scrolled_away_stays_whatever_is_drawn_later() {
    check("1\r\n2\r\n3\r\n4\r\n5\r\n\x1b[H*\r\n", &["1", "2", "*", "4", "5"]);
    check("1\r\n2\r\n3\r\n4\r\n\x1b[3S\x1b[Hx", &["1", "2", "3", "4", "x"]);
}

#[test]
fn a_progress_bar_below_a_scroll_region_is_apart_from_the_lines() {
    // As apt does: the last row is kept, lines scroll above it.
    let text = "\x1b[1;3ra\r\nb\r\nc\r\n\x1b7\x1b[4;1H50%\x1b8d\r\ne\r\n\x1b7\x1b[4;1H99%\x1b8\x1b[r\x1b[4;1H\x1b[Kend\r\n";
    check(text, &["a", "b", "c", "d", "e", "", "end"]);
}

#[test]
fn full_screen_programs_leave_no_lines() {
    check("before\r\n\x1b[?1049h\x1b[Hscreen\r\n\r\nmore\x1b[?1049lafter\r\n", &["before", "after"]);
    check("a\r\n\x1b[?47hx\x1b[?47l", &["a"]);
    check("a\r\n\x1b[?1049hstill there", &["a"]);
}

#[test]
fn no_string_of_a_sequence_is_ever_text() {
    check("a\x1b]0;title\x07b\x1b]52;c;c2VjcmV0\x07c", &["abc"]);
    check("\x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\", &["link"]);
    check("a\x1bPq payload\x1b\\b\x1b_apc\x1b\\c\x1b^pm\x1b\\d\x1bXsos\x1b\\e", &["abcde"]);
    check("\x1b[31mred\x1b[0m\x07", &["red"]);
}

#[test]
fn bytes_that_are_no_text_are_seen() {
    let stream = || Stream::new(size(4, 10));
    for piece in [1, 3, 100] {
        assert_eq!(lines_of(stream(), b"A\xff\xfe\x80B\r\n", piece), ["A\u{fffd}\u{fffd}\u{fffd}B"]);
        assert_eq!(lines_of(stream(), b"a\0b\x01c\x7f\r\n", piece), ["a\u{fffd}b\u{fffd}c\u{fffd}"]);
        assert_eq!(lines_of(stream(), b"\xe2\x82\x1b[0mx", piece), ["\u{fffd}x"]);
    }
}

#[test]
fn marks_over_characters_stay_on_them() {
    check("e\u{301}a\u{308}x\r\n", &["e\u{301}a\u{308}x"]);
    check("\u{1f469}\u{200d}\u{1f4bb} ok", &["\u{1f469}\u{200d}\u{1f4bb} ok"]);
    let many = "\u{301}".repeat(100_000);
    assert!(lines(&format!("a{many}b"))[0].len() < 100);
}

#[test]
fn a_line_feed_alone_goes_down_and_not_back() {
    check("ab\ncd\r\n", &["ab", "  cd"]);
}

#[test]
fn other_character_sets_are_drawn() {
    check("\x1b(0lqk\x1b(B\r\n", &["\u{250c}\u{2500}\u{2510}"]);
}

#[test]
fn another_size_keeps_all_lines() {
    let mut stream = Stream::new(size(4, 10));
    stream.feed(b"first\r\n0123456789abcdef\r\nlast");
    for (rows, cols) in [(2, 4), (4, 20), (1, 3), (3, 10)] {
        stream.resize(size(rows, cols));
    }
    stream.feed(b"!\r\nend");
    let mut lines = stream.take_finished();
    lines.extend(stream.open_lines());
    assert_eq!(lines, ["first", "0123456789abcdef", "last!", "end"]);
}

#[test]
fn another_size_under_a_full_screen_program_keeps_all_lines() {
    let mut stream = Stream::new(size(4, 10));
    through(b"first\r\nsecond\r\n\x1b[?1049hvim", 100, |part| stream.feed(part));
    stream.resize(size(1, 3));
    assert!(stream.is_full_screen());
    through(b"~~~\x1b[?1049lend", 100, |part| stream.feed(part));
    let mut lines = stream.take_finished();
    lines.extend(stream.open_lines());
    assert_eq!(lines, ["first", "second", "end"]);
}

#[test]
fn finished_lines_are_given_once_and_never_change() {
    let mut stream = Stream::new(size(3, 10));
    stream.feed(b"1\r\n2\r\n3\r\n4\r\n");
    assert_eq!(stream.take_finished(), ["1", "2"]);
    assert_eq!(stream.open_lines(), ["3", "4"]);
    stream.feed(b"\x1b[2J");
    assert_eq!(stream.take_finished(), ["3", "4"]);
    assert!(stream.open_lines().is_empty());
}

#[test]
fn what_nobody_sees_is_named_wherever_it_stands() {
    for (text, line) in [
        ("rm \u{202e}x", "rm ⟨U+202E⟩x"),
        ("ok\u{e0068}\u{e0069}", "ok⟨U+E0068⟩⟨U+E0069⟩"),
        // At the very beginning it comes after the character that is printed over it.
        ("\u{feff}abc", "a⟨U+FEFF⟩bc"),
        ("\u{202e}\u{2066}abc", "a⟨U+202E⟩⟨U+2066⟩bc"),
        ("\u{202e}", " ⟨U+202E⟩"),
        ("\u{202e}\rabc", "a⟨U+202E⟩bc"),
        // Over the margin.
        ("0123456789\u{202e}abc", "0123456789⟨U+202E⟩abc"),
        ("\u{1f468}\u{200d}\u{1f469} \u{2764}\u{fe0f}", "\u{1f468}\u{200d}\u{1f469} \u{2764}\u{fe0f}"),
        ("\u{645}\u{6cc}\u{200c}\u{62e}", "\u{645}\u{6cc}\u{200c}\u{62e}"),
    ] {
        assert_eq!(lines(text), [line], "{}", text.escape_unicode());
        let later = format!("{text}\r\n{}", "x\r\n".repeat(9));
        assert_eq!(lines(&later)[0], line, "{} and more", text.escape_unicode());
    }
}

#[test]
fn a_mark_that_is_erased_or_left_behind_does_not_come_back() {
    assert_eq!(lines("\u{202e}\x1b[2Kabc"), ["abc"]);
    assert_eq!(lines("\u{202e}\r\nabc"), [" ⟨U+202E⟩", "abc"]);
}
