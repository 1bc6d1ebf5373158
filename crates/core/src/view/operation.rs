//! What the parser asks of a page: all of it comes through here, and most goes straight on to the emulator.
//!
//! The rest is about lines: a row is read before it leaves, blanks that end a line are told from blanks that erased
//! something, and a tab stays a tab; and about questions, which are answered here.
//!
//! What surprises: a tab at the right margin begins the next row, so that it is not lost from a long line. On a real
//! terminal it stays where it is.

use super::page::{Page, Pen, Purpose};
use super::reply;
use super::row::{PRINTED, TAB};
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, ClearMode, CursorShape, CursorStyle, Handler, LineClearMode, Mode, NamedPrivateMode,
    PrivateMode, StandardCharset, TabulationClearMode,
};
use unicode_width::UnicodeWidthChar;

/// Hands operations on as they are; those marked `back` may have left the end of the line.
macro_rules! hand_on {
    ($(fn $name:ident($($argument:ident: $kind:ty),*);)* back: $(fn $other:ident($($more:ident: $type:ty),*);)*) => {
        $(fn $name(&mut self, $($argument: $kind),*) { self.term.$name($($argument),*); })*
        $(fn $other(&mut self, $($more: $type),*) {
            self.term.$other($($more),*);
            self.pen = Pen::Back;
        })*
    };
}

impl Handler for Page {
    // Titles, the clipboard, links, colours, key protocols and the history of the emulator are left to the defaults of
    // the trait, which do nothing.
    hand_on! {
        fn set_cursor_style(style: Option<CursorStyle>);
        fn set_cursor_shape(shape: CursorShape);
        fn insert_blank(count: usize);
        fn move_forward(count: usize);
        fn erase_chars(count: usize);
        fn delete_chars(count: usize);
        fn move_forward_tabs(count: u16);
        fn save_cursor_position();
        fn clear_line(mode: LineClearMode);
        fn terminal_attribute(attribute: Attr);
        fn set_mode(mode: Mode);
        fn unset_mode(mode: Mode);
        fn set_keypad_application_mode();
        fn unset_keypad_application_mode();
        fn configure_charset(index: CharsetIndex, set: StandardCharset);
        back:
        fn goto_line(line: i32);
        fn goto_col(column: usize);
        fn move_up(count: usize);
        fn move_down(count: usize);
        fn move_backward(count: usize);
        fn move_down_and_cr(count: usize);
        fn move_up_and_cr(count: usize);
        fn backspace();
        fn carriage_return();
        fn scroll_down(count: usize);
        fn insert_blank_lines(count: usize);
        fn delete_lines(count: usize);
        fn move_backward_tabs(count: u16);
        fn restore_cursor_position();
        fn reverse_index();
    }

    fn input(&mut self, c: char) {
        let width = if c.is_ascii() { Some(1) } else { c.width() };
        let Some(width) = width else { return };
        if width == 0 {
            return self.mark(c);
        }
        let cursor = &self.term.grid().cursor;
        let wraps = self.term.mode().contains(TermMode::LINE_WRAP);
        if cursor.input_needs_wrap && wraps {
            self.wrap();
        } else if width == 2 && wraps && cursor.point.column.0 + 1 >= self.term.columns() {
            self.leave_room();
        }
        if self.pen == Pen::Back {
            self.print_over();
        }
        self.at_home = false;
        let printed = c == ' ' && self.pen == Pen::Fresh;
        self.term.grid_mut().cursor.template.flags.set(PRINTED, printed);
        let unseen = self.unseen_at_cursor();
        self.term.input(c);
        unseen.into_iter().for_each(|mark| self.mark(mark));
        self.lowest = self.lowest.max(self.term.grid().cursor.point.line.0);
    }

    fn goto(&mut self, line: i32, column: usize) {
        self.term.goto(line, column);
        self.pen = Pen::Back;
        self.at_home = self.cursor() == (0, 0);
    }

    fn put_tab(&mut self, count: u16) {
        if self.purpose == Purpose::Screen || self.own_tabs {
            return self.term.move_forward_tabs(count);
        }
        if self.term.grid().cursor.input_needs_wrap {
            self.wrap();
        }
        let last = self.term.columns() - 1;
        let before = self.term.grid().cursor.point.column.0;
        self.term.put_tab(count);
        let cursor = &mut self.term.grid_mut().cursor;
        let at_margin = before == last || (cursor.point.column.0 == last && !last.is_multiple_of(TAB));
        cursor.input_needs_wrap = at_margin;
        self.lowest = self.lowest.max(self.term.grid().cursor.point.line.0);
    }

