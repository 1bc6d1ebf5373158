//! What a terminal shows, as values that bytes are fed to: lines for reading, a grid for full-screen programs.
//!
//! No input or output here, and nothing that knows shells: a mark is a string between two bytes to this module. Bytes
//! go through a [`Scanner`] first, then to a [`Stream`], a [`Display`] or both. The emulator under the two would
//! believe anything; what it must never see, and what would cost it more than a screen, ends in the scanner.

mod allowance;
mod clean;
mod display;
mod emulator;
mod guard;
mod operation;
mod page;
mod paint;
mod plain;
mod reply;
mod row;
mod scan;
mod stream;
#[cfg(test)]
mod tests;

pub use display::{Display, Highlight, Modes, Painting, Picture};
pub use scan::{Piece, Scanner};
pub use stream::Stream;
