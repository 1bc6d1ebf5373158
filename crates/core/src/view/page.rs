//! The emulator's screen, and what a list of lines needs that a screen does not know: lines that have left at the top,
//! and whether the cursor is where nothing was printed before.
//!
//! What surprises: the emulator keeps no history of its own. A row is read before it scrolls away.

use super::reply::Replies;
use super::row::{self, Blanks, PRINTED};
use alacritty_terminal::Term;
use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::{Dimensions, Row};
use alacritty_terminal::index::{Column, Line, Point};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::{Config, MIN_COLUMNS, MIN_SCREEN_LINES, Osc52, TermMode};
use alacritty_terminal::vte::ansi::{CharsetIndex, Handler, StandardCharset};

use crate::spec::Size;
use crate::text::is_unseen;

/// Larger screens than any person has would only cost time.
const MAX_ROWS: usize = 500;
const MAX_COLUMNS: usize = 1000;

/// Marks over one character; more of them are dropped.
const MAX_MARKS: usize = 16;

/// A line without an end is ended here, and goes on as another.
pub(super) const MAX_LINE: usize = 1 << 20;

/// What the screen is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Lines,
    Screen,
}

/// Lines that have left the screen.
#[derive(Debug, Default)]
pub(super) struct Gone {
    /// Whole ones.
    pub(super) lines: Vec<String>,
    /// The beginning of the line whose rest is on the screen.
    pub(super) begun: String,
}

impl Gone {
    /// Adds a row, after which the line goes on or not.
    fn row(&mut self, row: &Row<Cell>) {
        row::write(row, Blanks::AsPrinted, &mut self.begun);
        self.cut();
        if !row::is_wrapped(row) {
            self.end();
        }
    }

    fn end(&mut self) {
        let mut line = std::mem::take(&mut self.begun);
        // One that has grown to it may have room for as much again.
        if line.capacity() > 2 * line.len().max(MAX_LINE / 64) {
            line.shrink_to_fit();
        }
        self.lines.push(line);
    }

    /// Of what has begun, no more stays than may belong to one line. By characters alone, so that it does not matter in
    /// which pieces it came.
    fn cut(&mut self) {
        while self.begun.len() > MAX_LINE {
            let rest = self.begun.split_off(self.begun.floor_char_boundary(MAX_LINE));
            self.end();
            self.begun = rest;
        }
    }

    /// Adds a part of a line that was on no screen, after which the line goes on.
    pub(super) fn part(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let room = (MAX_LINE + 1).saturating_sub(self.begun.len()).max(1);
            let (part, after) = rest.split_at(room.min(rest.len()));
            self.begun.push_str(part);
            self.cut();
            rest = after;
        }
    }

    /// Adds a whole line that was on no screen.
    pub(super) fn text(&mut self, line: &str) {
        if self.begun.is_empty() {
            return self.lines.push(line.to_owned());
        }
        self.begun.push_str(line);
        self.cut();
        self.end();
    }
}

/// How the cursor has come to where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pen {
    /// To a row that nothing was on, and only forward since.
    Fresh,
    /// Back, or to a row where something is.
    Back,
    /// As before, and it has printed there.
    Over,
}

pub(super) struct Page {
    pub(super) term: Term<VoidListener>,
    pub(super) purpose: Purpose,
    pub(super) gone: Gone,
    pub(super) replies: Replies,
    /// What was open on the normal screen when a full-screen program took over.
    pub(super) beneath: Option<Vec<String>>,
    /// Rows that scroll, from the first to the one after the last.
    pub(super) region: (usize, usize),
    pub(super) pen: Pen,
    /// Nothing was printed since the cursor was sent home.
    pub(super) at_home: bool,
    /// The lowest row that something may be on.
    pub(super) lowest: i32,
    pub(super) own_tabs: bool,
    pub(super) shifted: bool,
}

/// A size that the emulator can have.
pub(super) struct Dims {
    rows: usize,
    cols: usize,
}

impl From<Size> for Dims {
    fn from(size: Size) -> Self {
        let rows = usize::from(size.rows).clamp(MIN_SCREEN_LINES, MAX_ROWS);
        Self { rows, cols: usize::from(size.cols).clamp(MIN_COLUMNS, MAX_COLUMNS) }
    }
}

impl Dimensions for Dims {
    fn total_lines(&self) -> usize {
        self.rows
    }

    fn screen_lines(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.cols
    }
}

