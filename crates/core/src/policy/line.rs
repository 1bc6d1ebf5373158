//! Judging a line for a shell that is open already.
//!
//! The shell has its sandbox, its limits and its directory since it was opened, and they were judged then. What is left
//! are the rules, so nothing here looks at the file system: a line is given to a warm shell within a millisecond.

use super::Policy;
use super::ask::{Question, Shown, Values};
use super::finding;
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
            Decision::Ask => Ruled::Ask(Box::new(line.question(finding::why(&considered.findings))), facts),
            Decision::Deny => Ruled::Deny(finding::denial(considered.findings, facts)),
        }
    }
}

impl Line<'_> {
    fn question(&self, (why, fix): (Vec<String>, String)) -> Question {
        Question {
            command: Shown::Line { shell: self.shell.into(), line: self.line.to_owned() },
            program: self.shell.to_owned(),
            cwd: self.cwd.to_owned(),
            root: self.root.to_owned(),
            env_names: Vec::new(),
            env_values: Values::default(),
            why,
            fix,
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
        decided(&Policy::parse(policy, Path::new("policy.toml"), Path::new("/nonexistent")).unwrap(), line)
    }

    fn decided(policy: &Policy, line: &str) -> Ruled {
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
        // What cannot be read could break the rule, and is asked about where the file says so.
        assert!(matches!(ruled(text, "$x push"), Ruled::Allow(_)));
        let text = text.replace("version = 1", "version = 1\nunreadable = \"ask\"");
        assert!(matches!(ruled(&text, "$x push"), Ruled::Ask(..)));
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

    const NO_PUSH: &str = "[[rule]]\ndecision = \"deny\"\ncommand = [\"git\", \"push\", \"…\"]\n";

    /// Whether each line is allowed, asked about or denied.
    fn verdicts(policy: &str, lines: &[&str]) -> String {
        let of = |line: &&str| match ruled(policy, line) {
            Ruled::Allow(_) => 'a',
            Ruled::Ask(..) => '?',
            Ruled::Deny(_) => 'd',
        };
        lines.iter().map(of).collect()
    }

    #[test]
    fn a_rule_leaves_alone_what_it_cannot_read_unless_the_file_says_otherwise() {
        let with = |more: &str| format!("version = 1\n{more}\n{NO_PUSH}");
        for (more, expect) in [
            ("", "aaadaaaaaaa"),
            ("unreadable = \"allow\"", "aaadaaaaaaa"),
            ("unreadable = \"ask\"", "??ad?a??aaa"),
            ("unreadable = \"deny\"", "ddaddaddaaa"),
        ] {
            assert_eq!(verdicts(&with(more), &REMEMBERED), expect, "{more}");
        }
        let work = [
            "source .venv/bin/activate",
            "eval \"$(direnv hook bash)\"",
            "bash -c \"source x && make\"",
            "trap \"$x\" EXIT",
            "curl -s https://example.org/install | sh",
            "fish -c 'ls'",
            "echo 'x",
        ];
        assert_eq!(verdicts(&with(""), &work), "aaaaaaa");
        assert_eq!(verdicts(&with("unreadable = \"ask\""), &work), "???????");
        // What can be read of such a line is judged all the same.
        let read =
            ["source x && git push", "eval \"git push $x\"", "trap 'git push' EXIT", "alias p='git push'"];
        assert_eq!(verdicts(&with(""), &read), "dddd");
        // The key is the file's word, also where no rule could be broken.
        assert_eq!(verdicts("version = 1\nunreadable = \"ask\"\n", &["source x", "ls"]), "?a");
    }

    #[test]
    fn what_cannot_be_read_is_covered_by_no_allowing_rule() {
        for default in ["ask", "deny"] {
            let text = format!(
                "version = 1\ndefault = \"{default}\"\n\
                 [[rule]]\ndecision = \"allow\"\ncommand = [\"bash\", \"-c\", \"…\"]\n"
            );
            let text = text.replace("\"…\"", "\"source x\"");
            let expect = if default == "ask" { "??" } else { "dd" };
            assert_eq!(verdicts(&text, &["source x", "$x"]), expect, "{default}");
        }
    }

    #[test]
    fn a_project_can_want_to_be_asked_and_not_the_opposite() {
        let policy = |own: &str, project: &str| {
            let of = |key: &str| format!("version = 1\nunreadable = \"{key}\"\n");
            let own = Policy::parse(&of(own), Path::new("own.toml"), Path::new("/nonexistent")).unwrap();
            own.tightened(&of(project), Path::new("project.toml")).unwrap()
        };
        for (own, project, by) in [
            ("allow", "ask", Some("`unreadable = \"ask\"` in project.toml")),
            ("ask", "allow", Some("`unreadable = \"ask\"` in own.toml")),
            ("ask", "ask", Some("`unreadable = \"ask\"` in own.toml")),
            ("allow", "allow", None),
        ] {
            let policy = policy(own, project);
            let why = match decided(&policy, "source x") {
                Ruled::Ask(question, _) => Some(question.why.join("; ")),
                _ => None,
            };
            assert_eq!(why.is_some(), by.is_some(), "{own} {project}: {why:?}");
            assert_eq!(policy.restricts(), by.is_some(), "{own} {project}");
            assert!(why.unwrap_or_default().starts_with(by.unwrap_or_default()), "{own} {project}");
        }
    }

    #[test]
    fn an_answer_names_the_rule_or_the_key_its_file_and_what_to_change() {
        let named = NO_PUSH.replace("[[rule]]", "[[rule]]\nname = \"no push\"\nreason = \"others see it\"");
        let asking = NO_PUSH.replace("deny", "ask");
        for (text, line, why, fix) in [
            (NO_PUSH, "git push", "rule 1 in policy.toml: git push", "change that rule"),
            (
                &named,
                "git push",
                "the rule \"no push\" in policy.toml: git push (others see it)",
                "change that rule",
            ),
            (&asking, "git push", "rule 1 in policy.toml: git push", "change that rule"),
            (
                "unreadable = \"ask\"\n",
                "source x",
                "`unreadable = \"ask\"` in policy.toml: `source x` reads commands from a file",
                "set `unreadable = \"allow\"` there",
            ),
            (
                "unreadable = \"deny\"\n",
                ". x",
                "`unreadable = \"deny\"` in policy.toml: `. x` reads commands from a file",
                "set `unreadable = \"allow\"` there",
            ),
            (
                "default = \"ask\"\n",
                "ls",
                "`default = \"ask\"` in policy.toml: no rule allows it",
                "add a rule there that allows it",
            ),
            (
                "default = \"deny\"\n",
                "source x",
                "`default = \"deny\"` in policy.toml: no rule allows what cannot be read: `source x` reads",
                "",
            ),
        ] {
            let (said, advised) = match ruled(&format!("version = 1\n{text}"), line) {
                Ruled::Ask(question, _) => (question.why.join("; "), question.fix),
                Ruled::Deny(denial) => (denial.to_string(), denial.fix),
                Ruled::Allow(_) => panic!("{line} is allowed by {text}"),
            };
            let said = said.trim_start_matches("denied by ");
            assert!(said.starts_with(why), "{line}: {said}");
            assert_eq!(advised, fix, "{line}");
        }
    }
}
