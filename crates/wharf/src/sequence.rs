//! A command's output, cut into text, controls and whole escape sequences.
//!
//! Everything that stands between a command and somebody's terminal looks at these pieces, so that all agree on where a
//! sequence ends. The grammar is that of ECMA-48 as xterm reads it: an escape breaks off whatever was open, CAN and SUB
//! cancel it, other controls in the middle of a sequence are obeyed at once.
//!
//! What is broken off, malformed or too long is dropped, and so are strings that nobody here lets pass: DCS, APC, PM, SOS
//! and the title of `screen` (`ESC k`). Controls of eight bits begin nothing: as bytes they are no text, as characters they
//! are dropped. Output may be cut anywhere; what is held back is bounded.

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
/// No control sequence of use is longer.
const LONGEST_CSI: usize = 256;
/// No title or address is.
pub(crate) const LONGEST_STRING: usize = 4096;

/// A piece of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Without any control.
    Text(&'a str),
    /// Bytes that are no text.
    Invalid,
    /// A control of ASCII.
    Control(u8),
    /// `ESC`, intermediate bytes, a last one.
    Escape {
        between: &'a [u8],
        last: u8,
    },
    Csi(Csi<'a>),
    Osc(Osc<'a>),
}

/// A control sequence: `ESC [`, a marker, parameters, intermediate bytes, a last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Csi<'a> {
    /// One of `<`, `=`, `>` and `?`.
    pub(crate) marker: Option<u8>,
    /// Digits, `;` and `:`.
    pub(crate) parameters: &'a str,
    pub(crate) between: &'a [u8],
    pub(crate) last: u8,
}

impl<'a> Csi<'a> {
    fn parse(body: &'a [u8], last: u8) -> Option<Self> {
        let marked = body.first().is_some_and(|byte| (0x3c..=0x3f).contains(byte));
        let (marker, rest) = body.split_at(usize::from(marked));
        let end = rest.iter().position(|byte| !(0x30..=0x3b).contains(byte)).unwrap_or(rest.len());
        let (parameters, between) = rest.split_at(end);
        let parameters = std::str::from_utf8(parameters).ok()?;
        let proper = between.iter().all(|byte| (0x20..=0x2f).contains(byte));
        proper.then_some(Self { marker: marker.first().copied(), parameters, between, last })
    }

    /// Its parameters as numbers, one that is left out as zero. Nothing if any of them has parts of its own.
    pub(crate) fn numbers(&self) -> Option<Vec<u32>> {
        let parts = || self.parameters.split(';').map(number);
        if self.parameters.is_empty() { Some(Vec::new()) } else { parts().collect() }
    }

    /// The sequence as it was written.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(b"\x1b[");
        bytes.extend(self.marker);
        bytes.extend_from_slice(self.parameters.as_bytes());
        bytes.extend_from_slice(self.between);
        bytes.push(self.last);
    }
}

/// A number as terminals read it: zeros before it do not count, and none at all is zero. One that is too large stays too
/// large.
pub(crate) fn number(text: &str) -> Option<u32> {
    let digit = |number: u32, byte: u8| number.saturating_mul(10).saturating_add(u32::from(byte - b'0'));
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.bytes().fold(0, digit))
}

/// A command to the terminal's surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Osc<'a> {
    pub(crate) body: &'a [u8],
    /// `BEL` or `ESC \`.
    pub(crate) end: &'static [u8],
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// In a character of several bytes.
    Character,
    /// After an escape, and perhaps intermediate bytes.
    Escape,
    Csi,
    String(Kind),
    /// After an escape in a string, which ends it with the next byte.
    StringEscape(Kind),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Osc,
    /// The same, and too long to pass.
    LongOsc,
    /// One that does not pass, whatever it says.
    Other,
}

/// Cuts output into pieces.
#[derive(Debug, Default)]
pub(crate) struct Sequences {
    state: State,
    /// What has come of a sequence, without its introducer; of a string that is dropped, the last byte.
    held: Vec<u8>,
}

