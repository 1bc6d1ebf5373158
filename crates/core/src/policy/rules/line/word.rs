//! One word: quotes, patterns, braces, tildes and assignments, as a shape with gaps.

use super::LineError;
use super::cursor::{Parser, ends_word};
use crate::policy::rules::shape::{Count, Shape, Word};

/// Whether what is read stands in double quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    Bare,
    Double,
}

impl Quoting {
    /// How many words an expansion becomes here.
    pub(super) fn count(self) -> Count {
        match self {
            Quoting::Bare => Count::Split,
            Quoting::Double => Count::One,
        }
    }
}

/// Where a pattern or a brace begins that may turn out to be plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doubt {
    None,
    /// Opened at this place of the shape.
    Open(usize),
    /// Opened there, and a brace has seen a comma or dots.
    Separated(usize),
    /// It is one, from there on.
    Sure(usize),
}

/// A word in the making.
#[derive(Debug)]
pub(super) struct Builder {
    shape: Shape,
    count: Count,
    /// Whether all so far was written without quotes and expansions, as names are.
    is_plain: bool,
    bracket: Doubt,
    brace: Doubt,
    /// In `~user`, to the next slash.
    in_tilde: bool,
    assign: Option<Vec<u8>>,
}

impl Default for Builder {
    fn default() -> Builder {
        Builder {
            shape: Vec::new(),
            count: Count::One,
            is_plain: true,
            bracket: Doubt::None,
            brace: Doubt::None,
            in_tilde: false,
            assign: None,
        }
    }
}

impl Builder {
    pub(super) fn gap(&mut self, count: Count) {
        self.is_plain = false;
        self.count = self.count.max(count);
        if self.shape.last() != Some(&None) {
            self.shape.push(None);
        }
    }

    pub(super) fn push(&mut self, byte: u8, quoting: Quoting) {
        match quoting {
            Quoting::Double => {
                self.is_plain = false;
                self.shape.push(Some(byte));
            }
            Quoting::Bare => self.push_bare(byte),
        }
    }

    fn push_bare(&mut self, byte: u8) {
        let at = self.shape.len();
        match byte {
            b'*' | b'?' => return self.gap(Count::Pattern),
            b'~' if at == 0 && self.is_plain => {
                self.gap(Count::One);
                self.in_tilde = true;
                return;
            }
            b'/' => self.in_tilde = false,
            b'[' if self.bracket == Doubt::None => self.bracket = Doubt::Open(at),
            b']' => {
                if let Doubt::Open(from) = self.bracket {
                    self.bracket = Doubt::Sure(from);
                }
            }
            b'{' if self.brace == Doubt::None => self.brace = Doubt::Open(at),
            b',' | b'.' => {
                if let Doubt::Open(from) = self.brace {
                    self.brace = Doubt::Separated(from);
                }
            }
            b'}' => {
                if let Doubt::Separated(from) = self.brace {
                    self.brace = Doubt::Sure(from);
                }
            }
            b'=' if self.assign.is_none() && self.is_plain => self.assign = self.name(),
            _ => {}
        }
        if !self.in_tilde {
            self.shape.push(Some(byte));
        }
    }

    /// The name that is assigned to, if what stands before `=` is one: `name`, `name+` or `name[…]`.
    fn name(&self) -> Option<Vec<u8>> {
        let text: Vec<u8> = self.shape.iter().copied().collect::<Option<_>>()?;
        let text = text.strip_suffix(b"+").unwrap_or(&text);
        let end = text.iter().position(|byte| *byte == b'[').unwrap_or(text.len());
        let is_whole = end == text.len() || text.ends_with(b"]");
        let name = &text[..end];
        let is_name = name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
            && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        (is_whole && is_name).then(|| name.to_vec())
    }

    /// A pattern or a brace may be anything from where it begins.
    fn finish(mut self) -> (Word, Option<Vec<u8>>) {
        for doubt in [self.bracket, self.brace] {
            if let Doubt::Sure(from) = doubt {
                self.shape.truncate(from);
                self.gap(Count::Pattern);
            }
        }
        (Word { shape: self.shape, count: self.count }, self.assign)
    }

    /// A word that stood in double quotes as a whole.
    pub(super) fn quoted_word(self) -> Word {
        Word { shape: self.shape, count: Count::One }
    }

    /// The text of `$'…'`.
    pub(super) fn unescape(&mut self, text: &[u8]) {
        self.is_plain = false;
        let mut rest = text;
        while let [byte, tail @ ..] = rest {
            rest = tail;
            if *byte != b'\\' {
                self.shape.push(Some(*byte));
                continue;
            }
            let (bytes, used) = escape(rest);
            rest = &rest[used..];
            if bytes == [0] {
                // Some shells cut the text here, others do not.
                return self.gap(Count::One);
            }
            self.shape.extend(bytes.into_iter().map(Some));
        }
    }
}