impl Page {
    pub(super) fn new(size: Size, purpose: Purpose) -> Self {
        let dims = Dims::from(size);
        let config = Config { scrolling_history: 0, osc52: Osc52::Disabled, ..Config::default() };
        Self {
            term: Term::new(config, &dims, VoidListener),
            purpose,
            gone: Gone::default(),
            replies: Replies::default(),
            beneath: None,
            region: (0, dims.rows),
            pen: Pen::Fresh,
            at_home: false,
            lowest: 0,
            own_tabs: false,
            shifted: false,
        }
    }

    pub(super) fn size(&self) -> (usize, usize) {
        (self.term.screen_lines(), self.term.columns())
    }

    /// Row and column, from zero.
    pub(super) fn cursor(&self) -> (usize, usize) {
        let point = self.term.grid().cursor.point;
        (usize::try_from(point.line.0).unwrap_or(0), point.column.0)
    }

    /// Whether a line that is too long goes on in the next row.
    pub(super) fn wraps(&self) -> bool {
        self.term.mode().contains(TermMode::LINE_WRAP)
    }

    pub(super) fn is_alternate(&self) -> bool {
        self.term.mode().contains(TermMode::ALT_SCREEN)
    }

    /// At the beginning of a line, with nothing below and nothing set that plain text would come out otherwise for.
    pub(super) fn is_at_rest(&self) -> bool {
        let cursor = &self.term.grid().cursor;
        self.flows() && cursor.point.column.0 == 0 && !cursor.input_needs_wrap
    }

    /// The same, anywhere in a line.
    pub(super) fn flows(&self) -> bool {
        let mode = *self.term.mode();
        let cursor = &self.term.grid().cursor;
        let usual = mode.contains(TermMode::LINE_WRAP)
            && !mode.intersects(TermMode::ALT_SCREEN | TermMode::INSERT | TermMode::ORIGIN);
        usual
            && self.pen == Pen::Fresh
            && self.region == (0, self.term.screen_lines())
            && !self.own_tabs
            && !self.shifted
            && self.unseen_at_cursor().is_empty()
            && cursor.charsets[CharsetIndex::G0] == StandardCharset::Ascii
    }

    /// Everything above the cursor leaves, and the cursor goes to the top; only [at rest](Self::is_at_rest).
    pub(super) fn leave_above(&mut self) {
        let (rows, _) = self.cursor();
        self.read_away(i32::try_from(rows).unwrap_or(0));
        self.term.grid_mut().reset_region(..);
        self.term.grid_mut().cursor.point = Point::new(Line(0), Column(0));
        self.lowest = 0;
    }

    /// How many characters there is room for in the cursor's row, if something is in it.
    pub(super) fn to_margin(&self) -> usize {
        let cursor = &self.term.grid().cursor;
        match cursor.point.column.0 {
            0 => 0,
            _ if cursor.input_needs_wrap => 0,
            column => self.term.columns() - column,
        }
    }

    /// Everything leaves, with the cursor's row if that is full, and the cursor goes to the top, where its line goes on; only
    /// while text [flows](Self::flows).
    pub(super) fn leave_all(&mut self) {
        if self.term.grid().cursor.input_needs_wrap {
            self.term.grid_mut().cursor_cell().flags.insert(Flags::WRAPLINE);
            self.read_away(i32::try_from(self.cursor().0 + 1).unwrap_or(0));
            let grid = self.term.grid_mut();
            grid.reset_region(..);
            grid.cursor.point = Point::new(Line(0), Column(0));
            grid.cursor.input_needs_wrap = false;
            self.lowest = 0;
        } else {
            self.leave_above();
        }
    }

    /// What is on the screen and may still change, with the beginning of its first line.
    pub(super) fn open_lines(&self) -> Vec<String> {
        if let Some(beneath) = &self.beneath {
            return beneath.clone();
        }
        let mut open = Gone { lines: Vec::new(), begun: self.gone.begun.clone() };
        for line in 0..self.used_rows() {
            open.row(&self.term.grid()[Line(line)]);
        }
        if !open.begun.is_empty() {
            open.end();
        }
        while open.lines.last().is_some_and(String::is_empty) {
            open.lines.pop();
        }
        open.lines
    }

    /// How many rows there are from the top to the last that is not blank.
    pub(super) fn used_rows(&self) -> i32 {
        let rows = 0..i32::try_from(self.term.screen_lines()).unwrap_or(0);
        rows.rev().find(|&line| !row::is_blank(&self.term.grid()[Line(line)])).map_or(0, |line| line + 1)
    }

    pub(super) fn resize(&mut self, size: Size) {
        let dims = Dims::from(size);
        if self.purpose == Purpose::Screen {
            self.term.resize(dims);
        } else {
            self.resize_lines(dims);
        }
        self.region = (0, self.term.screen_lines());
        self.pen = Pen::Back;
        self.lowest = i32::try_from(self.term.screen_lines()).unwrap_or(i32::MAX);
    }

