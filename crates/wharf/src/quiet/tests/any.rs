//! Any output at all, made of what sequences are made of.

use super::{Quiet, Reports, passed};
use proptest::prelude::*;
use wharf_core::Size;
use wharf_core::view::{Display, Piece, Scanner};

/// Bytes that begin, end, break off or fill sequences, and some that are whole.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let parts: Vec<&[u8]> = vec![
        b"\x1b",
        b"\x1b[",
        b"\x1b]",
        b"\x1bP",
        b"\x1b_",
        b"\x1b\\",
        b"\x07",
        b"\x18",
        b"\x9b",
        b"\x9d",
        b"\xc2",
        b"\x9c",
        b"?",
        b">",
        b"=",
        b";",
        b":",
        b"0",
        b"1",
        b"2",
        b"5",
        b"6",
        b"8",
        b"52;c;",
        b"018",
        b"1004",
        b"2004",
        b"$",
        b" ",
        b"h",
        b"l",
        b"m",
        b"n",
        b"c",
        b"t",
        b"q",
        b"p",
        b"u",
        b"b",
        b"H",
        b"J",
        b"x",
        b"\n",
        b"\r",
        b"\x05",
        b"\xe2\x82",
        b"\xac",
        b"\x1b[31m",
        b"\x1b]2;t\x07",
        b"\x1b[6n",
        b"\x1b]11;?\x07",
        b"\x1b[c",
    ];
    let part = prop_oneof![4 => proptest::sample::select(parts).prop_map(<[u8]>::to_vec), 1 => any::<[u8; 1]>().prop_map(Vec::from)];
    proptest::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

/// What a terminal that answers would answer.
fn answers(bytes: &[u8]) -> Vec<u8> {
    let (mut scanner, mut display) = (Scanner::new(None), Display::new(Size { cols: 80, rows: 24 }));
    scanner.feed(0, bytes, &mut |piece| {
        if let Piece::Bytes(bytes) = piece {
            display.feed(bytes);
        }
    });
    display.take_replies()
}

proptest! {
    #[test]
    fn whatever_passes_asks_nothing_is_complete_and_would_pass_again(bytes in output(), size in 1usize..9) {
        let shown = passed(&bytes);
        let mut filter = Quiet::new(Reports::Mouse);
        let in_pieces: Vec<u8> = bytes.chunks(size).flat_map(|part| filter.pass(part)).collect();
        prop_assert_eq!(&in_pieces, &shown);
        prop_assert_eq!(passed(&shown).escape_ascii().to_string(), shown.escape_ascii().to_string());
        prop_assert_eq!(answers(&shown), b"");
        // Nothing is left open: what comes next is seen as it is.
        let next = [&shown[..], b"next"].concat();
        prop_assert!(passed(&next).ends_with(b"next"));
        prop_assert!(String::from_utf8(shown).is_ok());
    }
}
