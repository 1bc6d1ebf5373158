//! The screen that a stream of bytes has painted, as a value.
//!
//! No input or output here: bytes are fed to it, and it can be written back as a short sequence that paints the same
//! screen on a terminal that shows nothing yet.

use crate::spec::Size;
use std::num::NonZeroU16;

/// The grid of a terminal.
pub struct Screen {
    parser: vt100::Parser,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").finish_non_exhaustive()
    }
}

impl Screen {
    /// An empty screen of that size.
    #[must_use]
    pub fn new(size: Size) -> Self {
        let at_least_one = |n| NonZeroU16::new(n).unwrap_or(NonZeroU16::MIN);
        Self { parser: vt100::Parser::new(at_least_one(size.rows), at_least_one(size.cols), 0) }
    }

    /// What the command printed next.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
    }

    /// A sequence that paints this screen, its cursor and its modes on an empty terminal.
    #[must_use]
    pub fn paint(&self) -> Vec<u8> {
        self.parser.screen().state_formatted().into_bytes()
    }

    /// The text on it.
    #[must_use]
    pub fn text(&self) -> String {
        self.parser.screen().contents()
    }
}