/// What stands behind a backslash in `$'…'`: its bytes, and how many were written for it.
fn escape(text: &[u8]) -> (Vec<u8>, usize) {
    let Some(first) = text.first() else { return (vec![b'\\'], 0) };
    let one = match first {
        b'a' => 7,
        b'b' => 8,
        b'e' | b'E' => 27,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'\\' | b'\'' | b'"' | b'?' => *first,
        b'0'..=b'7' => {
            let (number, used) = digits(text, 8, 3);
            return (vec![u8::try_from(number & 0xff).unwrap_or(0)], used);
        }
        b'x' | b'u' | b'U' => return coded(*first, &text[1..]),
        b'c' => return (text.get(1).map_or(vec![b'\\', b'c'], |byte| vec![byte & 0x1f]), text.len().min(2)),
        other => return (vec![b'\\', *other], 1),
    };
    (vec![one], 1)
}

fn coded(kind: u8, text: &[u8]) -> (Vec<u8>, usize) {
    let longest = match kind {
        b'x' => 2,
        b'u' => 4,
        _ => 8,
    };
    let (number, used) = digits(text, 16, longest);
    if used == 0 {
        return (vec![b'\\', kind], 1);
    }
    let bytes = match (kind, char::from_u32(number)) {
        (b'x', _) => vec![u8::try_from(number).unwrap_or(0)],
        (_, Some(character)) => character.to_string().into_bytes(),
        (_, None) => vec![0],
    };
    (bytes, used + 1)
}

fn digits(text: &[u8], radix: u32, longest: usize) -> (u32, usize) {
    let values = text.iter().take(longest).map_while(|byte| char::from(*byte).to_digit(radix));
    values
        .fold((0_u32, 0), |(number, used), digit| (number.wrapping_mul(radix).wrapping_add(digit), used + 1))
}

impl Parser<'_, '_> {
    /// The word that begins here, and the name it assigns to if it may be an assignment.
    pub(super) fn word(&mut self) -> Result<(Word, Option<Vec<u8>>), LineError> {
        let start = self.at;
        let is_due = !self.pending.is_empty();
        let mut word = Builder::default();
        loop {
            match self.ahead(0) {
                None => break,
                Some(b'<' | b'>') if self.ahead(1) == Some(b'(') => {
                    word.gap(Count::One);
                    self.bump()?;
                    self.nest(Self::substitution)?;
                }
                Some(b'(') if word.assign.is_some() && word.shape.last() == Some(&Some(b'=')) => {
                    word.gap(Count::Split);
                    self.nest(Self::array)?;
                }
                Some(byte) if ends_word(byte) => break,
                Some(byte) => self.word_byte(byte, &mut word)?,
            }
        }
        if self.at == start {
            return Err(self.unexpected());
        }
        if is_due && self.src[start..self.at].contains(&b'\n') {
            return Err(LineError::Ambiguous("a newline in a word before the body of a here-document"));
        }
        Ok(word.finish())
    }

    fn word_byte(&mut self, byte: u8, word: &mut Builder) -> Result<(), LineError> {
        match byte {
            b'\\' => {
                self.bump()?;
                match self.src.get(self.at) {
                    Some(byte) => word.push(*byte, Quoting::Double),
                    None => word.push(b'\\', Quoting::Double),
                }
                self.step()
            }
            b'\'' => self.single(word),
            b'"' => {
                self.bump()?;
                self.nest(|parser| parser.quoted(Some(b'"'), word))
            }
            b'$' => self.dollar(Quoting::Bare, word),
            b'`' => self.backticks(Quoting::Bare, word),
            byte => {
                word.push_bare(byte);
                self.bump()
            }
        }
    }

    /// `'…'`, at its quote.
    pub(super) fn single(&mut self, word: &mut Builder) -> Result<(), LineError> {
        self.bump()?;
        word.is_plain = false;
        loop {
            match self.src.get(self.at) {
                None => return Err(LineError::Unfinished("a quotation")),
                Some(b'\'') => return self.step(),
                Some(byte) => word.push(*byte, Quoting::Double),
            }
            self.step()?;
        }
    }

    /// In double quotes to the closing one, or to the end of the text where that is none.
    pub(super) fn quoted(&mut self, close: Option<u8>, word: &mut Builder) -> Result<(), LineError> {
        word.is_plain = false;
        loop {
            match self.ahead(0) {
                None if close.is_none() => return Ok(()),
                None => return Err(LineError::Unfinished("a quotation")),
                byte if byte == close => return self.bump(),
                Some(b'\\') => {
                    self.bump()?;
                    match self.src.get(self.at) {
                        Some(byte) if b"$`\\".contains(byte) || Some(*byte) == close => {
                            word.push(*byte, Quoting::Double);
                            self.step()?;
                        }
                        _ => word.push(b'\\', Quoting::Double),
                    }
                }
                Some(b'$') => self.dollar(Quoting::Double, word)?,
                Some(b'`') => self.backticks(Quoting::Double, word)?,
                Some(byte) => {
                    word.push(byte, Quoting::Double);
                    self.bump()?;
                }
            }
        }
    }

    /// The elements of `name=(…)`.
    fn array(&mut self) -> Result<(), LineError> {
        self.bump()?;
        loop {
            self.gap()?;
            match self.ahead(0) {
                Some(b')') => return self.bump(),
                Some(b'<' | b'>') if self.ahead(1) == Some(b'(') => drop(self.word()?),
                Some(byte) if !ends_word(byte) => drop(self.word()?),
                _ => return Err(self.unexpected()),
            }
        }
    }
}
