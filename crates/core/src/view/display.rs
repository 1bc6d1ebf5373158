//! The screen of a terminal: what a person would see there now, and what it answers.

use super::emulator::Emulator;
use super::page::Purpose;
use super::paint;
use super::plain;
use super::reply;
use super::row::{self, Blanks};
use crate::spec::Size;
use crate::text::reveal;
use alacritty_terminal::grid::Row;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};

/// The screen of a terminal.
pub struct Display {
    emulator: Emulator,
    #[cfg(test)]
    pub(super) always_long: bool,
}

/// What a program has asked of its terminal, as far as whoever types must know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Modes {
    /// Cursor keys are sent as `ESC O A`.
    pub application_cursor: bool,
    /// The keypad is in application mode.
    pub application_keypad: bool,
    /// Pasted text is to be put between marks.
    pub bracketed_paste: bool,
    /// A full-screen program has the screen.
    pub alternate: bool,
}

/// A screen at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Picture {
    /// Its rows, without blanks at their ends; blank rows at the bottom are left out.
    pub rows: Vec<String>,
    /// How large it is.
    pub size: Size,
    /// Row and column of the cursor, from zero.
    pub cursor: (u16, u16),
    /// Whether the cursor is shown.
    pub cursor_visible: bool,
    /// Whether a full-screen program has the screen.
    pub alternate: bool,
    /// What is shown inverted: selections, status lines.
    pub highlights: Vec<Highlight>,
}

/// A screen as bytes. Modes that the program has set belong between the two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Painting {
    /// Everything that is written on it.
    pub cells: String,
    /// Brings the cursor to its place, with margins, attributes and character sets as they are there.
    pub pen: String,
}

/// A part of a row that is shown inverted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Highlight {
    /// The row, from zero.
    pub row: u16,
    /// The first column.
    pub from: u16,
    /// The column after the last.
    pub to: u16,
    /// What is written there.
    pub text: String,
}

impl std::fmt::Debug for Display {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Display").finish_non_exhaustive()
    }
}

impl Display {
    /// An empty one.
    #[must_use]
    pub fn new(size: Size) -> Self {
        Self {
            emulator: Emulator::new(size, Purpose::Screen),
            #[cfg(test)]
            always_long: false,
        }
    }

    /// What was printed next, as a [`Scanner`](super::Scanner) let it pass.
    pub fn feed(&mut self, bytes: &[u8]) {
        let (mut from, mut position) = (0, 0);
        // The scanner passes whole sequences only, so that a question is never cut.
        while let Some(found) = memchr::memchr(0x1b, &bytes[position..]) {
            let start = position + found;
            position = start + 1;
            let Some((question, length)) = reply::question(&bytes[start..]) else { continue };
            self.paint(&bytes[from..start]);
            let page = &mut self.emulator.page;
            let answer = reply::answer(question, page.size(), page.cursor());
            page.replies.push(&answer);
            (from, position) = (start + length, start + length);
        }
        self.paint(&bytes[from..]);
    }

    /// Paints, but for plain text of which nothing would be left: after so many rows the cursor is at the bottom, and
    /// after as many again everything has scrolled away that was there before.
    fn paint(&mut self, bytes: &[u8]) {
        let (rows, columns) = self.emulator.page.size();
        let (mut from, mut at) = (0, 0);
        while at < bytes.len() {
            let lines = plain::lines(&bytes[at..], columns);
            let run = if lines.length == 0 { plain::run(&bytes[at..]) } else { 0 };
            if lines.rows > 2 * rows || run / columns > 2 * rows {
                // Whether that is so depends on what came before them.
                self.emulator.feed(&bytes[from..at]);
                from = at;
                if self.may_skip() && lines.length > 0 {
                    // And the line before, whose end takes the cursor to the beginning of a row.
                    let last = plain::last_rows(&bytes[at..at + lines.length], 2 * rows, columns);
                    from += plain::last_rows(&bytes[at..at + last], 1, columns);
                } else if self.may_skip() {
                    // Whole rows, so that the others are cut where they would have been.
                    from += (run / columns - 2 * rows) * columns;
                }
            }
            at += lines.length;
            at += plain::after_line(&bytes[at..]);
        }
        self.emulator.feed(&bytes[from..]);
    }

