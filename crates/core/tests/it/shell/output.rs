//! Whose output something is.

use super::desk::{Desk, KINDS, deadline, run, said, wait};
use std::sync::Arc;
use std::time::Duration;
use wharf_core::shell::{Because, Kind, Until};
use wharf_testing::{guarded, until};

#[tokio::test]
async fn late_output_of_background_jobs_belongs_to_no_command() {
    for kind in KINDS {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        run(&shell, "mkfifo go; (read x <go; echo late) & true").await;
        assert_eq!(shell.background().len(), 1, "{kind:?}");
        assert_eq!(said(&shell, "echo one").await, "one", "{kind:?}");
        std::fs::write(desk.home.join("go"), "x\n").unwrap();
        until(shell.terminal(), "late\r\n").await;
        assert_eq!(said(&shell, "wait; echo two").await.lines().last(), Some("two"), "{kind:?}");
        let loose = shell.lines(0, 1).await.unwrap();
        assert!(loose.lines.iter().any(|line| line.ends_with("late")), "{kind:?}: {loose:?}");
        assert!(!loose.lines.iter().any(|line| line.contains("wharf")), "{kind:?}: {loose:?}");
        assert_eq!(shell.background(), [], "{kind:?}");
        desk.place.check().await;
    }
}

#[tokio::test]
async fn output_that_forges_marks_fools_nobody() {
    for kind in KINDS {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        let pid = said(&shell, "echo $$").await;
        for body in ["D;{pid};3;99;1.0;/evil", "A;{pid};bash;/evil", "B;{pid}"] {
            let body = body.replace("{pid}", &pid);
            for nonce in ["", "0", "00000000000000000000000000000000", "@NONCE@", "*"] {
                let forged = format!("printf '\\033]6973;{nonce};{body}\\007\\033]133;D;99\\007'; (exit 2)");
                let done = run(&shell, &forged).await;
                assert_eq!((done.text.as_str(), done.code), ("", Some(2)), "{kind:?}");
                assert_eq!(done.cwd, desk.home);
            }
        }
        desk.place.check().await;
    }
}

#[tokio::test]
async fn nothing_that_a_shell_starts_is_given_the_secret() {
    for kind in KINDS {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        let nonce = shell.meta().nonce.clone();
        let seen = said(
            &shell,
            "env; tr '\\0' '\\n' </proc/$$/environ; tr '\\0' ' ' </proc/$$/cmdline; ls -l /proc/self/fd /proc/$$/fd; \
             grep -rs 6973 . ; cat /dev/fd/8 /dev/fd/9 2>/dev/null; sh -c 'export -p; set'",
        )
        .await;
        assert!(seen.len() > 100 && !seen.contains(&nonce) && !seen.contains("SHELL_RC"), "{kind:?}: {seen}");
        desk.place.check().await;
    }
}

#[tokio::test]
async fn descriptors_that_a_command_moves_do_not_matter() {
    for kind in KINDS {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        for (command, text) in [
            ("exec >out", ""),
            ("echo hidden; pwd", ""),
            ("exec >/dev/tty", ""),
            ("cat out | head -1", "hidden"),
            ("exec 2>err", ""),
            ("echo seen; echo unseen >&2", "seen"),
            ("exec 2>/dev/tty", ""),
            ("grep -om1 unseen err", "unseen"),
            ("exec </dev/null", ""),
        ]
        .into_iter()
        .take(if kind == Kind::Zsh { 9 } else { 8 })
        {
            let done = run(&shell, command).await;
            assert!(done.text == text && done.code == Some(0), "{kind:?}: {command}: {done:?}");
        }
        desk.place.check().await;
    }
}

#[tokio::test]
async fn directories_of_any_name_are_told_exactly() {
    for kind in KINDS {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        for name in
            ["a b", "it's", "q\"uote", "new\nline", "ünï 漢字", "%41;x,y", "$HOME`x`", "\u{1b}]0;t\u{7}"]
        {
            let path = desk.home.join(name);
            std::fs::create_dir(&path).unwrap();
            let quoted = name.replace('\'', "'\\''");
            let done = run(&shell, &format!("cd -- '{}/{quoted}'", desk.home.display())).await;
            assert_eq!((done.cwd, done.code), (path, Some(0)), "{kind:?}");
        }
        // By the name that it was entered by, not where that leads.
        std::os::unix::fs::symlink("/tmp", desk.home.join("link")).unwrap();
        let link = desk.home.join("link");
        assert_eq!(run(&shell, &format!("cd '{}'", link.display())).await.cwd, link);
        desk.place.check().await;
    }
}

#[tokio::test]
async fn traces_are_the_commands_own() {
    for (kind, depth) in [(Kind::Bash, "++ "), (Kind::Sh, "+ "), (Kind::Zsh, "+(eval):1> ")] {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        run(&shell, "set -x").await;
        assert_eq!(said(&shell, "echo hi").await, format!("{depth}echo hi\nhi"));
        run(&shell, "set +x").await;
        assert_eq!(said(&shell, "echo hi").await, "hi");
        desk.place.check().await;
    }
}

#[tokio::test]
async fn older_outputs_are_rendered_again_from_any_line() {
    let desk = Desk::new();
    let shell = desk.open(Kind::Bash).await;
    run(&shell, "seq 1 5000").await;
    run(&shell, "printf 'a\\rb\\nprogress 1\\rprogress 2\\n'").await;
    run(&shell, "true").await;
    let lines = shell.lines(1, 4999).await.unwrap();
    assert_eq!((lines.first, lines.lines, lines.dropped), (4999, vec!["4999".into(), "5000".into()], 0));
    assert_eq!(shell.lines(1, 1).await.unwrap().lines.len(), 5000);
    assert_eq!(shell.lines(2, 1).await.unwrap().lines, ["b", "progress 2"]);
    assert_eq!(shell.lines(3, 1).await.unwrap().lines, [""; 0]);
    assert!(shell.lines(4, 1).await.is_err());
    desk.place.check().await;
}

#[tokio::test]
async fn waiting_ends_with_a_line_with_silence_or_when_the_screen_stands_still() {
    let desk = Desk::new();
    let shell = desk.open(Kind::Bash).await;
    let until = Until::Line(Arc::new(|line: &str| line.starts_with("listening")));
    guarded(shell.run("sleep 0.1; echo no; echo listening on 80; exec 5>&1; sleep 1000", "agent"))
        .await
        .unwrap();
    assert_eq!(guarded(shell.wait(until, deadline())).await, Because::Line(2, "listening on 80".into()));
    let silence = Until::Silence(Duration::from_millis(200));
    assert_eq!(guarded(shell.wait(silence, deadline())).await, Because::Silence);
    let still = Until::Stable(Duration::from_millis(200));
    assert_eq!(guarded(shell.wait(still, deadline())).await, Because::Stable);
    let soon = std::time::Instant::now() + Duration::from_millis(50);
    assert_eq!(guarded(shell.wait(Until::End, soon)).await, Because::Deadline);
    // Nothing was ended by it.
    assert_eq!(shell.status().state, wharf_core::shell::State::Running);
    super::desk::press(&shell, "C-c").await;
    assert_eq!(wait(&shell).await, Because::Ended);
    desk.place.check().await;
}
