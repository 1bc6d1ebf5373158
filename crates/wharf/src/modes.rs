//! What a command has switched on in a terminal, so that whoever joins late can switch it on and whoever leaves early can
//! switch it off.
//!
//! Mouse reports, bracketed paste, the alternate screen, other keyboard encodings: all of them make a shell unusable
//! when the program that wanted them is no longer there.

use crate::sequence::{Csi, Piece, Sequences};
use std::collections::BTreeSet;

/// The modes that are on.
#[derive(Debug, Default)]
pub(crate) struct Modes {
    /// DEC private modes that differ from what a fresh terminal has.
    private: BTreeSet<u16>,
    /// Keyboard encodings pushed and not popped.
    keyboards: Vec<u32>,
    /// `modifyOtherKeys`, as it was set.
    other_keys: Option<u32>,
    keypad: bool,
    /// What is printed moves the rest of its line.
    insert: bool,
    /// What is printed belongs to a link.
    link: bool,
    /// Scrolling of a part of the screen only.
    region: bool,
    cursor_style: bool,
    sequences: Sequences,
}

/// Alternate screens, of three generations.
const ALTERNATE: [u16; 3] = [47, 1047, 1049];
/// On when nobody has asked: the visible cursor and the end of lines.
const ON_BY_DEFAULT: [u16; 2] = [7, 25];
/// What a soft reset sets back: cursor keys, origin, wrapping, the visible cursor, the keypad.
const SOFT: [u16; 5] = [1, 6, 7, 25, 66];
const INSERT: u32 = 4;
const OTHER_KEYS: u32 = 4;
/// Terminals keep no more either.
const MOST_KEYBOARDS: usize = 16;
/// Attributes are always set back, since nobody keeps track of them.
const PLAIN: &str = "\x1b[0m";

impl Modes {
    /// What was printed next.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let mut sequences = std::mem::take(&mut self.sequences);
        sequences.feed(bytes, &mut |piece| match piece {
            Piece::Escape { between: b"", last: b'=' } => self.keypad = true,
            Piece::Escape { between: b"", last: b'>' } => self.keypad = false,
            Piece::Escape { between: b"", last: b'c' } => *self = Self::default(),
            Piece::Csi(csi) => self.take(&csi),
            Piece::Osc(osc) => self.take_link(osc.body),
            _ => {}
        });
        self.sequences = sequences;
    }

    fn take(&mut self, csi: &Csi<'_>) {
        let Some(numbers) = csi.numbers() else { return };
        let first = numbers.first().copied().unwrap_or(0);
        match (csi.marker, csi.between, csi.last) {
            (Some(b'?'), b"", last @ (b'h' | b'l')) => self.set_private(&numbers, last == b'h'),
            (None, b"", last @ (b'h' | b'l')) if numbers.contains(&INSERT) => self.insert = last == b'h',
            (Some(b'>'), b"", b'u') => self.push_keyboard(first),
            (Some(b'='), b"", b'u') => self.keyboards = vec![first],
            (Some(b'<'), b"", b'u') => {
                let popped = usize::try_from(first.max(1)).unwrap_or(usize::MAX);
                self.keyboards.truncate(self.keyboards.len().saturating_sub(popped));
            }
            (Some(b'>'), b"", b'm') if first == OTHER_KEYS => self.other_keys = numbers.get(1).copied(),
            (Some(b'>'), b"", b'n') if first == OTHER_KEYS => self.other_keys = None,
            (None, b"", b'r') => self.region = !numbers.is_empty(),
            (None, b" ", b'q') => self.cursor_style = first != 0,
            (None, b"!", b'p') => self.soften(),
            _ => {}
        }
    }

    fn push_keyboard(&mut self, flags: u32) {
        if self.keyboards.len() == MOST_KEYBOARDS {
            self.keyboards.remove(0);
        }
        self.keyboards.push(flags);
    }

    /// A soft reset.
    fn soften(&mut self) {
        (self.keypad, self.insert, self.region) = (false, false, false);
        for number in SOFT {
            self.private.remove(&number);
        }
    }

    /// A link begins with an address, and ends without one.
    fn take_link(&mut self, body: &[u8]) {
        if let Some(link) = body.strip_prefix(b"8;") {
            self.link = !link.ends_with(b";");
        }
    }

    fn set_private(&mut self, numbers: &[u32], on: bool) {
        for number in numbers.iter().filter_map(|number| u16::try_from(*number).ok()) {
            if on != ON_BY_DEFAULT.contains(&number) {
                self.private.insert(number);
            } else {
                self.private.remove(&number);
            }
        }
    }

    /// Whether nothing is on that a fresh terminal has not.
    pub(crate) fn is_fresh(&self) -> bool {
        self.switch_off() == PLAIN
    }

    /// Whether a full-screen program has the screen.
    pub(crate) fn is_alternate(&self) -> bool {
        self.private.iter().any(|number| ALTERNATE.contains(number))
    }

    /// What brings a fresh terminal onto the same screen, before that is painted.
    pub(crate) fn enter_screen(&self) -> String {
        self.private.iter().filter(|n| ALTERNATE.contains(n)).map(|n| format!("\x1b[?{n}h")).collect()
    }

    /// What switches on everything else, after that is painted.
    pub(crate) fn switch_on(&self) -> String {
        let others = self.private.iter().filter(|n| !ALTERNATE.contains(n));
        let mut text: String = others.map(|n| set(*n, true)).collect();
        text.extend(self.keyboards.iter().map(|keyboard| format!("\x1b[>{keyboard}u")));
        text.extend(self.other_keys.iter().map(|keys| format!("\x1b[>4;{keys}m")));
        for (on, sequence) in [(self.keypad, "\x1b="), (self.insert, "\x1b[4h")] {
            text.push_str(if on { sequence } else { "" });
        }
        text
    }

    /// What makes a terminal fresh again.
    pub(crate) fn switch_off(&self) -> String {
        let mut text = PLAIN.to_owned();
        if !self.keyboards.is_empty() {
            text += &format!("\x1b[<{}u", self.keyboards.len());
        }
        for (on, off) in [
            (self.other_keys.is_some(), "\x1b[>4m"),
            (self.keypad, "\x1b>"),
            (self.insert, "\x1b[4l"),
            (self.link, "\x1b]8;;\x1b\\"),
            (self.cursor_style, "\x1b[0 q"),
            // This one moves the cursor, which has to be put back.
            (self.region, "\x1b7\x1b[r\x1b8"),
        ] {
            text.push_str(if on { off } else { "" });
        }
        // The screen last, because it brings the cursor of before with it.
        let (screens, others): (Vec<u16>, Vec<u16>) =
            self.private.iter().partition(|n| ALTERNATE.contains(n));
        text.extend(others.into_iter().chain(screens).map(|n| set(n, false)));
        text
    }
}