    fn may_skip(&self) -> bool {
        #[cfg(test)]
        if self.always_long {
            return false;
        }
        self.emulator.scrolls_everything()
    }

    /// The terminal has another size from here on.
    pub fn resize(&mut self, size: Size) {
        self.emulator.page.resize(size);
    }

    /// A command has ended: what it has left behind goes, as if it had tidied up itself. That is the alternate screen,
    /// attributes, the scroll region, character sets, an invisible cursor, mouse and key modes. Text stays.
    pub fn settle(&mut self) {
        const TIDY: &[u8] =
            b"\x1b[m\x1b[?1049l\x1b7\x1b[r\x1b8\x1b[?1;6;1000;1002;1003;1006l\x1b[?7;25h\x1b[4l\x1b>\
            \x1b(B\x1b)B\x0f\x1b[?5W";
        self.emulator.feed(TIDY);
    }

    /// What the terminal owes programs that have asked it something; each answer is given once.
    pub fn take_replies(&mut self) -> Vec<u8> {
        self.emulator.page.replies.take()
    }

    /// What a program has asked for.
    #[must_use]
    pub fn modes(&self) -> Modes {
        let mode = self.emulator.page.term.mode();
        Modes {
            application_cursor: mode.contains(TermMode::APP_CURSOR),
            application_keypad: mode.contains(TermMode::APP_KEYPAD),
            bracketed_paste: mode.contains(TermMode::BRACKETED_PASTE),
            alternate: mode.contains(TermMode::ALT_SCREEN),
        }
    }

    /// What paints the same on a terminal that shows nothing yet.
    #[must_use]
    pub fn repaint(&self) -> Painting {
        let page = &self.emulator.page;
        Painting { cells: paint::cells(page), pen: paint::pen(page) }
    }

    /// What is on it.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let page = &self.emulator.page;
        let (height, width) = page.size();
        let (row, column) = page.cursor();
        let mut picture = Picture {
            size: Size { rows: short(height), cols: short(width) },
            cursor: (short(row), short(column)),
            cursor_visible: page.term.mode().contains(TermMode::SHOW_CURSOR),
            alternate: page.is_alternate(),
            ..Picture::default()
        };
        for number in 0..short(height) {
            let row = &page.term.grid()[Line(i32::from(number))];
            let mut text = String::new();
            row::write(row, Blanks::AsShown, &mut text);
            picture.rows.push(reveal(&text).into_owned());
            picture.highlights.extend(highlights(number, row));
        }
        while picture.rows.last().is_some_and(String::is_empty) {
            picture.rows.pop();
        }
        picture
    }
}

fn short(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

/// The inverted parts of a row that something is written in.
fn highlights(number: u16, row: &Row<Cell>) -> Vec<Highlight> {
    let (mut found, mut column) = (Vec::new(), 0);
    let inverted = |column: usize| row[Column(column)].flags.contains(Flags::INVERSE);
    while column < row.len() {
        let from = column;
        while column < row.len() && inverted(column) {
            column += 1;
        }
        let text = text_of(row, from, column);
        if !text.is_empty() {
            found.push(Highlight { row: number, from: short(from), to: short(column), text });
        }
        column += usize::from(column == from);
    }
    found
}

fn text_of(row: &Row<Cell>, from: usize, to: usize) -> String {
    let mut text = String::new();
    for cell in (from..to).map(|column| &row[Column(column)]) {
        if !cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
            text.push(if cell.c == '\t' { ' ' } else { cell.c });
            text.extend(cell.zerowidth().into_iter().flatten());
        }
    }
    reveal(text.trim_end_matches(' ')).into_owned()
}
