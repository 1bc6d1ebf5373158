//! How commands and shells end, and how that is told.

use super::desk::{Desk, KINDS, press, run, run_until, said, send, wait};
use wharf_core::Outcome;
use wharf_core::shell::{Because, Kind, RunError, State};
use wharf_testing::guarded;

#[tokio::test]
async fn an_interrupted_command_ends_with_130() {
    for kind in KINDS {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        run_until(&shell, "sh -c 'echo ready; exec sleep 1000'; echo never", "ready\r").await;
        press(&shell, "C-c").await;
        assert_eq!(wait(&shell).await, Because::Ended, "{kind:?}");
        let status = shell.status();
        assert_eq!(status.state, State::Idle);
        assert_eq!(status.last.unwrap().exit_code, Some(130), "{kind:?}");
        assert_eq!(shell.lines(1, 1).await.unwrap().lines, ["ready", "^C"], "{kind:?}");
        assert_eq!(said(&shell, "echo next").await, "next", "{kind:?}");
        desk.place.check().await;
    }
}

#[tokio::test]
async fn an_interrupted_command_that_took_the_hooks_away_ends_too() {
    for (kind, hooks) in [
        (Kind::Bash, "PROMPT_COMMAND=; PS1='new '; PS0="),
        (Kind::Bash, "unset PROMPT_COMMAND PS1"),
        (Kind::Zsh, "precmd_functions=() preexec_functions=() PS1='new '"),
    ] {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        run_until(&shell, &format!("{hooks}; sh -c 'echo ready; exec sleep 1000'"), "ready\r").await;
        press(&shell, "C-c").await;
        assert_eq!(wait(&shell).await, Because::Ended, "{kind:?} {hooks}");
        assert_eq!(shell.status().last.unwrap().exit_code, Some(130), "{kind:?} {hooks}");
        assert_eq!(said(&shell, "echo next").await, "next", "{kind:?} {hooks}");
        desk.place.check().await;
    }
}

#[tokio::test]
async fn a_shell_that_exits_is_reported_with_its_code() {
    for kind in KINDS {
        for (command, outcome) in [("exit 7", Outcome::Code(7)), ("echo bye; kill -9 $$", Outcome::Signal(9))]
        {
            let desk = Desk::new();
            let shell = desk.open(kind).await;
            run(&shell, "cd /tmp").await;
            let done = run(&shell, command).await;
            let Because::Exited(ended) = done.because else { panic!("{done:?}") };
            assert_eq!(ended.outcome, outcome, "{kind:?}");
            assert_eq!(done.code, None);
            assert_eq!(shell.status().cwd.to_str(), Some("/tmp"));
            assert!(shell.status().last.unwrap().lasted.is_some());
            assert!(matches!(guarded(shell.run("echo", "agent")).await, Err(RunError::Exited(_))));
            desk.place.check().await;
        }
    }
}

#[tokio::test]
async fn a_command_that_fails_under_set_e_ends_the_shell_as_it_does_in_one() {
    let desk = Desk::new();
    let shell = desk.open(Kind::Bash).await;
    let done = run(&shell, "set -e; echo a; false; echo b").await;
    assert!(matches!(done.because, Because::Exited(ref ended) if ended.exit_code() == Some(1)), "{done:?}");
    assert_eq!(done.text, "a");
    desk.place.check().await;
}

