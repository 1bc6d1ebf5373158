//! Commands of a shell itself: those that run what they are given, and those after which later lines mean something else.
//!
//! What a text does that is known here is judged as if it stood in the line. Where it is not known, or where any later
//! word could mean anything, the line counts as unknown: a rule that looks at `ls` cannot tell that it is `rm` now.

use super::line::{Dialect, is_reserved};
use super::shape::{Count, Word};
use super::walk::{Walk, show};
use super::wrapper::Site;

/// When a command changes what later lines mean.
enum When {
    /// With any argument that is not an option of these letters, which only list.
    Unless(&'static str),
    /// With an option of these letters.
    With(&'static str),
}

/// Commands of bash and zsh that change what later lines mean, or run text that they keep.
const CHANGES: &[(&[&str], When)] = &[
    (&["bind"], When::Unless("lpPsSvVX")),
    (&["bindkey", "zle"], When::Unless("lL")),
    (&["enable"], When::Unless("anps")),
    (&["complete"], When::Unless("p")),
    (&["fc"], When::Unless("lnr0123456789")),
    (&["zmodload"], When::Unless("lLe")),
    (&["disable", "autoload", "sched", "zpty", "compdef", "compctl", "nameref"], When::Unless("")),
    (&["compgen"], When::With("CFW")),
    (&["mapfile", "readarray"], When::With("C")),
    (&["emulate"], When::With("c")),
    (&["zstyle"], When::With("e")),
    // Prompt expansion, the editor's buffer, the history, a variable.
    (&["print"], When::With("Pzsv")),
    // Another name for a variable.
    (&["declare", "typeset", "local", "integer", "float", "private"], When::With("n")),
    // Variables may then stand anywhere in a command.
    (&["set"], When::With("k")),
];

/// What happens to a variable that is named without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bare {
    /// It keeps the one it has.
    Kept,
    /// It gets one.
    Set,
}

impl When {
    fn applies(&self, args: &[Word]) -> bool {
        let is_option = |text: &[u8]| matches!(text, [b'-', first, ..] if *first != b'-');
        let mut args = args.iter().map(|arg| (arg, arg.text()));
        match self {
            When::Unless(letters) => args.any(|(_, text)| {
                !text.is_some_and(|text| {
                    is_option(&text) && text[1..].iter().all(|letter| letters.as_bytes().contains(letter))
                })
            }),
            When::With(letters) => {
                args.take_while(|(_, text)| text.as_deref() != Some(b"--")).any(|(arg, text)| match text {
                    Some(text) => {
                        is_option(&text) && text.iter().any(|letter| letters.as_bytes().contains(letter))
                    }
                    None => arg.count != Count::One && arg.start().first().is_none_or(|first| *first == b'-'),
                })
            }
        }
    }
}

impl Walk<'_> {
    /// A command of the shell itself. False if this is none that runs anything or changes what lines mean.
    pub(super) fn builtin(&mut self, name: &[u8], args: &[Word], depth: usize) -> bool {
        let is_it = |names: &[&str]| names.iter().any(|known| known.as_bytes() == name);
        let changes = CHANGES.iter().find(|(names, _)| is_it(names));
        if changes.is_some_and(|(_, when)| when.applies(args)) {
            let name = String::from_utf8_lossy(name);
            self.unknown(format!("`{name} {}` can change what later lines mean", show(args)));
        }
        match name {
            b"eval" => self.text_of(args, "eval", depth),
            b"trap" => {
                let from = usize::from(args.first().and_then(Word::text).as_deref() == Some(b"--"));
                self.text_of(args.get(from..=from).unwrap_or_default(), "trap", depth);
            }
            b"alias" => args.iter().for_each(|arg| self.alias(arg, depth)),
            b"hash" => self.hash(args, depth),
            b"." | b"source" => self.unknown(format!(
                "`{} {}` reads commands from a file, and they can change what later lines mean",
                String::from_utf8_lossy(name),
                show(args)
            )),
            b"export" | b"declare" | b"typeset" | b"readonly" | b"local" | b"integer" | b"float"
            | b"private" => {
                self.assigned(args, Bare::Kept, depth);
            }
            b"read" | b"vared" | b"mapfile" | b"readarray" => self.assigned(args, Bare::Set, depth),
            b"printf" => self.printed(args, depth),
            b"unset" | b"let" | b"test" | b"[" => self.subscripts(args),
            _ => return changes.is_some(),
        }
        true
    }

