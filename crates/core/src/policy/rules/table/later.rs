//! Lines after which a shell that remembers would read later ones otherwise.

use super::Expect::{Ask, Deny, Nothing, Unknown, Unreadable};
use super::{Expect, RULES, judge_line, rules, said};

fn check(shell: &str, cases: &[(&str, Expect)]) {
    // Without what allows `bash -c`: harmless is what no rule speaks of.
    let rules = rules(&RULES.replace(r#"{"decision": "allow", "command": ["bash", "-c", "…"]},"#, ""));
    for (line, expect) in cases {
        let matches = judge_line(&rules, shell, line.as_bytes());
        assert_eq!(said(&matches), *expect, "{shell}: {line}: {matches:#?}");
        assert_eq!(
            matches.doubts.is_empty(),
            !(matches.unknown || matches.unreadable),
            "{shell}: {line}: {matches:#?}"
        );
    }
}

#[test]
fn ordinary_lines_stay_ordinary() {
    let cases = [
        "x=1",
        "export FOO=bar",
        "export PATH=$HOME/.cargo/bin:$PATH",
        "A=1 B=2 make",
        "alias ll='ls -l'",
        "alias ..='cd ..' gs='git status'",
        "alias",
        "unalias ll",
        "f() { ls \"$1\"; }; f x",
        "PS1='$ '",
        "PS1='\\u@\\h \\$ ' PS2='> '",
        "export PS1",
        "PROMPT_COMMAND='history -a'",
        "trap - EXIT",
        "trap '' INT",
        "trap 'echo bye' EXIT",
        "set -euo pipefail",
        "set -- $x",
        "shopt -s nullglob",
        "hash -r",
        "hash -d src=/src",
        "type ls; hash -t ls",
        "bind -p",
        "complete -p",
        "compgen -c",
        "enable -a",
        "fc -l",
        "read x < f",
        "read -r a b <<< 'c d'",
        "printf '%s\\n' \"$x\"",
        "printf -v x '%s' y",
        "declare -A m; declare -i n=1",
        "local x=1",
        "unset x 'm[k]'",
        "let i=i+1",
        "echo ${x:-y} ${x:+z} ${x#a=b} ${#x}",
        ": ${x:=y}",
        "[ -v x ] && test -f y",
        "mapfile -t lines < f",
        "jobs -l",
        "cd sub && ls",
    ];
    check("/usr/bin/bash", &cases.map(|line| (line, Nothing)));
}

#[test]
fn what_changes_the_meaning_of_later_lines_is_judged_by_what_it_makes_of_them_or_unknown() {
    check(
        "/usr/bin/bash",
        &[
            // Another program under a name.
            ("hash -p /bin/rm ls", Deny),
            ("hash -p/bin/rm ls", Deny),
            ("hash -lp /bin/rm ls", Deny),
            ("builtin hash -p /bin/rm ls", Deny),
            ("hash -p ./x ls", Unknown),
            ("hash -p \"$x\" ls", Unknown),
            ("BASH_CMDS[ls]=/bin/rm", Unknown),
            ("BASH_CMDS['ls']=/bin/rm", Unknown),
            ("declare BASH_CMDS[ls]=/bin/rm", Unknown),
            // Aliases, with whatever may stand behind them.
            ("alias ls=rm", Deny),
            ("alias g=git", Deny),
            ("alias g='git status'", Nothing),
            ("alias p='git push'", Deny),
            ("alias x=''", Unknown),
            ("alias x='ls;'", Unknown),
            ("alias x='sudo '", Unknown),
            ("alias x=eval", Unknown),
            ("alias x=\"$y\"", Unknown),
            ("alias $y", Unknown),
            ("alias x=\"echo '\"", Unreadable),
            ("alias '[[=:'", Unknown),
            ("alias if=ls", Unknown),
            ("BASH_ALIASES[ls]=rm", Unknown),
            ("BASH_ALIASES=([ls]=rm)", Unknown),
            ("declare -A BASH_ALIASES=([ls]=rm)", Unknown),
            // Functions are their bodies.
            ("ls() { rm x; }", Deny),
            ("ls() { \"$@\"; }", Unknown),
            ("g() { git \"$@\"; }", Deny),
            ("g() { git \"$1\"; }", Ask),
            ("command_not_found_handle() { rm x; }", Deny),
            // Before a prompt or a command.
            ("PROMPT_COMMAND='rm x'", Deny),
            ("PROMPT_COMMAND=\"$x\"", Unknown),
            ("PROMPT_COMMAND+='m x'", Unknown),
            ("PROMPT_COMMAND=(ls)", Unknown),
            ("PROMPT_COMMAND[1]='rm x'", Unknown),
            ("export PROMPT_COMMAND='rm x'", Deny),
            ("declare PROMPT_COMMAND='rm x'", Deny),
            ("read PROMPT_COMMAND <<< 'rm x'", Unknown),
            ("printf -v PROMPT_COMMAND 'rm x'", Unknown),
            ("mapfile PROMPT_COMMAND <<< 'rm x'", Unknown),
            ("for PROMPT_COMMAND in 'rm x'; do :; done", Unknown),
            (": ${PROMPT_COMMAND:=rm x}", Unknown),
            (": ${PROMPT_COMMAND='rm x'}", Unknown),
            (": ${PROMPT_COMMA\\\nND:=rm x}", Unknown),
            (": ${!x:=rm x}", Unknown),
            ("declare -n x=PROMPT_COMMAND", Unknown),
            ("local -rn x=y", Unknown),
            ("PS1='$(rm x)'", Unknown),
            ("PS1='`rm x`'", Unknown),
            ("PS1='\\044(rm x)'", Unknown),
            ("PS1=\"$(rm x)\"", Deny),
            ("PS1='$'; PS1+='(rm x)'", Unknown),
            ("PS0='$(rm x)'", Unknown),
            ("PS4='$(rm x)'; set -x", Unknown),
            ("PS4='$(rm x)' bash -xc ls", Unknown),
            ("MAILPATH='/x?$(rm y)'", Unknown),
            ("trap 'rm x' DEBUG", Deny),
            ("trap '$BASH_COMMAND -f' DEBUG", Unknown),
            ("trap \"$x\" DEBUG", Unknown),
            // Keys, completion, libraries, history.
            ("bind -x '\"\\C-a\": rm x'", Unknown),
            ("bind '\"x\": \"rm y\\n\"'", Unknown),
            ("complete -C 'rm x' ls", Unknown),
            ("complete -F f ls", Unknown),
            ("compgen -C 'rm x'", Unknown),
            ("compgen -W '$(rm x)'", Unknown),
            ("enable -f ./x.so ls", Unknown),
            ("enable -n test", Unknown),
            ("mapfile -C 'rm x' -c 1 a", Unknown),
            ("fc -s", Unknown),
            ("set -k", Unknown),
            ("jobs -x rm x", Deny),
            // Files.
            ("source ./x", Unknown),
            (". ./x", Unknown),
            (". <(echo rm x)", Unknown),
            ("source venv/bin/activate && rm x", Deny),
            ("BASH_ENV=./x bash -c ls", Unknown),
            ("export ENV=./x", Unknown),
            ("env 'BASH_FUNC_ls%%=() { rm x; }' bash -c ls", Unknown),
            // Subscripts.
            ("unset 'a[$(rm x)]'", Unknown),
            ("let 'a[$(rm x)]'", Unknown),
            ("[ -v 'a[$(rm x)]' ]", Unknown),
            ("[[ -v 'a[`rm x`]' ]]", Unknown),
            ("[[ 'a[$(rm x)]' -eq 0 ]]", Unknown),
            ("printf -v 'a[$(rm x)]' y", Unknown),
            ("read 'a[$(rm x)]'", Unknown),
        ],
    );
}

#[test]
fn the_same_in_zsh() {
    check(
        "/usr/bin/zsh",
        &[
            ("aliases[ls]=rm", Unknown),
            ("galiases[x]='; rm'", Unknown),
            ("functions[ls]='rm x'", Unknown),
            ("commands[ls]=/bin/rm", Unknown),
            ("alias -g push2=push", Unknown),
            ("alias -s txt=rm", Deny),
            ("hash ls=/bin/rm", Deny),
            ("hash ls=./x", Unknown),
            ("precmd() { rm x; }", Deny),
            ("precmd() { ls; }", Nothing),
            ("precmd() { eval $x; }", Unknown),
            ("TRAPDEBUG() { rm x; }", Deny),
            ("preexec_functions+=(f)", Unknown),
            ("precmd_functions=(f)", Unknown),
            ("zmodload zsh/parameter", Unknown),
            ("zmodload -L", Nothing),
            ("autoload -Uz f", Unknown),
            ("bindkey -s x 'rm y\\n'", Unknown),
            ("zle -N f", Unknown),
            ("zle -l", Nothing),
            ("print -z 'rm x'", Unknown),
            ("print -P '$(rm x)'", Unknown),
            ("print -r -- x", Nothing),
            ("emulate zsh -c 'rm x'", Unknown),
            ("emulate -L zsh", Nothing),
            ("sched +1 rm x", Unknown),
            ("repeat 3 rm x", Deny),
            ("NULLCMD=rm", Deny),
            ("HISTCHARS='!^%'", Unknown),
            ("fpath=(x $fpath)", Unknown),
            ("RPROMPT='$(rm x)'", Unknown),
            ("PROMPT='%n %# '", Nothing),
            ("echo ${(e)x}", Unknown),
            (": ${(P)x::=rm}", Unknown),
            (": ${PROMPT::=$x}", Unknown),
            ("vared PROMPT", Unknown),
            ("disable -r if", Unknown),
        ],
    );
}
