//! The views under the scanner, as the product puts them together.

mod any;
mod display;
mod scan;
mod stream;

use super::{Display, Piece, Scanner, Stream};
use crate::spec::Size;

/// The nonce of marks in tests.
const NONCE: &str = "n0nce";

fn size(rows: u16, cols: u16) -> Size {
    Size { cols, rows }
}

/// What a scanner makes of bytes that come in pieces of that size: bytes joined, marks with their offsets.
#[derive(Debug, Default, PartialEq, Eq)]
struct Scanned {
    bytes: Vec<u8>,
    marks: Vec<(String, u64, u64)>,
}

fn scan(bytes: &[u8], piece: usize) -> Scanned {
    let (mut scanner, mut scanned, mut at) = (Scanner::new(Some(NONCE)), Scanned::default(), 100);
    for part in bytes.chunks(piece) {
        scanner.feed(at, part, &mut |piece| match piece {
            Piece::Bytes(bytes) => scanned.bytes.extend_from_slice(bytes),
            Piece::Mark { body, start, end } => scanned.marks.push((body.to_owned(), start - 100, end - 100)),
        });
        at += part.len() as u64;
    }
    scanned
}

/// Everything after the scanner, bytes in pieces of that size.
fn through(bytes: &[u8], piece: usize, mut each: impl FnMut(&[u8])) {
    let (mut scanner, mut at) = (Scanner::new(Some(NONCE)), 0);
    for part in bytes.chunks(piece) {
        scanner.feed(at, part, &mut |piece| {
            if let Piece::Bytes(bytes) = piece {
                each(bytes);
            }
        });
        at += part.len() as u64;
    }
}

fn lines_of(mut stream: Stream, bytes: &[u8], piece: usize) -> Vec<String> {
    let mut lines = Vec::new();
    through(bytes, piece, |part| {
        stream.feed(part);
        lines.extend(stream.take_finished());
    });
    lines.extend(stream.open_lines());
    lines
}

/// All lines of that output on a screen of 4 rows and 10 columns, the same whatever the pieces.
fn lines(text: &str) -> Vec<String> {
    let stream = || Stream::new(size(4, 10));
    let whole = lines_of(stream(), text.as_bytes(), usize::MAX);
    for piece in [1, 2, 7] {
        assert_eq!(lines_of(stream(), text.as_bytes(), piece), whole, "in pieces of {piece}");
    }
    whole
}

fn shown(text: &str) -> Display {
    let mut display = Display::new(size(4, 10));
    through(text.as_bytes(), usize::MAX, |part| display.feed(part));
    display
}
