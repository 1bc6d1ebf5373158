//! What passes to the terminal of somebody who sits at a shell that others use too: everything, except what makes that
//! terminal say something.
//!
//! Programs ask their terminal for its kind, its cursor, its colours. In a shell, its follower answers them; would the
//! human's terminal answer too, the second answer would count as typed, and take the shell over. For the same reason
//! nothing is switched on that reports by itself, such as the focus. The clipboard is left alone, and wharf's own marks
//! are nobody's business.
//!
//! What it holds back is whole at the end of each call: only complete sequences and characters are let through, so the
//! caller may write something of its own in between.

mod asks;

use asks::{Kind, asks, is_held_back, without_reports};

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
/// Asks for a text that some terminals have been given.
const ENQ: u8 = 0x05;
/// No control sequence of use is longer; the rest of a longer one is dropped.
const LONGEST_CSI: usize = 256;
/// So much of a string is looked at before it is decided upon. 256 colours asked for at once fit.
const LONGEST_STRING: usize = 4096;

/// Where in the stream the filter is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// In a character of several bytes.
    Character,
    Escape,
    /// After an escape and an intermediate byte.
    EscapeRest,
    Csi,
    /// A string (OSC, DCS, …), not decided upon yet.
    String(Kind),
    /// One that passes, or does not.
    Decided(Fate),
    /// After an escape in a string, which ends it with the next byte.
    StringEscape(Option<Fate>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Passes,
    Dropped,
}

/// Lets pass what makes no terminal answer.
#[derive(Debug, Default)]
pub(crate) struct Quiet {
    state: State,
    held: Vec<u8>,
    /// What the string under way is, while its end is looked for.
    kind: Kind,
}

impl Quiet {
    /// What may be shown of what comes next.
    pub(crate) fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.take(*byte, &mut shown);
        }
        shown
    }

    fn take(&mut self, byte: u8, shown: &mut Vec<u8>) {
        match self.state {
            State::Text => self.take_text(byte, shown),
            State::Character => self.take_character(byte, shown),
            State::Escape => self.take_after_escape(byte, shown),
            State::EscapeRest => self.take_escape_rest(byte, shown),
            State::Csi => self.take_csi(byte, shown),
            State::String(_) | State::Decided(_) => self.take_string(byte, shown),
            State::StringEscape(fate) => self.end_string(byte, fate, shown),
        }
    }

    fn take_text(&mut self, byte: u8, shown: &mut Vec<u8>) {
        match byte {
            ESC => self.begin(State::Escape, byte),
            0xc2..=0xf4 => self.begin(State::Character, byte),
            // Older terminals take these for the beginning of a sequence.
            ENQ | 0x80..=0x9f => {}
            _ => shown.push(byte),
        }
    }

    fn take_character(&mut self, byte: u8, shown: &mut Vec<u8>) {
        if !(0x80..=0xbf).contains(&byte) {
            self.release(shown);
            return self.take_text(byte, shown);
        }
        self.held.push(byte);
        match std::str::from_utf8(&self.held) {
            // The same controls, encoded.
            Ok(text) if text.chars().any(char::is_control) => self.forget(),
            Err(error) if error.error_len().is_none() => {}
            Ok(_) | Err(_) => self.release(shown),
        }
    }

    fn take_after_escape(&mut self, byte: u8, shown: &mut Vec<u8>) {
        match byte {
            b'[' => self.hold(State::Csi, byte),
            b']' => self.begin_string(Kind::Osc, byte),
            b'P' => self.begin_string(Kind::Dcs, byte),
            // Application strings, which some terminals answer, and those that nobody uses.
            b'_' | b'^' | b'X' => self.begin_string(Kind::Other, byte),
            // The old way to ask for its kind.
            b'Z' => self.forget(),
            0x20..=0x2f => self.hold(State::EscapeRest, byte),
            0x30..=0x7e => {
                self.held.push(byte);
                self.release(shown);
            }
            _ => self.restart(byte, shown),
        }
    }

    fn take_escape_rest(&mut self, byte: u8, shown: &mut Vec<u8>) {
        match byte {
            0x20..=0x2f if self.held.len() < LONGEST_CSI => self.held.push(byte),
            0x30..=0x7e => {
                self.held.push(byte);
                self.release(shown);
            }
            _ => self.restart(byte, shown),
        }
    }

    fn take_csi(&mut self, byte: u8, shown: &mut Vec<u8>) {
        match byte {
            0x20..=0x3f if self.held.len() < LONGEST_CSI => self.held.push(byte),
            0x20..=0x3f => {}
            0x40..=0x7e => {
                self.held.push(byte);
                let body = &self.held[2..];
                if self.held.len() <= LONGEST_CSI && !asks(body) {
                    shown.extend(without_reports(&self.held));
                }
                self.forget();
            }
            // A terminal does what a control says, and goes on with the sequence.
            b'\n' | b'\r' | b'\t' | 0x08 | 0x0b | 0x0c => shown.push(byte),
            _ => self.restart(byte, shown),
        }
    }

    fn begin_string(&mut self, kind: Kind, byte: u8) {
        self.kind = kind;
        self.hold(State::String(kind), byte);
    }

    fn take_string(&mut self, byte: u8, shown: &mut Vec<u8>) {
        let fate = match self.state {
            State::Decided(fate) => Some(fate),
            _ => None,
        };
        match byte {
            ESC => self.state = State::StringEscape(fate),
            // Only control strings of this kind can be ended so.
            BEL if self.kind == Kind::Osc => {
                self.conclude(fate, &[BEL], shown);
            }
            CAN | SUB => self.conclude(fate, &[byte], shown),
            _ => self.keep(byte, fate, shown),
        }
    }

    fn keep(&mut self, byte: u8, fate: Option<Fate>, shown: &mut Vec<u8>) {
        match fate {
            Some(Fate::Passes) => shown.push(byte),
            Some(Fate::Dropped) => {}
            None => {
                self.held.push(byte);
                if self.held.len() >= LONGEST_STRING {
                    let fate = self.decide();
                    if fate == Fate::Passes {
                        shown.append(&mut self.held);
                    }
                    self.held.clear();
                    self.state = State::Decided(fate);
                }
            }
        }
    }

    fn decide(&self) -> Fate {
        let body = self.held.get(2..).unwrap_or_default();
        if is_held_back(self.kind, body) { Fate::Dropped } else { Fate::Passes }
    }

    fn end_string(&mut self, byte: u8, fate: Option<Fate>, shown: &mut Vec<u8>) {
        if byte == b'\\' {
            return self.conclude(fate, b"\x1b\\", shown);
        }
        // An escape that is no terminator breaks the string off and begins something of its own.
        self.conclude(fate, &[], shown);
        self.begin(State::Escape, ESC);
        self.take_after_escape(byte, shown);
    }

    fn conclude(&mut self, fate: Option<Fate>, end: &[u8], shown: &mut Vec<u8>) {
        if fate.unwrap_or_else(|| self.decide()) == Fate::Passes {
            shown.append(&mut self.held);
            shown.extend_from_slice(end);
        }
        self.forget();
    }

    fn begin(&mut self, state: State, byte: u8) {
        self.state = state;
        self.held.clear();
        self.held.push(byte);
    }

    fn hold(&mut self, state: State, byte: u8) {
        self.state = state;
        self.held.push(byte);
    }

    fn release(&mut self, shown: &mut Vec<u8>) {
        shown.append(&mut self.held);
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
mod tests;
