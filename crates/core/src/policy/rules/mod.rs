//! Rules on commands: which are allowed, asked about or denied.
//!
//! Pure: a command in, every match out. Nothing here looks at files, at the environment or at what is installed, and
//! nothing here is a boundary. A program that may run can run others without asking; what holds it is the sandbox. Rules
//! are for convenience, for questions at the right moment, and for the record.
//!
//! # What a rule says
//!
//! A rule is a program and its arguments in order. All rules are tried, every match is listed, and the strictest wins.
//!
//! | token | stands for |
//! | --- | --- |
//! | `"push"` | exactly this argument |
//! | `["--force", "-f"]` | any one of these |
//! | `"--force*"` | an argument that begins so; `"*"` is any one argument, and `\*` the character itself |
//! | `"…"` or `"..."` | any number of arguments, also none |
//!
//! The first token is the program. A name matches the last part of the path at which the program was found, a path must
//! be the whole of it.
//!
//! # Two ways of matching
//!
//! A rule that *allows* matches exactly, and only the command itself: not through a wrapper, not in a shell line. By
//! name it matches only programs in trusted directories, so `./git` is not git. And `…` or `*` never stands for an
//! argument that makes the program run another one (the table in `danger/`): that must be spelled out.
//!
//! A rule that *asks* or *denies* matches strictly: by name in any directory, through wrappers, in every part of a
//! shell line; `--force` also as `--force=x` or `--forc`; an option of one to three letters such as `-f` also in a group
//! such as `-rf`; `git push` also behind git's own options (`git -C dir push`); and a word that cannot be known before it
//! runs matches whatever it could become.
//!
//! # What surprises
//!
//! Nothing is ever granted by reading a shell string. `sh -c 'cargo test'` is a shell, and only a rule for the shell
//! allows it. A line that cannot be read to its end, or a command whose name cannot be known, is allowed by no rule; nor
//! is one after which a shell would read later lines otherwise than they are read here (`builtin.rs`, `variable.rs`).

mod builtin;
mod danger;
mod git;
mod line;
mod pattern;
mod shape;
mod shell;
mod text;
mod trial;
mod variable;
mod walk;
mod wrapper;

#[cfg(test)]
mod property;
#[cfg(test)]
mod table;

pub use text::{Example, Fault, RuleError, RuleText, Token};

use danger::dangers;
use line::Dialect;
use pattern::{Pattern, base};
use serde::{Deserialize, Serialize};
use shape::Word;
use shell::Shell;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use walk::{Walk, show};
use wrapper::Site;

/// Whether a line for a shell can be read to its end, with nothing left open. If not, a shell may still be able to.
pub(crate) fn is_whole(line: &str) -> bool {
    line::parse(line.as_bytes(), Dialect::Bash).trouble.is_none()
}

/// What happens to a command. Later is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It runs.
    Allow,
    /// A person is asked first.
    Ask,
    /// It does not run.
    Deny,
}

impl std::fmt::Display for Decision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// A command to be judged.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'a> {
    /// A program and its arguments, given to it as they are.
    Argv {
        /// Where the program was found, absolute.
        program: &'a Path,
        /// Its arguments, the first of which is its own name.
        argv: &'a [OsString],
    },
    /// A line that a shell is to run.
    Line {
        /// Where the shell was found, absolute.
        shell: &'a Path,
        /// The line.
        line: &'a OsStr,
    },
}

/// One rule that matched one part of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its place in the list, from 0; `None` for what is built in.
    pub rule: Option<usize>,
    /// Its name, or `rule 3` if it has none.
    pub name: String,
    /// What it decides.
    pub decision: Decision,
    /// The part that it matched, for people.
    pub part: String,
    /// Why, as the rule says.
    pub reason: Option<String>,
}

/// What the rules say of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matches {
    /// The strictest of those found; `None` if no rule speaks of it.
    pub decision: Option<Decision>,
    /// Every rule that matched.
    pub found: Vec<Found>,
    /// What stood in the way of a rule, or could not be known.
    pub notes: Vec<String>,
    /// Environment and shell variables that the command sets for what it runs.
    pub assigns: Vec<String>,
    /// Whether a line could not be read to its end, so that rules may have missed something.
    pub unreadable: bool,
    /// Whether it runs something whose name cannot be known before it runs, such as `$X` or `eval "$Y"`, or changes what
    /// later lines mean, as `hash -p` does.
    pub unknown: bool,
    /// What makes it unreadable or unknown.
    pub doubts: Vec<String>,
}

#[derive(Debug, Clone)]
struct Rule {
    name: String,
    decision: Decision,
    reason: Option<String>,
    pattern: Pattern,
    /// As it is written, for people.
    written: String,
}

impl Rule {
    fn found(&self, index: usize, part: String) -> Found {
        let (name, reason) = (self.name.clone(), self.reason.clone());
        Found { rule: Some(index), name, decision: self.decision, part, reason }
    }
}

/// All rules of a policy, ready to judge.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    list: Vec<Rule>,
    trusted: Vec<PathBuf>,
}

