//! A shell line as the list of simple commands in it, wherever they stand: in lists, pipes, groups, loops, branches,
//! functions, substitutions and here-documents.
//!
//! It must not know rules or programs, and it runs nothing. Which commands run, and how often, is not asked: everything
//! that could run is listed. Shells differ in where a quotation ends; where the difference would hide a command, the
//! line is not readable, and what was read so far is still given, because a shell runs a line before it reads the next.

mod compound;
mod cursor;
mod expand;
mod here;
mod word;

use super::shape::Word;
pub(super) use cursor::is_reserved;
use cursor::{Output, Parser, Stop};

/// The longest line that is read.
pub(super) const MAX_LINE: usize = 64 * 1024;
/// How deep groups and substitutions may be in each other.
pub(super) const MAX_DEPTH: usize = 50;
/// How many simple commands a line may have.
pub(super) const MAX_PARTS: usize = 2000;

/// Which shell will read the line, as far as it changes where words end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// bash, zsh, ksh: `((…))`, `[[…]]`, `$'…'`.
    Bash,
    /// Any `sh`, which may be one of those or a smaller one: read both ways, or not at all.
    Posix,
}

/// A simple command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    /// Variables that are set before it or by it.
    pub(super) assigns: Vec<Assign>,
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
}

/// A variable that is set.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Assign {
    pub(super) name: Vec<u8>,
    /// All of what it is then, if that can be known.
    pub(super) value: Option<Vec<u8>>,
}

impl Assign {
    /// To something that nobody knows.
    pub(super) fn unknown(name: Vec<u8>) -> Assign {
        Assign { name, value: None }
    }

    /// `name=value` as it is written; what is appended, or is put in an array, is not all of it.
    pub(super) fn written(name: Vec<u8>, word: &Word) -> Assign {
        let text = word.text();
        let behind = text.as_deref().and_then(|text| text.strip_prefix(&name[..])?.strip_prefix(b"="));
        Assign { value: behind.map(<[u8]>::to_vec), name }
    }
}

/// Where a command's input or output goes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Redirect {
    /// To or from a file or descriptor.
    File(Word),
    /// A here-document or here-string: its body comes later than the command that has it, at this place in the list.
    Here(usize),
}

/// Why a line, or its rest, cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum LineError {
    #[error("it is longer than 64 KiB")]
    TooLong,
    #[error("its parts are nested more than 50 deep")]
    TooDeep,
    #[error("it has more than 2,000 parts")]
    TooMany,
    #[error("it takes too long to read")]
    TooHard,
    #[error("it holds a NUL byte")]
    Nul,
    #[error("{0} is not closed")]
    Unfinished(&'static str),
    #[error("`{}` stands where it cannot, at byte {at}", char::from(*.byte))]
    Unexpected { byte: u8, at: usize },
    #[error("shells differ in how they read {0}")]
    Ambiguous(&'static str),
}

impl LineError {
    /// Whether another way of reading would fail for the same reason.
    fn is_final(self) -> bool {
        matches!(self, LineError::TooLong | LineError::TooDeep | LineError::TooMany | LineError::TooHard)
    }
}

/// All that was found.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) commands: Vec<Command>,
    /// The bodies of here-documents and here-strings.
    pub(super) bodies: Vec<Word>,
    /// Whether text that is not read here is run as code: by an expansion (`${x@P}`) or as a subscript.
    pub(super) runs_values: bool,
    pub(super) trouble: Option<LineError>,
}

pub(super) fn parse(line: &[u8], dialect: Dialect) -> Parsed {
    let mut out = Output::new();
    let trouble = if line.len() > MAX_LINE {
        Some(LineError::TooLong)
    } else {
        let end = line.iter().position(|byte| *byte == 0).unwrap_or(line.len());
        let mut parser = Parser::new(&line[..end], dialect, &mut out, 0);
        let trouble = parser.list(Stop::End).and_then(|()| parser.finish()).err();
        trouble.or((end < line.len()).then_some(LineError::Nul))
    };
    Parsed { commands: out.commands, bodies: out.bodies, runs_values: out.runs_values, trouble }
}

#[cfg(test)]
mod tests;