type Each<'a> = &'a mut dyn FnMut(Piece<'_>);

impl Sequences {
    /// What was printed next.
    pub(crate) fn feed(&mut self, bytes: &[u8], each: Each<'_>) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            let plain = if self.state == State::Text { plain(rest) } else { "" };
            if plain.is_empty() {
                self.take(byte, each);
                rest = after;
            } else {
                each(Piece::Text(plain));
                rest = &rest[plain.len()..];
            }
        }
    }

    /// Whatever was open is not continued.
    pub(crate) fn forget(&mut self) {
        self.state = State::Text;
        self.held.clear();
    }

    fn take(&mut self, byte: u8, each: Each<'_>) {
        match (self.state, byte) {
            (State::Character, 0x80..=0xbf) => self.take_continuation(byte, each),
            (State::Character, _) => {
                each(Piece::Invalid);
                self.forget();
                self.take(byte, each);
            }
            (State::StringEscape(kind), b'\\') => self.end_string(kind, b"\x1b\\", each),
            // An escape that is no terminator breaks the string off and begins something of its own.
            (State::StringEscape(_), _) => {
                self.begin(State::Escape);
                self.take(byte, each);
            }
            (State::String(kind), ESC) => self.state = State::StringEscape(kind),
            (_, ESC) => self.begin(State::Escape),
            (_, CAN | SUB) => self.forget(),
            (State::Text, _) => self.take_text(byte, each),
            (State::String(kind), _) => self.take_string(kind, byte, each),
            // Obeyed at once, and the sequence goes on.
            (State::Escape | State::Csi, 0x00..=0x1f) => each(Piece::Control(byte)),
            (State::Escape | State::Csi, 0x7f) => {}
            (State::Escape | State::Csi, 0x80..) => {
                self.forget();
                self.take_text(byte, each);
            }
            (State::Escape, _) => self.take_escape(byte, each),
            (State::Csi, _) => self.take_csi(byte, each),
        }
    }

    fn take_text(&mut self, byte: u8, each: Each<'_>) {
        match byte {
            0x00..=0x1f => each(Piece::Control(byte)),
            0xc2..=0xf4 => {
                self.begin(State::Character);
                self.held.push(byte);
            }
            0x20..=0x7e => each(Piece::Text(plain(&[byte]))),
            // Terminals ignore it.
            0x7f => {}
            0x80.. => each(Piece::Invalid),
        }
    }

    fn take_continuation(&mut self, byte: u8, each: Each<'_>) {
        self.held.push(byte);
        match std::str::from_utf8(&self.held) {
            // Controls of eight bits, encoded.
            Ok(text) if text.chars().any(char::is_control) => self.forget(),
            Ok(text) => {
                each(Piece::Text(text));
                self.forget();
            }
            Err(error) if error.error_len().is_none() => {}
            Err(_) => {
                each(Piece::Invalid);
                self.forget();
            }
        }
    }

    fn take_escape(&mut self, byte: u8, each: Each<'_>) {
        match (self.held.as_slice(), byte) {
            ([], b'[') => self.begin(State::Csi),
            ([], b']') => self.begin(State::String(Kind::Osc)),
            ([], b'P' | b'X' | b'^' | b'_' | b'k') => self.begin(State::String(Kind::Other)),
            (_, 0x20..=0x2f) => self.keep(byte, LONGEST_CSI),
            (between, last) => {
                if between.len() <= LONGEST_CSI {
                    each(Piece::Escape { between, last });
                }
                self.forget();
            }
        }
    }

    fn take_csi(&mut self, byte: u8, each: Each<'_>) {
        if (0x20..=0x3f).contains(&byte) {
            return self.keep(byte, LONGEST_CSI);
        }
        if self.held.len() <= LONGEST_CSI
            && let Some(csi) = Csi::parse(&self.held, byte)
        {
            each(Piece::Csi(csi));
        }
        self.forget();
    }

    fn take_string(&mut self, kind: Kind, byte: u8, each: Each<'_>) {
        match (kind, self.held.last(), byte) {
            (Kind::Osc | Kind::LongOsc, _, BEL) => self.end_string(kind, b"\x07", each),
            // The string terminator of eight bits, encoded.
            (_, Some(0xc2), 0x9c) => {
                self.held.pop();
                self.end_string(kind, b"\x1b\\", each);
            }
            (Kind::Osc, ..) if self.held.len() < LONGEST_STRING => self.held.push(byte),
            _ => {
                let kind = if kind == Kind::Other { kind } else { Kind::LongOsc };
                self.begin(State::String(kind));
                self.held.push(byte);
            }
        }
    }

    fn end_string(&mut self, kind: Kind, end: &'static [u8], each: Each<'_>) {
        if kind == Kind::Osc {
            each(Piece::Osc(Osc { body: &self.held, end }));
        }
        self.forget();
    }

    fn begin(&mut self, state: State) {
        self.state = state;
        self.held.clear();
    }

    /// One more than fits is kept, which tells that it is too long.
    fn keep(&mut self, byte: u8, most: usize) {
        if self.held.len() <= most {
            self.held.push(byte);
        }
    }
}

