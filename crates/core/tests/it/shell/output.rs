//! Whose output something is.

use super::desk::{Desk, KINDS, at_prompt, deadline, run, said, wait};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use wharf_core::shell::{Because, Enter, Kind, Until};
use wharf_testing::{guarded, until};

#[tokio::test]
async fn late_output_of_background_jobs_belongs_to_no_command() {
    for kind in KINDS {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        run(&shell, "mkfifo go; (read x <go; echo late) & true").await;
        assert_eq!(shell.background().len(), 1, "{kind:?}");
        assert_eq!(said(&shell, "echo one").await, "one", "{kind:?}");
        at_prompt(&shell).await;
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
async fn nothing_that_a_users_file_starts_is_given_the_secret_either() {
    const FILE: &str = "cat >eight 2>&1 <&8; ls -l /proc/self/fd >all; sh -c 'set; export' >set";
    for (kind, name) in [(Kind::Bash, ".bashrc"), (Kind::Zsh, ".zshrc"), (Kind::Sh, "env")] {
        let desk = Desk::new();
        desk.file(name, FILE);
        let shell = desk.try_open(desk.spec(kind).env("ENV", "$HOME/env")).await.unwrap();
        for (file, most) in [("eight", 200), ("all", 2000), ("set", 20_000)] {
            let text = std::fs::read_to_string(desk.home.join(file)).unwrap();
            let is_clean = !text.contains(&shell.meta().nonce) && text.len() < most;
            assert!(is_clean && (file != "all" || !text.contains(" 8 ->")), "{kind:?} {file}: {text}");
        }
        assert_eq!(said(&shell, "echo hi").await, "hi");
        desk.place.check().await;
    }
}

#[tokio::test]
async fn traces_into_a_file_have_no_secret_in_them() {
    let desk = Desk::new();
    let shell = desk.open(Kind::Bash).await;
    run(&shell, "exec 7>trace; BASH_XTRACEFD=7; set -x").await;
    assert_eq!(said(&shell, "echo hi; echo there").await, "hi\nthere");
    run(&shell, "false").await;
    run(&shell, "set +x").await;
    let trace = std::fs::read_to_string(desk.home.join("trace")).unwrap();
    assert!(trace.contains("+ echo hi\n") && trace.contains("+ echo there\n"), "{trace}");
    assert!(!trace.contains(&shell.meta().nonce) && !trace.contains('\u{1b}'), "{trace}");
    desk.place.check().await;
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
    for (kind, depth) in [(Kind::Bash, "++ "), (Kind::Sh, "+ "), (Kind::Zsh, "+ ")] {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        run(&shell, "PS4='+ '; set -x").await;
        assert_eq!(said(&shell, "echo hi").await, format!("{depth}echo hi\nhi"));
        run(&shell, "set +x").await;
        assert_eq!(said(&shell, "echo hi").await, "hi");
        desk.place.check().await;
    }
}

#[tokio::test]
async fn lines_keep_their_numbers_when_the_first_ones_are_not_kept_any_more() {
    const EACH: u64 = 4000;
    let desk = Desk::new();
    let shell = desk.try_open(desk.spec(Kind::Bash).keep(64 * 1024)).await.unwrap();
    let line = format!("for k in {{0..9}}; do seq $((k*{EACH}+1)) $((k*{EACH}+{EACH})); read -s x; done");
    let command = guarded(shell.run(&line, "agent")).await.unwrap();
    for part in 1..=10 {
        // Step by step, so that all of it is followed.
        let last = (part * EACH).to_string();
        let is_last = Arc::new(move |line: &str| line == last);
        let because = guarded(shell.wait(Until::LineFrom(command.id, 1, is_last), deadline())).await;
        assert_eq!(because, Because::Line(part * EACH, (part * EACH).to_string()));
        // Before it reads, Enter would be echoed, which is a line of its own.
        let because = guarded(shell.wait(Until::End, deadline())).await;
        assert!(matches!(because, Because::Awaiting(_)), "{because:?}");
        guarded(shell.send("", Enter::Press, "agent")).await.unwrap();
    }
    guarded(shell.wait(Until::End, deadline())).await;
    for is_newest in [true, false] {
        // The first that is kept was cut within.
        let kept = shell.lines(command.id, 1).await.unwrap();
        assert_eq!(kept.dropped > 0, !is_newest, "memory has all of it");
        assert_eq!(kept.first > 1, !is_newest);
        for (number, text) in (kept.first..).zip(&kept.lines).skip(1) {
            assert_eq!(number.to_string(), *text);
        }
        assert_eq!(kept.first + kept.lines.len() as u64, 10 * EACH + 1);
        run(&shell, "true").await;
    }
    desk.place.check().await;
}

#[tokio::test]
async fn going_over_lines_ends_where_it_is_broken_off() {
    let desk = Desk::new();
    let shell = desk.open(Kind::Bash).await;
    run(&shell, "seq 1 30000").await;
    for is_newest in [true, false] {
        let seen = shell.fold(1, 20_000, Vec::new(), |seen, line| {
            seen.push((line.number, line.text.to_owned()));
            if seen.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let seen = guarded(seen).await.unwrap().state;
        assert_eq!(seen, [(20_000, "20000".to_owned()), (20_001, "20001".to_owned())], "{is_newest}");
        assert_eq!(shell.count(1), Some(30_000));
        run(&shell, "true").await;
    }
    // Somebody who gives up while the journal is read is not called any more.
    let (called, calls) = std::sync::mpsc::sync_channel(0);
    let pass = shell.fold(1, 1, (), move |(), _| {
        let _ = called.send(());
        ControlFlow::Continue(())
    });
    tokio::select! {
        biased;
        _ = pass => panic!("nobody has taken the calls"),
        () = std::future::ready(()) => {}
    }
    // The call that was under way, at most.
    let heard = calls.iter().count();
    assert!(heard <= 1, "{heard}");
    desk.place.check().await;
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