#[tokio::test]
async fn a_shell_that_is_replaced_by_another_goes_on() {
    for (kind, command) in [
        (Kind::Bash, "exec bash"),
        (Kind::Bash, "exec bash --norc"),
        (Kind::Bash, "exec zsh"),
        (Kind::Zsh, "exec zsh"),
        (Kind::Zsh, "exec bash"),
        (Kind::Bash, "exec sh"),
        (Kind::Sh, "exec dash"),
        (Kind::Sh, "exec bash"),
    ] {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        let done = run(&shell, &format!("cd /tmp; export KEPT=1; {command}")).await;
        assert_eq!(
            (done.text.as_str(), done.because, done.code),
            ("", Because::Ended, Some(0)),
            "{kind:?} {command}"
        );
        let done = run(&shell, "echo $KEPT $PWD; (exit 4)").await;
        assert_eq!((done.text.as_str(), done.code, done.id), ("1 /tmp", Some(4), 2), "{kind:?} {command}");
        // People who watch have not seen how that was done, and what they type is shown as before.
        let shown = shell.terminal().read(0, 1 << 20).unwrap();
        let shown = String::from_utf8_lossy(&shown.bytes).into_owned();
        assert!(
            !shown.contains("__wharf_escape") && !shown.contains("6973;@"),
            "{kind:?} {command}: {shown}"
        );
        let secrets = shown.matches(&shell.meta().nonce).count();
        assert_eq!(secrets, shown.matches(&format!("\u{1b}]6973;{}", shell.meta().nonce)).count(), "{shown}");
        let modes =
            said(&shell, "stty -a | tr ' ' '\\n' | grep -x -e '-*echo'; set | grep '^__wharf_[rls]='").await;
        assert_eq!(modes, "echo", "{kind:?} {command}");
        desk.place.check().await;
    }
}

#[tokio::test]
async fn a_shell_within_the_shell_is_a_program_that_waits() {
    for inner in ["bash --norc", "zsh -f", "dash", "env -i TERM=xterm bash"] {
        let desk = Desk::new();
        let shell = desk.open(Kind::Bash).await;
        guarded(shell.run(&format!("export PS1; {inner}"), "agent")).await.unwrap();
        assert!(matches!(wait(&shell).await, Because::Awaiting(_)), "{inner}");
        send(&shell, "echo inside-$((1+1))").await;
        wharf_testing::until(shell.terminal(), "inside-2").await;
        assert!(matches!(wait(&shell).await, Because::Awaiting(_)), "{inner}");
        send(&shell, "exit 6").await;
        assert_eq!(wait(&shell).await, Because::Ended, "{inner}");
        let last = shell.status().last.unwrap();
        assert_eq!((last.id, last.exit_code), (1, Some(6)), "{inner}");
        desk.place.check().await;
    }
}

#[tokio::test]
async fn stopped_jobs_are_known_and_go_on() {
    for kind in KINDS {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        run_until(&shell, "sh -c 'echo ready; exec sleep 1000'", "ready\r").await;
        press(&shell, "C-z").await;
        assert_eq!(wait(&shell).await, Because::Ended, "{kind:?}");
        assert_eq!(shell.status().last.unwrap().exit_code, Some(148), "{kind:?}");
        let jobs = shell.background();
        let job = (jobs[0].command.ends_with("sleep 1000"), jobs[0].state);
        assert_eq!((jobs.len(), job), (1, (true, "stopped")), "{kind:?} {jobs:?}");
        guarded(shell.run("fg", "agent")).await.unwrap();
        // Before it is in the foreground, the key would be the shell's.
        let in_front = async {
            while !shell.background().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        guarded(in_front).await;
        press(&shell, "C-c").await;
        assert_eq!(wait(&shell).await, Because::Ended, "{kind:?}");
        assert_eq!(shell.background(), []);
        desk.place.check().await;
    }
}

#[tokio::test]
async fn what_runs_is_not_run_over() {
    let desk = Desk::new();
    let shell = desk.open(Kind::Bash).await;
    run_until(&shell, "cd /; echo ready; read -r line; echo \"got $line\"", "ready\r").await;
    match guarded(shell.run("echo no", "agent")).await {
        Err(RunError::Busy(command)) => assert!(command.id == 1 && command.text.contains("read -r")),
        other => panic!("{other:?}"),
    }
    assert_eq!(shell.status().cwd.to_str(), Some("/"));
    send(&shell, "it").await;
    assert_eq!(wait(&shell).await, Because::Ended);
    assert_eq!(shell.lines(1, 1).await.unwrap().lines, ["ready", "it", "got it"]);
    desk.place.check().await;
}
