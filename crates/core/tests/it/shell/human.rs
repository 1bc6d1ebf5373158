//! People at the same terminal: what they type counts, and is told.

use super::desk::{Desk, run, said};
use wharf_core::shell::{HUMAN, Hold, Kind, RunError, Shell};
use wharf_testing::{guarded, until};

/// Somebody types a line at the prompt.
async fn type_line(shell: &Shell, line: &str, then: &str) {
    let mut input = shell.terminal().input(HUMAN).unwrap();
    guarded(input.send(format!("{line}\r").as_bytes())).await.unwrap();
    until(shell.terminal(), then).await;
}

/// Waits until the newest command has that text and has ended.
async fn ended(shell: &Shell, text: &str) {
    guarded(async {
        while !shell.status().last.is_some_and(|last| last.text == text && last.exit_code.is_some()) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn what_people_type_is_a_command_of_theirs() {
    for kind in [Kind::Bash, Kind::Zsh] {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        assert_eq!(shell.typed_by_others("agent"), None);
        run(&shell, "echo mine").await;
        assert_eq!(shell.typed_by_others("agent"), None);
        type_line(&shell, "echo the''irs; cd /tmp", "theirs").await;
        ended(&shell, "echo the''irs; cd /tmp").await;
        let last = shell.status().last.unwrap();
        assert_eq!((last.id, last.author.as_str(), last.exit_code), (2, "human", Some(0)), "{kind:?}");
        assert_eq!(shell.lines(2, 1).await.unwrap().lines, ["theirs"], "{kind:?}");
        let typed = shell.typed_by_others("agent").unwrap();
        assert_eq!(typed.bytes, 23);
        assert_eq!(shell.typed_by_others("agent").unwrap().bytes, 23, "until it is told");
        shell.told_typed("agent", typed.told);
        assert_eq!(shell.typed_by_others("agent"), None, "told once");
        let done = run(&shell, "pwd").await;
        assert_eq!((done.text.as_str(), done.id), ("/tmp", 3), "{kind:?}");
        desk.place.check().await;
    }
}

#[tokio::test]
async fn agents_commands_stay_out_of_the_history() {
    for control in [
        "",
        "HISTCONTROL=ignoreboth",
        "HISTCONTROL=",
        "readonly HISTCONTROL=",
        "readonly HISTCONTROL=ignoredups",
    ] {
        let desk = Desk::new();
        desk.file(".bashrc", &format!("HISTFILE=~/.hist; {control}"));
        let shell = desk.open(Kind::Bash).await;
        run(&shell, "echo agent").await;
        type_line(&shell, "echo human", "human\r\n").await;
        ended(&shell, "echo human").await;
        run(&shell, "echo agent again").await;
        let history = said(&shell, "HISTTIMEFORMAT= history | sed 's/ *[0-9]* *//'").await;
        assert_eq!(history, "echo human", "{control}");
        assert_eq!(
            said(&shell, "echo \"$HISTCONTROL\"").await,
            control.trim_start_matches("readonly ").trim_start_matches("HISTCONTROL=").to_owned()
        );
        run(&shell, "exit").await;
        assert_eq!(std::fs::read_to_string(desk.home.join(".hist")).unwrap(), "echo human\n", "{control}");
        desk.place.check().await;
    }
}

#[tokio::test]
async fn zsh_keeps_agents_commands_out_of_its_history() {
    let desk = Desk::new();
    desk.file(".zshrc", "HISTFILE=~/.hist; HISTSIZE=100; SAVEHIST=100");
    let shell = desk.open(Kind::Zsh).await;
    run(&shell, "echo agent").await;
    type_line(&shell, "echo human", "human\r\n").await;
    ended(&shell, "echo human").await;
    run(&shell, "echo agent again").await;
    run(&shell, "exit").await;
    assert_eq!(std::fs::read_to_string(desk.home.join(".hist")).unwrap(), "echo human\n");
    desk.place.check().await;
}

#[tokio::test]
async fn while_a_person_holds_the_terminal_agents_do_not_type() {
    let desk = Desk::new();
    let shell = desk.open(Kind::Bash).await;
    let hold = Hold::take(shell.terminal()).unwrap();
    assert!(matches!(guarded(shell.run("echo no", "agent")).await, Err(RunError::Held)));
    drop(hold);
    assert_eq!(said(&shell, "echo yes").await, "yes");
    desk.place.check().await;
}

#[tokio::test]
async fn a_line_that_somebody_has_begun_does_not_mix_with_a_command() {
    for kind in super::desk::KINDS {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        run(&shell, "true").await;
        let mut input = shell.terminal().input(HUMAN).unwrap();
        guarded(input.send(b"rm -rf half")).await.unwrap();
        until(shell.terminal(), "half").await;
        let done = run(&shell, "echo whole").await;
        assert_eq!((done.text.as_str(), done.code), ("whole", Some(0)), "{kind:?}");
        desk.place.check().await;
    }
}