/// The printable characters of ASCII at the beginning.
fn plain(bytes: &[u8]) -> &str {
    let end = bytes.iter().position(|byte| !(0x20..=0x7e).contains(byte)).unwrap_or(bytes.len());
    std::str::from_utf8(&bytes[..end]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces of some output, cut into parts of that size, as one text.
    fn pieces(bytes: &[u8], size: usize) -> String {
        let (mut sequences, mut text) = (Sequences::default(), String::new());
        for part in bytes.chunks(size) {
            sequences.feed(part, &mut |piece| match piece {
                Piece::Text(more) => text += more,
                Piece::Invalid => text.push('\u{fffd}'),
                Piece::Control(byte) => text += &format!("<{byte:02x}>"),
                Piece::Escape { between, last } => {
                    text += &format!("<esc {}{}>", between.escape_ascii(), char::from(last));
                }
                Piece::Csi(csi) => text += &format!("<csi {:?} {}>", csi.numbers(), char::from(csi.last)),
                Piece::Osc(osc) => text += &format!("<osc {}>", osc.body.escape_ascii()),
            });
        }
        text
    }

    #[test]
    fn output_is_cut_into_pieces_however_it_comes() {
        for (bytes, expected) in [
            (&b"plain\r\n"[..], "plain<0d><0a>"),
            ("gr\u{fc}n \u{1f600}".as_bytes(), "gr\u{fc}n \u{1f600}"),
            (b"\x1b[31m\x1b[m\x1b[018;;4t", "<csi Some([31]) m><csi Some([]) m><csi Some([18, 0, 4]) t>"),
            (b"\x1b[4:3m\x1b[99999999999x", "<csi None m><csi Some([4294967295]) x>"),
            (b"\x1b7\x1b(0\x1b#8", "<esc 7><esc (0><esc #8>"),
            (b"\x1b]0;t\x07\x1b]8;;\x1b\\\x1b]2;x\xc2\x9c!", "<osc 0;t><osc 8;;><osc 2;x>!"),
            (b"\x1bPq\x07~\x1b\\a\x1b_G\xc2\x9cb\x1bkt\x1b\\c", "abc"),
            (b"\x1b[3\n1m\x1b[3\x1b[4m\x1b[5\x18m", "<0a><csi Some([31]) m><csi Some([4]) m>m"),
            (b"\x1b[1$2m\x1b[1?mx", "x"),
            (b"a\x9b6n\xc2\x9b6n\xff\xe2\x82z", "a\u{fffd}6n6n\u{fffd}\u{fffd}z"),
            (b"\x1b]0;cut\x1b[31m\x1b]0;cut", "<csi Some([31]) m>"),
        ] {
            for size in [1, 2, 3, 100] {
                assert_eq!(pieces(bytes, size), expected, "{} by {size}", bytes.escape_ascii());
            }
        }
    }

    #[test]
    fn what_never_ends_is_not_kept() {
        for begin in [&b"\x1b["[..], b"\x1b(", b"\x1b]0;", b"\x1bP"] {
            let mut sequences = Sequences::default();
            sequences.feed(begin, &mut |_| {});
            sequences.feed(&[b' '; 100_000], &mut |_| {});
            assert!(sequences.held.len() <= LONGEST_STRING, "{}", begin.escape_ascii());
            let mut seen = 0;
            sequences
                .feed(b"m\x1b\\", &mut |piece| seen += usize::from(!matches!(piece, Piece::Escape { .. })));
            assert_eq!(seen, 0, "{}", begin.escape_ascii());
        }
    }
}
