//! What a terminal answers to programs that ask it something.
//!
//! Programs wait for these, some for ever. What is not supported is answered as such where there is a way to say so,
//! and otherwise not at all: programs send a question that every terminal answers after those that few do.

use alacritty_terminal::term::TermMode;
use alacritty_terminal::vte::ansi::{NamedColor, NamedMode, NamedPrivateMode, Rgb};

/// More answers than this are not kept for a program that does not read them.
const MOST: usize = 16 * 1024;

/// Pixels of a cell, for programs that ask; nobody will see them.
const CELL: (usize, usize) = (10, 20);

/// A VT220 with colours.
const ATTRIBUTES: &str = "\x1b[?62;22c";
/// A number so low that no program takes it for a terminal with habits of its own.
const VERSION: &str = "\x1b[>0;10;1c";
const UNIT: &str = "\x1bP!|00000000\x1b\\";

/// Answers that were not fetched yet.
#[derive(Debug, Default)]
pub(super) struct Replies {
    bytes: Vec<u8>,
}

impl Replies {
    pub(super) fn push(&mut self, reply: &str) {
        if self.bytes.len() + reply.len() <= MOST {
            self.bytes.extend_from_slice(reply.as_bytes());
        }
    }

    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

/// Questions that the emulator does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    Name,
    CellPixels,
    ScreenSize,
    ExtendedPosition,
}

const QUESTIONS: [(&[u8], Question); 5] = [
    (b"\x1b[>q", Question::Name),
    (b"\x1b[>0q", Question::Name),
    (b"\x1b[16t", Question::CellPixels),
    (b"\x1b[19t", Question::ScreenSize),
    (b"\x1b[?6n", Question::ExtendedPosition),
];

/// The question that these bytes begin with, and its length.
pub(super) fn question(bytes: &[u8]) -> Option<(Question, usize)> {
    let found = QUESTIONS.iter().find(|(sequence, _)| bytes.starts_with(sequence))?;
    Some((found.1, found.0.len()))
}

/// The answer, on a screen of so many rows and columns with the cursor there (from zero).
pub(super) fn answer(question: Question, (rows, cols): (usize, usize), (row, col): (usize, usize)) -> String {
    match question {
        Question::Name => format!("\x1bP>|wharf({})\x1b\\", env!("CARGO_PKG_VERSION")),
        Question::CellPixels => format!("\x1b[6;{};{}t", CELL.1, CELL.0),
        Question::ScreenSize => format!("\x1b[9;{rows};{cols}t"),
        Question::ExtendedPosition => format!("\x1b[?{};{};1R", row + 1, col + 1),
    }
}

pub(super) fn attributes(kind: Option<char>) -> Option<&'static str> {
    match kind {
        None => Some(ATTRIBUTES),
        Some('>') => Some(VERSION),
        Some('=') => Some(UNIT),
        Some(_) => None,
    }
}

pub(super) fn status(kind: usize, (row, col): (usize, usize)) -> Option<String> {
    match kind {
        5 => Some("\x1b[0n".to_owned()),
        6 => Some(format!("\x1b[{};{}R", row + 1, col + 1)),
        _ => None,
    }
}

pub(super) fn pixels((rows, cols): (usize, usize)) -> String {
    format!("\x1b[4;{};{}t", rows * CELL.1, cols * CELL.0)
}

pub(super) fn cells((rows, cols): (usize, usize)) -> String {
    format!("\x1b[8;{rows};{cols}t")
}

pub(super) fn mode(number: u16, now: TermMode) -> String {
    let flag = match number {
        n if n == NamedMode::Insert as u16 => Some(TermMode::INSERT),
        n if n == NamedMode::LineFeedNewLine as u16 => Some(TermMode::LINE_FEED_NEW_LINE),
        _ => None,
    };
    format!("\x1b[{number};{}$y", state(flag, now))
}

pub(super) fn private_mode(number: u16, now: TermMode) -> String {
    format!("\x1b[?{number};{}$y", state(private_flag(number), now))
}

fn private_flag(number: u16) -> Option<TermMode> {
    use NamedPrivateMode as Named;
    let known = [
        (Named::CursorKeys, TermMode::APP_CURSOR),
        (Named::Origin, TermMode::ORIGIN),
        (Named::LineWrap, TermMode::LINE_WRAP),
        (Named::ShowCursor, TermMode::SHOW_CURSOR),
        (Named::ReportMouseClicks, TermMode::MOUSE_REPORT_CLICK),
        (Named::ReportCellMouseMotion, TermMode::MOUSE_DRAG),
        (Named::ReportAllMouseMotion, TermMode::MOUSE_MOTION),
        (Named::ReportFocusInOut, TermMode::FOCUS_IN_OUT),
        (Named::Utf8Mouse, TermMode::UTF8_MOUSE),
        (Named::SgrMouse, TermMode::SGR_MOUSE),
        (Named::AlternateScroll, TermMode::ALTERNATE_SCROLL),
        (Named::SwapScreenAndSetRestoreCursor, TermMode::ALT_SCREEN),
        (Named::BracketedPaste, TermMode::BRACKETED_PASTE),
    ];
    known.iter().find(|(name, _)| *name as u16 == number).map(|(_, flag)| *flag)
}

/// Not known, set or not set.
fn state(flag: Option<TermMode>, now: TermMode) -> u8 {
    match flag {
        None => 0,
        Some(flag) if now.contains(flag) => 1,
        Some(_) => 2,
    }
}

pub(super) fn colour(prefix: &str, index: usize, terminator: &str) -> String {
    let Rgb { r, g, b } = shade(index);
    format!("\x1b]{prefix};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}{terminator}")
}

/// The usual palette: sixteen names, a cube, greys; light on dark.
fn shade(index: usize) -> Rgb {
    const NAMED: [u32; 16] = [
        0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000,
        0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
    ];
    let level = |step: usize| if step == 0 { 0 } else { u8::try_from(55 + 40 * step).unwrap_or(u8::MAX) };
    match index {
        0..16 => split(NAMED[index]),
        16..232 => {
            let cube = index - 16;
            Rgb { r: level(cube / 36), g: level(cube / 6 % 6), b: level(cube % 6) }
        }
        232..256 => {
            let grey = u8::try_from(8 + 10 * (index - 232)).unwrap_or(u8::MAX);
            Rgb { r: grey, g: grey, b: grey }
        }
        _ if index == NamedColor::Background as usize => split(NAMED[0]),
        _ => split(NAMED[7]),
    }
}

fn split(colour: u32) -> Rgb {
    let [_, r, g, b] = colour.to_be_bytes();
    Rgb { r, g, b }
}
