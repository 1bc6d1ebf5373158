//! A rule on trial: does it match its examples, and only those it should?

use super::line::{Dialect, parse};
use super::pattern::base;
use super::text::{Example, Fault, RuleText};
use super::{Decision, Rules, Subject};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Tries `alone`, which is the rule of `text` and nothing else.
pub(super) fn run(alone: &Rules, text: &RuleText) -> Result<(), Fault> {
    for example in &text.matches {
        if let Verdict::Misses(why) = try_one(alone, text.decision, example)? {
            return Err(Fault::Misses { example: example.to_string(), why });
        }
    }
    for example in &text.not_match {
        if let Verdict::Matches = try_one(alone, text.decision, example)? {
            return Err(Fault::Overreaches { example: example.to_string() });
        }
    }
    Ok(())
}

enum Verdict {
    Matches,
    /// With what is known of the reason.
    Misses(String),
}

fn try_one(alone: &Rules, decision: Decision, example: &Example) -> Result<Verdict, Fault> {
    let matches = match read(example, decision)? {
        Read::Argv(argv) => {
            let program = find(alone, &argv[0]);
            let argv: Vec<OsString> = argv.into_iter().map(OsString::from_vec).collect();
            alone.judge(&Subject::Argv { program: &program, argv: &argv })
        }
        Read::Line(line) => {
            alone.judge(&Subject::Line { shell: Path::new("/bin/sh"), line: OsStr::from_bytes(&line) })
        }
    };
    if matches.found.iter().any(|found| found.rule == Some(0)) {
        return Ok(Verdict::Matches);
    }
    let why = matches.notes.first().map(|note| format!(" ({note})")).unwrap_or_default();
    Ok(Verdict::Misses(why))
}

enum Read {
    Argv(Vec<Vec<u8>>),
    Line(Vec<u8>),
}

/// One plain command is an argv; anything else is a line, of which only a rule that asks or denies can speak.
fn read(example: &Example, decision: Decision) -> Result<Read, Fault> {
    let unreadable = |why: &str| Fault::Unreadable { example: example.to_string(), why: why.to_owned() };
    let line = match example {
        Example::Argv(words) if words.first().is_none_or(String::is_empty) => {
            return Err(unreadable("it is empty"));
        }
        Example::Argv(words) => {
            return Ok(Read::Argv(words.iter().map(|word| word.clone().into_bytes()).collect()));
        }
        Example::Line(line) => line.as_bytes(),
    };
    let parsed = parse(line, Dialect::Bash);
    if let Some(trouble) = parsed.trouble {
        return Err(unreadable(&trouble.to_string()));
    }
    match parsed.commands.as_slice() {
        [] => return Err(unreadable("it is empty")),
        [command] if command.assigns.is_empty() && command.redirects.is_empty() => {
            let argv: Option<Vec<Vec<u8>>> = command.words.iter().map(|word| word.text()).collect();
            if let Some(argv) = argv.filter(|argv| !argv[0].is_empty()) {
                return Ok(Read::Argv(argv));
            }
        }
        _ => {}
    }
    match decision {
        Decision::Allow => Err(Fault::Line { example: example.to_string() }),
        Decision::Ask | Decision::Deny => Ok(Read::Line(line.to_vec())),
    }
}

/// Where an example's program would be found: where the rule says, or in the first trusted directory.
fn find(alone: &Rules, name: &[u8]) -> PathBuf {
    if name.contains(&b'/') {
        return PathBuf::from(OsStr::from_bytes(name));
    }
    if let Some(path) = alone.list.first().and_then(|rule| rule.pattern.path_of(name)) {
        return PathBuf::from(OsStr::from_bytes(path));
    }
    let dir = alone.trusted.first().map_or(Path::new("/usr/bin"), PathBuf::as_path);
    dir.join(OsStr::from_bytes(base(name)))
}
