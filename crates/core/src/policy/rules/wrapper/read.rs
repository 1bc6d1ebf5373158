//! Reading a wrapper's arguments by its row of the table.

use super::table::{Rest, Wrapper};
use super::{Inner, Wrapped, fill};
use crate::policy::rules::line::{Dialect, parse};
use crate::policy::rules::shape::{Count, Word};

/// What an argument is to a wrapper.
enum Kind {
    Flag,
    /// An option whose value stands in so many further arguments.
    Takes(usize),
    /// An option whose value is a line: here behind this many bytes, or in the next argument.
    Line(Option<usize>),
    /// The same for a program.
    Program(Option<usize>),
    /// `--`.
    End,
    Operand,
    Unknown,
}

/// What comes after an argument.
#[derive(PartialEq, Eq)]
enum Next {
    Argument,
    /// What runs, to the end.
    Rest,
    Nothing,
}

struct Reader<'a> {
    wrapper: &'a Wrapper,
    args: &'a [Word],
    at: usize,
    /// Operands that are to come before the command.
    operands: usize,
    /// Whether the subcommand was met.
    is_named: bool,
    has_ended: bool,
    /// Programs that options name, and where.
    programs: Vec<(usize, Word)>,
    /// Arguments for them, and where.
    kept: Vec<(usize, Word)>,
    wrapped: Wrapped,
}

impl Wrapper {
    /// What it runs.
    pub(super) fn read(&self, args: &[Word]) -> Wrapped {
        let mut reader = Reader {
            wrapper: self,
            args,
            at: 0,
            operands: self.operands,
            is_named: self.subcommands.is_empty(),
            has_ended: false,
            programs: Vec::new(),
            kept: Vec::new(),
            wrapped: Wrapped::default(),
        };
        let mut next = Next::Argument;
        while next == Next::Argument && reader.at < args.len() {
            next = reader.step();
        }
        if next != Next::Nothing {
            reader.take_rest();
        }
        reader.wrapped
    }

    fn kind(&self, text: &[u8]) -> Kind {
        match text {
            b"--" => Kind::End,
            b"-" if self.flags.contains('-') => Kind::Flag,
            [b'-', b'-', name @ ..] => self.long(text, name),
            [b'-', letters @ ..] if !letters.is_empty() => self.short(text, letters),
            _ => Kind::Operand,
        }
    }

    fn long(&self, text: &[u8], name: &[u8]) -> Kind {
        let equals = name.iter().position(|byte| *byte == b'=');
        let option = &text[..equals.map_or(text.len(), |at| at + 2)];
        let key = &option[2..];
        let is_in = |list: &[&str], name: &[u8]| list.iter().any(|known| known.as_bytes() == name);
        match equals {
            _ if is_in(self.lines, option) => Kind::Line(equals.map(|at| at + 3)),
            _ if is_in(self.programs, option) => Kind::Program(equals.map(|at| at + 3)),
            Some(_) if is_in(self.long_values, key) || is_in(self.long_flags, key) => Kind::Flag,
            None if is_in(self.long_flags, key) => Kind::Flag,
            None if is_in(self.long_values, key) => Kind::Takes(1),
            _ => self.several(option).map_or(Kind::Unknown, Kind::Takes),
        }
    }

    fn short(&self, text: &[u8], letters: &[u8]) -> Kind {
        for (n, letter) in letters.iter().enumerate() {
            let is_last = n + 1 == letters.len();
            let attached = (!is_last).then_some(text.len() - letters.len() + n + 1);
            let option = [b'-', *letter];
            let is_in = |list: &[&str]| list.iter().any(|known| known.as_bytes() == option);
            if is_in(self.lines) {
                return Kind::Line(attached);
            }
            if is_in(self.programs) {
                return Kind::Program(attached);
            }
            if let Some(count) = self.several(&option) {
                return Kind::Takes(count - usize::from(!is_last));
            }
            if self.values.as_bytes().contains(letter) {
                return if is_last { Kind::Takes(1) } else { Kind::Flag };
            }
            if self.attached.as_bytes().contains(letter) {
                return Kind::Flag;
            }
            // `nice -10`.
            let is_number = self.names.contains(&"nice") && letter.is_ascii_digit();
            if !self.flags.as_bytes().contains(letter) && !is_number {
                return Kind::Unknown;
            }
        }
        Kind::Flag
    }

    /// How many values it takes, if it is an option that takes more than one.
    fn several(&self, option: &[u8]) -> Option<usize> {
        self.several.iter().find(|(known, _)| known.as_bytes() == option).map(|(_, count)| *count)
    }
}

