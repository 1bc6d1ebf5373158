//! What decided, in words that name what to change: a rule or a key, and the file that it stands in.

use super::rules::{Decision, Found};
use super::verdict::{Denial, Facts};
use std::fmt;
use std::path::{Path, PathBuf};

/// What a file says, and which.
#[derive(Debug, Clone)]
pub(super) struct Said<T> {
    pub(super) value: T,
    pub(super) file: PathBuf,
}

impl<T> Said<T> {
    pub(super) fn by(value: T, file: &Path) -> Self {
        Self { value, file: file.to_owned() }
    }
}

impl Said<Decision> {
    /// The stricter of both; this one if they are the same.
    pub(super) fn tighten(&mut self, decision: Decision, file: &Path) {
        if decision > self.value {
            *self = Self::by(decision, file);
        }
    }

    /// As it is written, with its file.
    fn key(&self, name: &str) -> String {
        format!("`{name} = \"{}\"` in {}", self.value, self.file.display())
    }
}

#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) decision: Decision,
    /// The rule, if it is one.
    pub(super) rule: Option<String>,
    /// The rule or the key, with its file.
    by: Option<String>,
    pub(super) reason: String,
    /// What a person can do to that file, behind "to"; empty if nothing in it would help.
    fix: String,
}

impl Finding {
    /// For a reason that no rule and no key gives.
    pub(super) fn denial(reason: String) -> Self {
        Self { decision: Decision::Deny, rule: None, by: None, reason, fix: String::new() }
    }

    /// A rule that matched.
    pub(super) fn of_rule(found: Found, file: &Path) -> Self {
        let file = file.display();
        let by = found.rule.map(|index| match format!("rule {}", index + 1) {
            number if number == found.name => format!("{number} in {file}"),
            _ => format!("the rule {:?} in {file}", found.name),
        });
        let fix = if by.is_some() { "change that rule" } else { "" };
        let reason = match found.reason {
            Some(reason) => format!("{} ({reason})", found.part),
            None => found.part,
        };
        Self { decision: found.decision, rule: Some(found.name), by, reason, fix: fix.to_owned() }
    }

    /// A command that cannot be read, for this reason.
    pub(super) fn of_unreadable(said: &Said<Decision>, doubt: &str) -> Self {
        Self {
            decision: said.value,
            rule: None,
            by: Some(said.key("unreadable")),
            reason: doubt.to_owned(),
            fix: "set `unreadable = \"allow\"` there".to_owned(),
        }
    }

    /// A command that no rule allows; `doubt` is why none could.
    pub(super) fn of_default(said: &Said<Decision>, doubt: Option<&str>) -> Self {
        let (reason, fix) = match doubt {
            Some(doubt) => (format!("no rule allows what cannot be read: {doubt}"), ""),
            None => ("no rule allows it".to_owned(), "add a rule there that allows it"),
        };
        let by = Some(said.key("default"));
        Self { decision: said.value, rule: None, by, reason, fix: fix.to_owned() }
    }

    fn because(&self) -> String {
        self.by.as_ref().map_or_else(|| self.reason.clone(), |by| format!("{by}: {}", self.reason))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.decision, self.because())
    }
}

/// Why it is asked, a sentence each, and what a person can change so that it is not.
pub(super) fn why(findings: &[Finding]) -> (Vec<String>, String) {
    let asking = || findings.iter().filter(|finding| finding.decision == Decision::Ask);
    let mut fixes: Vec<&str> = asking().map(|finding| finding.fix.as_str()).collect();
    fixes.dedup();
    let fix = if fixes.contains(&"") { String::new() } else { fixes.join(" and to ") };
    (asking().map(Finding::because).collect(), fix)
}

/// A denial, by the first of these.
pub(super) fn denial(findings: Vec<Finding>, facts: Facts) -> Denial {
    let facts = Box::new(facts);
    match findings.into_iter().next() {
        Some(Finding { rule, by, reason, fix, .. }) => Denial { rule, by, reason, fix, facts },
        None => Denial { facts, ..Denial::default() },
    }
}
