//! What a command has switched on in a terminal, so that whoever joins late can switch it on and whoever leaves early can
//! switch it off.
//!
//! Mouse reports, bracketed paste, the alternate screen, other keyboard encodings: all of them make a shell unusable
//! when the program that wanted them is no longer there.

use std::collections::BTreeSet;

/// The modes that are on.
#[derive(Debug, Default)]
pub(crate) struct Modes {
    /// DEC private modes that differ from what a fresh terminal has.
    private: BTreeSet<u16>,
    /// Keyboard encodings pushed and not popped.
    keyboards: Vec<String>,
    /// `modifyOtherKeys`, as it was set.
    other_keys: Option<String>,
    keypad: bool,
    /// Scrolling of a part of the screen only.
    region: bool,
    cursor_style: bool,
    /// An escape sequence of which the end has not come.
    held: Vec<u8>,
}

/// Alternate screens, of three generations.
const ALTERNATE: [u16; 3] = [47, 1047, 1049];
/// On when nobody has asked: the visible cursor and the end of lines.
const ON_BY_DEFAULT: [u16; 2] = [7, 25];
/// No sequence of interest is longer.
const LONGEST: usize = 64;
const ESC: u8 = 0x1b;

impl Modes {
    /// What was printed next.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match (self.held.as_slice(), *byte) {
                (_, ESC) => self.held = vec![ESC],
                ([], _) => {}
                ([ESC], b'[') | ([ESC, b'[', ..], 0x20..=0x3f) if self.held.len() < LONGEST => {
                    self.held.push(*byte)
                }
                ([ESC], b'=') => self.set_keypad(true),
                ([ESC], b'>') => self.set_keypad(false),
                ([ESC], b'c') => *self = Self::default(),
                ([ESC, b'[', ..], b'@'..=b'~') => self.take(*byte),
                _ => self.held.clear(),
            }
        }
    }

    fn set_keypad(&mut self, on: bool) {
        self.keypad = on;
        self.held.clear();
    }

    fn take(&mut self, last: u8) {
        let held = std::mem::take(&mut self.held);
        let body = String::from_utf8_lossy(held.get(2..).unwrap_or_default()).into_owned();
        match (body.as_bytes(), last) {
            ([b'?', ..], b'h' | b'l') => self.set_private(&body[1..], last == b'h'),
            ([b'>', ..], b'u') => self.keyboards.push(body),
            ([b'=', ..], b'u') => {
                self.keyboards = vec![format!(">{}", body[1..].split(';').next().unwrap_or("0"))]
            }
            ([b'<', ..], b'u') => {
                let popped = body[1..].parse().unwrap_or(1);
                self.keyboards.truncate(self.keyboards.len().saturating_sub(popped));
            }
            ([b'>', b'4', ..], b'm') => self.other_keys = body.contains(';').then_some(body),
            (b"" | [b'0'..=b'9' | b';', ..], b'r') => self.region = !body.is_empty(),
            ([.., b' '], b'q') => self.cursor_style = body != "0 " && body != " ",
            _ => {}
        }
    }

    fn set_private(&mut self, numbers: &str, on: bool) {
        for number in numbers.split(';').filter_map(|n| n.parse::<u16>().ok()) {
            if on != ON_BY_DEFAULT.contains(&number) {
                self.private.insert(number);
            } else {
                self.private.remove(&number);
            }
        }
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
        text.extend(self.keyboards.iter().map(|keyboard| format!("\x1b[{keyboard}u")));
        text.extend(self.other_keys.iter().map(|keys| format!("\x1b[{keys}m")));
        if self.keypad {
            text.push_str("\x1b=");
        }
        text
    }

    /// What makes a terminal fresh again.
    pub(crate) fn switch_off(&self) -> String {
        let mut text = String::from("\x1b[0m");
        if !self.keyboards.is_empty() {
            text += &format!("\x1b[<{}u", self.keyboards.len());
        }
        for (on, off) in [
            (self.other_keys.is_some(), "\x1b[>4m"),
            (self.keypad, "\x1b>"),
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
        }
    }

    #[test]
    fn an_endless_sequence_is_not_kept() {
        let mut modes = Modes::default();
        modes.feed(b"\x1b[?");
        modes.feed(&[b'1'; 100_000]);
        assert!(modes.held.len() <= LONGEST);
    }
}
