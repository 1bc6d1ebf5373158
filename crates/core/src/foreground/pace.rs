//! When to look, and what two looks in a row say.
//!
//! The kernel has no event for "somebody began to wait for input", so a waiting call looks now and then: soon after the
//! output has become quiet, then less and less often. Pure: whoever waits has the clock, the terminal and the screen.

use super::{Awaiting, Foreground};
use crate::view::Picture;
use std::time::Duration;

/// Quiet for this long is worth a look. Programs that print in pieces seldom pause longer.
const FIRST: Duration = Duration::from_millis(20);
/// A look costs a fraction of a millisecond, more for hundreds of processes, and nobody who types notices half a second.
const LONGEST: Duration = Duration::from_millis(500);

/// The pace of looking at one terminal.
///
/// Wait for [`Pace::pause`]. If something was printed or typed meanwhile, call [`Pace::moved`]; else look with
/// [`Terminal::foreground`](crate::Terminal::foreground), check again that nothing was printed, and give what was seen to
/// [`Pace::look`].
#[derive(Debug, Clone)]
pub struct Pace {
    pause: Duration,
    earlier: Option<Foreground>,
}

impl Default for Pace {
    fn default() -> Self {
        Self { pause: FIRST, earlier: None }
    }
}

impl Pace {
    /// How long it must be quiet before the next look.
    #[must_use]
    pub fn pause(&self) -> Duration {
        self.pause
    }

    /// Something was printed or typed: what was seen before says nothing any more.
    pub fn moved(&mut self) {
        *self = Self::default();
    }

    /// What was seen now, and what is on the screen. Somebody waits if the look before showed the same.
    pub fn look(&mut self, now: Foreground, picture: &Picture) -> Option<Awaiting> {
        // Two looks are needed at least, so the second comes as soon as the first.
        let pause = if self.earlier.is_some() { self.pause * 2 } else { FIRST };
        self.pause = pause.min(LONGEST);
        let awaiting = self.earlier.as_ref().and_then(|earlier| now.awaiting(earlier, picture));
        self.earlier = Some(now);
        awaiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nobody() -> Foreground {
        Foreground {
            group: 0,
            echo: true,
            canonical: true,
            signals: true,
            newline: true,
            exchanged: false,
            unread: 0,
            members: Vec::new(),
        }
    }

    #[test]
    fn looks_become_rarer_until_something_moves() {
        let mut pace = Pace::default();
        let pauses: Vec<u128> = std::iter::repeat_with(|| {
            let pause = pace.pause().as_millis();
            assert_eq!(pace.look(nobody(), &Picture::default()), None);
            pause
        })
        .take(8)
        .collect();
        assert_eq!(pauses, [20, 20, 40, 80, 160, 320, 500, 500]);
        pace.moved();
        assert_eq!(pace.pause().as_millis(), 20);
    }
}