impl Rules {
    /// Checks the rules and tries each on its own examples. A rule that allows a program by its name means only what is
    /// found in one of the `trusted` directories.
    ///
    /// # Errors
    /// The first rule that is malformed or does not do what its examples say.
    pub fn compile(texts: &[RuleText], trusted: &[PathBuf]) -> Result<Rules, RuleError> {
        let mut list = Vec::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            let fail = |kind| RuleError { rule: index, name: text.name.clone(), kind };
            let pattern = Pattern::compile(&text.command, text.decision).map_err(fail)?;
            let name = text.name.clone().unwrap_or_else(|| format!("rule {}", index + 1));
            let written = text.command.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            let rule = Rule { name, decision: text.decision, reason: text.reason.clone(), pattern, written };
            let alone = Rules { list: vec![rule], trusted: trusted.to_vec() };
            trial::run(&alone, text).map_err(fail)?;
            list.extend(alone.list);
        }
        Ok(Rules { list, trusted: trusted.to_vec() })
    }

    /// Whether a rule could ask or deny.
    #[must_use]
    pub fn restrict(&self) -> bool {
        self.list.iter().any(|rule| rule.decision > Decision::Allow)
    }

    /// Each on a line, for people.
    pub fn describe(&self) -> impl Iterator<Item = String> {
        self.list.iter().map(|rule| {
            let reason = rule.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
            format!("{}: {} {}{reason}", rule.name, rule.decision, rule.written)
        })
    }

    /// Every rule that matches, and the strictest of their decisions.
    #[must_use]
    pub fn judge(&self, subject: &Subject<'_>) -> Matches {
        match subject {
            Subject::Argv { program, argv } => {
                let argv: Vec<Vec<u8>> = argv.iter().map(|arg| arg.as_bytes().to_vec()).collect();
                self.judge_argv(program, &argv)
            }
            Subject::Line { shell, line } => {
                let name = base(shell.as_os_str().as_bytes()).to_vec();
                let mut matches =
                    self.judge_argv(shell, &[name.clone(), b"-c".to_vec(), line.as_bytes().to_vec()]);
                let unsure = match line.as_bytes().first() {
                    _ if Shell::named(&name).is_none() => {
                        Some("the line is for a shell that is not known here")
                    }
                    Some(b'-' | b'+') => Some("a shell may take a line that begins so for an option"),
                    _ => None,
                };
                if let Some(why) = unsure {
                    // What it says may still be denied; nothing is allowed on that ground.
                    let mut walk = Walk::new(self);
                    walk.line(line.as_bytes(), Dialect::Posix, 0);
                    walk.unreadable(why.to_owned());
                    matches = merge(matches, walk.out);
                }
                matches
            }
        }
    }

    fn judge_argv(&self, program: &Path, argv: &[Vec<u8>]) -> Matches {
        let path = program.as_os_str().as_bytes();
        let args = argv.get(1..).unwrap_or_default();
        let words = |name: &[u8]| -> Vec<Word> {
            std::iter::once(name).chain(args.iter().map(Vec::as_slice)).map(Word::known).collect()
        };
        let mut walk = Walk::new(self);
        walk.command(&words(path), 0, Site::Argv, None);
        // Programs of many names do what their first argument says.
        let called = argv.first().map_or(path, Vec::as_slice);
        let is_disguised = base(called) != base(path);
        if is_disguised {
            walk.note(format!("the program calls itself `{}`", String::from_utf8_lossy(called)));
            walk.command(&words(called), 0, Site::Argv, None);
        }
        if !is_disguised {
            self.allow(program, args, &show(&words(path)), &mut walk);
        }
        merge(walk.out, Matches::default())
    }

    /// The rules that allow.
    fn allow(&self, program: &Path, args: &[Vec<u8>], part: &str, walk: &mut Walk<'_>) {
        let allowing = self.list.iter().enumerate().filter(|(_, rule)| rule.decision == Decision::Allow);
        let fitting: Vec<_> = allowing
            .filter(|(_, rule)| {
                rule.pattern.is_exactly(program, &self.trusted) && rule.pattern.takes_exactly(args, &[])
            })
            .collect();
        if fitting.is_empty() {
            return;
        }
        let dangers = dangers(program.as_os_str().as_bytes(), args);
        let spelled: Vec<usize> = dangers.iter().map(|danger| danger.at).collect();
        for (index, rule) in fitting {
            let in_the_way = || dangers.iter().find(|danger| !rule.pattern.takes_exactly(args, &[danger.at]));
            if rule.pattern.takes_exactly(args, &spelled) {
                walk.found(rule.found(index, part.to_owned()));
            } else if let Some(danger) = in_the_way().or(dangers.first()) {
                let arg = Word::known(&args[danger.at]).show();
                walk.note(format!(
                    "{} does not allow `{arg}`: {}; only a rule that spells it out does",
                    rule.name, danger.why
                ));
            }
        }
    }
}

/// Both together, with the decision that follows. What is not fully known is allowed by no rule.
fn merge(mut one: Matches, other: Matches) -> Matches {
    one.found.extend(other.found);
    one.notes.extend(other.notes);
    one.assigns.extend(other.assigns);
    one.doubts.extend(other.doubts);
    one.unreadable |= other.unreadable;
    one.unknown |= other.unknown;
    if one.unreadable || one.unknown {
        let before = one.found.len();
        one.found.retain(|found| found.decision > Decision::Allow);
        if one.found.len() < before {
            one.notes.push("no rule allows a command that cannot be known as a whole".to_owned());
        }
    }
    one.decision = one.found.iter().map(|found| found.decision).max();
    one
}
