//! Any bytes shown as lines and as a screen, which changes its size on the way: never a panic, no control in any text,
//! the same lines whatever the pieces, and no more time than a few thousand bytes may take.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::time::{Duration, Instant};
use wharf_core::Size;
use wharf_core::view::{Display, Piece, Scanner, Stream};
use wharf_fuzz::plant;

fuzz_target!(init: plant(seeds()), |bytes: &[u8]| {
    // The first bytes say how large the screen is and becomes, and how the stream is cut into pieces.
    let [rows, cols, cut, stream @ ..] = bytes else { return };
    let first = Size { rows: u16::from(rows % 32), cols: u16::from(cols % 64) };
    let then = Size { rows: u16::from(cols % 32), cols: u16::from(rows % 64) };
    let begun = Instant::now();
    let piece = usize::from(*cut) + 1;
    let lines = show(stream, piece, first, None);
    assert_eq!(lines, show(stream, stream.len().max(1), first, None));
    show(stream, piece, first, Some(then));
    assert!(begun.elapsed() < Duration::from_secs(3), "a few thousand bytes took {:?}", begun.elapsed());
});

/// The lines, after all has been looked at that there is to look at.
fn show(bytes: &[u8], piece: usize, first: Size, then: Option<Size>) -> Vec<String> {
    let (mut scanner, mut stream, mut display) =
        (Scanner::new(None), Stream::new(first), Display::new(first));
    let (mut at, mut resized, mut lines) = (0, 0, Vec::new());
    for part in bytes.chunks(piece) {
        scanner.feed(at, part, &mut |piece| {
            if let Piece::Bytes(bytes) = piece {
                stream.feed(bytes);
                display.feed(bytes);
            }
        });
        at += part.len() as u64;
        lines.extend(stream.take_finished());
        // Twice, there and back.
        let size = if resized == 0 { then } else { then.map(|_| first) };
        if let (Some(size), true) = (size, resized < 2 && at as usize * 3 > bytes.len() * (resized + 1)) {
            resized += 1;
            stream.resize(size);
            display.resize(size);
        }
    }
    display.settle();
    lines.extend(stream.take_finished());
    lines.extend(stream.open_lines());
    assert!(display.take_replies().len() <= 16 * 1024);
    let picture = display.picture();
    let highlights = picture.highlights.iter().map(|highlight| &highlight.text);
    for text in lines.iter().chain(&picture.rows).chain(highlights) {
        assert!(!text.chars().any(|c| c.is_control() && c != '\t'), "{text:?}");
    }
    lines
}

/// What programs print: text, progress, redraws, full screens, things that are no text.
fn seeds() -> Vec<Vec<u8>> {
    let texts: [&[u8]; 8] = [
        b"one\r\ntwo\tthree  \r\n\xe6\x97\xa5\xe6\x9c\xac e\xcc\x81\r\n",
        b"10%\r50%\r100%\r\na\r\nb\r\n\x1b[2A\x1b[2Kc\r\n",
        b"\x1b[?1049h\x1b[H\x1b[2J\x1b[7mstatus\x1b[m\x1b[?1049lafter",
        b"\x1b[1;3r\x1b[3;1H\n\n\x1bM\x1b[2L\x1b[M\x1b[S\x1b[T\x1b[r\x1b[2J",
        b"A\xff\xfe\x80B\0\x01\x7f\xc2\x85\r\n",
        b"\x1b[6n\x1b[c\x1b[>q\x1b[16t\x1b]11;?\x07\x1b[?25$p",
        b"x\x1b[65535b\x1b[3g\x1b[65535Z\x1bH\t\t\x1b[4h\x1b[@\x1b[P\x1b[X\x1b(0q\x0e\x0f",
        b"\x1bc\x1b[?7labcdefgh\x1b[?7h\x1b[?6h\x1b[99;99H\x1b7\x1b[1J\x1b[J\x1b8",
    ];
    let stream = texts.concat();
    texts
        .iter()
        .map(|text| text.to_vec())
        .chain([stream])
        .map(|text| [b"\x05\x0c\x09", &text[..]].concat())
        .collect()
}