    /// An alias is judged with any words behind it: `g=git` may be followed by `push`.
    fn alias(&mut self, arg: &Word, depth: usize) {
        if arg.text().is_none() {
            self.unknown(format!("the alias `{}` cannot be known", arg.show()));
        }
        let Some(text) = arg.with_variables().text() else { return };
        if text.first() == Some(&b'-') && text.contains(&b'g') {
            return self.unknown("an alias for any word changes what later lines mean".to_owned());
        }
        let Some(equals) = text.iter().position(|byte| *byte == b'=') else { return };
        let (name, value) = (&text[..equals], &text[equals + 1..]);
        if is_reserved(name) {
            let name = String::from_utf8_lossy(name);
            self.unknown(format!("an alias for `{name}` changes how later lines are read"));
        }
        self.line(&[value, b" \"$@\""].concat(), Dialect::Posix, depth + 1);
    }

    /// `hash -p FILE NAME` and zsh's `hash NAME=FILE`: from now on the name is that file.
    fn hash(&mut self, args: &[Word], depth: usize) {
        let mut files = Vec::new();
        for (at, arg) in args.iter().enumerate() {
            let Some(text) = arg.text() else {
                return self.unknown(format!("what `hash {}` makes of a name cannot be known", show(args)));
            };
            match text.as_slice() {
                [b'-', letters @ ..] if letters.contains(&b'p') => {
                    let attached = letters.splitn(2, |letter| *letter == b'p').nth(1).unwrap_or_default();
                    let next = args.get(at + 1).cloned();
                    files.extend(if attached.is_empty() { next } else { Some(Word::known(attached)) });
                }
                // Names of directories.
                [b'-', letters @ ..] if letters.contains(&b'd') => return,
                text => {
                    let equals = text.iter().position(|byte| *byte == b'=');
                    files.extend(equals.map(|equals| Word::known(&text[equals + 1..])));
                }
            }
        }
        for file in files {
            self.unknown(format!("`hash {}` changes what later lines mean", show(args)));
            self.command(&[file, Word::anything()], depth + 1, Site::Line, None);
        }
    }

    fn printed(&mut self, args: &[Word], depth: usize) {
        let is_v = |word: &Word| word.text().as_deref() == Some(b"-v");
        if args.first().is_some_and(is_v) {
            self.assigned(args.get(1..2).unwrap_or_default(), Bare::Set, depth);
        }
    }

    fn assigned(&mut self, args: &[Word], bare: Bare, depth: usize) {
        self.subscripts(args);
        for arg in args {
            let start = arg.start();
            let name = start.split(|byte| b"=+[".contains(byte)).next().unwrap_or_default();
            if arg.shape.len() > start.len() && name.len() == start.len() {
                self.unknown(format!("which variable `{}` sets cannot be known", arg.show()));
            } else if bare == Bare::Kept && name.len() == start.len() {
                self.assign(if name.starts_with(b"-") { b"" } else { name });
            } else if !name.starts_with(b"-") {
                let text = arg.text();
                let value = text.as_deref().and_then(|text| text.strip_prefix(name)?.strip_prefix(b"="));
                self.set(name, value, depth);
            }
        }
    }

    /// bash runs what stands in a subscript of a variable's name.
    fn subscripts(&mut self, args: &[Word]) {
        for arg in args.iter().filter(|arg| arg.has_live_subscript()) {
            self.unknown(format!("the subscript in `{}` is run", arg.show()));
        }
    }
}
