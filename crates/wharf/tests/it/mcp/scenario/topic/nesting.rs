//! Shells and interpreters inside the shell, and shells that take its place.

use super::super::step::{BASH, BASH_ZSH, EVERY, Scenario, input, key, run, scenario};

/// A program with a prompt of its own.
const AT_A_PROMPT: &[&str] = &["repl", "text"];

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = inside();
    all.extend(instead());
    all
}

fn inside() -> Vec<Scenario> {
    vec![
        scenario(
            "a bash inside, and back",
            EVERY,
            [
                run("x=outer"),
                run("bash --norc").awaits_one_of(AT_A_PROMPT).whatever(),
                input("echo \"in $((40 + 2)) [$x]\"").awaits_one_of(AT_A_PROMPT).holds("in 42 []"),
                input("cd /").awaits_one_of(AT_A_PROMPT).whatever(),
                input("exit 3").exits(3).whatever().in_dir("@DIR@"),
                run("echo $x").says("outer"),
            ],
        ),
        scenario(
            "a sh inside, left by the end of input",
            EVERY,
            [
                run("sh").awaits_one_of(AT_A_PROMPT).whatever(),
                input("echo deep-$((1 + 1))").awaits_one_of(AT_A_PROMPT).holds("deep-2"),
                key("C-d").whatever(),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "a zsh inside, and back",
            EVERY,
            [
                run("zsh -f").awaits_one_of(AT_A_PROMPT).whatever(),
                input("print -r -- $((6 * 7))-${ZSH_VERSION%%.*}").awaits_one_of(AT_A_PROMPT).holds("42-5"),
                input("exit 2").exits(2).whatever(),
            ],
        ),
        scenario(
            "a shell inside a shell inside",
            BASH,
            [
                run("bash --norc").awaits_one_of(AT_A_PROMPT).whatever(),
                input("bash --norc").awaits_one_of(AT_A_PROMPT).whatever(),
                input("exit 4").awaits_one_of(AT_A_PROMPT).whatever(),
                input("echo \"code $?\"").awaits_one_of(AT_A_PROMPT).holds("code 4"),
                input("exit").whatever(),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "a shell inside does not end the command, whatever it inherits",
            EVERY,
            [
                run("export PS1 PROMPT_COMMAND"),
                run("bash").awaits_one_of(AT_A_PROMPT).whatever(),
                input("true").awaits_one_of(AT_A_PROMPT).whatever(),
                input("exit 6").exits(6).whatever(),
            ],
        ),
        scenario(
            "a command line for another shell",
            EVERY,
            [
                run("bash -c 'echo \"$0 $1\"; exit 5' a b").says("a b").exits(5),
                run("echo 'echo from stdin; exit 7' | sh").says("from stdin").exits(7),
                run("bash -ic 'echo interactive' 2>/dev/null").holds("interactive"),
            ],
        ),
        scenario(
            "python inside, and back",
            EVERY,
            [
                run("/usr/bin/python3 -q").awaits("repl").whatever(),
                input("6 * 7").awaits("repl").holds("42"),
                input("x = 'kept'").awaits("repl").lacks("42"),
                input("print(x.upper())").awaits("repl").holds("KEPT"),
                input("exit(5)").exits(5).whatever(),
            ],
        ),
        scenario(
            "a block in python",
            BASH,
            [
                run("/usr/bin/python3 -q").awaits("repl").whatever(),
                input("for i in range(3):").awaits("repl").holds("..."),
                input("    print('row', i)").awaits("repl").whatever(),
                input("").awaits("repl").holds("row 0\nrow 1\nrow 2"),
                key("C-d").whatever(),
            ],
        ),
        scenario(
            "node inside, and back",
            BASH,
            [
                run("NODE_REPL_HISTORY= node").awaits("repl").whatever(),
                input("[1, 2, 3].map(x => x * 2).join('-')").awaits("repl").holds("2-4-6"),
                input(".exit").whatever(),
                run("echo ok").says("ok"),
            ],
        ),
    ]
}

fn instead() -> Vec<Scenario> {
    vec![
        scenario(
            "another bash instead of the shell",
            EVERY,
            [
                run("export KEPT=1; LOST=2; cd /"),
                run("exec bash").whatever().in_dir("/"),
                run("echo \"$KEPT [$LOST] ${BASH_VERSION%%.*}\"").says("1 [] 5").in_dir("/"),
                run("sh -c 'exit 9'").exits(9),
                run("echo 'open").refused(&[]),
                run("cat <<'EOF'\na 'b'\nEOF").says("a 'b'"),
            ],
        ),
        scenario(
            "a bash without its files instead of the shell, twice",
            BASH,
            [
                run("exec bash --norc --noprofile").whatever(),
                run("echo one").says("one"),
                run("exec bash --norc").whatever(),
                run("echo two; cd /").says("two").in_dir("/"),
            ],
        ),
        scenario(
            "a zsh instead of the shell",
            BASH_ZSH,
            [run("exec zsh -f").whatever(), run("echo ${ZSH_VERSION%%.*}").says("5"), run("false").exits(1)],
        ),
        scenario(
            "a sh instead of the shell",
            EVERY,
            [run("exec sh").whatever(), run("echo hi").says("hi"), run("false").exits(1)],
        ),
        scenario(
            "a program instead of the shell ends it",
            EVERY,
            [
                run("exec sh -c 'echo last; exit 5'").ends_shell(5).says("last"),
                run("echo fresh").says("fresh"),
            ],
        ),
    ]
}
