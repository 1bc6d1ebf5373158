//! Output that does nothing to the terminal it is shown on, except to colour it.
//!
//! What a command printed may hold sequences that set a clipboard, answer questions as if typed, or hide text. Text,
//! newline, tab, carriage return and colours (SGR) pass; every other sequence is taken out with its payload.

use crate::sequence::{Csi, Piece, Sequences};

/// No colour needs more; a longer one is made to be a nuisance.
const LONGEST_SGR: usize = 128;
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// The filter between two pieces of output.
#[derive(Debug, Default)]
pub(crate) struct Harmless {
    sequences: Sequences,
    /// Whether a colour was passed on and not taken back.
    coloured: bool,
}

impl Harmless {
    /// What may be shown of the next piece.
    pub(crate) fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::with_capacity(bytes.len());
        let Self { sequences, coloured } = self;
        sequences.feed(bytes, &mut |piece| match piece {
            Piece::Text(text) => shown.extend_from_slice(text.as_bytes()),
            Piece::Invalid => shown.extend_from_slice(REPLACEMENT),
            Piece::Control(byte @ (b'\n' | b'\t' | b'\r')) => shown.push(byte),
            Piece::Csi(csi) if is_colour(&csi) => {
                csi.write(&mut shown);
                *coloured = !matches!(csi.parameters, "" | "0");
            }
            // The other controls, the bell among them, and all other sequences.
            Piece::Control(_) | Piece::Escape { .. } | Piece::Csi(_) | Piece::Osc(_) => {}
        });
        shown
    }

    /// What makes the terminal as it was before.
    pub(crate) fn finish(&mut self) -> &'static [u8] {
        if std::mem::take(&mut self.coloured) { b"\x1b[0m" } else { b"" }
    }

    /// Bytes are missing here: what had begun before cannot be continued.
    pub(crate) fn forget(&mut self) {
        self.sequences.forget();
    }
}

fn is_colour(csi: &Csi<'_>) -> bool {
    (csi.marker, csi.between, csi.last) == (None, b"", b'm') && csi.parameters.len() <= LONGEST_SGR
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[(&[u8], &str)] = &[
        (b"plain\ttext\r\nmore", "plain\ttext\r\nmore"),
        ("gr\u{fc}n \u{20ac} \u{1f600}".as_bytes(), "gr\u{fc}n \u{20ac} \u{1f600}"),
        (b"\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"),
        (b"\x1b[38;2;1;2;3m \x1b[4:3m \x1b[m", "\x1b[38;2;1;2;3m \x1b[4:3m \x1b[m"),
        (b"a\x1b[2Jb\x1b[1;1Hc\x1b[?1049hd\x1b[6ne", "abcde"),
        (b"\x1b[>4;2mx\x1b[?4my\x1b[1 mz", "xyz"),
        (b"a\x1b]0;title\x07b", "ab"),
        (b"a\x1b]52;c;ZXZpbA==\x1b\\b", "ab"),
        (b"a\x1bP1$r0m\x1b\\b\x1b_payload\x1b\\c\x1b^pm\x1b\\d\x1bXsos\x1b\\e", "abcde"),
        (b"a\x1b]0;cut\x1b[31mb", "a\x1b[31mb"),
        (b"a\x1b]0;cut\x18b", "ab"),
        (b"\x1b(0q\x1bMr\x1b7s\x1bct", "qrst"),
        (b"bell\x07 back\x08 nul\x00 del\x7f form\x0c", "bell back nul del form"),
        (b"\x9b31m\x9d0;x\x9c", "\u{fffd}31m\u{fffd}0;x\u{fffd}"),
        (b"\xc2\x9b31m\xc2\x85", "31m"),
        (b"bad\xff\xfe end\xe2\x82", "bad\u{fffd}\u{fffd} end"),
        (b"\xe2\x82x\xf0\x80y\xed\xa0\x80", "\u{fffd}x\u{fffd}y\u{fffd}\u{fffd}"),
        (b"\x1b[31\nm", "\n\x1b[31m"),
        (b"\x1b\x1b[31mx", "\x1b[31mx"),
        (b"\x1b[\x1b[31mx", "\x1b[31mx"),
        (b"end\x1b", "end"),
        (b"end\x1b[3", "end"),
    ];

    #[test]
    fn text_and_colours_pass_and_nothing_else() {
        for (bytes, shown) in TABLE {
            let passed = Harmless::default().pass(bytes);
            assert_eq!(String::from_utf8_lossy(&passed), *shown, "{:?}", bytes.escape_ascii().to_string());
        }
    }

    #[test]
    fn however_the_bytes_are_cut_the_same_is_shown() {
        for (bytes, _) in TABLE {
            let whole = Harmless::default().pass(bytes);
            for cut in 0..=bytes.len() {
                let mut filter = Harmless::default();
                let mut passed = filter.pass(&bytes[..cut]);
                passed.extend(filter.pass(&bytes[cut..]));
                assert_eq!(passed, whole, "{:?} cut at {cut}", bytes.escape_ascii().to_string());
            }
            let mut filter = Harmless::default();
            let single: Vec<u8> = bytes.iter().flat_map(|byte| filter.pass(&[*byte])).collect();
            assert_eq!(single, whole);
        }
    }

    #[test]
    fn an_endless_sequence_is_not_kept() {
        let mut filter = Harmless::default();
        assert_eq!(filter.pass(b"\x1b["), b"");
        for _ in 0..1000 {
            assert_eq!(filter.pass(&[b'1'; 1000]), b"");
        }
        assert_eq!(filter.pass(b"mx"), b"x");
    }

    #[test]
    fn a_colour_left_on_is_taken_back_at_the_end() {
        for (bytes, end) in [(&b"x"[..], &b""[..]), (b"\x1b[31mx", b"\x1b[0m"), (b"\x1b[31mx\x1b[m", b"")] {
            let mut filter = Harmless::default();
            filter.pass(bytes);
            assert_eq!(filter.finish(), end);
        }
    }
}
