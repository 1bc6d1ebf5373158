//! What holds for any bytes.

use super::{NONCE, Scanned, lines_of, scan, size, through};
use crate::view::{Display, Stream};
use proptest::collection::vec;
use proptest::prelude::*;

/// A part of a terminal's output, and what a scanner must make of it.
#[derive(Debug, Clone)]
enum Part {
    Kept(String),
    Dropped(String),
    Mark(String),
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let kept = prop_oneof![
        "[ -~\u{e9}\u{65e5}]{0,12}\r\n".prop_map(Part::Kept),
        "[a-z\t]{0,30}".prop_map(Part::Kept),
        "\x1b\\[[0-9;]{0,6}[mABCDHK]".prop_map(Part::Kept),
        prop::sample::select(vec![
            "\r",
            "\x08",
            "\x1b[2J",
            "\x1b[?1049h",
            "\x1b[?1049l",
            "\x1b7",
            "\x1b8",
            "\x1b[6n"
        ])
        .prop_map(|text| Part::Kept(text.to_owned())),
    ];
    let dropped = prop_oneof![
        "\x1b\\][0-3];[ -~]{0,20}\x07".prop_map(Part::Dropped),
        "\x1b\\]6973;[a-z]{0,8};[A-Z]{0,3}\x1b\\\\".prop_map(Part::Dropped),
        "\x1bP[ -~]{0,20}\x1b\\\\".prop_map(Part::Dropped),
        Just(Part::Dropped("\x1b[3J".to_owned())),
    ];
    vec(prop_oneof![6 => kept, 2 => dropped, 1 => "[ -~]{0,12}".prop_map(Part::Mark)], 0..40)
}

fn bytes_of(parts: &[Part]) -> (Vec<u8>, Scanned) {
    let (mut bytes, mut expected) = (Vec::new(), Scanned::default());
    for part in parts {
        match part {
            Part::Kept(text) => {
                bytes.extend_from_slice(text.as_bytes());
                expected.bytes.extend_from_slice(text.as_bytes());
            }
            Part::Dropped(text) => bytes.extend_from_slice(text.as_bytes()),
            Part::Mark(body) => {
                let start = bytes.len() as u64;
                bytes.extend_from_slice(format!("\x1b]6973;{NONCE};{body}\x07").as_bytes());
                expected.marks.push((body.clone(), start, bytes.len() as u64));
            }
        }
    }
    (bytes, expected)
}

fn output() -> impl Strategy<Value = Vec<u8>> {
    let raw = vec(
        prop_oneof![4 => any::<u8>(), 3 => prop::sample::select(b"\x1b[]?;\r\n\x08 \t0123mHJAS".to_vec())],
        0..300,
    );
    prop_oneof![parts().prop_map(|parts| bytes_of(&parts).0), raw]
}

/// Plain lines in numbers, and now and then something else.
fn mostly_plain() -> impl Strategy<Value = Vec<u8>> {
    let odd = prop::sample::select(vec![
        "\x1b[A",
        "\x1b[2J",
        "\x1b[H",
        "x\ry",
        "\x1b[31m",
        "\x1b[7m",
        "\x1b[2B",
        "\x1b[6n",
        "\x1b[?6h",
        "abc",
        "\u{65e5}",
        "\u{202e}",
        "\x1b[300b",
        "\n",
        "\x1b[?7l",
        "\x1b(0",
        "\x1b[2;3r",
        "\x1b[?1049h",
        "\x1b[?1049l",
        "\x1bH",
        "\x1b[r",
        "\x0e",
        "\x1b[4h",
    ]);
    let plain = vec("([a-z \t]{0,14}\r\n){1,9}", 0..3).prop_map(|lines| lines.concat());
    let long = vec("[a-z ]{0,90}(\r\n)?", 0..3).prop_map(|lines| lines.concat());
    vec(prop_oneof![5 => plain, 3 => long, 1 => odd.prop_map(str::to_owned)], 0..12)
        .prop_map(|parts| parts.concat().into_bytes())
}

