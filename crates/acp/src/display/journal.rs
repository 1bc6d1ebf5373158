//! What a terminal has printed lately and how it stands, for showing it.
//!
//! The only place of the display that reads anything. However much a command prints, no more is read than asked for:
//! what lies between is skipped and counted. A terminal stays readable through its handle after it was released.

use wharf_core::{Ended, Phase, ReadError, Terminal, orphans};

/// How a terminal stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    /// It may print more.
    Running,
    /// It has ended, and all that it printed is there.
    Ended(Ended),
    /// Its command never ran.
    NeverRan,
    /// Its files cannot be read.
    Unreadable,
}

impl Standing {
    /// Whether there is nothing more to come.
    pub(super) fn is_over(&self) -> bool {
        *self != Self::Running
    }
}

/// How much to read at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    /// While more may come.
    pub(super) running: usize,
    /// At the end.
    pub(super) over: usize,
}

/// The newest output.
#[derive(Debug)]
pub(super) struct Newest {
    /// The offset of the first byte.
    pub(super) at: u64,
    /// The bytes.
    pub(super) bytes: Vec<u8>,
    /// How the terminal stood just before they were read.
    pub(super) standing: Standing,
}

impl Newest {
    /// The offset after the last byte.
    pub(super) fn end(&self) -> u64 {
        self.at + self.bytes.len() as u64
    }
}

/// The newest output from offset `from` on. If some is left out, it begins at the start of a line where one is near.
pub(super) fn newest(terminal: &Terminal, from: u64, most: Most) -> Newest {
    read(terminal, from, most).unwrap_or(Newest {
        at: from,
        bytes: Vec::new(),
        standing: Standing::Unreadable,
    })
}

/// How a terminal stands, and the offset after its last byte.
pub(super) fn glance(terminal: &Terminal) -> (Standing, u64) {
    let look = terminal.look();
    look.map_or((Standing::Unreadable, 0), |look| (standing(look.phase), look.end))
}

fn standing(phase: Phase) -> Standing {
    match phase {
        Phase::Starting | Phase::Running { .. } => Standing::Running,
        Phase::Ended(ended) => Standing::Ended(ended),
        Phase::NotStarted => Standing::NeverRan,
    }
}

fn read(terminal: &Terminal, from: u64, most: Most) -> Result<Newest, ReadError> {
    // Looked at before the bytes are read: an end that is on record has all its bytes in the file.
    let look = terminal.look()?;
    let standing = standing(look.phase);
    let limit = if standing.is_over() { most.over } else { most.running };
    let start = look.end.saturating_sub(limit as u64).max(from);
    let mut chunk = terminal.read(start, limit)?;
    let skip = if chunk.at > from { line_start(&chunk.bytes) } else { 0 };
    chunk.bytes.drain(..skip);
    Ok(Newest { at: chunk.at + skip as u64, bytes: chunk.bytes, standing })
}

/// How far the start of a line is looked for, so that not half a line or half an escape sequence is shown.
const NEAR: usize = 4 * 1024;

/// The bytes at the start that belong to a line, or at least to a character, that began before.
fn line_start(bytes: &[u8]) -> usize {
    let near = &bytes[..bytes.len().min(NEAR)];
    match near.iter().position(|byte| *byte == b'\n') {
        Some(newline) if newline + 1 < bytes.len() => newline + 1,
        _ => orphans(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_begins_at_a_line_or_at_least_at_a_character() {
        for (bytes, skipped) in [
            (&b"rest\nnext"[..], 5),
            (b"rest\n", 0),
            (b"no line", 0),
            (b"\x82\xac euro", 2),
            (b"\x82\xacx\ny", 4),
            (b"\x80\x80\x80\x80", 3),
            (b"", 0),
        ] {
            assert_eq!(line_start(bytes), skipped, "{bytes:?}");
        }
        let far = [vec![b'x'; NEAR], b"\nnext".to_vec()].concat();
        assert_eq!(line_start(&far), 0);
    }
}
