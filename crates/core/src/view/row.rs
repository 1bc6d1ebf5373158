//! A row of the emulator's cells as text.

use alacritty_terminal::grid::Row;
use alacritty_terminal::index::Column;
use alacritty_terminal::term::cell::{Cell, Flags};

/// On blanks that were printed as a part of a line, unlike those that were erased or jumped over. The emulator copies
/// flags that it does not know.
pub(super) const PRINTED: Flags = Flags::from_bits_retain(1 << 15);

/// Every eighth column, unless a program says otherwise.
pub(super) const TAB: usize = 8;

/// How blanks are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blanks {
    /// As they were printed, with tabs, and those at the end if they were printed.
    AsPrinted,
    /// As spaces, and none at the end.
    AsShown,
}

/// Whether the line goes on in the next row.
pub(super) fn is_wrapped(row: &Row<Cell>) -> bool {
    row.last().is_some_and(|cell| cell.flags.contains(Flags::WRAPLINE))
}

/// Whether anything is on it.
pub(super) fn is_blank(row: &Row<Cell>) -> bool {
    !row.into_iter().any(|cell| is_told(cell, Blanks::AsPrinted))
}

/// Adds what the row says to a text.
pub(super) fn write(row: &Row<Cell>, blanks: Blanks, text: &mut String) {
    let wrapped = blanks == Blanks::AsPrinted && is_wrapped(row);
    let end = if wrapped { row.len() } else { told(row, blanks) };
    let mut column = 0;
    while column < end {
        let cell = &row[Column(column)];
        column += 1;
        match cell.c {
            _ if cell.flags.contains(Flags::WIDE_CHAR_SPACER) => continue,
            // Left free since the next character did not fit.
            _ if wrapped && cell.flags.contains(Flags::LEADING_WIDE_CHAR_SPACER) => continue,
            '\t' if blanks == Blanks::AsPrinted && is_untouched(row, column) => {
                text.push('\t');
                column = span(row, column);
            }
            '\t' => text.push(' '),
            other => text.push(other),
        }
        text.extend(cell.zerowidth().into_iter().flatten());
    }
}

/// How many cells there are something to say about.
fn told(row: &Row<Cell>, blanks: Blanks) -> usize {
    (0..row.len()).rev().find(|&column| is_told(&row[Column(column)], blanks)).map_or(0, |column| column + 1)
}

fn is_told(cell: &Cell, blanks: Blanks) -> bool {
    match cell.c {
        _ if cell.zerowidth().is_some_and(|marks| !marks.is_empty()) => true,
        ' ' | '\t' if blanks == Blanks::AsShown => false,
        ' ' => cell.flags.contains(PRINTED),
        _ => true,
    }
}

/// Where the blanks end that a tab before that column has jumped over.
fn span(row: &Row<Cell>, column: usize) -> usize {
    column.next_multiple_of(TAB).min(row.len())
}

/// Nothing was printed into the blanks of that tab later.
fn is_untouched(row: &Row<Cell>, column: usize) -> bool {
    (column..span(row, column)).all(|other| !is_told(&row[Column(other)], Blanks::AsPrinted))
}
