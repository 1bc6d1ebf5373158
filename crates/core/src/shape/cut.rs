//! The middle of a very long line, cut out.

use super::{Budget, note};
use std::borrow::Cow;

/// Characters that are left at each end of a line.
const SIDE: usize = 1000;

/// What a budget allows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// Bytes of text in all.
    pub(super) budget: usize,
    /// Bytes of lines at the beginning.
    pub(super) head: usize,
    /// Lines in all.
    pub(super) rows: usize,
    /// Lines at the beginning.
    pub(super) head_rows: usize,
    /// Bytes of a line at each of its ends, whatever its characters are.
    side: usize,
}

/// Where a row was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// The first character that is missing, from 1.
    pub(super) column: u64,
    /// How many are.
    pub(super) chars: u64,
    /// How long the line was.
    pub(super) bytes: u64,
    /// Offset in the row at which a call can be told.
    pub(super) call: usize,
}

impl Limit {
    pub(super) fn of(asked: Budget) -> Self {
        let (budget, rows) = (asked.bytes.max(Budget::LEAST), asked.lines.max(Budget::FEWEST));
        // A row that is cut takes a third at most: it fits beside the longest notes.
        let side = (budget / 3 - note::LONGEST_CUT) / 2;
        Self { budget, head: budget * 3 / 10, rows, head_rows: rows / 10 * 3, side }
    }

    /// The row that is shown for a line.
    pub(super) fn cut(self, line: &str) -> (Cow<'_, str>, Option<Cut>) {
        let (front, back) = (self.front(line), self.back(line));
        // Not worth a note that may be longer than what it stands for.
        if front + note::LONGEST_CUT >= back {
            return (Cow::Borrowed(line), None);
        }
        let column = line[..front].chars().count() as u64 + 1;
        let chars = line[front..back].chars().count() as u64;
        let note = note::cut(column, chars);
        // Before the closing bracket.
        let call = front + note.len() - 1;
        let row = [&line[..front], &note, &line[back..]].concat();
        (Cow::Owned(row), Some(Cut { column, chars, bytes: line.len() as u64, call }))
    }

    fn front(self, line: &str) -> usize {
        let most = line.floor_char_boundary(self.side);
        line[..most].char_indices().nth(SIDE).map_or(most, |(at, _)| at)
    }

    fn back(self, line: &str) -> usize {
        let least = line.ceil_char_boundary(line.len().saturating_sub(self.side));
        line[least..].char_indices().rev().nth(SIDE - 1).map_or(least, |(at, _)| least + at)
    }
}
