//! Our own terminal, as far as a command may use it: what passes to it, and what has been switched on there.

use crate::emulation::Emulation;
use crate::modes::Modes;
use crate::quiet::{Quiet, Reports};

/// What a command sees of our terminal.
#[derive(Debug)]
pub(crate) struct Surface {
    quiet: Quiet,
    modes: Modes,
}

impl Surface {
    pub(crate) fn new(reports: Reports) -> Self {
        Self { quiet: Quiet::new(reports), modes: Modes::default() }
    }

    /// What may be shown of what comes next.
    pub(crate) fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let shown = self.quiet.pass(bytes);
        self.modes.feed(&shown);
        shown
    }

    /// Bytes are missing here: what had begun before cannot be continued.
    pub(crate) fn forget(&mut self) {
        self.quiet.forget();
    }

    /// What paints a screen as `past` has left it, with everything switched on that was. Nothing of `past` itself is shown.
    pub(crate) fn paint(&mut self, past: &[u8], screen: &Emulation) -> Vec<u8> {
        self.pass(past);
        let painting = screen.repaint();
        let parts = [
            &self.modes.enter_screen(),
            "\x1b[H\x1b[2J",
            &painting.cells,
            &self.modes.switch_on(),
            &painting.pen,
        ];
        parts.concat().into_bytes()
    }

    /// Whether a full-screen program has the screen.
    pub(crate) fn is_alternate(&self) -> bool {
        self.modes.is_alternate()
    }

    /// What makes our terminal fresh again, whether or not anything is on.
    pub(crate) fn switch_off(&self) -> Vec<u8> {
        self.modes.switch_off().into_bytes()
    }

    /// The same, if anything is.
    pub(crate) fn finish(&self) -> Vec<u8> {
        if self.modes.is_fresh() { Vec::new() } else { self.switch_off() }
    }
}
