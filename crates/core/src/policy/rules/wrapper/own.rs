//! Wrappers with a syntax of their own.

use super::{Inner, Wrapped, fill};
use crate::policy::rules::git;
use crate::policy::rules::shape::Word;

/// What `fd` puts a path, or a part of one, in place of.
const FD_TOKENS: [&[u8]; 5] = [b"{}", b"{/}", b"{//}", b"{.}", b"{/.}"];
/// Its short options that take a value.
const FD_VALUES: &[u8] = b"dEteSocjC";

/// `find`: the commands of its actions, with any file in the place of `{}`.
pub(super) fn find(args: &[Word]) -> Wrapped {
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
        // `{} +` stands for many files.
        let words = rest[..end].iter().map(|word| match word.text().as_deref() {
            Some(b"{}") => Word::anything(),
            _ => fill(word, &[b"{}"]),
        });
        wrapped.inner.push(Inner::Command { at: at - 1, words: words.collect() });
        at += end;
    }
    wrapped
}

/// `fd`: what stands behind `-x` or `-X`, to a `;` or the end, with paths in place of the tokens or behind it.
pub(super) fn fd(args: &[Word]) -> Wrapped {
    let mut wrapped = Wrapped::default();
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let start = arg.start();
        if start == b"--" {
            break;
        }
        at += 1;
        let Some(attached) = fd_action(&start) else { continue };
        let rest = args.get(at..).unwrap_or_default();
        let end = rest.iter().position(|word| word.text().as_deref() == Some(b";")).unwrap_or(rest.len());
        let first = (!attached.is_empty()).then(|| Word::known(attached));
        let words = first.iter().chain(&rest[..end]).map(|word| fill(word, &FD_TOKENS));
        let words: Vec<Word> = words.chain([Word::anything()]).collect();
        // Without a command there is only what would be given to one.
        if words.len() > 1 {
            wrapped.inner.push(Inner::Command { at: at - usize::from(first.is_some()), words });
        }
        at += end;
    }
    wrapped
}

/// Whether it is the option that runs a command, and what is attached to it.
fn fd_action(arg: &[u8]) -> Option<&[u8]> {
    if arg.starts_with(b"--") {
        let rest = arg.strip_prefix(b"--exec-batch").or(arg.strip_prefix(b"--exec"))?;
        return rest.strip_prefix(b"=").or(rest.is_empty().then_some(rest));
    }
    let letters = arg.strip_prefix(b"-")?;
    let at = letters.iter().position(|letter| b"xX".contains(letter) || FD_VALUES.contains(letter))?;
    b"xX".contains(&letters[at]).then(|| {
        let attached = &letters[at + 1..];
        attached.strip_prefix(b"=").unwrap_or(attached)
    })
}

/// `capsh`: behind `--` or `-+` stand arguments for a shell, which `--shell` names; behind `==` or `=+` for itself.
pub(super) fn capsh(args: &[Word]) -> Wrapped {
    let mut shell = Word::known(b"bash");
    for (at, arg) in args.iter().enumerate() {
        let Some(text) = arg.text() else { return unsure(at) };
        let program = match text.as_slice() {
            b"--" | b"-+" => shell,
            b"==" | b"=+" => Word::known(b"capsh"),
            text => {
                if let Some(path) = text.strip_prefix(b"--shell=") {
                    shell = Word::known(path);
                }
                continue;
            }
        };
        return command(at, &[program], &args[at + 1..]);
    }
    Wrapped::default()
}

/// `git bisect run` and `git submodule foreach`, behind git's own options.
pub(super) fn git(args: &[Word]) -> Wrapped {
    let texts: Vec<Option<Vec<u8>>> = args.iter().map(Word::text).collect();
    let text = |at: usize| texts.get(at).and_then(Option::as_deref).unwrap_or_default();
    for (at, _) in git::starts(&texts).iter().enumerate().filter(|(_, is_start)| **is_start) {
        match (text(at), text(at + 1)) {
            (b"bisect", b"run") => return command(at + 2, &[], args.get(at + 2..).unwrap_or_default()),
            (b"submodule", _) => {
                let skip = |from: usize, flags: &[&[u8]]| {
                    (from..).find(|at| !flags.contains(&text(*at))).unwrap_or(from)
                };
                let verb = skip(at + 1, &[b"-q", b"--quiet", b"--cached"]);
                if text(verb) == b"foreach" {
                    return foreach(args, skip(verb + 1, &[b"-q", b"--quiet", b"--recursive", b"--"]));
                }
            }
            _ => {}
        }
    }
    Wrapped::default()
}

/// git gives the first word to a shell if it looks like a line, with the others as its arguments.
fn foreach(args: &[Word], at: usize) -> Wrapped {
    let rest = args.get(at..).unwrap_or_default();
    let mut wrapped = if rest.len() > 1 { command(at, &[], rest) } else { Wrapped::default() };
    wrapped.inner.extend(rest.first().map(|line| Inner::Line { at, line: line.clone() }));
    wrapped
}

fn command(at: usize, before: &[Word], rest: &[Word]) -> Wrapped {
    let words: Vec<Word> = before.iter().chain(rest).cloned().collect();
    let inner = if words.is_empty() { Vec::new() } else { vec![Inner::Command { at, words }] };
    Wrapped { inner, assigns: Vec::new() }
}

fn unsure(from: usize) -> Wrapped {
    Wrapped { inner: vec![Inner::Unsure { from }], assigns: Vec::new() }
}
