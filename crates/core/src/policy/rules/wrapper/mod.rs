//! Programs that run another program which their arguments name, and where it stands in them.
//!
//! The tables say which options a wrapper has. At an option that is not in them nobody knows what follows; then every
//! later argument may be the command, and all of these readings count.

mod developer;
mod own;
mod read;
mod table;

use super::shape::Word;
use developer::DEVELOPER;
use table::{IN_LINES, RUNUSER, WRAPPERS, Wrapper};

/// What a wrapper runs.
#[derive(Debug)]
pub(super) enum Inner {
    /// A command that begins at this argument.
    Command { at: usize, words: Vec<Word> },
    /// A shell line that begins at this argument, as far as its text is known.
    Line { at: usize, line: Word },
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
    match name {
        b"find" | b"gfind" => return Some(own::find(args)),
        b"fd" | b"fdfind" => return Some(own::fd(args)),
        b"capsh" => return Some(own::capsh(args)),
        b"git" => return Some(own::git(args)),
        b"runuser" if names_user(args) => return Some(RUNUSER.read(args)),
        _ => {}
    }
    let name = if is_loader(name) { b"ld.so" } else { name };
    let in_lines = if site == Site::Line { IN_LINES } else { &[] };
    let is_it = |wrapper: &&Wrapper| wrapper.names.iter().any(|known| known.as_bytes() == name);
    // A program has a row for each of its subcommands that runs something.
    let rows = WRAPPERS.iter().chain(DEVELOPER).chain(in_lines).filter(is_it);
    rows.map(|row| row.read(args)).reduce(|mut all, more| {
        all.inner.extend(more.inner);
        all.assigns.extend(more.assigns);
        all
    })
}

/// Whether `runuser` is told its user by an option: then it runs a command, and otherwise a shell, as `su` does.
fn names_user(args: &[Word]) -> bool {
    let is_cluster =
        |text: &[u8]| matches!(text, [b'-', first, ..] if *first != b'-') && text.contains(&b'u');
    args.iter().map(Word::start).any(|text| is_cluster(&text) || text.starts_with(b"--u"))
}

/// The loader of shared libraries, which runs a program that it is given: `ld-linux-x86-64.so.2` and its kin.
fn is_loader(name: &[u8]) -> bool {
    let starts = [&b"ld-linux"[..], b"ld-musl-", b"ld64.so", b"ld.so", b"ld-2."];
    starts.iter().any(|start| name.starts_with(start)) && name.windows(3).any(|part| part == b".so")
}

/// The word with a gap wherever something else will stand in place of `token`.
fn fill(word: &Word, tokens: &[&[u8]]) -> Word {
    let Some(text) = word.text() else { return word.clone() };
    let (mut shape, mut rest) = (Vec::with_capacity(text.len()), text.as_slice());
    while let [byte, tail @ ..] = rest {
        match tokens.iter().find(|token| !token.is_empty() && rest.starts_with(token)) {
            Some(token) => {
                shape.push(None);
                rest = &rest[token.len()..];
            }
            None => {
                shape.push(Some(*byte));
                rest = tail;
            }
        }
    }
    Word { shape, count: word.count }
}
