//! Programs that run another program which their arguments name, and where it stands in them.
//!
//! The tables say which options a wrapper has. At an option that is not in them nobody knows what follows; then every
//! later argument may be the command, and all of these readings count.

mod table;

use super::line::{Dialect, parse};
use super::shape::{Count, Word};
use table::{IN_LINES, Rest, WRAPPERS, Wrapper};

/// What a wrapper runs.
#[derive(Debug)]
pub(super) enum Inner {
    /// A command that begins at this argument.
    Command { at: usize, words: Vec<Word> },
    /// A shell line that begins at this argument; `None` if its text is not known.
    Line { at: usize, line: Option<Vec<u8>> },
    /// Something that begins at this argument or a later one.
    Unsure { from: usize },
}

/// What a wrapper does.
#[derive(Debug, Default)]
pub(super) struct Wrapped {
    pub(super) inner: Vec<Inner>,
    /// Where environment variables are set, with their names.
    pub(super) assigns: Vec<(usize, Vec<u8>)>,
}

/// Where a command stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Site {
    Argv,
    Line,
}

/// What `name` runs when it is given `args`; `None` if it is no wrapper.
pub(super) fn unwrap(name: &[u8], args: &[Word], site: Site) -> Option<Wrapped> {
    if name == b"find" || name == b"gfind" {
        return Some(find(args));
    }
    let is_it = |wrapper: &&Wrapper| wrapper.names.iter().any(|known| known.as_bytes() == name);
    let in_lines = if site == Site::Line { IN_LINES } else { &[] };
    let wrapper = WRAPPERS.iter().chain(in_lines).find(is_it)?;
    let mut wrapped = Wrapped::default();
    wrapper.walk(args, &mut wrapped);
    Some(wrapped)
}

/// What an argument is to a wrapper.
enum Kind {
    Flag,
    /// An option whose value stands in so many further arguments.
    Takes(usize),
    /// An option whose value is a line: here behind this many bytes, or in the next argument.
    Line(Option<usize>),
    /// `--`.
    End,
    Operand,
    Unknown,
}

impl Wrapper {
    fn walk(&self, args: &[Word], wrapped: &mut Wrapped) {
        let (mut at, mut operands, mut has_ended) = (0, self.operands, false);
        while at < args.len() {
            let Some(text) = args[at].text() else {
                // In a value's place it is taken for a value; elsewhere it may be an option, or the command.
                if operands > 0 && args[at].count == Count::One {
                    (at, operands) = (at + 1, operands - 1);
                    continue;
                }
                return wrapped.inner.push(Inner::Unsure { from: at });
            };
            match if has_ended { Kind::Operand } else { self.kind(&text) } {
                Kind::Flag => at += 1,
                Kind::Takes(more) => at += 1 + more,
                Kind::Line(here) => {
                    wrapped.inner.push(line_of(args, at, here));
                    at += if here.is_some() { 1 } else { 2 };
                }
                Kind::End => (at, has_ended) = (at + 1, true),
                Kind::Unknown => {
                    return match splits(&text).filter(|_| self.names.contains(&"env")) {
                        Some(attached) => split_string(args, at, attached, wrapped),
                        None => wrapped.inner.push(Inner::Unsure { from: at }),
                    };
                }
                Kind::Operand if operands > 0 => (at, operands) = (at + 1, operands - 1),
                // Options may follow operands where nothing but a line is run.
                Kind::Operand if self.rest == Rest::Nothing => at += 1,
                Kind::Operand if self.rest == Rest::Assigns && text.contains(&b'=') => {
                    let name = text.split(|byte| *byte == b'=').next().unwrap_or_default();
                    wrapped.assigns.push((at, name.to_vec()));
                    at += 1;
                }
                Kind::Operand => break,
            }
        }
        self.take_rest(args, at, wrapped);
    }

    fn kind(&self, text: &[u8]) -> Kind {
        match text {
            b"--" => Kind::End,
            b"-" if self.rest == Rest::Assigns => Kind::Flag,
            [b'-', b'-', name @ ..] => self.long(text, name),
            [b'-', letters @ ..] if !letters.is_empty() => self.short(text, letters),
            _ => Kind::Operand,
        }
    }

