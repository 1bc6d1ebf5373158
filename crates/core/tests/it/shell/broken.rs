//! Commands that take from their shell what wharf needs there: it is mended, or what is wrong is said. No code is made up.

use super::desk::{Desk, KINDS, run, try_run};
use std::fs;
use wharf_core::shell::{Because, Kind, RunError, State};

/// Every command after it is as it would be.
#[tokio::test]
async fn a_damaged_shell_is_mended() {
    for (kind, command) in [
        (Kind::Bash, "set +o emacs; set +o vi"),
        (Kind::Bash, "printf() { :; }; builtin() { :; }; command() { :; }; eval() { :; }; trap() { :; }"),
        (Kind::Bash, "local() { :; }; set() { :; }; unset() { :; }"),
        (Kind::Bash, "enable -n builtin printf"),
        (Kind::Bash, "for v in $(compgen -v); do unset -v \"$v\"; done 2>/dev/null"),
        (Kind::Bash, "for f in $(compgen -A function); do unset -f \"$f\"; done 2>/dev/null"),
        (Kind::Bash, "unset -f __wharf_tell 2>/dev/null; __wharf_mark="),
        (Kind::Bash, r#"bind -r "\e[7707~"; bind -r "\e[7708~"; bind -r "\e[77071~""#),
        (Kind::Bash, "shopt -s expand_aliases; alias __wharf_begin=true __wharf_end=true builtin=true"),
        (Kind::Zsh, "unsetopt zle"),
        (Kind::Zsh, r"bindkey -r '\e[7707~'; bindkey -r '\e[7708~'"),
        (Kind::Zsh, "builtin() { :; }; print() { :; }; zle() { :; }"),
        (Kind::Zsh, "disable print"),
        (Kind::Zsh, "unfunction __wharf_tell"),
        (Kind::Zsh, "unfunction __wharf_take"),
        (Kind::Sh, "printf() { :; }; read() { :; }; command() { :; }"),
        (Kind::Sh, "alias printf=true read=true __wharf_take=true"),
        (Kind::Sh, "unset -f __wharf_take __wharf_tell"),
        (Kind::Sh, "unset PS1 __wharf_mark __wharf_b __wharf_n __wharf_run"),
        (Kind::Sh, "stty raw"),
    ] {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        run(&shell, "true").await;
        let because = run(&shell, command).await.because;
        assert_eq!(because, Because::Ended, "{kind:?} {command}");
        for round in 0..3 {
            let done = run(&shell, "echo still; (exit 3)").await;
            assert_eq!((done.text.as_str(), done.code), ("still", Some(3)), "{kind:?} {command} {round}");
        }
        desk.place.check().await;
    }
}

#[tokio::test]
async fn who_rewrites_the_end_of_commands_makes_up_no_exit_code() {
    for (kind, command) in [
        (Kind::Bash, "__wharf_end() { :; }"),
        (Kind::Bash, "unset -f __wharf_end"),
        (Kind::Bash, "readonly status=7; false"),
        (Kind::Bash, "readonly __wharf_status=7; false"),
        (Kind::Bash, "set -T; trap '__wharf_status=0 status=0 __wharf_code=0' DEBUG; false"),
        (Kind::Zsh, "typeset -r __wharf_status=7; false"),
        (Kind::Zsh, "trap '__wharf_status=0' DEBUG; false"),
        (Kind::Zsh, "TRAPDEBUG() { typeset -g __wharf_status=0; }; false"),
        (Kind::Zsh, "__wharf_end() { :; }"),
        (Kind::Zsh, "__wharf_place() { __wharf_status=0; }"),
        (Kind::Zsh, "unfunction __wharf_end"),
        (Kind::Sh, "__wharf_end() { :; }; __wharf_place() { __wharf_status=0; }"),
        (Kind::Sh, "__wharf_over=; true"),
    ] {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        let code = run(&shell, command).await.code;
        if command.ends_with("false") {
            assert!(matches!(code, Some(1) | None), "{kind:?} {command}: {code:?}");
        }
        for round in 0..3 {
            let code = run(&shell, "false").await.code;
            assert!(matches!(code, Some(1) | None), "{kind:?} {command} {round}: {code:?}");
        }
        assert_eq!(run(&shell, "(exit 42)").await.code, Some(42), "{kind:?} {command}");
        desk.place.check().await;
    }
}

/// A trap that every function inherits changes what the functions were given.
#[tokio::test]
async fn what_a_trap_has_changed_is_not_told() {
    let desk = Desk::new();
    let shell = desk.open(Kind::Bash).await;
    for command in ["set -T; trap 'set -- 0' DEBUG; false", "false", "(exit 42)"] {
        // Or it is said that the shell does not tell.
        if let Ok(done) = try_run(&shell, command).await {
            assert!(matches!(done.code, Some(1 | 42) | None), "{command}: {done:?}");
        }
    }
    desk.place.check().await;
}

/// Files that are read into a shell have variables of such names, and some lock those of the shell.
#[tokio::test]
async fn read_only_variables_of_ones_own_break_nothing() {
    const NAMES: &str =
        "check length last text and i c extglob now first other typed dir hex map shown sp zsh";
    let own =
        KINDS.map(|kind| (kind, format!("for name in {NAMES}; do eval \"readonly $name=7\"; done; true")));
    let shells = ["IFS", "LC_ALL", "HISTCONTROL", "HISTTIMEFORMAT", "PS0", "PS1", "PROMPT_COMMAND"];
    let shells = shells.map(|name| (Kind::Bash, format!("readonly {name}")));
    for (kind, command) in own.into_iter().chain(shells) {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        fs::create_dir(desk.home.join("a b")).unwrap();
        assert_eq!(run(&shell, &command).await.code, Some(0), "{kind:?} {command}");
        for there in [".", "a b"] {
            let done = run(&shell, &format!("cd '{there}'; echo '  still'; (exit 3)")).await;
            assert_eq!((done.text.as_str(), done.code), ("  still", Some(3)), "{kind:?} {command}");
            assert_eq!(done.cwd, desk.home.join(there).components().collect::<std::path::PathBuf>());
        }
        let error = try_run(&shell, "echo 'open").await;
        assert!(matches!(error, Err(RunError::Syntax(_))), "{kind:?} {command}: {error:?}");
        desk.place.check().await;
    }
}

#[tokio::test]
async fn a_shell_that_cannot_be_mended_says_why_and_runs_nothing() {
    let cases = KINDS.map(|kind| (kind, "ulimit -n 5", "ulimit -n"));
    let locked = [Kind::Bash, Kind::Sh].map(|kind| (kind, "readonly __wharf_run=", "read-only"));
    let code = [(Kind::Sh, "readonly __wharf_status=0", "read-only")];
    let skips = [(Kind::Bash, "shopt -s extdebug; trap false DEBUG", "a trap")];
    for (kind, command, why) in cases.into_iter().chain(locked).chain(code).chain(skips) {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        let done = run(&shell, command).await;
        // It is over, and nobody knows how.
        assert_eq!((done.because, done.code), (Because::Ended, None), "{kind:?} {command}");
        for _ in 0..2 {
            match try_run(&shell, "echo ran >>ran").await {
                Err(RunError::Deaf(said)) => assert!(said.contains(why), "{kind:?} {command}: {said}"),
                other => panic!("{kind:?} {command}: {other:?}"),
            }
        }
        assert!(!desk.home.join("ran").exists(), "{kind:?} {command}");
        assert_eq!(shell.status().state, State::Idle, "{kind:?} {command}");
        desk.place.check().await;
    }
}

/// What was taken and not told of may have run.
#[tokio::test]
async fn a_command_is_never_given_twice() {
    for (kind, command) in [
        (Kind::Bash, "enable -n read"),
        (Kind::Bash, "readonly __wharf_cmd"),
        (Kind::Zsh, "unfunction __wharf_begin"),
        (Kind::Zsh, "__wharf_preexec() { :; }"),
        (Kind::Sh, "unset -f __wharf_take"),
    ] {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        run(&shell, command).await;
        let _ = try_run(&shell, "echo ran >>ran").await;
        let ran = fs::read_to_string(desk.home.join("ran")).unwrap_or_default();
        assert!(ran.lines().count() <= 1, "{kind:?} {command}: {ran:?}");
        desk.place.check().await;
    }
}
