//! The parser's place in the line, lists of commands, and simple commands.
//!
//! A backslash before a newline joins two lines, even in the middle of an operator. So everything but single quotes,
//! comments and the bodies of here-documents looks at bytes through [`Parser::ahead`], which does not see them.

use super::here::Pending;
use super::{Assign, Command, Dialect, LineError, MAX_DEPTH, MAX_LINE, MAX_PARTS, Redirect};
use crate::policy::rules::shape::Word;

/// What all parsers of one line fill: those of substitutions and here-documents have texts of their own.
pub(super) struct Output {
    pub(super) commands: Vec<Command>,
    pub(super) bodies: Vec<Word>,
    pub(super) runs_values: bool,
    /// Bytes that may still be looked at. Some things are read twice, and those may be nested.
    fuel: usize,
}

impl Output {
    pub(super) fn new() -> Output {
        Output { commands: Vec::new(), bodies: Vec::new(), runs_values: false, fuel: 32 * MAX_LINE }
    }
}

/// Where a list of commands ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stop {
    /// With the text.
    End,
    /// Before `)`.
    Paren,
    /// Before one of these reserved words.
    Words(&'static [&'static [u8]]),
    /// Before `;;` and its like, or `esac`.
    Branch,
}

pub(super) struct Parser<'s, 'o> {
    pub(super) src: &'s [u8],
    pub(super) at: usize,
    pub(super) dialect: Dialect,
    pub(super) out: &'o mut Output,
    pub(super) depth: usize,
    /// Here-documents whose bodies begin after the next newline.
    pub(super) pending: Vec<Pending>,
}

const RESERVED: [&[u8]; 20] = [
    b"if",
    b"then",
    b"elif",
    b"else",
    b"fi",
    b"while",
    b"until",
    b"for",
    b"select",
    b"do",
    b"done",
    b"case",
    b"esac",
    b"{",
    b"}",
    b"function",
    b"!",
    b"time",
    b"coproc",
    b"[[",
];

/// The longest number or name of a descriptor that is looked for before an arrow.
const LONGEST: usize = 100;

/// Whether a shell takes the word for its grammar. Those behind the first line are others' than bash's.
pub(in crate::policy::rules) fn is_reserved(word: &[u8]) -> bool {
    let more: [&[u8]; 9] =
        [b"in", b"]]", b"((", b"))", b"repeat", b"foreach", b"end", b"nocorrect", b"always"];
    RESERVED.contains(&word) || more.contains(&word)
}

pub(super) fn ends_word(byte: u8) -> bool {
    b" \t\n;&|<>()".contains(&byte)
}

impl<'s, 'o> Parser<'s, 'o> {
    pub(super) fn new(src: &'s [u8], dialect: Dialect, out: &'o mut Output, depth: usize) -> Parser<'s, 'o> {
        Parser { src, at: 0, dialect, out, depth, pending: Vec::new() }
    }

    /// The byte `n` places on, with joined lines taken as one.
    pub(super) fn ahead(&self, n: usize) -> Option<u8> {
        let (mut at, mut n) = (self.at, n);
        loop {
            while self.src[at..].starts_with(b"\\\n") {
                at += 2;
            }
            let byte = *self.src.get(at)?;
            if n == 0 {
                return Some(byte);
            }
            n -= 1;
            at += 1;
        }
    }

    pub(super) fn bump(&mut self) -> Result<(), LineError> {
        while self.src[self.at..].starts_with(b"\\\n") {
            self.at += 2;
        }
        self.step()
    }

    /// One byte on, whatever it is.
    pub(super) fn step(&mut self) -> Result<(), LineError> {
        self.at = (self.at + 1).min(self.src.len());
        self.out.fuel = self.out.fuel.checked_sub(1).ok_or(LineError::TooHard)?;
        Ok(())
    }

    pub(super) fn bump_all(&mut self, count: usize) -> Result<(), LineError> {
        (0..count).try_for_each(|_| self.bump())
    }

    pub(super) fn unexpected(&self) -> LineError {
        match self.ahead(0) {
            Some(byte) => LineError::Unexpected { byte, at: self.at },
            None => LineError::Unfinished("a command"),
        }
    }

    /// Runs `inside` one level deeper.
    pub(super) fn nest<T>(
        &mut self,
        inside: impl FnOnce(&mut Self) -> Result<T, LineError>,
    ) -> Result<T, LineError> {
        if self.depth >= MAX_DEPTH {
            return Err(LineError::TooDeep);
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// Blanks, and a comment behind them.
    pub(super) fn blanks(&mut self) -> Result<(), LineError> {
        while matches!(self.ahead(0), Some(b' ' | b'\t')) {
            self.bump()?;
        }
        if self.ahead(0) == Some(b'#') {
            while self.src.get(self.at).is_some_and(|byte| *byte != b'\n') {
                self.step()?;
            }
        }
        Ok(())
    }

    /// Blanks, comments and newlines, with the bodies of here-documents behind the first of them.
    pub(super) fn gap(&mut self) -> Result<(), LineError> {
        loop {
            self.blanks()?;
            if self.ahead(0) != Some(b'\n') {
                return Ok(());
            }
            self.bump()?;
            self.read_bodies()?;
        }
    }

    /// The reserved word that stands here, not yet taken.
    pub(super) fn reserved(&self) -> Option<&'static [u8]> {
        let is_here = |word: &&&'static [u8]| {
            let same = word.iter().enumerate().all(|(n, byte)| self.ahead(n) == Some(*byte));
            same && self.ahead(word.len()).is_none_or(ends_word)
        };
        RESERVED.iter().find(is_here).copied()
    }

    /// Takes a reserved word that must stand here.
    pub(super) fn expect(&mut self, word: &'static [u8]) -> Result<(), LineError> {
        if self.reserved() == Some(word) { self.bump_all(word.len()) } else { Err(self.unexpected()) }
    }

