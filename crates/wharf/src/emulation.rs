//! A command's screen, kept beside it: to paint it for somebody who comes late, and to answer what the command asks.
//!
//! Everything goes through the scanner first, which bounds what bytes can cost.

use crate::interact;
use tokio::sync::mpsc;
use wharf_core::shell::Duty;
use wharf_core::view::{Display, Painting, Piece, Scanner};
use wharf_core::{Size, Terminal};

/// What a terminal shows.
#[derive(Debug)]
pub(crate) struct Emulation {
    scanner: Scanner,
    display: Display,
    size: Size,
    /// Everything that the emulator was given.
    #[cfg(test)]
    fed: Vec<u8>,
}

impl Emulation {
    pub(crate) fn new(size: Size) -> Self {
        Self {
            scanner: Scanner::new(None),
            display: Display::new(size),
            size,
            #[cfg(test)]
            fed: Vec::new(),
        }
    }

    /// The bytes at that offset.
    pub(crate) fn feed(&mut self, at: u64, bytes: &[u8]) {
        let Self { scanner, display, .. } = self;
        scanner.feed(at, bytes, &mut |piece| {
            if let Piece::Bytes(bytes) = piece {
                display.feed(bytes);
                #[cfg(test)]
                self.fed.extend_from_slice(bytes);
            }
        });
    }

    pub(crate) fn repaint(&self) -> Painting {
        self.display.repaint()
    }

    fn resize(&mut self, size: Size) {
        if size != self.size {
            self.size = size;
            self.display.resize(size);
        }
    }
}

/// Answers in the place of a terminal that must not. A shell has a follower for that; any other command has whoever sits at
/// it, the first of them if there are several.
#[derive(Debug)]
pub(crate) struct Responder {
    emulation: Emulation,
    terminal: Terminal,
    duty: Option<Duty>,
    answers: mpsc::Sender<Vec<u8>>,
}

impl Responder {
    /// `emulation` is what the command has painted up to now. What it has asked by then is not answered any more: it was
    /// answered by somebody else, or is not waited for.
    pub(crate) fn new(mut emulation: Emulation, terminal: Terminal, answers: mpsc::Sender<Vec<u8>>) -> Self {
        emulation.display.take_replies();
        Self { emulation, terminal, duty: None, answers }
    }

    /// The bytes at that offset, which were printed just now.
    pub(crate) fn feed(&mut self, at: u64, bytes: &[u8]) {
        if let Some(size) = interact::window() {
            self.emulation.resize(size);
        }
        self.emulation.feed(at, bytes);
        let replies = self.emulation.display.take_replies();
        if replies.is_empty() {
            return;
        }
        if self.duty.is_none() {
            self.duty = Duty::try_take(&self.terminal).ok().flatten();
        }
        if self.duty.is_some() {
            // A command that asks without reading gets no more.
            let _ = self.answers.try_send(replies);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mebibyte_of_repetitions_is_given_to_the_emulator_as_two_of_text() {
        for piece in ["\x1b[65535b", "a\x1b[65535b"] {
            let mut emulation = Emulation::new(Size { cols: 80, rows: 24 });
            emulation.feed(0, piece.repeat((1 << 20) / piece.len()).as_bytes());
            let fed = String::from_utf8(emulation.fed).unwrap();
            let counts = fed.split("\x1b[").filter_map(|rest| rest.split_once('b')?.0.parse::<usize>().ok());
            let characters: usize = counts.sum();
            assert!(characters < 9 << 18, "{piece:?}: {characters} characters");
        }
    }
}
