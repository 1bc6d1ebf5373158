//! What begins with a dollar or a backtick: parameters, substitutions, arithmetic, and quotes with escapes.

use super::cursor::{Parser, Stop};
use super::word::{Builder, Quoting};
use super::{Assign, Command, Dialect, LineError};
use crate::policy::rules::shape::Count;

impl Parser<'_, '_> {
    /// A dollar and what belongs to it.
    pub(super) fn dollar(&mut self, quoting: Quoting, word: &mut Builder) -> Result<(), LineError> {
        self.bump()?;
        match self.ahead(0) {
            Some(b'(') => {
                word.gap(quoting.count());
                self.nest(Self::substitution_or_arithmetic)
            }
            Some(b'{') => self.nest(|parser| parser.parameter(quoting, word)),
            Some(b'\'') if quoting == Quoting::Bare => self.escaped_quotes(word),
            Some(b'"') if quoting == Quoting::Bare => Ok(()),
            Some(b'[') if self.dialect == Dialect::Posix => Err(LineError::Ambiguous("`$[`")),
            Some(b'[') => {
                word.gap(quoting.count());
                self.nest(Self::old_arithmetic)
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                word.gap(quoting.count());
                while self.ahead(0).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                    self.bump()?;
                }
                Ok(())
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                // `"$@"` is any number of words in spite of its quotes.
                word.gap(if byte == b'@' { Count::Split } else { quoting.count() });
                self.bump()
            }
            _ => {
                word.push(b'$', quoting);
                Ok(())
            }
        }
    }

    /// At the first parenthesis.
    fn substitution_or_arithmetic(&mut self) -> Result<(), LineError> {
        if self.ahead(1) == Some(b'(') {
            let (start, count) = (self.at, self.out.commands.len());
            self.bump_all(2)?;
            match self.arithmetic(&mut Builder::default()) {
                Err(error) if !error.is_final() => {
                    self.at = start;
                    self.out.commands.truncate(count);
                }
                result => return result,
            }
        }
        self.substitution()
    }

    /// `(…)` of `$(…)`, `<(…)` and `>(…)`.
    pub(super) fn substitution(&mut self) -> Result<(), LineError> {
        self.bump()?;
        self.enclosed(Stop::Paren)
    }

    /// Commands to `stop`, which is one byte. Their here-documents have their bodies in there.
    fn enclosed(&mut self, stop: Stop) -> Result<(), LineError> {
        let outside = std::mem::take(&mut self.pending);
        self.list(stop)?;
        if !self.pending.is_empty() {
            return Err(LineError::Unfinished("a here-document"));
        }
        self.pending = outside;
        self.bump()
    }

    /// Behind `((`, to the end of `))`.
    pub(super) fn arithmetic(&mut self, word: &mut Builder) -> Result<(), LineError> {
        let mut open = 0_usize;
        loop {
            match self.ahead(0) {
                None => return Err(LineError::Unfinished("`((`")),
                Some(b'(') => open += 1,
                Some(b')') if open > 0 => open -= 1,
                Some(b')') if self.ahead(1) == Some(b')') => return self.bump_all(2),
                Some(b')') => return Err(self.unexpected()),
                Some(_) => {
                    self.in_arithmetic(word)?;
                    continue;
                }
            }
            self.bump()?;
        }
    }

    /// `$[…]`.
    fn old_arithmetic(&mut self) -> Result<(), LineError> {
        self.bump()?;
        let mut word = Builder::default();
        let mut open = 0_usize;
        loop {
            match self.ahead(0) {
                None => return Err(LineError::Unfinished("`$[`")),
                Some(b'[') => open += 1,
                Some(b']') if open == 0 => return self.bump(),
                Some(b']') => open -= 1,
                Some(_) => {
                    self.in_arithmetic(&mut word)?;
                    continue;
                }
            }
            self.bump()?;
        }
    }

    fn in_arithmetic(&mut self, word: &mut Builder) -> Result<(), LineError> {
        match self.ahead(0) {
            Some(b'$') => self.dollar(Quoting::Double, word),
            Some(b'`') => self.backticks(Quoting::Double, word),
            Some(b'"') => {
                self.bump()?;
                self.nest(|parser| parser.quoted(Some(b'"'), word))
            }
            Some(b'\'') => Err(LineError::Ambiguous("a single quote in arithmetic")),
            Some(b'\\') => {
                self.bump()?;
                self.step()
            }
            _ => self.bump(),
        }
    }

    /// At the brace of `${…}`.
    fn parameter(&mut self, quoting: Quoting, word: &mut Builder) -> Result<(), LineError> {
        self.bump()?;
        if matches!(self.ahead(0), Some(b' ' | b'\t' | b'\n' | b'|')) {
            return self.substitution_in_braces(quoting, word);
        }
        let start = self.at;
        let mut inside = Builder::default();
        loop {
            match self.ahead(0) {
                None => return Err(LineError::Unfinished("`${`")),
                Some(b'}') => break,
                Some(b'\\') => {
                    self.bump()?;
                    self.step()?;
                }
                Some(b'\'') if quoting == Quoting::Bare => self.single(&mut inside)?,
                Some(b'\'') => return Err(LineError::Ambiguous("a single quote in `\"${…}\"`")),
                Some(b'"') => {
                    self.bump()?;
                    self.nest(|parser| parser.quoted(Some(b'"'), &mut inside))?;
                }
                Some(b'$') => self.dollar(quoting, &mut inside)?,
                Some(b'`') => self.backticks(quoting, &mut inside)?,
                Some(b'<' | b'>') if self.ahead(1) == Some(b'(') => {
                    return Err(LineError::Ambiguous("a process substitution in `${…}`"));
                }
                Some(_) => self.bump()?,
            }
        }
        let text = &self.src[start..self.at];
        match effect(text) {
            Effect::None => {}
            Effect::Runs => self.out.runs_values = true,
            Effect::Assigns(name) => {
                self.push(Command { assigns: vec![Assign::unknown(name)], ..Command::default() })?;
            }
        }
        let is_list = text.starts_with(b"@") || text.windows(3).any(|part| part == b"[@]");
        word.gap(if is_list { Count::Split } else { quoting.count() });
        self.bump()
    }

    /// `${ command; }` and `${| command; }`, which newer shells run.
    fn substitution_in_braces(&mut self, quoting: Quoting, word: &mut Builder) -> Result<(), LineError> {
        word.gap(quoting.count());
        if self.ahead(0) == Some(b'|') {
            self.bump()?;
        }
        self.enclosed(Stop::Words(&[b"}"]))
    }

    /// `` `…` ``: no quotes count on the way to its end, and a backslash is taken away before it is read.
    pub(super) fn backticks(&mut self, quoting: Quoting, word: &mut Builder) -> Result<(), LineError> {
        word.gap(quoting.count());
        self.bump()?;
        let mut text = Vec::new();
        loop {
            match (self.src.get(self.at), self.src.get(self.at + 1)) {
                (None, _) => return Err(LineError::Unfinished("a backtick")),
                (Some(b'`'), _) => break,
                (Some(b'\\'), Some(next @ (b'$' | b'`' | b'\\'))) => {
                    text.push(*next);
                    self.step()?;
                }
                (Some(b'\\'), Some(b'"')) if quoting == Quoting::Double => {
                    text.push(b'"');
                    self.step()?;
                }
                (Some(byte), _) => text.push(*byte),
            }
            self.step()?;
        }
        self.step()?;
        let depth = self.depth;
        let mut inner = Parser::new(&text, self.dialect, self.out, depth);
        inner.list(Stop::End)?;
        inner.finish()
    }

    /// `$'…'`, at its quote. A small shell knows no escapes in it and ends it at another quote.
    fn escaped_quotes(&mut self, word: &mut Builder) -> Result<(), LineError> {
        self.bump()?;
        let start = self.at;
        loop {
            match self.src.get(self.at) {
                None => return Err(LineError::Unfinished("a quotation")),
                Some(b'\'') => break,
                Some(b'\\')
                    if self.src.get(self.at + 1) == Some(&b'\'') && self.dialect == Dialect::Posix =>
                {
                    return Err(LineError::Ambiguous("`\\'` in `$'…'`"));
                }
                Some(b'\\') => {
                    self.step()?;
                    self.step()?;
                }
                Some(_) => self.step()?,
            }
        }
        let text = &self.src[start..self.at];
        word.unescape(text);
        self.step()
    }
}