    /// The text has ended; a here-document without a body is empty.
    pub(super) fn finish(&mut self) -> Result<(), LineError> {
        self.read_bodies()
    }

    /// Commands until `stop`, which is left where it is.
    pub(super) fn list(&mut self, stop: Stop) -> Result<(), LineError> {
        self.nest(|parser| {
            while !parser.is_at(stop)? {
                match parser.ahead(0) {
                    // Which of them are in order is for the shell to say; here they only separate.
                    Some(b';' | b'&' | b'|') => parser.bump()?,
                    _ => parser.command()?,
                }
            }
            Ok(())
        })
    }

    fn is_at(&mut self, stop: Stop) -> Result<bool, LineError> {
        self.gap()?;
        let in_branch = matches!(stop, Stop::Branch);
        match (self.ahead(0), self.ahead(1)) {
            (None, _) if matches!(stop, Stop::End) => return Ok(true),
            (None, _) => return Err(LineError::Unfinished("a group, loop or substitution")),
            (Some(b')'), _) if matches!(stop, Stop::Paren) => return Ok(true),
            (Some(b')'), _) => return Err(self.unexpected()),
            (Some(b';'), Some(b';' | b'&' | b'|')) => {
                return if in_branch { Ok(true) } else { Err(self.unexpected()) };
            }
            _ => {}
        }
        let Some(word) = self.reserved() else { return Ok(false) };
        let ends = match stop {
            Stop::Words(words) => words.contains(&word),
            Stop::Branch => word == b"esac",
            Stop::End | Stop::Paren => false,
        };
        let closes: [&[u8]; 8] = [b"then", b"elif", b"else", b"fi", b"do", b"done", b"esac", b"}"];
        if !ends && closes.contains(&word) { Err(self.unexpected()) } else { Ok(ends) }
    }

    fn command(&mut self) -> Result<(), LineError> {
        if self.ahead(0) == Some(b'(') {
            self.parens()?;
            return self.redirects();
        }
        match self.reserved() {
            Some(word) => self.nest(|parser| parser.compound(word)),
            None => self.simple(),
        }
    }

    /// Redirections behind a compound command.
    pub(super) fn redirects(&mut self) -> Result<(), LineError> {
        let mut command = Command::default();
        loop {
            self.blanks()?;
            if !self.is_at_redirect() {
                break;
            }
            let redirect = self.redirect()?;
            command.redirects.push(redirect);
        }
        if command.redirects.is_empty() { Ok(()) } else { self.push(command) }
    }

    pub(super) fn push(&mut self, command: Command) -> Result<(), LineError> {
        if self.out.commands.len() >= MAX_PARTS {
            return Err(LineError::TooMany);
        }
        self.out.commands.push(command);
        Ok(())
    }

    pub(super) fn simple(&mut self) -> Result<(), LineError> {
        let mut command = Command::default();
        loop {
            self.blanks()?;
            match self.ahead(0) {
                _ if self.is_at_redirect() => {
                    let redirect = self.redirect()?;
                    command.redirects.push(redirect);
                }
                None | Some(b'\n' | b';' | b'|' | b'&' | b')') => break,
                Some(b'(') => return self.function(&command),
                Some(_) => {
                    let (word, assign) = self.word()?;
                    match assign {
                        Some(name) if command.words.is_empty() => {
                            command.assigns.push(Assign::written(name, &word));
                        }
                        _ => command.words.push(word),
                    }
                }
            }
        }
        self.push(command)
    }

    /// `name()`, then its body.
    fn function(&mut self, head: &Command) -> Result<(), LineError> {
        let is_name = head.words.len() == 1 && head.assigns.is_empty() && head.redirects.is_empty();
        self.bump()?;
        self.blanks()?;
        if !is_name || self.ahead(0) != Some(b')') {
            return Err(self.unexpected());
        }
        self.bump()?;
        self.gap()?;
        self.nest(Self::command)
    }

    /// A redirection begins here: perhaps a number or `{name}`, then an arrow that is not a process substitution.
    fn is_at_redirect(&self) -> bool {
        let mut n = 0;
        if self.ahead(0) == Some(b'{') {
            n = 1;
            while n < LONGEST
                && self.ahead(n).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            {
                n += 1;
            }
            if n == 1 || self.ahead(n) != Some(b'}') {
                return false;
            }
            n += 1;
        } else {
            while n < LONGEST && self.ahead(n).is_some_and(|byte| byte.is_ascii_digit()) {
                n += 1;
            }
        }
        match (self.ahead(n), self.ahead(n + 1)) {
            (Some(b'<' | b'>'), next) => n > 0 || next != Some(b'('),
            // Elsewhere `&` ends the command, and the arrow begins another one without words: the same commands.
            (Some(b'&'), Some(b'>')) => n == 0 && self.dialect == Dialect::Bash,
            _ => false,
        }
    }

    fn redirect(&mut self) -> Result<Redirect, LineError> {
        while self.ahead(0).is_some_and(|byte| !b"<>&".contains(&byte)) {
            self.bump()?;
        }
        let arrows = (0..3).map_while(|n| self.ahead(n)).take_while(|byte| *byte == b'<').count();
        if arrows >= 2 {
            self.bump_all(arrows)?;
            return self.here(arrows);
        }
        while self.ahead(0).is_some_and(|byte| b"<>&|".contains(&byte)) && self.ahead(1) != Some(b'(') {
            self.bump()?;
        }
        self.blanks()?;
        if self.ahead(0).is_none_or(|byte| ends_word(byte) && !b"<>".contains(&byte)) {
            return Err(self.unexpected());
        }
        Ok(Redirect::File(self.word()?.0))
    }
}
