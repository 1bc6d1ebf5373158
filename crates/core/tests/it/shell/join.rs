//! Others that follow the same shell, at the same time or afterwards.

use super::desk::{Desk, KINDS, run, run_until, said, send, together, wait};
use std::time::{Duration, Instant};
use wharf_core::shell::{Because, Kind, Shell, ShellError, State};
use wharf_testing::guarded;

#[tokio::test]
async fn whoever_joins_knows_what_happened_before() {
    for kind in KINDS {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        run(&shell, "cd /tmp; echo one; (exit 3)").await;
        run(&shell, "echo two").await;
        let (before, id) = (shell.commands(), shell.terminal().id().clone());
        drop(shell);
        let other = Shell::join(desk.place.reopened().get(&id).unwrap()).await.unwrap();
        let status = other.status();
        assert_eq!((status.state, status.cwd.to_str()), (State::Idle, Some("/tmp")), "{kind:?}");
        for (then, now) in before.iter().zip(other.commands()) {
            assert_eq!((then.id, &then.text, &then.author), (now.id, &now.text, &now.author));
            assert_eq!((then.exit_code, then.output), (now.exit_code, now.output));
            assert!(now.lasted.is_some());
        }
        assert_eq!(other.lines(1, 1).await.unwrap().lines, ["one"]);
        let done = run(&other, "echo three").await;
        assert_eq!((done.text.as_str(), done.id), ("three", 3), "{kind:?}");
        desk.place.check().await;
    }
}

#[tokio::test]
async fn a_command_runs_on_while_nobody_follows() {
    for kind in KINDS {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        run_until(&shell, "echo begun; read x; echo \"got $x\"; (exit 9)", "begun\r").await;
        let (began, id) = (shell.status().last.unwrap(), shell.terminal().id().clone());
        drop(shell);
        let other = Shell::join(desk.place.reopened().get(&id).unwrap()).await.unwrap();
        let status = other.status();
        assert_eq!(status.state, State::Running, "{kind:?}");
        let last = status.last.unwrap();
        assert_eq!((last.id, &last.text), (1, &began.text));
        assert!(last.began_ms.abs_diff(began.began_ms) <= 1000, "{kind:?}: {last:?} {began:?}");
        assert_eq!(other.lines(1, 1).await.unwrap().lines, ["begun"]);
        send(&other, "it").await;
        assert_eq!(wait(&other).await, Because::Ended);
        assert_eq!(other.status().last.unwrap().exit_code, Some(9));
        assert_eq!(other.lines(1, 1).await.unwrap().lines, ["begun", "it", "got it"], "{kind:?}");
        desk.place.check().await;
    }
}

#[tokio::test]
async fn two_who_follow_see_the_same_and_take_turns() {
    let desk = Desk::new();
    let one = desk.open(Kind::Bash).await;
    let two = Shell::join(desk.place.reopened().get(one.terminal().id()).unwrap()).await.unwrap();
    for round in 0..20 {
        let (shell, other) = if round % 2 == 0 { (&one, &two) } else { (&two, &one) };
        let done = run(shell, &format!("echo {round}")).await;
        assert_eq!(done.text, round.to_string());
        // The other one may be a moment behind.
        while other.status().last.is_none_or(|last| last.id < done.id || last.exit_code.is_none()) {
            guarded(tokio::task::yield_now()).await;
        }
    }
    desk.place.check().await;
}

#[tokio::test]
async fn many_shells_at_once_keep_their_own() {
    let desk = Desk::new();
    let mut shells = Vec::new();
    for _ in 0..20 {
        shells.push(desk.open(Kind::Bash).await);
    }
    together(shells.iter().enumerate().map(|(at, shell)| async move {
        for round in 0..5 {
            assert_eq!(said(shell, &format!("echo {at}.{round}")).await, format!("{at}.{round}"));
        }
    }))
    .await;
    drop(shells);
    desk.place.check_to_the_last_descriptor().await;
}

#[tokio::test]
async fn joining_after_much_output_is_quick() {
    let desk = Desk::new();
    let shell = desk.open(Kind::Bash).await;
    run(&shell, "head -c 5000000 /dev/zero | tr '\\0' x | fold -w 100").await;
    run(&shell, "echo after").await;
    let began = Instant::now();
    let other = Shell::join(desk.place.reopened().get(shell.terminal().id()).unwrap()).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(other.commands().len(), 2);
    assert_eq!(other.lines(2, 1).await.unwrap().lines, ["after"]);
    desk.place.check().await;
}

#[tokio::test]
async fn what_is_no_shell_is_not_joined() {
    let desk = Desk::new();
    let terminal = desk.place.start(desk.place.line("sleep 1000")).await;
    assert!(matches!(Shell::join(terminal).await, Err(ShellError::NotAShell)));
    desk.place.check().await;
}

#[tokio::test]
async fn a_listing_shows_the_shell_by_its_name_and_the_secret_is_closed_to_others() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let shell = desk.open(Kind::Bash).await;
    let meta = shell.terminal().meta();
    assert_eq!(meta.command_line(), "bash (default)");
    assert_eq!(meta.integration.as_ref().unwrap().seat, "seat");
    let file = desk.place.files(shell.terminal()).join("meta");
    assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!meta.env.iter().any(|name| name.contains("WHARF_SHELL")));
    desk.place.check().await;
}