impl Reader<'_> {
    fn step(&mut self) -> Next {
        let Some(text) = self.args[self.at].text() else { return self.gap() };
        match if self.has_ended { Kind::Operand } else { self.wrapper.kind(&text) } {
            Kind::Flag => self.pass(1),
            Kind::Takes(more) => self.pass(1 + more),
            Kind::Line(here) => {
                let line = self.wrapper.line(&self.value(here));
                self.wrapped.inner.push(Inner::Line { at: self.at, line });
                self.pass(if here.is_some() { 1 } else { 2 })
            }
            Kind::Program(here) => {
                self.programs.push((self.at, self.value(here)));
                self.pass(if here.is_some() { 1 } else { 2 })
            }
            Kind::End => {
                self.has_ended = true;
                self.pass(1)
            }
            Kind::Operand => self.operand(&text),
            Kind::Unknown => match splits(&text).filter(|_| self.wrapper.names.contains(&"env")) {
                Some(attached) => self.split_string(attached),
                None => self.lost(),
            },
        }
    }

    fn pass(&mut self, count: usize) -> Next {
        self.at += count;
        Next::Argument
    }

    fn operand(&mut self, text: &[u8]) -> Next {
        let (at, word) = (self.at, self.args[self.at].clone());
        if self.operands > 0 {
            self.operands -= 1;
            return self.pass(1);
        }
        if !self.is_named {
            self.is_named = self.wrapper.subcommands.iter().any(|known| known.as_bytes() == text);
            return if self.is_named { self.pass(1) } else { Next::Nothing };
        }
        match self.wrapper.rest {
            // Options may follow operands where these are not a command.
            Rest::Nothing => {}
            Rest::Arguments(_) => self.kept.push((at, word)),
            Rest::Lines => {
                let line = self.wrapper.line(&word);
                self.wrapped.inner.push(Inner::Line { at, line });
            }
            Rest::Assigns if text.contains(&b'=') => {
                let name = text.split(|byte| *byte == b'=').next().unwrap_or_default();
                self.wrapped.assigns.push((at, name.to_vec()));
            }
            _ => return Next::Rest,
        }
        self.pass(1)
    }

    /// An argument whose text is not known. In a value's place it is taken for a value; elsewhere it may be an option, or
    /// the command.
    fn gap(&mut self) -> Next {
        let word = &self.args[self.at];
        if self.operands > 0 && word.count == Count::One {
            self.operands -= 1;
            return self.pass(1);
        }
        if self.is_named && self.wrapper.rest == Rest::Lines {
            self.wrapped.inner.push(Inner::Line { at: self.at, line: word.clone() });
            return self.pass(1);
        }
        if self.has_ended && matches!(self.wrapper.rest, Rest::Arguments(_)) {
            self.kept.push((self.at, word.clone()));
            return self.pass(1);
        }
        self.lost()
    }

    /// Nobody knows what follows. Before a subcommand it still has to be met.
    fn lost(&mut self) -> Next {
        let rest = &self.args[self.at..];
        let is_it = |text: &[u8]| self.wrapper.subcommands.iter().any(|known| known.as_bytes() == text);
        if !self.is_named {
            let found = rest.iter().position(|word| word.text().is_some_and(|text| is_it(&text)));
            if let Some(found) = found {
                self.is_named = true;
                return self.pass(found + 1);
            }
            if rest.iter().all(|word| word.text().is_some()) {
                return Next::Nothing;
            }
        }
        self.wrapped.inner.push(Inner::Unsure { from: self.at });
        Next::Nothing
    }

    /// The value of the option here: attached behind so many bytes, or the next argument.
    fn value(&self, attached: Option<usize>) -> Word {
        let word = if attached.is_some() { self.args.get(self.at) } else { self.args.get(self.at + 1) };
        let empty = || Word::known(b"");
        word.map_or_else(empty, |word| Word {
            shape: word.shape.get(attached.unwrap_or(0)..).unwrap_or_default().to_vec(),
            count: word.count,
        })
    }

    fn take_rest(&mut self) {
        let rest = self.args.get(self.at..).unwrap_or_default();
        if let Rest::Arguments(usual) = self.wrapper.rest {
            return self.take_arguments(usual);
        }
        for (at, program) in std::mem::take(&mut self.programs) {
            self.wrapped.inner.push(Inner::Command { at, words: vec![program, Word::anything()] });
        }
        if rest.is_empty() || !self.is_named {
            return;
        }
        let (at, names) = (self.at, self.wrapper.names);
        self.wrapped.inner.push(match self.wrapper.rest {
            Rest::Extended => {
                let token = replaced(&self.args[..at]).unwrap_or_default();
                let words = rest.iter().map(|word| fill(word, &[&token])).chain([Word::anything()]);
                Inner::Command { at, words: words.collect() }
            }
            Rest::Joined => Inner::Line { at, line: join(rest, names.contains(&"parallel")) },
            _ => Inner::Command { at, words: rest.to_vec() },
        });
    }

    /// The arguments go to what the options name, or else to the usual program if there are any.
    fn take_arguments(&mut self, usual: Option<&str>) {
        if let Some(usual) = usual.filter(|_| self.programs.is_empty()) {
            let first = self.kept.first().map(|(at, _)| (*at, Word::known(usual.as_bytes())));
            self.programs.extend(first);
        }
        for (at, program) in std::mem::take(&mut self.programs) {
            let words = std::iter::once(program).chain(self.kept.iter().map(|(_, word)| word.clone()));
            self.wrapped.inner.push(Inner::Command { at, words: words.collect() });
        }
    }

    /// `env -S 'rm x'`: the text becomes words, and `env` reads them as if they had been given.
    fn split_string(&mut self, attached: &[u8]) -> Next {
        let (text, next) = match attached {
            [] => (self.args.get(self.at + 1).and_then(Word::text), self.at + 2),
            text => (Some(text.to_vec()), self.at + 1),
        };
        let parsed = text.map(|text| parse(&[b"env ", &text[..]].concat(), Dialect::Posix));
        let Some([command]) =
            parsed.as_ref().filter(|parsed| parsed.trouble.is_none()).map(|parsed| &parsed.commands[..])
        else {
            return self.lost();
        };
        let words = command.words.iter().chain(self.args.get(next..).unwrap_or_default()).cloned();
        self.wrapped.inner.push(Inner::Command { at: self.at, words: words.collect() });
        Next::Nothing
    }
}

