//! Text from bytes, at the edge.
//!
//! The journal keeps bytes; only here do they become characters. Invalid bytes are shown as one U+FFFD for each
//! longest sequence that could have begun a character, as browsers do; a character that is not complete yet is held back,
//! so that what was said once is never unsaid.

mod decode;
mod reveal;
mod tail;

pub use decode::Decoder;
pub use reveal::{is_unseen, reveal};
pub use tail::{Tail, orphans, tail};
