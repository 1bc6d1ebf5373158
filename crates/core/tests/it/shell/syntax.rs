//! Commands that are not whole or not valid: an error at once, and nothing has happened.

use super::desk::{Desk, KINDS, run, said, try_run};
use wharf_core::shell::{Kind, RunError};

const UNFINISHED: &[&str] = &[
    "echo \"a",
    "echo 'a",
    "if true; then echo ran",
    "touch ran\nif true; then",
    "touch ran\nfor i in 1 2; do echo",
    "touch ran\necho $(",
    "touch ran; { echo",
    "touch ran\ncase x in",
    "cat <<END\nhi",
    "touch ran\ncat <<'E N D'\nhi\n",
    "touch ran &&",
    "touch ran |",
    "fi",
    "touch ran; ; true",
    "true && && touch ran",
    "touch ran\n)",
    "touch ran\necho ${x",
    "f() {\ntouch ran",
];

#[tokio::test]
async fn what_is_unfinished_is_an_error_at_once_and_nothing_ran() {
    for kind in KINDS {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        run(&shell, "x=kept; (exit 5)").await;
        for text in UNFINISHED {
            // To zsh an empty command is one.
            if kind == Kind::Zsh && text.contains("; ;") {
                continue;
            }
            match try_run(&shell, text).await {
                Err(RunError::Syntax(words)) => assert!(!words.is_empty(), "{kind:?}: {text:?}"),
                other => panic!("{kind:?}: {text:?}: {other:?}"),
            }
        }
        assert_eq!(said(&shell, "echo $x $?; ls").await, "kept 5", "{kind:?}");
        // Numbers are given to what runs.
        assert_eq!(shell.status().last.unwrap().id, 2);
        desk.place.check().await;
    }
}

#[tokio::test]
async fn the_words_are_the_shells_own() {
    for (kind, words) in [
        (Kind::Bash, "bash: line 1: unexpected EOF while looking for matching `\"'"),
        (Kind::Zsh, "zsh: unmatched \""),
        (Kind::Sh, "/bin/dash: 2: Syntax error: Unterminated quoted string"),
    ] {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        match try_run(&shell, "echo \"a").await {
            Err(RunError::Syntax(said)) => assert_eq!(said, words),
            other => panic!("{other:?}"),
        }
        desk.place.check().await;
    }
}

#[tokio::test]
async fn what_looks_unfinished_and_is_whole_runs() {
    for kind in KINDS {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        for (text, out) in [
            ("echo '<<END'", "<<END"),
            ("cat <<'A' <<B\na\nA\nb\nB", if kind == Kind::Zsh { "a\nb" } else { "b" }),
            ("cat <<-END\n\ttabbed\n\tEND\necho after", "tabbed\nafter"),
            ("echo \"a\nb\"", "a\nb"),
            ("x='a\\'; echo \"$x\"", "a\\"),
            ("echo $((1 << 3))", "8"),
            ("echo \"`echo nested`\"", "nested"),
            ("case x in x) echo one ;; esac", "one"),
        ] {
            assert_eq!(said(&shell, text).await, out, "{kind:?}: {text:?}");
        }
        desk.place.check().await;
    }
}

#[tokio::test]
async fn a_megabyte_arrives_exactly() {
    for kind in KINDS {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        let body: String =
            (0..24_000).map(|n| format!("line {n} with 'quotes' \"and\" \\ tabs\t$x é\n")).collect();
        assert!(body.len() > 900_000);
        let done = run(&shell, &format!("cat >big <<'END'\n{body}END")).await;
        assert_eq!((done.text.as_str(), done.code), ("", Some(0)), "{kind:?}");
        assert!(std::fs::read_to_string(desk.home.join("big")).unwrap() == body, "{kind:?}");
        // What is told of it is its beginning.
        assert!(shell.status().last.unwrap().text.len() <= 1024);
        assert_eq!(said(&shell, "echo next").await, "next");
        desk.place.check().await;
    }
}

#[tokio::test]
async fn a_nul_byte_is_refused() {
    let desk = Desk::new();
    let shell = desk.open(Kind::Bash).await;
    assert!(matches!(try_run(&shell, "echo a\0b").await, Err(RunError::Syntax(_))));
    desk.place.check().await;
}
