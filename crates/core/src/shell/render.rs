//! The lines of one command's output: of the newest as it is printed, of any other from the journal.
//!
//! No more of a long output is held in memory than [`KEPT`]; the rest is rendered again when somebody asks for it.

use super::Lines;
use crate::error::ReadError;
use crate::spec::Size;
use crate::terminal::Terminal;
use crate::view::{Piece, Scanner, Stream};
use std::collections::VecDeque;

/// Bytes of finished lines that are held.
const KEPT: usize = 8 << 20;
/// What a line costs besides its bytes.
const EACH: usize = 64;
/// Read from the journal at a time.
const CHUNK: usize = 256 * 1024;

/// An output as it is rendered.
#[derive(Debug)]
pub(super) struct Render {
    stream: Stream,
    lines: VecDeque<String>,
    bytes: usize,
    /// The number of the first line that is held.
    first: u64,
    most: usize,
}

impl Render {
    /// Of what is printed now.
    pub(super) fn new(size: Size) -> Self {
        Self { stream: Stream::new(size), lines: VecDeque::new(), bytes: 0, first: 1, most: KEPT }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.stream.feed(bytes);
        for line in self.stream.take_finished() {
            self.bytes += line.len() + EACH;
            self.lines.push_back(line);
        }
        while self.bytes > self.most {
            let Some(line) = self.lines.pop_front() else { break };
            self.bytes -= line.len() + EACH;
            self.first += 1;
        }
    }

    /// The number of the first line that is held.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.stream.resize(size);
    }

    /// The lines from that one on; nothing if some of them are not held any more.
    pub(super) fn lines(&self, from: u64, end: End) -> Option<Lines> {
        let from = from.max(1);
        if from < self.first {
            return None;
        }
        let skip = usize::try_from(from - self.first).unwrap_or(usize::MAX);
        let open = self.stream.open_lines();
        let finished = match end {
            End::Open => self.lines.len(),
            // Nothing will be printed that could change them.
            End::Over => self.lines.len() + open.len(),
        };
        let open = open.into_iter().skip(skip.saturating_sub(self.lines.len()));
        let lines: Vec<String> = self.lines.iter().skip(skip).cloned().chain(open).collect();
        Some(Lines {
            first: from,
            finished: finished.saturating_sub(skip).min(lines.len()),
            lines,
            dropped: 0,
        })
    }
}

/// Whether more can be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Open,
    Over,
}

/// Renders stretches of the journal, one after the other, as one output. Reads files; for where blocking is allowed.
pub(super) fn again(
    terminal: &Terminal,
    nonce: &str,
    size: Size,
    (stretches, end): (&[(u64, u64)], End),
    from: u64,
) -> Result<Lines, ReadError> {
    let mut render = Render::new(size);
    render.most = usize::MAX;
    let mut dropped = 0;
    for (start, end) in stretches {
        dropped += read(terminal, nonce, (*start, *end), &mut |bytes| {
            render.feed(bytes);
            // Lines before those that are wanted need not be held.
            while render.first < from && render.lines.pop_front().is_some() {
                render.first += 1;
            }
        })?;
    }
    let mut lines = render.lines(from.max(render.first), end).unwrap_or_default();
    lines.dropped = dropped;
    Ok(lines)
}

/// Gives the bytes of a stretch, as a scanner lets them pass; how many are gone.
fn read(
    terminal: &Terminal,
    nonce: &str,
    (start, end): (u64, u64),
    each: &mut dyn FnMut(&[u8]),
) -> Result<u64, ReadError> {
    let mut scanner = Scanner::new(Some(nonce));
    let (mut at, mut dropped) = (start, 0);
    while at < end {
        let chunk = terminal.read(at, usize::try_from(end - at).unwrap_or(CHUNK).min(CHUNK))?;
        // What is gone may be all of it, and more.
        dropped += chunk.gap.min(end - at);
        let room = usize::try_from(end.saturating_sub(chunk.at)).unwrap_or(usize::MAX);
        let bytes = &chunk.bytes[..chunk.bytes.len().min(room)];
        if bytes.is_empty() {
            break;
        }
        scanner.feed(chunk.at, bytes, &mut |piece| {
            if let Piece::Bytes(bytes) = piece {
                each(bytes);
            }
        });
        at = chunk.at + bytes.len() as u64;
    }
    Ok(dropped)
}
