//! Keys by the names that tmux has for them, and text, as the bytes that a terminal sends.
//!
//! Pure: nothing here knows who is typed at. What surprises: names are exact, case included, because a name alone may as
//! well be a command (`end`, `C-compile`); a near miss is answered with the right name instead of being guessed. A single
//! character without a modifier is text, not a key.

mod meant;
mod paste;
mod table;
#[cfg(test)]
mod tests;

pub use paste::typed;

use crate::view::Modes;
use std::fmt;
use table::{Entry, Sends};

/// A key with its modifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    base: Base,
    held: Held,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    /// A character; at least one modifier is held.
    Char(char),
    /// A key with a name of its own.
    Named(&'static Entry),
}

/// Which modifiers are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Held {
    ctrl: bool,
    meta: bool,
    shift: bool,
}

/// A name that is not a key's, with what was probably meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is not the name of a key{}", .meant.as_ref().map(|m| format!("; it is {m}")).unwrap_or_default())]
pub struct WrongKey {
    /// What was given.
    pub name: String,
    /// The right name, if one was probably meant (`Ctrl-C` → `C-c`, `Esc` → `Escape`).
    pub meant: Option<String>,
}

impl Key {
    /// The key of exactly that name.
    pub fn parse(name: &str) -> Result<Self, WrongKey> {
        Self::exactly(name).ok_or_else(|| WrongKey {
            name: name.to_owned(),
            meant: meant::meant(name).map(|k| k.to_string()),
        })
    }

    fn exactly(name: &str) -> Option<Self> {
        let (mut held, mut rest) = (Held::default(), name);
        // `C--` is Control and a minus: what follows a prefix is never empty.
        while let Some((prefix, after)) = rest.split_at_checked(2).filter(|(_, after)| !after.is_empty()) {
            let modifier = match prefix {
                "C-" => &mut held.ctrl,
                "M-" => &mut held.meta,
                "S-" => &mut held.shift,
                _ => break,
            };
            if std::mem::replace(modifier, true) {
                return None;
            }
            rest = after;
        }
        let base = match table::named(rest) {
            Some(entry) => Base::Named(entry),
            None => Base::Char(only(rest)?),
        };
        Self::new(base, held)
    }

    /// None if no terminal has bytes for the combination.
    fn new(base: Base, mut held: Held) -> Option<Self> {
        let base = match base {
            Base::Char(_) if held == Held::default() => return None,
            // Without an extension that few programs ask for, Control has one code for both cases.
            Base::Char(c) if held.ctrl => match (held.shift, control(c)) {
                (false, Some(_)) => Base::Char(c.to_ascii_lowercase()),
                _ => return None,
            },
            // Shift is part of the character.
            Base::Char(c) if held.shift => {
                held.shift = false;
                Base::Char(c.is_ascii_alphabetic().then_some(c.to_ascii_uppercase())?)
            }
            // Only what can be typed.
            Base::Char(c) if c.is_control() || c == ' ' => return None,
            Base::Named(Entry { sends: Sends::Pad { .. }, .. }) if held != Held::default() => return None,
            Base::Named(entry) if held.shift && entry.name == "Tab" => {
                held.shift = false;
                Base::Named(table::named("BTab")?)
            }
            base => base,
        };
        Some(Self { base, held })
    }

    /// Whether no modifier is held, so that its name could as well be a word.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.held == Held::default() && matches!(self.base, Base::Named(_))
    }

    /// What a terminal sends for it in these modes.
    #[must_use]
    pub fn bytes(&self, modes: Modes) -> Vec<u8> {
        match self.base {
            Base::Char(c) => {
                let code = if self.held.ctrl { control(c).map(char::from) } else { None };
                self.with_meta(code.unwrap_or(c).encode_utf8(&mut [0; 4]).as_bytes())
            }
            Base::Named(entry) => self.named(entry.sends, modes),
        }
    }

    fn named(&self, sends: Sends, modes: Modes) -> Vec<u8> {
        let modifier = self.held.number();
        match sends {
            Sends::Bytes { plain, ctrl } => self.with_meta(if self.held.ctrl { ctrl } else { plain }),
            Sends::Cursor(letter) | Sends::Function(letter) if modifier > 1 => {
                format!("\x1b[1;{modifier}{letter}").into_bytes()
            }
            Sends::Cursor(letter) if !modes.application_cursor => format!("\x1b[{letter}").into_bytes(),
            Sends::Cursor(letter) | Sends::Function(letter) => format!("\x1bO{letter}").into_bytes(),
            Sends::Tilde(number) if modifier > 1 => format!("\x1b[{number};{modifier}~").into_bytes(),
            Sends::Tilde(number) => format!("\x1b[{number}~").into_bytes(),
            Sends::Pad { letter, .. } if modes.application_keypad => format!("\x1bO{letter}").into_bytes(),
            Sends::Pad { plain, .. } => vec![plain],
        }
    }

    fn with_meta(&self, bytes: &[u8]) -> Vec<u8> {
        let escape: &[u8] = if self.held.meta { b"\x1b" } else { b"" };
        [escape, bytes].concat()
    }
}

impl Held {
    /// As xterm counts them.
    fn number(self) -> u8 {
        1 + u8::from(self.shift) + 2 * u8::from(self.meta) + 4 * u8::from(self.ctrl)
    }
}

/// The name: for a key with several, the one that tmux itself shows.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Held { ctrl, meta, shift } = self.held;
        for (held, prefix) in [(ctrl, "C-"), (meta, "M-"), (shift, "S-")] {
            f.write_str(if held { prefix } else { "" })?;
        }
        match self.base {
            // Alone, it can only be there because Shift was.
            Base::Char(c) if self.held == Held::default() => write!(f, "S-{}", c.to_ascii_lowercase()),
            Base::Char(c) => write!(f, "{c}"),
            Base::Named(entry) => f.write_str(entry.name),
        }
    }
}

/// The code of a character with Control held, where there is one.
fn control(c: char) -> Option<u8> {
    Some(match c {
        'a'..='z' | 'A'..='Z' | '@' | '['..='_' => c as u8 & 0x1f,
        '?' | '8' => 0x7f,
        '/' | '-' => 0x1f,
        // The codes that keyboards without brackets have had since the VT220.
        '2' => 0,
        '3'..='7' => c as u8 - b'3' + 0x1b,
        _ => return None,
    })
}

/// The character of a text that has one.
fn only(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}
