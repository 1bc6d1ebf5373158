//! Programs that wait for input, known by the kernel and not by what they print.

use super::super::step::{
    BASH, BASH_ZSH, EVERY, Scenario, ZSH, collect, input, key, read, release, run, scenario, typed,
};
use serde_json::json;

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = questions();
    all.extend(secrets());
    all.extend(busy());
    all
}

const PYTHON_ASKS: &str = "/usr/bin/python3 -c 'x = input(\"value: \"); print(\"got\", x * 2)'";
const PYTHON_SECRET: &str = "/usr/bin/python3 -c 'import getpass; print(len(getpass.getpass(\"Token: \")))'";

const PYTHON_LOOKS: &str = "import select, sys, time
for i in range(20):
    select.select([sys.stdin], [], [], 0)
    time.sleep(0.02)
print(\"end\")";

fn questions() -> Vec<Scenario> {
    vec![
        scenario(
            "a program that has said nothing has no prompt, and the shell's line is not its",
            EVERY,
            [
                run("cat -v").awaits("text").that("no prompt", |answer, _| {
                    answer["awaiting"]["prompt"].as_str().unwrap_or_default().is_empty()
                }),
                // Nor when the terminal has echoed something that cannot be seen.
                key("Tab").awaits("text").whatever().that("no prompt", |answer, _| {
                    answer["awaiting"]["prompt"].as_str().unwrap_or_default().is_empty()
                }),
                key("C-u").goes_on().whatever(),
                key("C-d").whatever(),
                run("cat -v # go on? [y/n]").awaits("text"),
                key("C-d"),
            ],
        ),
        scenario(
            "a question in the shell's own line editor is no prompt of the shell",
            BASH,
            [
                run("read -e -p 'name? ' x; echo got:$x")
                    .awaits_one_of(&["text", "repl", "confirm"])
                    .whatever(),
                input("bob").holds("got:bob"),
                run("echo $x").says("bob"),
            ],
        ),
        scenario(
            "what runs before the prompt is waited for, and nothing is typed into it",
            BASH,
            [
                run("mkfifo gate; PROMPT_COMMAND='read -t 30 y <gate'").whatever(),
                run("touch late").refused(&["Not run"]).leaves_no("late"),
                release("gate"),
                run("PROMPT_COMMAND=; echo fine").whatever().any("/exit_code"),
            ],
        ),
        scenario(
            "`read` after a question",
            EVERY,
            [
                run("printf 'Name? '; read -r n; echo \"hi $n\"").awaits("text").like("Name\\? ?").that(
                    "the question",
                    |answer, _| {
                        answer["awaiting"]["prompt"].as_str().is_some_and(|prompt| prompt.contains("Name?"))
                    },
                ),
                input("Bob 'x' $HOME").holds("hi Bob 'x' $HOME"),
                run("echo $n").says("Bob 'x' $HOME"),
            ],
        ),
        scenario(
            "`read` without a question",
            EVERY,
            [run("read -r x").awaits("text"), input("v").whatever(), run("echo $x").says("v")],
        ),
        scenario(
            "`read -p`",
            BASH,
            [
                run("read -rp 'Age? ' a; echo \"[$a]\"").awaits("text").like("Age\\? ?"),
                input("42").holds("[42]"),
            ],
        ),
        scenario(
            "`read` with its question in zsh",
            ZSH,
            [run("read 'a?Age? '; echo \"[$a]\"").awaits("text").like("Age\\? ?"), input("42").holds("[42]")],
        ),
        scenario(
            "a yes or no",
            EVERY,
            [
                run("printf 'Continue? [y/N] '; read -r a; echo \"got $a\"").awaits("confirm").whatever(),
                input("y").holds("got y"),
            ],
        ),
        scenario(
            "another yes or no",
            EVERY,
            [
                run("printf 'Overwrite (yes/no)? '; read -r a; echo \"got $a\"").awaits("confirm").whatever(),
                input("no").holds("got no"),
            ],
        ),
        scenario(
            "a question of python's",
            EVERY,
            [run(PYTHON_ASKS).awaits("text").like("value: ?"), input("ab").holds("got abab")],
        ),
        scenario(
            "a question after output",
            EVERY,
            [
                run("echo line1; printf 'more: '; read x; echo end").awaits("text").like("line1\nmore: ?"),
                input("z").holds("end").lacks("line1"),
            ],
        ),
        scenario(
            "two questions in a row",
            EVERY,
            [
                run("printf 'a? '; read a; printf 'b? '; read b; echo \"$a-$b\"")
                    .awaits("text")
                    .like("a\\? ?"),
                input("1").awaits("text").holds("b?"),
                input("2").holds("1-2"),
            ],
        ),
        scenario(
            "a menu",
            BASH_ZSH,
            [
                run("select x in apple pear; do echo \"chose $x\"; break; done")
                    .awaits_one_of(&["text", "repl"])
                    .holds("apple"),
                input("2").holds("chose pear"),
            ],
        ),
        scenario(
            "a pipe whose first program reads the terminal",
            EVERY,
            [
                run("cat | tr a-z A-Z").awaits("text"),
                input("abc").awaits("text").whatever(),
                key("C-d").whatever(),
                read(json!({})).holds("ABC"),
            ],
        ),
        scenario(
            "a question to the terminal although input comes from elsewhere",
            EVERY,
            [
                run("echo no | sh -c 'printf \"Really? [y/n] \"; read a </dev/tty; echo \"tty: $a\"'")
                    .awaits("confirm")
                    .whatever(),
                input("y").holds("tty: y"),
            ],
        ),
        scenario(
            "a key without Enter",
            BASH,
            [
                run("read -rsn1 k; echo \"[$k]\"").awaits_one_of(&["keys", "text", "secret"]),
                typed("x").holds("[x]"),
            ],
        ),
        scenario(
            "a raw terminal",
            EVERY,
            [
                run("stty raw -echo; dd bs=1 count=1 2>/dev/null | od -An -tx1; stty sane")
                    .awaits_one_of(&["keys"]),
                key("Up").holds("1b"),
            ],
        ),
        scenario(
            "an answer that is not enough",
            EVERY,
            [
                run("until [ \"$a\" = yes ]; do printf 'yes? '; read a; done; echo done")
                    .goes_on()
                    .whatever(),
                input("no").goes_on().holds("yes?"),
                input("yes").holds("done"),
            ],
        ),
    ]
}

fn secrets() -> Vec<Scenario> {
    let steps = |command: &str| {
        [
            run(command).awaits("secret").whatever(),
            input("hunter2").lacks("hunter2").holds("length 7"),
            run("echo ok").says("ok"),
        ]
    };
    vec![
        scenario(
            "`read -s`",
            BASH_ZSH,
            steps("printf 'Password: '; read -rs p; echo; echo \"length ${#p}\""),
        ),
        scenario(
            "a password by `stty`",
            EVERY,
            steps("stty -echo; printf 'Password: '; read -r p; stty echo; echo; echo \"length ${#p}\""),
        ),
        scenario(
            "a password by python",
            EVERY,
            [
                run(PYTHON_SECRET).awaits("secret").like("Token: ?"),
                input("hunter2").holds("7").lacks("hunter2"),
            ],
        ),
        scenario(
            "a password from the terminal although input comes from elsewhere",
            EVERY,
            [
                run(format!("{PYTHON_SECRET} </dev/null")).awaits("secret").whatever(),
                input("hunter2").holds("7").lacks("hunter2"),
            ],
        ),
        scenario(
            "a secret is not in what is read later",
            EVERY,
            [
                run("stty -echo; read -r p; stty echo; echo \"length ${#p}\"").awaits("secret"),
                input("hunter2").holds("length 7"),
                read(json!({})).lacks("hunter2").holds("length 7"),
                read(json!({"view": "screen"})).lacks("hunter2"),
            ],
        ),
    ]
}

/// What only looks as if it waited.
fn busy() -> Vec<Scenario> {
    vec![
        scenario(
            "a program that prints `Password: ` and works on is not waiting",
            EVERY,
            [
                run("mkfifo gate"),
                run("printf 'Password: '; read x <gate; echo worked").like("Password: ?").times_out(0.8),
                release("gate"),
                collect().holds("worked"),
            ],
        ),
        scenario(
            "a program that prints a question and sleeps is not waiting",
            EVERY,
            [run("printf 'Continue? [y/N] '; sleep 0.7; echo no").like("Continue\\? \\[y/N\\] no")],
        ),
        scenario(
            "a program that computes is not waiting",
            EVERY,
            [
                run("printf '>>> '; while :; do :; done").whatever().times_out(0.5),
                key("C-c").any("/exit_code").whatever(),
            ],
        ),
        scenario(
            "a program that looks at the terminal now and then is not waiting",
            EVERY,
            [run(format!("/usr/bin/python3 -c '{PYTHON_LOOKS}'")).says("end")],
        ),
        scenario("a silent program is not waiting", EVERY, [run("sleep 0.6; echo end").says("end")]),
        scenario(
            "a child of the program that reads nothing",
            EVERY,
            [run("sh -c 'sleep 0.4; echo inner'; echo outer").says("inner\nouter")],
        ),
    ]
}