impl Wrapper {
    /// A line as it is run: `hyperfine` puts values in place of `{name}`.
    fn line(&self, word: &Word) -> Word {
        let Some(text) = word.text().filter(|_| self.rest == Rest::Lines) else { return word.clone() };
        let (mut line, mut rest) = (Vec::new(), text.as_slice());
        while let [byte, tail @ ..] = rest {
            let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
            let length = tail.iter().take_while(is_name).count();
            if *byte == b'{' && length > 0 && tail.get(length) == Some(&b'}') {
                line.extend_from_slice(b"$1");
                rest = &tail[length + 1..];
            } else {
                line.push(*byte);
                rest = tail;
            }
        }
        Word::known(&line)
    }
}

/// The words as one line. What `parallel` puts in place of `{}` and at the end is not known.
fn join(words: &[Word], is_parallel: bool) -> Word {
    let mut shape = Vec::new();
    for word in words {
        if is_parallel && word.start().starts_with(b":::") {
            break;
        }
        let filled = if is_parallel { fill(word, &[b"{}"]).with_variables() } else { word.clone() };
        shape.extend(filled.shape);
        shape.push(Some(b' '));
    }
    if is_parallel {
        shape.extend(b"$@".map(Some));
    }
    Word { shape, count: Count::One }
}

/// What `xargs` puts its input in place of, if these options of it say so.
fn replaced(options: &[Word]) -> Option<Vec<u8>> {
    for (at, option) in options.iter().enumerate() {
        let text = option.start();
        if let Some(value) = text.strip_prefix(b"--replace") {
            return Some(value.strip_prefix(b"=").unwrap_or(b"{}").to_vec());
        }
        let letters =
            text.strip_prefix(b"-").filter(|letters| !letters.starts_with(b"-")).unwrap_or_default();
        let Some(found) = letters.iter().position(|letter| !b"0prtox".contains(letter)) else { continue };
        match (letters[found], &letters[found + 1..]) {
            (b'I' | b'J', []) => return options.get(at + 1).and_then(Word::text),
            (b'i', []) => return Some(b"{}".to_vec()),
            (b'I' | b'J' | b'i', token) => return Some(token.to_vec()),
            _ => {}
        }
    }
    None
}

/// Whether this is `-S` or `--split-string` of `env`, and what is attached to it.
fn splits(text: &[u8]) -> Option<&[u8]> {
    let end = |byte: u8| text.iter().position(|other| *other == byte);
    if text.starts_with(b"--") {
        let option = &text[..end(b'=').unwrap_or(text.len())];
        return b"--split-string"
            .starts_with(option)
            .then(|| text.get(option.len() + 1..).unwrap_or_default());
    }
    end(b'S').map(|at| &text[at + 1..])
}