/// What `${…}` does besides giving a value.
enum Effect {
    None,
    Runs,
    Assigns(Vec<u8>),
}

/// `x@P`, zsh's flags that expand what a value holds, and `x=…` in all its forms.
fn effect(text: &[u8]) -> Effect {
    if text.ends_with(b"@P") {
        return Effect::Runs;
    }
    let joined = String::from_utf8_lossy(text).replace("\\\n", "");
    let text = joined.as_bytes();
    if let Some(flags) = text.strip_prefix(b"(") {
        let end = flags.iter().position(|byte| *byte == b')').unwrap_or(flags.len());
        let runs = flags[..end].iter().any(|flag| b"eP%".contains(flag));
        return if runs { Effect::Runs } else { Effect::None };
    }
    // Which variable `!x` stands for is not known.
    let (is_indirect, text) = text.strip_prefix(b"!").map_or((false, text), |rest| (true, rest));
    let length = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let (name, mut rest) = text.split_at(length);
    if rest.first() == Some(&b'[') {
        let end = rest.iter().position(|byte| *byte == b']').map_or(rest.len(), |end| end + 1);
        rest = &rest[end..];
    }
    let sets = [&b"="[..], b":=", b"::="].iter().any(|operator| rest.starts_with(operator));
    match (sets, is_indirect) {
        (true, true) => Effect::Runs,
        (true, false) => Effect::Assigns(name.to_vec()),
        (false, _) => Effect::None,
    }
}
