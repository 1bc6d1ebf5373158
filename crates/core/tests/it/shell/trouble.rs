//! What commands do to their shell on purpose or by accident.

use super::desk::{Desk, KINDS, run, said};
use wharf_core::shell::{Kind, State};

#[tokio::test]
async fn traps_run_as_often_as_they_would() {
    let desk = Desk::new();
    let shell = desk.open(Kind::Bash).await;
    run(&shell, "trap 'echo ERR' ERR").await;
    assert_eq!(said(&shell, "false").await, "ERR");
    assert_eq!(said(&shell, "true").await, "");
    run(&shell, "trap - ERR; trap 'echo INT' INT").await;
    assert_eq!(said(&shell, "kill -INT $$; echo after").await, "INT\nafter");
    desk.place.check().await;
}

#[tokio::test]
async fn a_shell_survives_what_is_done_to_its_integration() {
    for (kind, command) in [
        (Kind::Bash, "unset -f __wharf_end __wharf_ready"),
        (Kind::Bash, "set -o posix"),
        (Kind::Bash, "set -o vi; bind 'set show-mode-in-prompt on'"),
        (Kind::Bash, "shopt -u promptvars"),
        (Kind::Bash, "PROMPT_COMMAND=(true)"),
        (Kind::Bash, "readonly PS1"),
        (Kind::Bash, "LC_ALL=C; TERM=dumb"),
        (Kind::Bash, "enable -n printf; enable printf"),
        (Kind::Zsh, "unfunction __wharf_ready"),
        (Kind::Zsh, "setopt ksh_arrays sh_word_split no_prompt_subst; emulate sh"),
        (Kind::Zsh, "bindkey -v"),
        (Kind::Sh, "set -C; set -f"),
    ] {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        run(&shell, command).await;
        for round in 0..3 {
            let done = run(&shell, "echo still; (exit 3)").await;
            assert_eq!((done.text.as_str(), done.code), ("still", Some(3)), "{kind:?} {command} {round}");
        }
        desk.place.check().await;
    }
}

#[tokio::test]
async fn a_thousand_commands_in_a_row_are_each_their_own() {
    let desk = Desk::new();
    let shell = desk.open(Kind::Bash).await;
    for n in 1..=1000u32 {
        let code = i32::try_from(n % 7).unwrap();
        let done = run(&shell, &format!("echo {n}; (exit {code})")).await;
        assert_eq!((done.text, done.code, done.id), (n.to_string(), Some(code), u64::from(n)));
    }
    desk.place.check().await;
}

#[tokio::test]
async fn a_flood_and_binary_leave_the_next_command_clean() {
    for kind in KINDS {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        // What comes right after random bytes may be the end of a sequence that they began.
        let done = run(&shell, "head -c 200000 /dev/urandom; yes | head -n 20000; echo end").await;
        assert_eq!((done.code, done.text.lines().last()), (Some(0), Some("end")), "{kind:?}");
        assert_eq!(said(&shell, "echo clean").await, "clean", "{kind:?}");
        assert_eq!(shell.status().state, State::Idle);
        desk.place.check().await;
    }
}
