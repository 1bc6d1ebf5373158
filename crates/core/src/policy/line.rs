//! Judging a line for a shell that is open already.
//!
//! The shell has its sandbox, its limits and its directory since it was opened, and they were judged then. What is left
//! are the rules, so nothing here looks at the file system: a line is given to a warm shell within a millisecond.

use super::Policy;
use super::ask::{Question, Shown, Values};
use super::judge::Whose;
use super::rules::{Decision, Subject};
use super::verdict::{Denial, Facts};
use std::ffi::OsStr;
use std::path::Path;

/// A line, and the shell that would read it.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// The shell's file.
    pub shell: &'a Path,
    /// What it would read.
    pub line: &'a OsStr,
    /// Where the shell is.
    pub cwd: &'a Path,
    /// The root it was opened in.
    pub root: &'a Path,
    /// The sandbox it runs in.
    pub sandbox: &'a str,
    /// Who asks, in words for people.
    pub origin: &'a str,
    /// The conversation, if there are such.
    pub session: Option<&'a str>,
}

/// What is said of a line.
#[derive(Debug)]
pub enum Ruled {
    /// It may be read.
    Allow(Facts),
    /// It may be read if somebody says so.
    Ask(Box<Question>, Facts),
    /// It may not.
    Deny(Denial),
}

impl Policy {
    /// Judges a line of an agent.
    #[must_use]
    pub fn decide_line(&self, line: &Line<'_>) -> Ruled {
        let subject = Subject::Line { shell: line.shell, line: line.line };
        let considered = self.consider(Whose::Agent, &|rules| rules.judge(&subject));
        let facts = self.facts(&considered.findings, line.sandbox);
        match considered.decision {
            Decision::Allow => Ruled::Allow(facts),
            Decision::Ask => {
                let why = considered.findings.into_iter().map(|finding| finding.reason).collect();
                Ruled::Ask(Box::new(line.question(why)), facts)
            }
            Decision::Deny => {
                let first = considered.findings.into_iter().next();
                let (rule, reason) = first.map_or((None, String::new()), |first| (first.rule, first.reason));
                Ruled::Deny(Denial { rule, reason, facts })
            }
        }
    }
}

impl Line<'_> {
    fn question(&self, why: Vec<String>) -> Question {
        Question {
            command: Shown::Line { shell: self.shell.into(), line: self.line.to_owned() },
            program: self.shell.to_owned(),
            cwd: self.cwd.to_owned(),
            root: self.root.to_owned(),
            env_names: Vec::new(),
            env_values: Values::default(),
            why,
            sandbox: self.sandbox.to_owned(),
            origin: self.origin.to_owned(),
            session: self.session.map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ruled(policy: &str, line: &str) -> Ruled {
        let policy = Policy::parse(policy, Path::new("policy.toml"), Path::new("/nonexistent")).unwrap();
        let (shell, root) = (Path::new("/bin/bash"), Path::new("/src"));
        let line = OsStr::new(line);
        let asked =
            Line { shell, line, cwd: root, root, sandbox: "workspace", origin: "test", session: None };
        policy.decide_line(&asked)
    }

    #[test]
    fn a_line_is_judged_by_the_rules_alone() {
        let text = concat!(
            "version = 1\n[[rule]]\ndecision = \"deny\"\ncommand = [\"git\", \"push\", \"…\"]\n",
            "reason = \"others see it\"\n"
        );
        match ruled(text, "cd /tmp && git push") {
            Ruled::Deny(denial) => {
                assert!(denial.rule.is_some());
                assert!(denial.reason.contains("others see it"), "{}", denial.reason);
                assert_eq!(denial.facts.sandbox, "workspace");
            }
            other => panic!("{other:?}"),
        }
        assert!(matches!(ruled(text, "git status"), Ruled::Allow(_)));
        // What cannot be read could break the rule.
        assert!(matches!(ruled(text, "$x push"), Ruled::Ask(..)));
    }

    #[test]
    fn a_question_about_a_line_shows_it_whole() {
        let text = "version = 1\ndefault = \"ask\"\n";
        match ruled(text, "make\nmake install") {
            Ruled::Ask(question, _) => {
                let text = question.text().unwrap();
                assert!(text.contains("make install") && text.contains("workspace"), "{text}");
            }
            other => panic!("{other:?}"),
        }
    }
    /// What a shell would remember, and ordinary work that looks like it.
    const REMEMBERED: [&str; 11] = [
        "hash -p /bin/rm ls",
        "BASH_ALIASES[ls]=rm",
        "alias ll='ls -l'",
        "PROMPT_COMMAND='git push'",
        "PS1='$(x)'",
        "trap 'x' DEBUG",
        "source venv/bin/activate",
        ". ./x",
        "x=1",
        "export FOO=bar",
        "f() { ls; }",
    ];

    #[test]
    fn without_rules_nothing_is_asked_about() {
        for line in REMEMBERED {
            for policy in [crate::policy::INIT, "version = 1\n"] {
                assert!(matches!(ruled(policy, line), Ruled::Allow(_)), "{line}");
            }
        }
    }

    #[test]
    fn with_rules_what_changes_later_lines_is_asked_about_and_says_why() {
        let text = "version = 1\n[[rule]]\ndecision = \"deny\"\ncommand = [\"git\", \"push\", \"…\"]\n";
        let said = REMEMBERED.map(|line| match ruled(text, line) {
            Ruled::Allow(_) => 'a',
            Ruled::Ask(question, _) => {
                assert!(question.why[0].contains("later lines"), "{line}: {:?}", question.why);
                '?'
            }
            Ruled::Deny(_) => 'd',
        });
        assert_eq!(String::from_iter(said), "??ad?a??aaa");
    }
}
