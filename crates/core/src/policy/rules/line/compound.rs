//! Compound commands: branches, loops, groups, functions, tests and arithmetic.

use super::cursor::{Parser, Stop, ends_word};
use super::word::Builder;
use super::{Assign, Command, Dialect, LineError};

impl Parser<'_, '_> {
    /// What begins with the reserved word that stands here.
    pub(super) fn compound(&mut self, word: &'static [u8]) -> Result<(), LineError> {
        if word == b"[[" && self.dialect == Dialect::Posix {
            // Where it is a command, `&&` in it runs another one. Where it is not, this reads too much, not too little.
            return self.simple();
        }
        self.bump_all(word.len())?;
        match word {
            b"if" => self.branches()?,
            b"while" | b"until" => {
                self.list(Stop::Words(&[b"do"]))?;
                self.body()?;
            }
            b"for" | b"select" => self.each()?,
            b"case" => self.cases()?,
            b"{" => {
                self.list(Stop::Words(&[b"}"]))?;
                self.expect(b"}")?;
            }
            b"[[" => self.test()?,
            b"function" => return self.named_function(),
            b"time" => return self.timed(),
            // `!` and `coproc`: the command behind them is the next in the list.
            _ => return Ok(()),
        }
        self.redirects()
    }

    fn branches(&mut self) -> Result<(), LineError> {
        loop {
            self.list(Stop::Words(&[b"then"]))?;
            self.expect(b"then")?;
            self.list(Stop::Words(&[b"elif", b"else", b"fi"]))?;
            if self.reserved() != Some(b"elif") {
                break;
            }
            self.expect(b"elif")?;
        }
        if self.reserved() == Some(b"else") {
            self.expect(b"else")?;
            self.list(Stop::Words(&[b"fi"]))?;
        }
        self.expect(b"fi")
    }

    /// `do … done`, or in braces, which some shells take too.
    fn body(&mut self) -> Result<(), LineError> {
        let (open, close): (&'static [u8], &'static [&'static [u8]]) = match self.reserved() {
            Some(b"{") => (b"{", &[b"}"]),
            _ => (b"do", &[b"done"]),
        };
        self.expect(open)?;
        self.list(Stop::Words(close))?;
        self.expect(close[0])
    }

    fn each(&mut self) -> Result<(), LineError> {
        self.blanks()?;
        if self.ahead(0) == Some(b'(') && self.ahead(1) == Some(b'(') {
            self.bump_all(2)?;
            self.arithmetic(&mut Builder::default())?;
        } else {
            let name = self.word()?.0;
            self.push(Command { assigns: vec![Assign::unknown(name.start())], ..Command::default() })?;
            self.gap()?;
            if self.is_in() {
                self.bump_all(2)?;
                self.words_to_end_of_command()?;
            }
        }
        self.blanks()?;
        if self.ahead(0) == Some(b';') {
            self.bump()?;
        }
        self.gap()?;
        self.body()
    }

    /// `in` is reserved only here and in `case`.
    fn is_in(&self) -> bool {
        self.ahead(0) == Some(b'i') && self.ahead(1) == Some(b'n') && self.ahead(2).is_none_or(ends_word)
    }

    fn words_to_end_of_command(&mut self) -> Result<(), LineError> {
        loop {
            self.blanks()?;
            match self.ahead(0) {
                None | Some(b';' | b'\n') => return Ok(()),
                Some(b'&' | b'|' | b'(' | b')') => return Err(self.unexpected()),
                Some(_) => drop(self.word()?),
            }
        }
    }

    fn cases(&mut self) -> Result<(), LineError> {
        self.blanks()?;
        self.word()?;
        self.gap()?;
        if !self.is_in() {
            return Err(self.unexpected());
        }
        self.bump_all(2)?;
        loop {
            self.gap()?;
            if self.reserved() == Some(b"esac") {
                return self.expect(b"esac");
            }
            self.patterns()?;
            self.list(Stop::Branch)?;
            while matches!(self.ahead(0), Some(b';' | b'&' | b'|')) {
                self.bump()?;
            }
        }
    }

    /// `a | b)`, perhaps with an opening parenthesis.
    fn patterns(&mut self) -> Result<(), LineError> {
        if self.ahead(0) == Some(b'(') {
            self.bump()?;
        }
        loop {
            self.blanks()?;
            self.word()?;
            self.blanks()?;
            match self.ahead(0) {
                Some(b'|') => self.bump()?,
                Some(b')') => return self.bump(),
                _ => return Err(self.unexpected()),
            }
        }
    }

    fn named_function(&mut self) -> Result<(), LineError> {
        self.blanks()?;
        self.word()?;
        self.blanks()?;
        if self.ahead(0) == Some(b'(') && self.ahead(1) == Some(b')') {
            self.bump_all(2)?;
        }
        // The body is the next command of the list.
        self.gap()
    }

    /// `time -p command`: the command is the next in the list.
    fn timed(&mut self) -> Result<(), LineError> {
        self.blanks()?;
        for option in [&b"-p"[..], b"--"] {
            let is_here = option.iter().enumerate().all(|(n, byte)| self.ahead(n) == Some(*byte));
            if is_here && self.ahead(2).is_none_or(ends_word) {
                self.bump_all(2)?;
                self.blanks()?;
            }
        }
        Ok(())
    }

    /// `[[ … ]]` in a shell that has it: nothing in it runs but substitutions.
    fn test(&mut self) -> Result<(), LineError> {
        loop {
            self.blanks()?;
            match (self.ahead(0), self.ahead(1)) {
                (None, _) => return Err(LineError::Unfinished("`[[`")),
                (Some(b';'), _) => return Err(self.unexpected()),
                (Some(b'\n'), _) => self.gap()?,
                (Some(b']'), Some(b']')) if self.ahead(2).is_none_or(ends_word) => return self.bump_all(2),
                (Some(b'<' | b'>'), Some(b'(')) => drop(self.word()?),
                (Some(byte), _) if ends_word(byte) => self.bump()?,
                _ => {
                    let word = self.word()?.0;
                    self.out.runs_values |= word.has_live_subscript();
                }
            }
        }
    }

    /// `(…)` or `((…))`.
    pub(super) fn parens(&mut self) -> Result<(), LineError> {
        if self.ahead(1) != Some(b'(') {
            return self.nest(Self::group);
        }
        let (start, pending) = (self.at, self.pending.clone());
        let arithmetic = self.nest(|parser| {
            parser.bump_all(2)?;
            parser.arithmetic(&mut Builder::default())
        });
        match arithmetic {
            Ok(()) if self.dialect == Dialect::Bash => return Ok(()),
            Err(error) if error.is_final() => return Err(error),
            _ => {}
        }
        // A small shell has no arithmetic here and runs it as commands in two groups. Both readings count.
        let end = self.at;
        self.at = start;
        self.pending.clone_from(&pending);
        match self.nest(Self::group) {
            Ok(()) if arithmetic.is_ok() && self.at != end => Err(LineError::Ambiguous("`((`")),
            Err(error) if arithmetic.is_ok() && !error.is_final() => {
                self.at = end;
                self.pending = pending;
                Ok(())
            }
            result => result,
        }
    }

    fn group(&mut self) -> Result<(), LineError> {
        self.bump()?;
        self.list(Stop::Paren)?;
        self.bump()
    }
}
