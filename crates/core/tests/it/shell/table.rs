//! Commands that every shell answers alike, in one shell each, one after the other.

use super::desk::{Desk, KINDS, run};
use wharf_core::shell::Because;

/// A command, what it prints, and its exit code.
const COMMANDS: &[(&str, &str, i32)] = &[
    ("true", "", 0),
    ("false", "", 1),
    ("echo $?", "1", 0),
    ("echo hello", "hello", 0),
    ("printf 'no newline'", "no newline", 0),
    ("echo one; echo two", "one\ntwo", 0),
    ("echo one\necho two\n", "one\ntwo", 0),
    ("(exit 3)", "", 3),
    ("no-such-command-here 2>/dev/null", "", 127),
    ("X='a b'", "", 0),
    ("echo \"$X\"", "a b", 0),
    ("f() { echo \"f $1\"; return 7; }", "", 0),
    ("f x", "f x", 7),
    ("cd /tmp && pwd", "/tmp", 0),
    ("pwd", "/tmp", 0),
    ("cat <<END\nhi\tthere  \n  $X\nEND", "hi\tthere  \n  a b", 0),
    ("cat <<'END'\n$X `x` \\n\nEND\n", "$X `x` \\n", 0),
    ("echo 'a!b' \"c!d\" e!f", "a!b c!d e!f", 0),
    ("echo \"it's\" 'a \"q\"'", "it's a \"q\"", 0),
    ("printf '%s\\n' 'tab\there'", "tab\there", 0),
    ("echo a # a comment", "a", 0),
    ("# only a comment", "", 0),
    ("", "", 0),
    ("echo a\\", "a\\", 0),
    ("echo a \\\n  b", "a b", 0),
    ("printf '%s' 'ünïcödé 漢字 🎉'", "ünïcödé 漢字 🎉", 0),
    ("printf '\\001\\002x' | od -An -tx1 | tr -d ' \\n'", "010278", 0),
    ("printf '%s' '\u{3}\u{1a}\u{4}\u{1c}\u{16}' | od -An -tx1 | tr -d ' \\n'", "031a041c16", 0),
    ("if true; then echo yes; fi", "yes", 0),
    ("for i in 1 2 3; do echo $i; done", "1\n2\n3", 0),
    ("sh -c 'kill -TERM $$'", "Terminated", 143),
    ("echo to-stderr >&2", "to-stderr", 0),
    ("set -- 1 2 3; echo $#", "3", 0),
    ("echo $#", "3", 0),
    ("trap 'echo bye' USR1; kill -USR1 $$; true", "bye", 0),
    ("set -u", "", 0),
    ("echo ok", "ok", 0),
    ("set +u", "", 0),
    ("set -e", "", 0),
    ("false", "", 1),
    ("echo still here", "still here", 0),
    ("PS1='new> '", "", 0),
    ("echo x", "x", 0),
    ("unset PS1 PROMPT_COMMAND; echo y", "y", 0),
    ("echo z", "z", 0),
    ("exec 3>/dev/null", "", 0),
    ("echo z", "z", 0),
    ("IFS=,; echo a", "a", 0),
    ("echo b", "b", 0),
    ("IFS=' \t\n'", "", 0),
    ("alias eval=echo printf=echo", "", 0),
    ("echo c", "c", 0),
    ("unalias eval printf", "", 0),
    ("printf '\\033[2J\\033[Hx\\n'", "x", 0),
    ("stty -echo; stty echo; echo d", "d", 0),
    ("umask 022; echo e", "e", 0),
];

#[tokio::test]
async fn commands_give_their_own_output_and_exit_code() {
    for kind in KINDS {
        let desk = Desk::new();
        let shell = desk.open(kind).await;
        let mut wrong = Vec::new();
        for (at, (command, text, code)) in COMMANDS.iter().enumerate() {
            let done = run(&shell, command).await;
            // A shell says more or less of what killed a child.
            let said = if *code == 143 { "Terminated" } else { &done.text };
            let right = (*text, Some(*code), at as u64 + 1, &Because::Ended);
            if (said, done.code, done.id, &done.because) != right {
                wrong.push(format!("{command:?}: {done:?}"));
            }
        }
        assert!(wrong.is_empty(), "{kind:?}: {wrong:#?}");
        assert!(shell.commands().iter().all(|command| command.author == "agent"));
        drop(shell);
        desk.place.check_to_the_last_descriptor().await;
    }
}
