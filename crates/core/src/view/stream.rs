//! What one command has printed, as lines: redraws collapsed, wraps joined, nothing lost that had scrolled away.
//!
//! A line is final when its last row has left the screen at the top, since no sequence reaches it there. Until then it
//! is open. What full-screen programs paint is no part of the lines. Characters that nobody sees are named.
//!
//! How blanks come out: a tab is a tab, unless something was printed into its blanks later. Blanks at the end of a line
//! are kept if the line was printed from left to right; in a line that was gone back in, they were there to erase
//! something, and are cut.
//!
//! What surprises: most output never touches the emulator. Plain text comes out as it went in, and all but the last
//! screenful of it is final at once, whether it has line ends or not.

use super::emulator::Emulator;
use super::page::Purpose;
use super::plain::{self, after_line};
use crate::spec::Size;
use crate::text::reveal;
use std::borrow::Cow;

/// The output of one command, rendered into lines.
pub struct Stream {
    emulator: Emulator,
    #[cfg(test)]
    pub(super) always_long: bool,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl Stream {
    /// For a terminal of that size.
    #[must_use]
    pub fn new(size: Size) -> Self {
        Self {
            emulator: Emulator::new(size, Purpose::Lines),
            #[cfg(test)]
            always_long: false,
        }
    }

    /// What was printed next, as a [`Scanner`](super::Scanner) let it pass.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = if self.may_shorten() { self.feed_plain(rest) } else { self.feed_run(rest) };
            let end = taken + after_line(&rest[taken..]);
            self.emulator.feed(&rest[taken..end]);
            rest = &rest[end..];
        }
    }

    /// The terminal has another size from here on.
    pub fn resize(&mut self, size: Size) {
        self.emulator.page.resize(size);
    }

    /// Lines that nothing printed later can change, oldest first; each is given once.
    pub fn take_finished(&mut self) -> Vec<String> {
        revealed(std::mem::take(&mut self.emulator.page.gone.lines))
    }

    /// The lines after those, as they stand now; they may still change. No blank ones at the end.
    #[must_use]
    pub fn open_lines(&self) -> Vec<String> {
        revealed(self.emulator.page.open_lines())
    }

    /// Whether a full-screen program has the screen at this moment.
    #[must_use]
    pub fn is_full_screen(&self) -> bool {
        self.emulator.page.is_alternate()
    }

    fn may_shorten(&self) -> bool {
        #[cfg(test)]
        if self.always_long {
            return false;
        }
        self.emulator.is_at_rest()
    }

    /// Takes the plain lines at the beginning; all but a screenful of them the short way. Gives how long they are.
    fn feed_plain(&mut self, bytes: &[u8]) -> usize {
        let (rows, columns) = self.emulator.page.size();
        let lines = plain::lines(bytes, columns);
        let mut from = 0;
        if lines.rows > rows {
            // So many lines follow that all that is on the screen will have left it, and all but the last rows of the
            // new lines.
            self.emulator.page.leave_above();
            let last = plain::last_rows(&bytes[..lines.length], rows, columns);
            while from < last {
                let end = from + after_line(&bytes[from..]);
                let line = std::str::from_utf8(&bytes[from..end - 2]).unwrap_or_default();
                self.emulator.page.gone.text(line);
                from = end;
            }
        }
        self.emulator.feed(&bytes[from..lines.length]);
        match lines.length {
            0 => self.feed_run(bytes),
            length => length,
        }
    }

    /// Takes the plain text at the beginning, up to the end of its line, if it fills more than a screen; all but a screenful
    /// of it the short way. Gives how long it is.
    fn feed_run(&mut self, bytes: &[u8]) -> usize {
        let (rows, columns) = self.emulator.page.size();
        if !self.may_flow() || bytes.len() <= (rows + 2) * columns {
            return 0;
        }
        let run = plain::run(bytes);
        let first = self.emulator.page.to_margin();
        let Some(skipped) = run.checked_sub(first + rows * columns).map(|over| over / columns * columns)
        else {
            return 0;
        };
        // Up to the margin, so that rows are cut where they would have been.
        self.emulator.feed(&bytes[..first]);
        self.emulator.page.leave_all();
        let text = std::str::from_utf8(&bytes[first..first + skipped]).unwrap_or_default();
        self.emulator.page.gone.part(text);
        self.emulator.feed(&bytes[first + skipped..run]);
        run
    }

    fn may_flow(&self) -> bool {
        #[cfg(test)]
        if self.always_long {
            return false;
        }
        self.emulator.flows()
    }
}

/// Nearly always as they are.
fn revealed(mut lines: Vec<String>) -> Vec<String> {
    for line in &mut lines {
        if let Cow::Owned(shown) = reveal(line) {
            *line = shown;
        }
    }
    lines
}
