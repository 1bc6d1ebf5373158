//! Any bytes through the mark scanner: never a panic, the same whatever the pieces, nothing forged, nothing grown.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::time::{Duration, Instant};
use wharf_core::view::{Piece, Scanner};
use wharf_fuzz::plant;

const NONCE: &str = "n0nce";

fuzz_target!(init: plant(seeds()), |bytes: &[u8]| {
    // The first byte says how the stream is cut into pieces on its way.
    let Some((cut, stream)) = bytes.split_first() else { return };
    let begun = Instant::now();
    let whole = scan(stream, usize::MAX);
    assert_eq!(scan(stream, usize::from(*cut) + 1), whole);
    // A sequence is at most replaced by a fixed one of two hundred bytes, for two of its own.
    assert!(whole.0.len() <= 128 * stream.len());
    for (body, start, end) in &whole.1 {
        let mark = &stream[*start as usize..*end as usize];
        assert!(mark.starts_with(format!("\x1b]6973;{NONCE};{body}").as_bytes()));
    }
    assert!(begun.elapsed() < Duration::from_secs(1), "a few thousand bytes took {:?}", begun.elapsed());
});

fn scan(bytes: &[u8], piece: usize) -> (Vec<u8>, Vec<(String, u64, u64)>) {
    let (mut scanner, mut at, mut kept, mut marks) = (Scanner::new(Some(NONCE)), 0, Vec::new(), Vec::new());
    for part in bytes.chunks(piece) {
        scanner.feed(at, part, &mut |piece| match piece {
            Piece::Bytes(bytes) => kept.extend_from_slice(bytes),
            Piece::Mark { body, start, end } => marks.push((body.to_owned(), start, end)),
        });
        at += part.len() as u64;
    }
    (kept, marks)
}

/// Marks that count and marks that do not, each once alone, and all of them in one stream.
fn seeds() -> Vec<Vec<u8>> {
    let mark = format!("\x1b]6973;{NONCE};A;1;2\x07");
    let texts = [
        mark.clone(),
        format!("a\x1b]6973;{NONCE};B\x1b\\b"),
        format!("\x1b]0;title{mark}"),
        format!("\x1bPq{mark}\x1b\\"),
        "\x1b]6973;other;A\x07".to_owned(),
        "\x1b[1;31m\x1b[3J\x1bc\x1b[65535b\x1b[?3;1047h".to_owned(),
        "\x1b]11;?\x07\x1b]52;c;aGk=\x07\x1b[3\r\n1m".to_owned(),
    ];
    let stream = texts.concat();
    texts.into_iter().chain([stream]).map(|text| format!("\x06{text}").into_bytes()).collect()
}
