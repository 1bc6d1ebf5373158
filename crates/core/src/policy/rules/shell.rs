//! Which programs are shells, and what a shell is told to run.

use super::line::Dialect;
use super::shape::{Count, Word};

/// How a shell reads its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shell {
    /// In a language that is read here.
    Known(Dialect),
    /// In one that is not.
    Foreign,
}

impl Shell {
    pub(super) fn named(name: &[u8]) -> Option<Shell> {
        match name {
            b"bash" | b"rbash" | b"zsh" | b"ksh" | b"ksh93" | b"mksh" | b"oksh" | b"loksh" => {
                Some(Shell::Known(Dialect::Bash))
            }
            b"sh" | b"dash" | b"ash" | b"yash" | b"posh" => Some(Shell::Known(Dialect::Posix)),
            b"fish" | b"csh" | b"tcsh" | b"nu" | b"pwsh" | b"elvish" | b"xonsh" | b"rc" | b"es" => {
                Some(Shell::Foreign)
            }
            _ => None,
        }
    }
}

/// What a shell is asked to do by its arguments.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// `-c`: the option stands at `option`, the line at `line`.
    Line { option: usize, line: usize },
    /// A script is read from a file.
    Script,
    /// Commands are read from standard input.
    Input,
    /// An argument whose text is not known may be an option.
    Unsure { from: usize },
}

pub(super) fn task(args: &[Word]) -> Task {
    let (mut option, mut reads_input) = (None, false);
    let mut at = 0;
    while let Some(word) = args.get(at) {
        let Some(text) = word.text() else {
            let is_operand = option.is_some() && word.count == Count::One;
            return if is_operand { line(option, at) } else { Task::Unsure { from: at } };
        };
        match text.as_slice() {
            b"--" | b"-" => {
                at += 1;
                break;
            }
            b"--rcfile" | b"--init-file" => at += 1,
            [b'-', b'-', ..] => {}
            [b'-' | b'+', letters @ ..] => {
                if text[0] == b'-' && letters.contains(&b'c') {
                    option = option.or(Some(at));
                }
                reads_input |= letters.contains(&b's');
                // Each of these takes a name behind the group.
                at += letters.iter().filter(|letter| b"oO".contains(letter)).count();
            }
            _ => break,
        }
        at += 1;
    }
    match args.get(at) {
        Some(_) if option.is_some() => line(option, at),
        Some(_) if !reads_input => Task::Script,
        _ => Task::Input,
    }
}

fn line(option: Option<usize>, at: usize) -> Task {
    Task::Line { option: option.unwrap_or(at), line: at }
}
