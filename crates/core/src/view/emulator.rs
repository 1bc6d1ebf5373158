//! A parser and the page that it writes on.

use super::clean::{Cleaner, Ignored};
use super::page::{Page, Purpose};
use crate::spec::Size;
use alacritty_terminal::vte::ansi::{Processor, Timeout};
use std::time::Duration;

/// Programs may ask for a screen to be held until an update is complete. Here nobody sees a half of one for long, and
/// what is held would be missing from the lines; so nothing is ever held.
#[derive(Debug, Default)]
struct Never;

impl Timeout for Never {
    fn set_timeout(&mut self, _: Duration) {}

    fn clear_timeout(&mut self) {}

    fn pending_timeout(&self) -> bool {
        false
    }
}

pub(super) struct Emulator {
    parser: Processor<Never>,
    cleaner: Cleaner,
    pub(super) page: Page,
}

impl Emulator {
    pub(super) fn new(size: Size, purpose: Purpose) -> Self {
        let ignored = match purpose {
            Purpose::Lines => Ignored::Shown,
            Purpose::Screen => Ignored::Dropped,
        };
        Self { parser: Processor::new(), cleaner: Cleaner::new(ignored), page: Page::new(size, purpose) }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let Self { parser, cleaner, page } = self;
        cleaner.feed(bytes, &mut |part| parser.advance(page, part));
    }

    /// What is printed at the bottom moves the whole screen up, and no half of a character waits for the rest of it.
    pub(super) fn scrolls_everything(&self) -> bool {
        self.cleaner.is_empty() && self.page.region == (0, self.page.size().0) && self.page.wraps()
    }

    /// Plain text from here on fills one row after the other.
    pub(super) fn flows(&self) -> bool {
        self.cleaner.is_empty() && self.page.flows()
    }

    /// Plain lines from here on would come out as they are.
    pub(super) fn is_at_rest(&self) -> bool {
        self.cleaner.is_empty() && self.page.is_at_rest()
    }
}
