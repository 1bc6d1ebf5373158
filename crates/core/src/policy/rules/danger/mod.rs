//! Arguments by which a harmless-looking program runs another one, or writes where it should only read.
//!
//! A rule that allows such a program with `…` does not mean these. It allows them only where it spells them out, so an
//! argument found here must stand in the rule as it is. This is care with what is *granted*, made from what is known of
//! common programs. It is not complete and cannot be: the boundary is the sandbox.

mod git;
mod script;
mod table;

use super::pattern::base;
use super::shape::Word;
use super::shell::{Shell, Task, task};
use super::wrapper::{Inner, Site, unwrap};
use table::{Check, TABLE};

/// An argument that only a rule which spells it out can allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Danger {
    /// Its place among the arguments.
    pub(super) at: usize,
    /// What it does.
    pub(super) why: &'static str,
}

/// How deep wrappers are followed; the walk denies what is deeper.
const DEEP: usize = 8;

/// Everything dangerous in a command.
pub(super) fn dangers(program: &[u8], args: &[Vec<u8>]) -> Vec<Danger> {
    let mut found = Vec::new();
    collect(program, args, 0, DEEP, &mut found);
    found
}

fn collect(program: &[u8], args: &[Vec<u8>], offset: usize, depth: usize, found: &mut Vec<Danger>) {
    let name = base(program);
    let mut put = |at: usize, why: &'static str| found.push(Danger { at: at + offset, why });
    if name == b"git" {
        git::check(args, &mut put);
    }
    for row in TABLE.iter().filter(|row| row.names.iter().any(|known| known.as_bytes() == name)) {
        row.check(args, &mut put);
    }
    let words: Vec<Word> = args.iter().map(|arg| Word::known(arg)).collect();
    if Shell::named(name).is_some() {
        if let Task::Line { option, .. } = task(&words) {
            put(option, "a shell runs any line");
        }
        return;
    }
    let Some(wrapped) = unwrap(name, &words, Site::Argv) else { return };
    for (at, _) in wrapped.assigns {
        put(at, "it sets an environment variable for another program");
    }
    let mut commands = Vec::new();
    for inner in wrapped.inner {
        match inner {
            Inner::Line { at, .. } => put(at, "a shell runs this line"),
            Inner::Unsure { from } => {
                (from..args.len()).for_each(|at| put(at, "it may begin another command"))
            }
            Inner::Command { at, .. } => {
                put(at, "it runs another command");
                commands.push(at);
            }
        }
    }
    for at in commands.into_iter().filter(|_| depth > 0) {
        if let Some((program, rest)) = args.get(at..).and_then(<[_]>::split_first) {
            collect(program, rest, offset + at + 1, depth - 1, found);
        }
    }
}

impl table::Row {
    fn check(&self, args: &[Vec<u8>], put: &mut impl FnMut(usize, &'static str)) {
        if let Check::Sed = self.check {
            return script::live_sed(args).into_iter().for_each(|at| put(at, self.why));
        }
        for (at, arg) in args.iter().enumerate() {
            if self.applies(at, arg) {
                put(at, self.why);
            }
        }
    }

    fn applies(&self, at: usize, arg: &[u8]) -> bool {
        match self.check {
            Check::Options { short, long } => has_short(arg, short) || has_long(arg, long),
            Check::Starts(list) => list.iter().any(|start| arg.starts_with(start.as_bytes())),
            Check::Words(list) => list.iter().any(|word| word.as_bytes() == arg),
            Check::Contains(list) => {
                let lower = arg.to_ascii_lowercase();
                list.iter().any(|part| lower.windows(part.len()).any(|window| window == part.as_bytes()))
            }
            Check::First(letters) => {
                at == 0 && arg.first() != Some(&b'-') && letters.bytes().any(|c| arg.contains(&c))
            }
            Check::Assigns => arg.first() != Some(&b'-') && arg.contains(&b'='),
            Check::Every => true,
            Check::Sed => false,
            Check::Awk => script::is_live_awk(arg),
        }
    }
}

/// Whether a group of short options may hold one of these letters. What is a value of another option is not known
/// here, so a letter anywhere in it counts.
fn has_short(arg: &[u8], letters: &str) -> bool {
    match arg {
        [b'-', first, rest @ ..] if *first != b'-' => {
            letters.bytes().any(|letter| *first == letter || rest.contains(&letter))
        }
        _ => false,
    }
}

/// Whether it is one of these long options, cut short or with a value.
fn has_long(arg: &[u8], names: &[&str]) -> bool {
    let Some(option) = arg.strip_prefix(b"--") else { return false };
    let option = option.split(|byte| *byte == b'=').next().unwrap_or_default();
    !option.is_empty() && names.iter().any(|name| name.as_bytes().starts_with(option))
}
