//! A part of an output as it is answered, and what is said of the rest.

use super::answer::{self, Shown};
use crate::verb::mcp::outcome;
use wharf_core::shape::{Budget, Omitted};

/// What is shown of an output.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) text: String,
    pub(super) shown: Option<Shown>,
    pub(super) matches: Option<u64>,
    pub(super) omitted: Option<answer::Omitted>,
    pub(super) notice: Vec<String>,
}

/// Whose output it is.
#[derive(Debug, Clone)]
pub(super) struct Of {
    pub(super) name: String,
    pub(super) command: u64,
}

impl Of {
    /// The call that shows what was left out.
    pub(super) fn omitted(&self, all: &[Omitted]) -> Option<answer::Omitted> {
        outcome::omitted(&self.name, self.command, all)
    }
}

/// Lines that are left out, one after the other.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Left(Option<(u64, u64, u64)>);

impl Left {
    pub(super) fn add(&mut self, number: u64, length: usize) {
        let (_, to, bytes) = self.0.get_or_insert((number, number, 0));
        (*to, *bytes) = (number, *bytes + length as u64 + 1);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn omitted(self, of: &Of) -> Option<answer::Omitted> {
        let (from, to, bytes) = self.0?;
        of.omitted(&[Omitted::Lines { from, to, bytes }])
    }
}

/// A piece of one line, from that column on.
pub(super) fn piece(of: &Of, number: u64, line: &str, column: u64, budget: Budget) -> Part {
    let skipped = usize::try_from(column.saturating_sub(1)).unwrap_or(usize::MAX);
    let rest = line.char_indices().nth(skipped).map_or("", |(at, _)| &line[at..]);
    let text = &rest[..rest.floor_char_boundary(budget.bytes)];
    let left = rest[text.len()..].chars().count() as u64;
    let next = column.max(1) + text.chars().count() as u64;
    let omitted = (left > 0).then_some(Omitted::Part { line: number, column: next, chars: left });
    Part {
        text: text.to_owned(),
        shown: Some(Shown { from_line: number, to_line: number }),
        omitted: of.omitted(omitted.as_slice()),
        ..Part::default()
    }
}