/// A full screen, and few or many short lines over it.
fn over_a_full_screen() -> impl Strategy<Value = Vec<u8>> {
    let place =
        prop::sample::select(vec!["\x1b[H", "\x1b[2;4H", "\x1b[3H", "\r", "\x1b[2;3r\x1b[H", "\x1b[1;2r"]);
    (place, vec("[a-z]{0,3}\r\n", 0..14)).prop_map(|(place, lines)| {
        format!("xxxxxxxxx\r\nyyyyyyyyy\r\nzzzzzzzzz{place}{}", lines.concat()).into_bytes()
    })
}

fn is_clean(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() && c != '\t')
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_scanner_accounts_for_every_byte(parts in parts(), piece in 1usize..40) {
        let (bytes, expected) = bytes_of(&parts);
        prop_assert_eq!(scan(&bytes, piece), expected);
    }

    #[test]
    fn pieces_make_no_difference(bytes in output(), piece in 1usize..40) {
        prop_assert_eq!(scan(&bytes, piece), scan(&bytes, usize::MAX));
        let stream = || Stream::new(size(5, 12));
        prop_assert_eq!(lines_of(stream(), &bytes, piece), lines_of(stream(), &bytes, usize::MAX));
        let picture = |piece| {
            let mut display = Display::new(size(5, 12));
            through(&bytes, piece, |part| display.feed(part));
            (display.picture(), display.take_replies())
        };
        prop_assert_eq!(picture(piece), picture(usize::MAX));
    }

    #[test]
    fn no_control_but_a_tab_reaches_any_text(bytes in output()) {
        for line in lines_of(Stream::new(size(5, 12)), &bytes, usize::MAX) {
            prop_assert!(is_clean(&line), "{:?}", line);
        }
        let mut display = Display::new(size(5, 12));
        through(&bytes, usize::MAX, |part| display.feed(part));
        let picture = display.picture();
        for text in picture.rows.iter().chain(picture.highlights.iter().map(|highlight| &highlight.text)) {
            prop_assert!(!text.chars().any(char::is_control), "{:?}", text);
        }
    }

    #[test]
    fn the_short_way_gives_what_the_long_way_gives(bytes in mostly_plain(), piece in 1usize..200) {
        let mut long = Stream::new(size(3, 9));
        long.always_long = true;
        prop_assert_eq!(lines_of(Stream::new(size(3, 9)), &bytes, piece), lines_of(long, &bytes, usize::MAX));
    }

    #[test]
    fn what_has_scrolled_away_need_not_have_been_painted(
        bytes in prop_oneof![mostly_plain(), over_a_full_screen()],
        piece in 1usize..400,
    ) {
        let picture = |always_long, piece| {
            let mut display = Display::new(size(3, 9));
            display.always_long = always_long;
            through(&bytes, piece, |part| display.feed(part));
            (display.picture(), display.modes(), display.take_replies())
        };
        prop_assert_eq!(picture(false, piece), picture(true, usize::MAX));
    }

    #[test]
    fn plain_text_comes_out_as_it_went_in(text in vec("[ -~\t\u{e9}\u{65e5}]{0,40}", 0..30)) {
        let printed: String = text.iter().map(|line| format!("{line}\r\n")).collect();
        let mut expected = text;
        while expected.last().is_some_and(String::is_empty) {
            expected.pop();
        }
        prop_assert_eq!(lines_of(Stream::new(size(5, 12)), printed.as_bytes(), 64), expected);
    }

    #[test]
    fn another_size_at_any_time_is_survived(bytes in output(), sizes in vec((0u16..30, 0u16..30), 1..6)) {
        let (mut stream, mut display) = (Stream::new(size(5, 12)), Display::new(size(5, 12)));
        let step = bytes.len() / sizes.len() + 1;
        let mut sizes = sizes.into_iter();
        through(&bytes, step, |part| {
            stream.feed(part);
            display.feed(part);
            if let Some((rows, cols)) = sizes.next() {
                stream.resize(size(rows, cols));
                display.resize(size(rows, cols));
            }
            let _ = (stream.open_lines(), display.picture());
        });
    }
}
