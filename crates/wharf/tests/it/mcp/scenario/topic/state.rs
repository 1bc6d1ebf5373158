//! A shell remembers: directories, names, options, and how the last command ended.

use super::super::step::{BASH, BASH_ZSH, EVERY, Scenario, Shell, ZSH, read, run, scenario};
use serde_json::json;

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = names();
    all.extend(endings());
    all.extend(surroundings());
    all
}

fn names() -> Vec<Scenario> {
    vec![
        scenario(
            "variables",
            EVERY,
            [run("x='a  b'"), run("echo \"$x\"").says("a  b"), run("unset x; echo \"[$x]\"").says("[]")],
        ),
        scenario(
            "exported variables",
            EVERY,
            [
                run("export A=1; B=2"),
                run("sh -c 'echo \"$A [$B]\"'").says("1 []"),
                run("env | grep ^A=").says("A=1"),
            ],
        ),
        scenario(
            "functions of several lines",
            EVERY,
            [
                run("greet() {\n  local who=$1\n  echo \"hi $who\"\n  return 3\n}"),
                run("greet Bob").says("hi Bob").exits(3),
            ],
        ),
        scenario(
            "aliases",
            EVERY,
            [
                run("alias hi='echo hello'"),
                run("hi you").says("hello you"),
                run("unalias hi"),
                run("hi").exits(127).whatever(),
            ],
        ),
        scenario(
            "lists",
            BASH_ZSH,
            [
                run("a=(1 '2 3' 4); a+=(5)"),
                run("echo \"${#a[@]} ${a[1]}\"").says("4 2 3").says_in(Shell::Zsh, "4 1"),
            ],
        ),
        scenario(
            "tables that are declared are not local to anything",
            BASH_ZSH,
            [
                run("declare -A m; m[k]=v; declare n=5; typeset -i k=3+4"),
                run("echo \"${m[k]} $n $k\"").says("v 5 7"),
            ],
        ),
        scenario(
            "positional parameters",
            EVERY,
            [
                run("echo \"[$#]\"").says("[0]"),
                run("set -- a 'b c' d; shift"),
                run("echo \"$# $1\"").says("2 b c"),
            ],
        ),
        scenario("a name that cannot be changed", EVERY, [run("readonly r=1"), run("echo $r").says("1")]),
        scenario(
            "a sourced file",
            EVERY,
            [
                run(". ./lib.sh; echo $from_lib").says("1"),
                run("in_lib").says("called"),
                run(". ./leave.sh").exits(4),
            ],
        )
        .file("lib.sh", "from_lib=1\nin_lib() { echo called; }\n")
        .file("leave.sh", "return 4\n"),
        scenario(
            "functions named like what the shell itself needs",
            BASH_ZSH,
            [
                run(
                    "printf() { echo fake; }; read() { echo fake; }; test() { false; }; cd() { builtin cd \"$@\"; }",
                ),
                run("echo hi").says("hi"),
                run("cd /; printf x").says("fake").in_dir("/"),
                run("unset -f printf read test cd; printf '%s\\n' real").says("real"),
            ],
        ),
        scenario(
            "every function is taken away",
            BASH,
            [
                // Those of wharf's cannot be.
                run("for f in $(compgen -A function); do unset -f \"$f\" 2>/dev/null; done; true"),
                run("cd /; echo hi").says("hi").in_dir("/"),
                run("false").exits(1),
            ],
        ),
        scenario(
            "every function is taken away",
            ZSH,
            [run("unfunction -m '*'"), run("cd /; echo hi").says("hi").in_dir("/"), run("false").exits(1)],
        ),
        scenario(
            "agents' commands stay out of the history",
            BASH_ZSH,
            [run("echo needle-1").says("needle-1"), run("history 2>&1; fc -l 2>&1; true").lacks("needle-1")],
        ),
        // zsh shows the line that is being run to that very line, and to no other.
        scenario("wharf's own line is not in the history", BASH, [run("history 2>&1; true").lacks("wharf")]),
        scenario(
            "agents' commands stay out of a history that is switched on again",
            BASH,
            [
                run("set -o history; echo needle-2").says("needle-2"),
                run("history").lacks("needle-2").lacks("wharf"),
            ],
        ),
    ]
}

