//! A screen as the bytes that paint it again, on a terminal that shows nothing yet.
//!
//! Text, its attributes, the cursor and what is printed there next: pen, margins, character sets. Not the modes that a
//! program has set, which whoever paints has to keep track of anyway, to switch them off again.
//!
//! No byte of it was printed by the program: text comes from cells, which hold no controls, and everything else is made
//! here.

use super::page::Page;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{CharsetIndex, Color, NamedColor, Rgb, StandardCharset};
use std::fmt::Write;

/// Attributes that are switched on by a number.
const ATTRIBUTES: [(Flags, &str); 11] = [
    (Flags::BOLD, ";1"),
    (Flags::DIM, ";2"),
    (Flags::ITALIC, ";3"),
    (Flags::UNDERLINE, ";4"),
    (Flags::DOUBLE_UNDERLINE, ";4:2"),
    (Flags::UNDERCURL, ";4:3"),
    (Flags::DOTTED_UNDERLINE, ";4:4"),
    (Flags::DASHED_UNDERLINE, ";4:5"),
    (Flags::INVERSE, ";7"),
    (Flags::HIDDEN, ";8"),
    (Flags::STRIKEOUT, ";9"),
];

/// What is on the screen.
pub(super) fn cells(page: &Page) -> String {
    let mut text = String::new();
    let mut style = "\x1b[0m".to_owned();
    for row in 0..page.size().0 {
        let line = &page.term.grid()[Line(i32::try_from(row).unwrap_or(0))];
        let Some(last) = (0..line.len()).rev().find(|&column| !is_empty(&line[Column(column)])) else {
            continue;
        };
        let _ = write!(text, "\x1b[{};1H", row + 1);
        for cell in (0..=last).map(|column| &line[Column(column)]) {
            put(cell, &mut style, &mut text);
        }
    }
    text + "\x1b[0m"
}

/// Where the cursor is, and what is printed there next.
pub(super) fn pen(page: &Page) -> String {
    let (top, bottom) = page.region;
    let (row, column) = page.cursor();
    let mut text = String::new();
    if page.region != (0, page.size().0) {
        let _ = write!(text, "\x1b[{};{bottom}r", top + 1);
    }
    let from = if page.term.mode().contains(TermMode::ORIGIN) { top } else { 0 };
    let row_in_view = row.saturating_sub(from) + 1;
    let _ = write!(text, "\x1b[{row_in_view};{}H", column + 1);
    let cursor = &page.term.grid().cursor;
    if cursor.input_needs_wrap {
        // Only the character that filled the row brings the cursor to where it is.
        let line = &page.term.grid()[cursor.point.line];
        let wide = line[cursor.point.column].flags.contains(Flags::WIDE_CHAR_SPACER);
        let first = column - usize::from(wide && column > 0);
        let _ = write!(text, "\x1b[{row_in_view};{}H", first + 1);
        put(&line[Column(first)], &mut String::new(), &mut text);
    }
    text += &sgr(&cursor.template);
    for (index, sequence) in [(CharsetIndex::G0, "\x1b(0"), (CharsetIndex::G1, "\x1b)0")] {
        if cursor.charsets[index] != StandardCharset::Ascii {
            text += sequence;
        }
    }
    if page.shifted {
        text.push('\x0e');
    }
    text
}

/// Nothing would be seen of it.
fn is_empty(cell: &Cell) -> bool {
    let seen = Flags::INVERSE | Flags::ALL_UNDERLINES | Flags::STRIKEOUT;
    matches!(cell.c, ' ' | '\t')
        && cell.bg == Color::Named(NamedColor::Background)
        && !cell.flags.intersects(seen)
        && cell.zerowidth().is_none_or(<[char]>::is_empty)
}

fn put(cell: &Cell, style: &mut String, text: &mut String) {
    if cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
        return;
    }
    let wanted = sgr(cell);
    if wanted != *style {
        text.push_str(&wanted);
        *style = wanted;
    }
    let marks = cell.zerowidth().into_iter().flatten().copied();
    text.extend(std::iter::once(cell.c).chain(marks).map(|c| if c.is_control() { ' ' } else { c }));
}

/// What sets the attributes of a cell, whatever was set before.
fn sgr(cell: &Cell) -> String {
    let mut text = "\x1b[0".to_owned();
    for (flag, number) in ATTRIBUTES {
        if cell.flags.contains(flag) {
            text.push_str(number);
        }
    }
    colour(cell.fg, 30, &mut text);
    colour(cell.bg, 40, &mut text);
    if let Some(under) = cell.underline_color() {
        colour(under, 50, &mut text);
    }
    text.push('m');
    text
}

/// `base` is the number of the first of eight colours; 30 for text, 40 for what is behind it.
fn colour(colour: Color, base: usize, text: &mut String) {
    let index = match colour {
        Color::Named(name) => name as usize,
        Color::Indexed(index) => usize::from(index),
        Color::Spec(Rgb { r, g, b }) => {
            let _ = write!(text, ";{};2;{r};{g};{b}", base + 8);
            return;
        }
    };
    let _ = match (colour, index) {
        // What is seen without any.
        (_, 256..) => Ok(()),
        (Color::Named(_), 0..8) if base < 50 => write!(text, ";{}", base + index),
        (Color::Named(_), 8..16) if base < 50 => write!(text, ";{}", base + 60 + index - 8),
        _ => write!(text, ";{};5;{index}", base + 8),
    };
}