    fn linefeed(&mut self) {
        let before = self.term.grid().cursor.point.line.0;
        let next = usize::try_from(before + 1).unwrap_or(0);
        if next == self.region.1 && self.region.0 == 0 {
            self.read_away(1);
        }
        self.term.linefeed();
        let now = self.term.grid().cursor.point.line.0;
        let scrolled = now == before && self.region == (0, self.term.screen_lines());
        self.pen = if scrolled || now > self.lowest { Pen::Fresh } else { Pen::Back };
        self.at_home = false;
        self.lowest = self.lowest.max(now);
    }

    fn scroll_up(&mut self, count: usize) {
        if self.region.0 == 0 && self.purpose == Purpose::Lines {
            // Blank rows below the last line are no lines, however often they are scrolled.
            let count = i32::try_from(count.min(self.region.1)).unwrap_or(0);
            self.read_away(count.min(self.used_rows()));
        }
        self.term.scroll_up(count);
        self.pen = Pen::Back;
    }

    fn clear_screen(&mut self, mode: ClearMode) {
        // Some terminals' descriptions clear by going home and erasing what is below.
        let all = match mode {
            ClearMode::All => true,
            ClearMode::Below => self.at_home && self.cursor() == (0, 0),
            ClearMode::Above | ClearMode::Saved => false,
        };
        match mode {
            _ if all => self.clear_away(),
            ClearMode::Saved => {}
            mode => self.term.clear_screen(mode),
        }
    }

    fn set_horizontal_tabstop(&mut self) {
        self.own_tabs = true;
        self.term.set_horizontal_tabstop();
    }

    fn clear_tabs(&mut self, mode: TabulationClearMode) {
        self.own_tabs = true;
        self.term.clear_tabs(mode);
    }

    fn set_tabs(&mut self, interval: u16) {
        self.own_tabs = usize::from(interval) != TAB;
        self.term.set_tabs(interval);
    }

    fn set_active_charset(&mut self, index: CharsetIndex) {
        self.shifted = index != CharsetIndex::G0;
        self.term.set_active_charset(index);
    }

    fn set_private_mode(&mut self, mode: PrivateMode) {
        let enters = mode == PrivateMode::Named(NamedPrivateMode::SwapScreenAndSetRestoreCursor);
        if enters && !self.is_alternate() && self.purpose == Purpose::Lines {
            self.beneath = Some(self.open_lines());
        }
        self.term.set_private_mode(mode);
        if enters {
            self.pen = Pen::Back;
        }
    }

    fn unset_private_mode(&mut self, mode: PrivateMode) {
        self.term.unset_private_mode(mode);
        if !self.is_alternate() {
            self.beneath = None;
        }
    }

    fn set_scrolling_region(&mut self, top: usize, bottom: Option<usize>) {
        let rows = self.term.screen_lines();
        let bottom = bottom.unwrap_or(rows);
        if top < bottom {
            self.region = ((top - 1).min(rows), bottom.min(rows));
        }
        self.term.set_scrolling_region(top, Some(bottom));
        self.pen = Pen::Back;
    }

    fn identify_terminal(&mut self, kind: Option<char>) {
        if let Some(text) = reply::attributes(kind) {
            self.reply(text);
        }
    }

    fn device_status(&mut self, kind: usize) {
        if let Some(text) = reply::status(kind, self.cursor()) {
            self.reply(&text);
        }
    }

    fn report_mode(&mut self, mode: Mode) {
        let text = reply::mode(mode.raw(), *self.term.mode());
        self.reply(&text);
    }

    fn report_private_mode(&mut self, mode: PrivateMode) {
        let text = reply::private_mode(mode.raw(), *self.term.mode());
        self.reply(&text);
    }

    fn dynamic_color_sequence(&mut self, prefix: String, index: usize, terminator: &str) {
        self.reply(&reply::colour(&prefix, index, terminator));
    }

    fn text_area_size_pixels(&mut self) {
        self.reply(&reply::pixels(self.size()));
    }

    fn text_area_size_chars(&mut self) {
        self.reply(&reply::cells(self.size()));
    }
}
