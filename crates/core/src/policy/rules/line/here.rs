//! Here-documents and here-strings.
//!
//! The body begins after the next newline that is not in quotes, and bodies stand in the order of their arrows. Without
//! quotes around the delimiter, substitutions in the body run.

use super::cursor::{Parser, ends_word};
use super::word::Builder;
use super::{LineError, Redirect};
use crate::policy::rules::shape::Word;

/// A here-document whose body is still to come.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    delimiter: Vec<u8>,
    /// Whether substitutions in the body run.
    is_live: bool,
    strips_tabs: bool,
    /// Where its body goes.
    body: usize,
}

impl Parser<'_, '_> {
    /// What stands behind two or three arrows.
    pub(super) fn here(&mut self, arrows: usize) -> Result<Redirect, LineError> {
        let body = self.out.bodies.len();
        self.out.bodies.push(Word::something());
        if arrows == 3 {
            self.blanks()?;
            self.out.bodies[body] = self.word()?.0;
            return Ok(Redirect::Here(body));
        }
        let strips_tabs = self.ahead(0) == Some(b'-');
        if strips_tabs {
            self.bump()?;
        }
        self.blanks()?;
        let (delimiter, is_live) = self.delimiter()?;
        self.pending.push(Pending { delimiter, is_live, strips_tabs, body });
        Ok(Redirect::Here(body))
    }

    fn delimiter(&mut self) -> Result<(Vec<u8>, bool), LineError> {
        let (mut text, mut is_live, mut is_empty) = (Vec::new(), true, true);
        while let Some(byte) = self.ahead(0) {
            match byte {
                b'\'' | b'"' => {
                    is_live = false;
                    self.bump()?;
                    self.take_until(byte, &mut text)?;
                }
                b'\\' => {
                    is_live = false;
                    self.bump()?;
                    text.extend(self.src.get(self.at));
                    self.step()?;
                }
                b'$' | b'`' => {
                    return Err(LineError::Ambiguous("an expansion in the delimiter of a here-document"));
                }
                byte if ends_word(byte) => break,
                byte => {
                    text.push(byte);
                    self.bump()?;
                }
            }
            is_empty = false;
        }
        if is_empty { Err(self.unexpected()) } else { Ok((text, is_live)) }
    }

    fn take_until(&mut self, quote: u8, text: &mut Vec<u8>) -> Result<(), LineError> {
        loop {
            match self.src.get(self.at) {
                None => return Err(LineError::Unfinished("a quotation")),
                Some(byte) if *byte == quote => return self.step(),
                Some(b'\n' | b'\\' | b'$' | b'`') => {
                    return Err(LineError::Ambiguous("the delimiter of a here-document"));
                }
                Some(byte) => text.push(*byte),
            }
            self.step()?;
        }
    }

    /// Reads every body that is due.
    pub(super) fn read_bodies(&mut self) -> Result<(), LineError> {
        for pending in std::mem::take(&mut self.pending) {
            let body = self.read_body(&pending)?;
            let word = if pending.is_live {
                let depth = self.depth;
                let mut inner = Parser::new(&body, self.dialect, self.out, depth);
                let mut builder = Builder::default();
                inner.nest(|parser| parser.quoted(None, &mut builder))?;
                builder.quoted_word()
            } else {
                Word::known(&body)
            };
            self.out.bodies[pending.body] = word;
        }
        Ok(())
    }

    /// The lines before the delimiter's own. Without one, everything to the end.
    fn read_body(&mut self, pending: &Pending) -> Result<Vec<u8>, LineError> {
        let mut body = Vec::new();
        // What is joined to the line before it by a backslash: shells differ in whether it can be the delimiter.
        let mut joined: Option<Vec<u8>> = None;
        while self.at < self.src.len() {
            let rest = &self.src[self.at..];
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let mut line = &rest[..end];
            for _ in 0..=end {
                self.step()?;
            }
            while pending.strips_tabs && line.first() == Some(&b'\t') {
                line = &line[1..];
            }
            let whole = joined.take().map(|before| [&before, line].concat());
            if let Some(whole) = &whole {
                if line == pending.delimiter || *whole == pending.delimiter {
                    return Err(LineError::Ambiguous("a joined line that ends a here-document"));
                }
            } else if line == pending.delimiter {
                return Ok(body);
            }
            body.extend_from_slice(line);
            body.push(b'\n');
            if pending.is_live && line.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1 {
                let mut so_far = whole.unwrap_or_else(|| line.to_vec());
                so_far.pop();
                // Longer than the delimiter is as good as any length: it can no longer become it.
                so_far.truncate(pending.delimiter.len() + 1);
                joined = Some(so_far);
            }
        }
        // In a substitution the delimiter may stand before the closing parenthesis, which some shells take.
        if self.depth > 1 { Err(LineError::Unfinished("a here-document")) } else { Ok(body) }
    }
}
