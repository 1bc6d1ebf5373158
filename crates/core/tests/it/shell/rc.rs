//! Whatever a user's own files do, there is a shell afterwards.

use super::desk::{Desk, run, said, together, wait};
use std::fs;
use wharf_core::shell::{Because, Kind, Shell};
use wharf_core::unrestricted;
use wharf_testing::until;

/// Works as a shell should.
async fn check(shell: &Shell, what: &str) {
    let done = run(shell, "echo hi; (exit 3)").await;
    assert_eq!((done.text.as_str(), done.code), ("hi", Some(3)), "{what}");
    assert_eq!(said(shell, "echo $?").await, "3", "{what}");
    assert_eq!(shell.status().last.unwrap().id, 2, "{what}");
}

const BASH: &[&str] = &[
    "read -r answer; echo \"$answer\"",
    "read -r -p 'Name? ' a; read -rs b; cat",
    "exit 3",
    "echo before; exit",
    "sleep 0.3; echo slow",
    "PROMPT_COMMAND='echo prompting'",
    "PROMPT_COMMAND=('echo one' 'echo two')",
    "PROMPT_COMMAND='PS1=\"$? \"'",
    "PS1='\\u@\\h:\\w\\n> '",
    "PS0='running '",
    "trap 'echo debug >/dev/null' DEBUG",
    "trap 'true' EXIT INT CHLD",
    "set -o vi",
    "set -e; false",
    "set -u",
    "set -o noclobber",
    "shopt -s extglob histverify; set -o posix",
    "HISTCONTROL=ignoredups; HISTTIMEFORMAT='%F '",
    "alias echo='echo -n' cd=true printf=true read=true; unalias echo",
    "IFS=:",
    "stty -ixon",
    "exec 2>&1",
    "return 4",
    "echo 'syntax error' (",
    "LC_ALL=C",
    "readonly PROMPT_COMMAND",
    "bind 'set keyseq-timeout 1'; bind '\"\\e[7\": self-insert'",
];

/// As many at once as do not get into each other's way on a small machine.
const AT_ONCE: usize = 6;

/// Opens a shell for each text of that file.
async fn check_all(kind: Kind, file: &str, texts: &[&str]) {
    let desk = Desk::new();
    for texts in texts.chunks(AT_ONCE) {
        let homes: Vec<_> = texts.iter().map(|text| (*text, desk.home_with(file, text))).collect();
        let desk = &desk;
        together(homes.iter().map(|(text, home)| async move {
            let spec = desk.spec_of(kind, home).env("ENV", "$HOME/env file");
            let shell = match desk.try_open(spec).await {
                Ok(shell) => shell,
                Err(error) => panic!("{text}: {error:?}"),
            };
            check(&shell, text).await;
            let names = fs::read_dir(home).unwrap().map(|entry| entry.unwrap().file_name());
            let left: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with("tmp.")).collect();
            assert!(left.is_empty(), "{text}: {left:?}");
        }))
        .await;
    }
    desk.place.check().await;
}

#[tokio::test]
async fn bash_comes_to_its_prompt() {
    check_all(Kind::Bash, ".bashrc", BASH).await;
}

const ZSH: &[&str] = &[
    "read -r answer; echo \"$answer\"",
    "exit 3",
    "echo before; exit",
    "sleep 0.3; echo slow",
    "precmd() { echo prompting }",
    "preexec() { echo running >/dev/null }",
    "precmd() { PS1=\"$? \" }",
    "PROMPT='%n@%m:%~ %# '; RPROMPT='%T'",
    "trap 'true' EXIT INT",
    "bindkey -v",
    "setopt nounset noclobber sh_word_split ksh_arrays",
    "setopt err_exit; false",
    "setopt hist_ignore_all_dups share_history; HISTFILE=~/.h; SAVEHIST=10; HISTSIZE=10",
    "setopt no_prompt_subst no_prompt_cr no_prompt_sp transient_rprompt",
    "autoload -Uz compinit; compinit -d ~/.zcompdump",
    "return 4",
    "echo 'syntax error' (",
    "precmd_functions=()",
    "setopt xtrace; unsetopt xtrace",
    "emulate sh",
];

#[tokio::test]
async fn zsh_comes_to_its_prompt() {
    check_all(Kind::Zsh, ".zshrc", ZSH).await;
}

/// Whoever joins after the shell has replaced its bootstrap sees nothing of that, and still has to find it at its prompt.
#[tokio::test]
async fn zsh_whose_hooks_are_gone_is_found_at_its_prompt_by_one_who_comes_late() {
    let desk = Desk::new();
    desk.file(".zshrc", "precmd_functions=()");
    let terminal = desk.place.store.create(unrestricted(desk.spec(Kind::Zsh)).unwrap()).await.unwrap();
    // Its editor asks to be told what is pasted.
    until(&terminal, "\u{1b}[?2004h").await;
    let shell = Shell::join(terminal).await.unwrap();
    assert_eq!(wait(&shell).await, Because::Ended);
    check(&shell, "joined late").await;
    desk.place.check().await;
}

const SH: &[&str] = &[
    "read -r answer; echo \"$answer\"",
    "exit 3",
    "sleep 0.3",
    "PS1='$PWD> '",
    "trap true INT",
    "set -u",
    "set -e",
];

#[tokio::test]
async fn sh_comes_to_its_prompt() {
    check_all(Kind::Sh, "env file", SH).await;
}

#[tokio::test]
async fn what_a_users_file_prints_is_nobodys_output_and_what_it_sets_stays() {
    let desk = Desk::new();
    desk.file(".bashrc", "echo welcome; alias hi='echo hello'; export MINE=1; PATH=$PATH:~/bin");
    let shell = desk.open(Kind::Bash).await;
    assert_eq!(said(&shell, "hi $MINE; [[ $PATH == *bin ]] && echo path").await, "hello 1\npath");
    assert_eq!(shell.lines(0, 1).await.unwrap().lines, [""; 0]);
    desk.place.check().await;
}
