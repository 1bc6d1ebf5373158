//! Output that does nothing to the terminal it is shown on, except to colour it.
//!
//! What a command printed may hold sequences that set a clipboard, answer questions as if typed, or hide text. Text,
//! newline, tab, carriage return and colours (SGR) pass; every other sequence is taken out with its payload. The input
//! may be cut anywhere: what is undecided is held back, and never more than one short sequence of it.

/// The filter between two pieces of output.
#[derive(Debug, Default)]
pub(crate) struct Harmless {
    state: State,
    /// The sequence or character that is not complete yet.
    held: Vec<u8>,
    /// Whether a colour was passed on and not taken back.
    coloured: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// In a character of several bytes.
    Character,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate byte: the next final byte ends it.
    EscapeRest,
    /// After `ESC [`.
    Csi,
    /// In the payload of an OSC, DCS, APC, PM or SOS, which ends with ST or BEL.
    Payload,
    /// After ESC in a payload.
    PayloadEscape,
}

/// No colour needs more; a longer one is made to be a nuisance.
const LONGEST_SGR: usize = 128;
const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

impl Harmless {
    /// What may be shown of the next piece.
    pub(crate) fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.take(*byte, &mut shown);
        }
        shown
    }

    /// What makes the terminal as it was before.
    pub(crate) fn finish(&mut self) -> &'static [u8] {
        if std::mem::take(&mut self.coloured) { b"\x1b[0m" } else { b"" }
    }

    fn take(&mut self, byte: u8, shown: &mut Vec<u8>) {
        match (self.state, byte) {
            (State::Text, _) => self.take_text(byte, shown),
            (State::Character, 0x80..=0xbf) => self.take_continuation(byte, shown),
            (State::Character, _) => {
                shown.extend_from_slice(REPLACEMENT);
                self.restart(byte, shown);
            }
            (State::Payload, ESC) => self.state = State::PayloadEscape,
            (State::Payload, BEL | CAN | SUB) => self.forget(),
            (State::Payload, _) => {}
            (State::PayloadEscape, b'\\') => self.forget(),
            // An escape that is no terminator breaks the payload off and begins something of its own.
            (State::PayloadEscape | State::Escape, _) => self.take_after_escape(byte, shown),
            // Whatever cannot stand in a sequence ends it.
            (State::EscapeRest | State::Csi, 0x00..=0x1f | 0x7f..) => self.restart(byte, shown),
            (State::EscapeRest, 0x30..=0x7e) => self.forget(),
            (State::EscapeRest, _) => {}
            (State::Csi, _) => self.take_csi(byte, shown),
        }
    }

    fn take_text(&mut self, byte: u8, shown: &mut Vec<u8>) {
        match byte {
            b'\n' | b'\t' | b'\r' | 0x20..=0x7e => shown.push(byte),
            ESC => self.state = State::Escape,
            // The other controls, the bell among them, and bytes that older terminals take for controls.
            0x00..=0x1f | 0x7f..=0x9f => {}
            0xc2..=0xf4 => {
                self.state = State::Character;
                self.held.push(byte);
            }
            _ => shown.extend_from_slice(REPLACEMENT),
        }
    }

    fn take_continuation(&mut self, byte: u8, shown: &mut Vec<u8>) {
        self.held.push(byte);
        match std::str::from_utf8(&self.held) {
            Ok(text) => {
                if !text.chars().any(char::is_control) {
                    shown.extend_from_slice(text.as_bytes());
                }
                self.forget();
            }
            Err(error) if error.error_len().is_none() => {}
            Err(_) => {
                shown.extend_from_slice(REPLACEMENT);
                self.forget();
            }
        }
    }

    fn take_after_escape(&mut self, byte: u8, shown: &mut Vec<u8>) {
        match byte {
            b'[' => {
                self.state = State::Csi;
                self.held.extend_from_slice(b"\x1b[");
            }
            b']' | b'P' | b'X' | b'^' | b'_' => self.state = State::Payload,
            0x20..=0x2f => self.state = State::EscapeRest,
            0x30..=0x7e => self.forget(),
            _ => self.restart(byte, shown),
        }
    }

    fn take_csi(&mut self, byte: u8, shown: &mut Vec<u8>) {
        if self.held.len() <= LONGEST_SGR {
            self.held.push(byte);
        }
        if !(0x40..=0x7e).contains(&byte) {
            return;
        }
        if let [ESC, b'[', parameters @ .., b'm'] = self.held.as_slice() {
            let plain = |b: &u8| b.is_ascii_digit() || *b == b';' || *b == b':';
            if self.held.len() <= LONGEST_SGR && parameters.iter().all(plain) {
                shown.extend_from_slice(&self.held);
                self.coloured = !matches!(parameters, b"" | b"0");
            }
        }
        self.forget();
    }

    fn forget(&mut self) {
        self.state = State::Text;
        self.held.clear();
    }

    fn restart(&mut self, byte: u8, shown: &mut Vec<u8>) {
        self.forget();
        self.take_text(byte, shown);
    }
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
        (b"\x9b31m\x9d0;x\x9c", "31m0;x"),
        (b"\xc2\x9b31m\xc2\x85", "31m"),
        (b"bad\xff\xfe end\xe2\x82", "bad\u{fffd}\u{fffd} end"),
        (b"\xe2\x82x\xf0\x80y\xed\xa0\x80", "\u{fffd}x\u{fffd}y\u{fffd}"),
        (b"\x1b[31\nm", "\nm"),
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
        assert!(filter.held.len() <= LONGEST_SGR + 1);
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