fn endings() -> Vec<Scenario> {
    vec![
        scenario(
            "`return` at the prompt",
            ZSH,
            [run("return"), run("return 4; echo no").exits(4), run("echo $?").says("4")],
        ),
        scenario(
            "the last word of the last command",
            BASH_ZSH,
            [
                run("echo one two").says("one two"),
                run("echo $_").says("two"),
                run("for i in a b; do true $i; done"),
                run("echo $_").says("b"),
            ],
        ),
        scenario(
            "how the last command ended",
            EVERY,
            [
                run("false").exits(1),
                run("echo $?").says("1"),
                run("sh -c 'exit 42'").exits(42),
                run("echo $?; echo $?").says("42\n0"),
                run("true; (exit 9)").exits(9),
                run("x=$?; echo $x").says("9"),
            ],
        ),
        scenario(
            "reading does not change how the last command ended",
            EVERY,
            [
                run("echo a; sh -c 'exit 8'").says("a").exits(8),
                read(json!({})).field("/content", "a"),
                run("echo $?").says("8"),
            ],
        ),
        scenario(
            "the parts of a pipe",
            BASH,
            [run("false | true | sh -c 'exit 3'").exits(3), run("echo ${PIPESTATUS[@]}").whatever()],
        ),
        scenario(
            "the last word of the last command in the background",
            EVERY,
            [run("sh -c 'exit 5' >/dev/null & wait $!").exits(5).whatever()],
        ),
        scenario(
            "`return` outside of everything",
            BASH,
            [run("return 3").exits(2).holds("return"), run("echo ok").says("ok")],
        ),
        scenario(
            "`local` outside of everything",
            BASH,
            [run("local x=1").exits(1).holds("local"), run("echo ok").says("ok")],
        ),
        scenario(
            "numbers of commands count up by one",
            EVERY,
            [
                run("echo a").says("a").field("/command_id", 1),
                run("false").exits(1).field("/command_id", 2),
                run("echo 'x").refused(&[]),
                run("echo c").says("c").field("/command_id", 3),
            ],
        ),
    ]
}

fn surroundings() -> Vec<Scenario> {
    vec![
        scenario(
            "the mask of new files",
            EVERY,
            [
                run("umask 077"),
                run("umask").says("0077").says_in(Shell::Zsh, "077"),
                run("touch f; ls -l f | cut -c1-10").says("-rw-------"),
            ],
        ),
        scenario("a limit", EVERY, [run("ulimit -n 200"), run("ulimit -n").says("200")]),
        scenario(
            "the directory",
            EVERY,
            [
                run("mkdir sub; cd sub").in_dir("@DIR@/sub"),
                run("pwd").says("@DIR@/sub").in_dir("@DIR@/sub"),
                run("cd - >/dev/null").in_dir("@DIR@"),
                run("(cd /; pwd)").says("/").in_dir("@DIR@"),
                run("cd nowhere").in_dir("@DIR@").exits(1).exits_in(Shell::Sh, 2).holds("nowhere"),
                run("cd / && sh -c 'exit 6'").in_dir("/").exits(6),
            ],
        ),
        scenario(
            "a stack of directories",
            BASH_ZSH,
            [run("pushd /tmp >/dev/null").in_dir("/tmp"), run("popd >/dev/null").in_dir("@DIR@")],
        ),
        scenario(
            "it is a terminal",
            EVERY,
            [
                run("test -t 0 && test -t 1 && test -t 2 && echo tty").says("tty"),
                run("case $- in *i*) echo interactive;; esac").says("interactive"),
            ],
        ),
        scenario("it has the size that was asked for", EVERY, [run("stty size").says("24 80")]),
        scenario(
            "output goes to a file for a while",
            EVERY,
            [
                run("exec >out"),
                run("echo 'to the file'"),
                run("exec >/dev/tty"),
                run("cat out").says("to the file"),
            ],
        ),
        scenario(
            "errors go to a file for a while",
            EVERY,
            [
                run("exec 2>err"),
                run("ls ./none").exits(2),
                run("exec 2>&1"),
                run("grep -c none err").says("1"),
            ],
        ),
        scenario(
            "the terminal does not echo",
            EVERY,
            [
                run("stty -echo"),
                run("echo a").says("a"),
                run("stty sane; echo b").says("b"),
                run("echo c").says("c"),
            ],
        ),
        scenario(
            "another locale",
            BASH_ZSH,
            [
                run("LC_ALL=C"),
                run("printf '%s\\n' é").says("é"),
                run("unset LC_ALL; printf '%s\\n' é").says("é"),
            ],
        ),
    ]
}
