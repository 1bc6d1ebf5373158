//! Options and traps of the shell: they do what they do in any terminal, and show nothing of wharf's.

use super::super::step::{BASH, BASH_SH, BASH_ZSH, EVERY, SH, Scenario, Shell, ZSH, key, run, scenario};

pub(crate) fn table() -> Vec<Scenario> {
    vec![
        scenario(
            "`set -u`",
            EVERY,
            [
                run("set -u"),
                run("echo hi").says("hi"),
                run("echo $not_set_at_all").exits(1).exits_in(Shell::Sh, 2).holds("not_set_at_all"),
                run("echo still; cd /").says("still").in_dir("/"),
            ],
        ),
        scenario(
            "`set -e` holds within a command and does not end the shell later",
            EVERY,
            [
                run("x=1; set -e"),
                run("false").exits(1),
                run("echo $x").says("1"),
                run("false; echo on").says("on"),
            ],
        ),
        scenario(
            "`set -x` shows the command and nothing of wharf's",
            EVERY,
            [
                run("set -x").whatever().lacks("wharf"),
                run("echo hi").holds("echo hi").holds("\nhi").lacks("wharf").lacks("builtin"),
                run("set +x").holds("set +x").lacks("wharf"),
                run("echo quiet").says("quiet"),
            ],
        ),
        scenario(
            "`set -v` shows nothing of wharf's",
            BASH_SH,
            [
                run("set -v").whatever(),
                run("echo hi").holds("hi").lacks("wharf"),
                run("set +v").lacks("wharf"),
                run("echo quiet").says("quiet"),
            ],
        ),
        scenario(
            "aliases, comments and `!` are as the user has them, and what wharf needs of them is gone",
            ZSH,
            [
                run("alias hi='echo hello'; alias -g G='| tr a-z A-Z'; setopt no_interactive_comments"),
                run("hi there G # comment").says("HELLO THERE"),
                run("echo !! !x ^a^b; [[ -o interactivecomments ]]; echo $?").says("!! !x ^a^b\n1"),
                run("alias | grep wharf; unsetopt aliases; echo off").says("off"),
                run("hi").exits(127).whatever(),
                run("echo no # alias").says("no"),
                run("setopt aliases local_options; hi # again").exits(127).whatever(),
                run("hi # again").says("hello"),
                run("unsetopt local_options; alias open='if true; then'"),
                run("open echo x").refused(&["something is missing"]),
                run("hi").says("hello"),
            ],
        ),
        scenario(
            "`pipefail`",
            BASH_ZSH,
            [run("set -o pipefail"), run("false | true").exits(1), run("echo ok").says("ok")],
        ),
        scenario(
            "`set -f` and `noclobber`",
            BASH_SH,
            [
                run("set -f; set -C; : >f"),
                run("echo *").says("*"),
                run(": >f").exits(1).exits_in(Shell::Sh, 2).whatever(),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "another editing mode",
            BASH_ZSH,
            [
                run("set -o vi"),
                run("echo 'in vi'").says("in vi"),
                run("set -o emacs; echo e").says("e"),
                run("echo f").says("f"),
            ],
        ),
        scenario(
            "separators of words",
            EVERY,
            [
                run("IFS=:"),
                run("x=a:b; set -- $x; echo $#").says("2").says_in(Shell::Zsh, "1"),
                run("IFS="),
                run("cd /; echo ok").says("ok").in_dir("/"),
            ],
        ),
        scenario(
            "a search path with nothing in it",
            EVERY,
            [
                run("OLD=$PATH; PATH="),
                run("echo hi; cd /").says("hi").in_dir("/"),
                run("ls").exits(127).whatever(),
                run("PATH=$OLD; ls -d /").says("/"),
            ],
        ),
        scenario(
            "the larger shells' traps",
            BASH,
            [
                run("trap 'echo err' ERR"),
                run("false").says("err").exits(1),
                run("trap - ERR; trap 'echo dbg' DEBUG").whatever(),
                run("echo hi").holds("dbg").holds("hi"),
                run("trap - DEBUG").whatever(),
                run("echo quiet").says("quiet"),
            ],
        ),
        scenario(
            "the traps of zsh",
            ZSH,
            [
                run("trap 'echo err' ZERR"),
                run("false").says("err").exits(1),
                run("(exit 3)").says("err").exits(3),
                run("echo $?").says("3"),
                run("trap - ZERR; trap 'echo dbg' DEBUG").whatever(),
                run("echo hi").holds("dbg\nhi").lacks("dbg\ndbg"),
                run("trap - DEBUG").whatever(),
                run("TRAPINT() { return $((128 + $1)) }"),
                run("sleep 30").times_out(0.3),
                key("C-c").exits(130).whatever(),
                run("echo quiet").says("quiet"),
            ],
        ),
        scenario(
            "a trap for the end of children, and for a signal",
            EVERY,
            [
                run("trap 'echo usr' USR1; trap : CHLD"),
                run("kill -USR1 $$; true").says("usr"),
                run("/bin/true"),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "options of a restricted kind",
            SH,
            [run("set -o noglob; echo *").says("*"), run("set -a; V=1; env | grep ^V=").says("V=1")],
        ),
    ]
}