    fn long(&self, text: &[u8], name: &[u8]) -> Kind {
        let equals = name.iter().position(|byte| *byte == b'=');
        let option = &text[..equals.map_or(text.len(), |at| at + 2)];
        let is_in = |list: &[&str], name: &[u8]| list.iter().any(|known| known.as_bytes() == name);
        match equals {
            _ if is_in(self.lines, option) => Kind::Line(equals.map(|at| at + 3)),
            Some(at) if is_in(self.long_values, &name[..at]) || is_in(self.long_flags, &name[..at]) => {
                Kind::Flag
            }
            None if is_in(self.long_flags, name) => Kind::Flag,
            None if is_in(self.long_values, name) => Kind::Takes(1),
            _ => Kind::Unknown,
        }
    }

    fn short(&self, text: &[u8], letters: &[u8]) -> Kind {
        for (n, letter) in letters.iter().enumerate() {
            let is_last = n + 1 == letters.len();
            let option = [b'-', *letter];
            if self.lines.iter().any(|known| known.as_bytes() == option) {
                return Kind::Line((!is_last).then_some(text.len() - letters.len() + n + 1));
            }
            if self.values.as_bytes().contains(letter) {
                return if is_last { Kind::Takes(1) } else { Kind::Flag };
            }
            // `nice -10`.
            let is_number = self.names.contains(&"nice") && letter.is_ascii_digit();
            if !self.flags.as_bytes().contains(letter) && !is_number {
                return Kind::Unknown;
            }
        }
        Kind::Flag
    }

    fn take_rest(&self, args: &[Word], at: usize, wrapped: &mut Wrapped) {
        let Some(rest) = args.get(at..).filter(|rest| !rest.is_empty()) else { return };
        let inner = match self.rest {
            Rest::Nothing => return,
            Rest::Command | Rest::Assigns => Inner::Command { at, words: rest.to_vec() },
            Rest::Extended => {
                let words = rest.iter().cloned().chain([Word::anything()]).collect();
                Inner::Command { at, words }
            }
            Rest::Joined => Inner::Line { at, line: join(rest, self.names.contains(&"parallel")) },
        };
        wrapped.inner.push(inner);
    }
}

fn line_of(args: &[Word], at: usize, here: Option<usize>) -> Inner {
    let word = if here.is_some() { args.get(at) } else { args.get(at + 1) };
    let line = word.and_then(Word::text).map(|text| text[here.unwrap_or(0)..].to_vec());
    Inner::Line { at, line }
}

/// The words as one line. What `parallel` puts in place of `{}` and at the end is not known.
fn join(words: &[Word], is_parallel: bool) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    for word in words {
        let text = word.text()?;
        if is_parallel && text.starts_with(b":::") {
            break;
        }
        line.extend_from_slice(&text);
        line.push(b' ');
    }
    if is_parallel {
        let text = String::from_utf8(line).ok()?;
        return Some(text.replace("{}", "$1").into_bytes().into_iter().chain(*b"$@").collect());
    }
    Some(line)
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

/// `env -S 'rm x'`: the text becomes words, and `env` reads them as if they had been given.
fn split_string(args: &[Word], at: usize, attached: &[u8], wrapped: &mut Wrapped) {
    let (text, next) = match attached {
        [] => (args.get(at + 1).and_then(Word::text), at + 2),
        text => (Some(text.to_vec()), at + 1),
    };
    let parsed = text.map(|text| parse(&[b"env ", &text[..]].concat(), Dialect::Posix));
    let Some([command]) =
        parsed.as_ref().filter(|parsed| parsed.trouble.is_none()).map(|parsed| &parsed.commands[..])
    else {
        return wrapped.inner.push(Inner::Unsure { from: at });
    };
    let words: Vec<Word> =
        command.words.iter().chain(args.get(next..).unwrap_or_default()).cloned().collect();
    wrapped.inner.push(Inner::Command { at, words });
}

/// `find`: the commands of its actions, with any file in the place of `{}`.
fn find(args: &[Word]) -> Wrapped {
    let mut wrapped = Wrapped::default();
    let mut at = 0;
    while at < args.len() {
        let text = args[at].text();
        let is_action = matches!(text.as_deref(), Some(b"-exec" | b"-execdir" | b"-ok" | b"-okdir"));
        at += 1;
        if !is_action {
            continue;
        }
        let rest = &args[at..];
        let is_end = |word: &Word| matches!(word.text().as_deref(), Some(b";" | b"+"));
        let end = rest.iter().position(is_end).unwrap_or(rest.len());
        let words = rest[..end].iter().map(fill).collect();
        wrapped.inner.push(Inner::Command { at: at - 1, words });
        at += end;
    }
    wrapped
}

fn fill(word: &Word) -> Word {
    match word.text() {
        Some(text) if text == b"{}" => Word::anything(),
        Some(text) if text.windows(2).any(|part| part == b"{}") => Word::something(),
        _ => word.clone(),
    }
}
