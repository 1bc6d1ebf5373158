//! Programs that ask: people, and their terminal.

use super::desk::{Desk, awaits, run, run_until, said, send, wait};
use wharf_core::shell::{Because, Kind, Shell};
use wharf_testing::guarded;

#[tokio::test]
async fn who_waits_for_input_is_known_and_answered() {
    let desk = Desk::new();
    let shell = desk.open(Kind::Bash).await;
    for (command, kind, answer, end) in [
        ("read -r -p 'Name: ' x; echo \"<$x>\"", "text", "me", "<me>"),
        ("read -rs -p 'Password: ' x; echo; echo \"<$x>\"", "secret", "pw", "<pw>"),
        ("read -r -p 'Go on? [y/N] ' x; echo \"<$x>\"", "confirm", "y", "<y>"),
        ("head -n 1", "text", "line", "line"),
    ] {
        guarded(shell.run(command, "agent")).await.unwrap();
        assert_eq!(awaits(&wait(&shell).await), kind, "{command}");
        send(&shell, answer).await;
        assert_eq!(wait(&shell).await, Because::Ended, "{command}");
        let id = shell.status().last.unwrap().id;
        assert_eq!(shell.lines(id, 1).await.unwrap().lines.last().unwrap(), end);
    }
    desk.place.check().await;
}

#[tokio::test]
async fn what_reads_keys_as_the_shell_does_is_not_taken_for_its_prompt() {
    let desk = Desk::new();
    let shell = desk.open(Kind::Zsh).await;
    guarded(shell.run("select x in apple pear; do echo \"<$x>\"; break; done", "agent")).await.unwrap();
    assert!(matches!(wait(&shell).await, Because::Awaiting(_)));
    send(&shell, "2").await;
    assert_eq!(wait(&shell).await, Because::Ended);
    assert_eq!(shell.lines(1, 1).await.unwrap().lines.last().unwrap(), "<pear>");
    desk.place.check().await;
}

/// What can be read from the terminal although nobody types.
async fn typed_ahead(shell: &Shell) -> String {
    guarded(shell.run("read -t 0.2 -n 1 x; echo \"<$x>\"", "agent")).await.unwrap();
    while wait(shell).await != Because::Ended {}
    let id = shell.status().last.unwrap().id;
    shell.lines(id, 1).await.unwrap().lines.join("\n")
}

/// Asks its terminal where the cursor is, and prints what it is told.
const ASKS: &str = "printf '\\n\\033[6n'; IFS= read -rs -d R x; echo \"${x#?}\"";

#[tokio::test]
async fn questions_to_the_terminal_are_answered_once_however_many_follow() {
    let desk = Desk::new();
    let shell = desk.open(Kind::Bash).await;
    let others = [
        Shell::join(shell.terminal().clone()).await.unwrap(),
        Shell::join(desk.place.reopened().get(shell.terminal().id()).unwrap()).await.unwrap(),
    ];
    let text = said(&shell, ASKS).await;
    assert!(text.trim().starts_with('[') && text.contains(";1"), "{text:?}");
    // A second answer would be typed at the prompt.
    assert_eq!(typed_ahead(&shell).await, "<>");
    drop(shell);
    // Each follower learns of the end when it gets there.
    while wait(&others[0]).await != Because::Ended {}
    let text = said(&others[0], ASKS).await;
    assert!(text.trim().starts_with('['), "{text:?}");
    // Questions that are old when somebody joins have been answered.
    let late = Shell::join(others[0].terminal().clone()).await.unwrap();
    drop(others);
    assert_eq!(typed_ahead(&late).await, "<>");
    desk.place.check().await;
}

#[tokio::test]
async fn a_command_that_reads_single_keys_and_wants_to_know_what_is_pasted_gets_only_what_is_typed() {
    let bash = "IFS= read -rsn1 k; IFS= read -rsn5 -t 0.2 more";
    let zsh = "IFS= read -rsk1 k; IFS= read -rsk5 -t 0.2 more";
    for (kind, reads) in [(Kind::Bash, bash), (Kind::Zsh, zsh)] {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        let command =
            format!("printf '\\033[?2004hkey? '; {reads}; printf '\\033[?2004l<%q>\\n' \"$k$more\"");
        guarded(shell.run(&command, "agent")).await.unwrap();
        assert!(matches!(wait(&shell).await, Because::Awaiting(_)), "{kind:?}");
        guarded(shell.send("q", wharf_core::shell::Enter::Leave, "agent")).await.unwrap();
        while wait(&shell).await != Because::Ended {}
        let lines = shell.lines(1, 1).await.unwrap().lines;
        assert!(lines[0].ends_with("q>") && !lines[0].contains("7708"), "{kind:?}: {lines:?}");
        desk.place.check().await;
    }
}

#[tokio::test]
async fn a_program_that_asks_without_reading_holds_up_nobody() {
    let desk = Desk::new();
    let shell = desk.open(Kind::Bash).await;
    let done =
        run(&shell, "for i in {1..300}; do printf '\\033[6n\\033[c'; done; echo done; stty sane").await;
    // What it was told it may have echoed.
    assert!(done.text.contains("done"), "{}", done.text);
    assert_eq!(said(&shell, "echo next").await, "next");
    drop(shell);
    desk.place.check().await;
}

#[tokio::test]
async fn a_full_screen_program_is_seen_and_left() {
    let desk = Desk::new();
    let shell = desk.open(Kind::Bash).await;
    run_until(
        &shell,
        "printf '\\033[?1049h\\033[HMENU'; read -rsn1 k; printf '\\033[?1049l'; echo \"key $k\"",
        "MENU",
    )
    .await;
    assert!(matches!(wait(&shell).await, Because::Awaiting(_)));
    let picture = shell.picture();
    assert!(picture.alternate && picture.rows[0] == "MENU", "{picture:?}");
    guarded(shell.send("q", wharf_core::shell::Enter::Leave, "agent")).await.unwrap();
    assert_eq!(wait(&shell).await, Because::Ended);
    assert_eq!(shell.lines(1, 1).await.unwrap().lines, ["key q"]);
    assert!(!shell.picture().alternate);
    desk.place.check().await;
}
