//! A rule as it is written in a policy, and what can be wrong with it.

use super::Decision;
use serde::{Deserialize, Serialize};

/// One rule of a policy file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleText {
    /// What it is called in answers and records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What happens to a command that it matches.
    pub decision: Decision,
    /// The program, then its arguments in order.
    pub command: Vec<Token>,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Commands that it must match.
    #[serde(default, rename = "match", skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<Example>,
    /// Commands that it must not match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_match: Vec<Example>,
}

/// One place of a rule's command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Token {
    /// A text; with `*` at its end, a beginning; `…` or `...`, any number of arguments.
    One(String),
    /// Any one of these.
    Either(Vec<String>),
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::One(text) => f.write_str(text),
            Self::Either(texts) => write!(f, "[{}]", texts.join("|")),
        }
    }
}

/// A command that a rule is tried on when it is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Example {
    /// As it would be typed.
    Line(String),
    /// Word by word.
    Argv(Vec<String>),
}

impl std::fmt::Display for Example {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Example::Line(line) => f.write_str(line),
            Example::Argv(words) => write!(f, "{words:?}"),
        }
    }
}

/// A rule that cannot be used, with what to change. Rules are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rule {}{}: {kind}", .rule + 1, .name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default())]
pub struct RuleError {
    /// Its place in the list, from 0.
    pub rule: usize,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// What is wrong.
    pub kind: Fault,
}

/// What is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// There is nothing to match.
    #[error("`command` is empty; begin it with a program, such as [\"git\", \"push\", \"…\"]")]
    Empty,
    /// The first token is not a program.
    #[error("`command` must begin with a program's name or its whole path, not with `{token}`")]
    NotAProgram {
        /// What stands there.
        token: String,
    },
    /// A rule that allows must name its program.
    #[error("a rule that allows must name its program in full, not as `{token}`; list the names instead")]
    VagueProgram {
        /// What stands there.
        token: String,
    },
    /// A list without anything in it.
    #[error("an empty list of alternatives matches nothing; write what it may be, or leave it out")]
    NoAlternative,
    /// `…` among alternatives.
    #[error("`…` cannot be one of several alternatives; write it as a token of its own")]
    DotsInList,
    /// A star in the middle.
    #[error("`*` may only stand at the end of `{token}`; write `\\*` for the character itself")]
    Star {
        /// What stands there.
        token: String,
    },
    /// An example cannot be read.
    #[error("the example `{example}` cannot be read: {why}; write it as a list of words")]
    Unreadable {
        /// The example.
        example: String,
        /// Why not.
        why: String,
    },
    /// A rule that allows speaks of programs, not of shell lines.
    #[error(
        "the example `{example}` is a shell line, and a shell line is never allowed by its parts; write one command"
    )]
    Line {
        /// The example.
        example: String,
    },
    /// It should match and does not.
    #[error(
        "it does not match its example `{example}`{why}; change `command`, or move the example to `not_match`"
    )]
    Misses {
        /// The example.
        example: String,
        /// What stood in the way, if that is known.
        why: String,
    },
    /// It matches and should not.
    #[error("it matches `{example}`, which `not_match` says it must not; make `command` narrower")]
    Overreaches {
        /// The example.
        example: String,
    },
}
