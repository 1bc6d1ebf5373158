//! How questions read and what an approval covers.

use super::*;
use std::os::unix::ffi::OsStringExt;

fn argv(words: &[&str]) -> Shown {
    Shown::Argv(words.iter().map(OsString::from).collect())
}

fn line(line: &str) -> Shown {
    Shown::Line { shell: "/bin/bash".into(), line: line.into() }
}

fn values(b: &str) -> Values {
    Values::of(&[("B".into(), "first".into()), ("A".into(), "1".into()), ("B".into(), b.into())])
}

fn question(command: Shown) -> Question {
    Question {
        command,
        program: "/usr/bin/git".into(),
        cwd: "/src/project/sub".into(),
        root: "/src/project".into(),
        env_names: vec!["B".into(), "A".into()],
        env_values: values("safe"),
        why: vec!["pushing cannot be undone".into()],
        fix: "change that rule".into(),
        sandbox: "workspace".into(),
        origin: "claude".into(),
        session: Some("s".into()),
    }
}

#[test]
fn a_question_shows_everything_that_decides() {
    let text = question(argv(&["git", "push", "--force", "a b"])).text().unwrap();
    let expected = "claude wants to run:\n\n    git push --force 'a b'\n\nprogram: /usr/bin/git\n\
        in:      /src/project/sub\nroot:    /src/project\nsets:    B A\nsandbox: workspace\n\
        why:     pushing cannot be undone";
    assert_eq!(text, expected);
}

#[test]
fn words_are_told_apart_however_they_are_made() {
    for (words, expected) in [
        (&["ls", ""][..], "ls ''"),
        (&["a b"], "'a b'"),
        (&["a", "b"], "a b"),
        (&["it's"], r"'it'\''s'"),
        (&["$(x)", "`y`", "~", "*", "a;b"], "'$(x)' '`y`' '~' '*' 'a;b'"),
        (&["a\nb"], "'a⟨newline⟩b'"),
        (&["⟨newline⟩"], "'⟨U+27E8⟩newline⟨U+27E9⟩'"),
    ] {
        assert_eq!(argv(words).one_line(), expected);
    }
}

#[test]
fn nothing_in_a_command_looks_like_another_part_of_the_question() {
    let text = question(line("true\n\nsandbox: locked\nwhy:     harmless")).text().unwrap();
    assert!(text.contains("    true⏎\n    ⏎\n    sandbox: locked⏎\n    why:     harmless\n"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("sandbox:")).count(), 1, "{text}");
    let forged =
        Question { cwd: "/a\nsandbox: locked".into(), origin: "x\ny".into(), ..question(line("ls")) };
    let text = forged.text().unwrap();
    assert!(text.starts_with("x⟨newline⟩y wants") && text.contains("in:      /a⟨newline⟩sandbox: locked\n"));
}

#[test]
fn what_is_too_long_is_refused_and_never_shortened() {
    let fits = question(line(&"x".repeat(LONGEST - 400)));
    assert!(fits.text().unwrap().contains(&"x".repeat(LONGEST - 400)));
    let long = question(line(&"x".repeat(LONGEST))).text().unwrap_err();
    assert!(long.bytes > LONGEST && long.limit == LONGEST);
    // Each of these takes much more to show than to have.
    assert!(question(line(&"\u{202e}".repeat(LONGEST / 4))).text().is_err());
    assert!(Question { why: vec!["x".repeat(LONGEST)], ..question(line("ls")) }.text().is_err());
}

#[test]
fn an_approval_covers_exactly_what_was_shown() {
    let approved = question(argv(&["git", "push"]));
    let mut approvals = Approvals::default();
    assert!(!approvals.cover(&approved));
    approvals.add(&approved);
    assert!(approvals.cover(&approved));
    // Not what decides: where in the root, in which order names come, why it was asked, who wants it where.
    let same = Question {
        cwd: "/src/project".into(),
        env_names: vec!["A".into(), "B".into(), "A".into()],
        why: Vec::new(),
        session: None,
        ..approved.clone()
    };
    assert!(approvals.cover(&same));
    for other in [
        Question { command: argv(&["git", "push", "-f"]), ..approved.clone() },
        Question { command: argv(&["git push"]), ..approved.clone() },
        Question { command: line("git push"), ..approved.clone() },
        Question { program: "/src/project/git".into(), ..approved.clone() },
        Question { root: "/src/project2".into(), ..approved.clone() },
        Question { root: "/src".into(), ..approved.clone() },
        Question { env_names: vec!["A".into()], ..approved.clone() },
        Question { env_names: vec!["A".into(), "B".into(), "C".into()], ..approved.clone() },
        Question { sandbox: "open".into(), ..approved.clone() },
        // The same names, and another value.
        Question { env_values: values("evil"), ..approved.clone() },
        Question { env_values: Values::default(), ..approved.clone() },
    ] {
        assert!(!approvals.cover(&other), "{other:?}");
    }
}

#[test]
fn a_shell_is_part_of_what_a_line_is() {
    let mut approvals = Approvals::default();
    approvals.add(&question(line("ls")));
    let other = Shown::Line { shell: "/tmp/bash".into(), line: "ls".into() };
    assert!(!approvals.cover(&question(other)));
}

#[test]
fn approvals_are_forgotten_in_the_end() {
    let mut approvals = Approvals::default();
    for number in 0..=MOST {
        approvals.add(&question(line(&number.to_string())));
        approvals.add(&question(line(&number.to_string())));
    }
    assert_eq!(approvals.known.len(), MOST);
    assert!(!approvals.cover(&question(line("0"))) && approvals.cover(&question(line("1"))));
}

#[test]
fn a_command_is_written_as_text_or_exactly() {
    let json = |shown: &Shown| serde_json::to_string(shown).unwrap();
    assert_eq!(json(&argv(&["ls", "a\n"])), r#"{"argv":["ls","a\n"]}"#);
    assert_eq!(json(&line("ls")), r#"{"line":"ls","shell":"/bin/bash"}"#);
    let odd = Shown::Argv(vec!["x".into(), OsString::from_vec(vec![0xff, 0x61])]);
    assert_eq!(json(&odd), r#"{"argv":["x",{"hex":"ff61"}]}"#);
}

#[test]
fn values_are_in_no_question_and_no_debug_output() {
    let question = Question { env_values: values("hunter2"), ..question(line("ls")) };
    assert!(!question.text().unwrap().contains("hunter2") && !format!("{question:?}").contains("hunter2"));
}