/// To what the command wanted, or back to what a fresh terminal has.
fn set(number: u16, as_wanted: bool) -> String {
    let on = as_wanted != ON_BY_DEFAULT.contains(&number);
    format!("\x1b[?{number}{}", if on { 'h' } else { 'l' })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[(&str, &str)] = &[
        ("plain text", ""),
        ("\x1b[31mred", ""),
        ("\x1b[?1049h", "\x1b[?1049l"),
        ("\x1b[?1049h\x1b[?1049l", ""),
        ("\x1b[?1000;1006h\x1b[?2004h", "\x1b[?1000l\x1b[?1006l\x1b[?2004l"),
        ("\x1b[?25l", "\x1b[?25h"),
        ("\x1b[?25l\x1b[?25h", ""),
        ("\x1b=", "\x1b>"),
        ("\x1b=\x1b>", ""),
        ("\x1b[>5u", "\x1b[<1u"),
        ("\x1b[>5u\x1b[<u", ""),
        ("\x1b[=5;1u", "\x1b[<1u"),
        ("\x1b[>4;2m", "\x1b[>4m"),
        ("\x1b[>4;2m\x1b[>4m", ""),
        ("\x1b[2;10r", "\x1b7\x1b[r\x1b8"),
        ("\x1b[2;10r\x1b[r", ""),
        ("\x1b[5 q", "\x1b[0 q"),
        ("\x1b[?1049h\x1bc", ""),
        ("\x1b[4h", "\x1b[4l"),
        ("\x1b[4h\x1b[04l", ""),
        ("\x1b]8;;http://x\x07", "\x1b]8;;\x1b\\"),
        ("\x1b]8;;http://x\x07x\x1b]8;;\x1b\\", ""),
        ("\x1b[?1h\x1b=\x1b[4h\x1b[?25l\x1b[?1000h\x1b[!p", "\x1b[?1000l"),
        ("\x1b[?01049h", "\x1b[?1049l"),
        ("\x1b[?99999999999h", ""),
    ];

    #[test]
    fn what_was_switched_on_is_switched_off() {
        for (printed, off) in TABLE {
            let mut modes = Modes::default();
            modes.feed(printed.as_bytes());
            assert_eq!(modes.switch_off(), format!("\x1b[0m{off}"), "{printed:?}");
        }
    }

    #[test]
    fn however_the_bytes_are_cut_the_same_is_known() {
        for (printed, off) in TABLE {
            let mut modes = Modes::default();
            printed.bytes().for_each(|byte| modes.feed(&[byte]));
            assert_eq!(modes.switch_off(), format!("\x1b[0m{off}"), "{printed:?}");
        }
    }

    #[test]
    fn whoever_joins_late_gets_the_same_modes() {
        for (printed, _) in TABLE {
            let (mut first, mut second) = (Modes::default(), Modes::default());
            first.feed(printed.as_bytes());
            second.feed(first.enter_screen().as_bytes());
            second.feed(first.switch_on().as_bytes());
            assert_eq!(first.private, second.private, "{printed:?}");
            assert_eq!(first.keyboards, second.keyboards, "{printed:?}");
            assert_eq!((first.keypad, first.other_keys), (second.keypad, second.other_keys), "{printed:?}");
            assert_eq!(first.insert, second.insert, "{printed:?}");
        }
    }

    #[test]
    fn keyboards_are_counted_no_further_than_terminals_do() {
        let mut modes = Modes::default();
        modes.feed("\x1b[>1u".repeat(100_000).as_bytes());
        assert_eq!(modes.keyboards.len(), MOST_KEYBOARDS);
        modes.feed(b"\x1b[<99999999999u");
        assert!(modes.is_fresh());
    }
}