    /// Rows that do not fit any more leave like those that scroll away. For that they need room for a moment, and the
    /// normal screen must be the one at hand; what a full-screen program has painted is of no interest to lines.
    fn resize_lines(&mut self, dims: Dims) {
        let alternate = self.is_alternate();
        if alternate {
            self.term.swap_alt();
        }
        let (rows, cols) = self.size();
        self.term.grid_mut().update_history(rows * cols);
        self.term.resize(dims);
        let above = i32::try_from(self.term.grid().history_size()).unwrap_or(0);
        for line in -above..0 {
            self.gone.row(&self.term.grid()[Line(line)]);
        }
        self.term.grid_mut().update_history(0);
        if alternate {
            self.beneath = None;
            self.beneath = Some(self.open_lines());
            self.term.swap_alt();
        }
    }

    /// Rows at the top are about to leave.
    pub(super) fn read_away(&mut self, rows: i32) {
        if self.purpose == Purpose::Lines && !self.is_alternate() {
            for line in 0..rows {
                self.gone.row(&self.term.grid()[Line(line)]);
            }
        }
    }

    /// The screen is cleared: what was on it was output, and leaves as if it had scrolled away, but for blank rows
    /// around it.
    pub(super) fn clear_away(&mut self) {
        if self.purpose == Purpose::Lines && !self.is_alternate() {
            let used = self.used_rows();
            let is_blank = |&line: &i32| row::is_blank(&self.term.grid()[Line(line)]);
            let above = if self.gone.begun.is_empty() { (0..used).take_while(is_blank).count() } else { 0 };
            for line in i32::try_from(above).unwrap_or(0)..used {
                self.gone.row(&self.term.grid()[Line(line)]);
            }
            if !self.gone.begun.is_empty() {
                self.gone.end();
            }
            (self.pen, self.lowest) = (Pen::Fresh, 0);
        }
        self.term.grid_mut().reset_region(..);
    }

    /// The rest of the line goes to the next row.
    pub(super) fn wrap(&mut self) {
        let pen = self.pen;
        self.term.grid_mut().cursor_cell().flags.insert(Flags::WRAPLINE);
        self.linefeed();
        let cursor = &mut self.term.grid_mut().cursor;
        cursor.point.column = Column(0);
        cursor.input_needs_wrap = false;
        if pen != Pen::Fresh {
            self.pen = Pen::Back;
        }
    }

    /// The line is printed over: blanks at its end are no part of it any more, since they are there to erase.
    pub(super) fn print_over(&mut self) {
        let line = self.term.grid().cursor.point.line;
        for cell in &mut self.term.grid_mut()[line] {
            cell.flags.remove(PRINTED);
        }
        self.pen = Pen::Over;
    }

    /// Leaves the last column free, since the next character is too wide for it.
    pub(super) fn leave_room(&mut self) {
        self.term.grid_mut().cursor.template.flags.insert(Flags::LEADING_WIDE_CHAR_SPACER);
        self.term.input(' ');
        self.term.grid_mut().cursor.template.flags.remove(Flags::LEADING_WIDE_CHAR_SPACER);
        self.wrap();
    }

    /// As many marks as a character needs, and no more.
    pub(super) fn mark(&mut self, mark: char) {
        let cursor = &self.term.grid().cursor;
        let back = usize::from(!cursor.input_needs_wrap);
        let row = &self.term.grid()[cursor.point.line];
        let column = cursor.point.column.0.saturating_sub(back);
        let spacer = row[Column(column)].flags.contains(Flags::WIDE_CHAR_SPACER);
        let cell = &row[Column(column.saturating_sub(usize::from(spacer)))];
        if cell.zerowidth().map_or(0, <[char]>::len) < MAX_MARKS {
            self.term.input(mark);
        }
    }

    /// What stands at the beginning of a row and is not seen, before anything was printed there: it would go with the first
    /// character that is.
    pub(super) fn unseen_at_cursor(&self) -> Vec<char> {
        let cursor = &self.term.grid().cursor;
        if cursor.point.column.0 > 0 {
            return Vec::new();
        }
        let cell = &self.term.grid()[cursor.point];
        let marks = cell.zerowidth().filter(|_| cell.c == ' ').unwrap_or_default();
        marks.iter().copied().filter(|mark| is_unseen(*mark)).collect()
    }

    pub(super) fn reply(&mut self, text: &str) {
        if self.purpose == Purpose::Screen {
            self.replies.push(text);
        }
    }
}
