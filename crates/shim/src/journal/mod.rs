//! The journal of one terminal: `out`, raw bytes where byte number = file offset for ever, and `events`, what happened when.
//!
//! The shim is the only writer; anyone who may read the directory may read it, at any time, without asking anybody.
//! The format is documented in `docs/journal.md` and is the contract between all versions of wharf.

pub mod file;
pub mod format;
pub mod read;
pub mod record;
mod room;
pub mod write;

/// The raw output, sparse at the front when the oldest bytes were dropped.
pub const OUT: &str = "out";
/// The records, and the lock: whoever holds the terminal holds an exclusive `flock` on this file.
pub const EVENTS: &str = "events";
/// What was asked for, written by the front end before the shim starts. The shim never reads it.
pub const META: &str = "meta";
/// Where its holder is asked, as long as it has one.
pub const SOCKET: &str = "socket";
