//! What passes to the terminal of a person: what paints, and nothing that makes that terminal do anything else.
//!
//! Programs ask their terminal for its kind, its cursor, its colours; whoever follows them answers. Would the person's
//! terminal answer too, the second answer would count as typed, and in an agent's shell it would take the shell over.
//! And a hostile command must not reach the clipboard, the printer, the keyboard or the window. So this is a list of what
//! passes ([`allow`]), and everything else is dropped; numbers are compared as numbers.
//!
//! Only complete sequences and characters are let through, each written anew from what was understood of it. So nothing is
//! ever left open, and the caller may write something of its own in between.

mod allow;

use crate::sequence::{Piece, Sequences};

/// What stands for bytes that are no text.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// What a terminal may be told to send, besides keys as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reports {
    /// Nothing: nobody reads our keyboard, and whoever does so next would find it there.
    None,
    /// The mouse, and keys and pastes in other encodings. Not that a window is looked at, which would count as typing.
    Mouse,
    /// That too.
    MouseAndFocus,
}

/// Lets pass what paints.
#[derive(Debug)]
pub(crate) struct Quiet {
    sequences: Sequences,
    reports: Reports,
}

impl Quiet {
    pub(crate) fn new(reports: Reports) -> Self {
        Self { sequences: Sequences::default(), reports }
    }

    /// What may be shown of what comes next.
    pub(crate) fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::with_capacity(bytes.len());
        let reports = self.reports;
        self.sequences.feed(bytes, &mut |piece| match piece {
            Piece::Text(text) => shown.extend_from_slice(text.as_bytes()),
            Piece::Invalid => shown.extend_from_slice(REPLACEMENT),
            Piece::Control(byte) => shown.extend(allow::control(byte)),
            Piece::Escape { between, last } => {
                if allow::escape(between, last, reports) {
                    shown.push(0x1b);
                    shown.extend_from_slice(between);
                    shown.push(last);
                }
            }
            Piece::Csi(csi) => allow::csi(&csi, reports, &mut shown),
            Piece::Osc(osc) => allow::osc(&osc, &mut shown),
        });
        shown
    }

    /// Bytes are missing here: what had begun before cannot be continued.
    pub(crate) fn forget(&mut self) {
        self.sequences.forget();
    }
}

#[cfg(test)]
mod tests;
