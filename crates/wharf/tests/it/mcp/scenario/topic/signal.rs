//! How commands and shells end, and what keys do to them.

use super::super::step::{
    BASH, BASH_SH, BASH_ZSH, Check, EVERY, SH, Scenario, Step, collect, input, key, read, run, scenario,
};
use serde_json::json;

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = codes();
    all.extend(keys());
    all.extend(ends());
    all
}

/// Until the program has said so, a key could come before it.
fn has_said(text: &str) -> Step {
    read(json!({})).holds(text).eventually()
}

fn codes() -> Vec<Scenario> {
    vec![
        scenario(
            "a command that is not there",
            EVERY,
            [run("no-such-command x").exits(127).holds("no-such-command")],
        ),
        scenario(
            "a file that may not be run",
            EVERY,
            [run(": >f; chmod 644 f; ./f").exits(126).holds("ermission denied")],
        ),
        scenario("a directory", EVERY, [run("mkdir d; ./d").exits(126).holds("./d")]),
        scenario(
            "a file without its interpreter",
            EVERY,
            [run("printf '#!/no/such\\n' >f; chmod 755 f; ./f").exits(127).holds("f")],
        ),
        scenario(
            "numbers are counted as the system does",
            EVERY,
            [
                run("sh -c 'exit 255'").exits(255),
                run("sh -c 'exit 256'").exits(0),
                run("sh -c 'exit 300'").exits(44),
            ],
        ),
        scenario(
            "signals",
            EVERY,
            [
                run("sh -c 'kill -HUP $$'").exits(129).whatever(),
                run("sh -c 'kill -ABRT $$'").exits(134).whatever(),
                run("sh -c 'kill -KILL $$'").exits(137).whatever(),
                run("sh -c 'kill -SEGV $$'").exits(139).whatever(),
                run("sh -c 'kill -TERM $$'").exits(143).whatever(),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "pipes",
            EVERY,
            [run("false | true"), run("true | false").exits(1), run("yes | head -n 1").says("y")],
        ),
        scenario("a program's own time limit", EVERY, [run("timeout 0.1 sleep 100").exits(124)]),
    ]
}

fn keys() -> Vec<Scenario> {
    vec![
        scenario(
            "C-c ends what is running",
            EVERY,
            [
                run("echo first; sleep 100").says("first").times_out(0.3),
                key("C-c").exits(130).like(r"(\^C)?\n?"),
                run("echo $?").says("130"),
            ],
        ),
        scenario(
            "C-c ends a loop of the shell's own",
            EVERY,
            [
                // Not one that starts programs all the time: C-c on one that zsh has just forked is lost in any terminal.
                run("while :; do sleep 30; done").times_out(0.3),
                key("C-c").exits(130).whatever(),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "C-c ends a loop that starts nothing",
            EVERY,
            [
                run("while :; do :; done").times_out(0.3),
                key("C-c").exits(130).whatever(),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "C-c ends a pipe",
            EVERY,
            [run("sleep 100 | cat").times_out(0.3), key("C-c").exits(130).whatever()],
        ),
        scenario(
            "C-c with `is_input` as well",
            EVERY,
            [run("sleep 100").times_out(0.3), input("C-c").with("no_enter", true).exits(130).whatever()],
        ),
        scenario(
            "C-c ends the rest of the line too",
            EVERY,
            [run("sleep 100; touch made").times_out(0.3), key("C-c").exits(130).whatever().leaves_no("made")],
        ),
        scenario(
            "C-c is caught",
            EVERY,
            [
                run("sh -c 'trap \"echo caught; exit 9\" INT; echo ready; while :; do sleep 0.05; done'")
                    .with("timeout", 0)
                    .goes_on()
                    .whatever(),
                has_said("ready"),
                key("C-c").exits(9).holds("caught"),
            ],
        ),
        scenario(
            "C-c is caught and the program goes on",
            EVERY,
            [
                run("sh -c 'trap \"echo no\" INT; echo ready; while ! test -e stop; do sleep 0.05; done'")
                    .with("timeout", 0)
                    .goes_on()
                    .whatever(),
                has_said("ready"),
                key("C-c").with("timeout", 0.5).goes_on().holds("no"),
                run("touch stop").at("-other").with("command", "touch @DIR@/stop"),
                collect().whatever(),
            ],
        ),
        scenario(
            "C-d ends the input of `cat`",
            EVERY,
            [
                run("cat >f").awaits("text"),
                input("one").awaits("text").whatever(),
                input("two").awaits("text").whatever(),
                key("C-d").whatever().leaves("f", "one\ntwo\n"),
            ],
        ),
        scenario(
            "C-z stops, `fg` goes on",
            EVERY,
            [
                run("sleep 100").times_out(0.3),
                key("C-z").exits(148).whatever().check(Check::Has("/background")),
                run("jobs").holds("sleep 100"),
                run("fg").holds("sleep 100").times_out(0.3),
                key("C-c").exits(130).whatever(),
                run("jobs"),
            ],
        ),
        scenario(
            "C-\\ quits",
            EVERY,
            [run("sleep 100").times_out(0.3), key("C-\\").exits(131).whatever(), run("echo ok").says("ok")],
        ),
        scenario(
            "keys without anything running are refused and the shell lives on",
            EVERY,
            [
                run("x=alive"),
                key("C-c").refused(&["othing is running"]),
                key("C-d").refused(&["othing is running"]),
                key("C-z").refused(&["othing is running"]),
                run("echo $x").says("alive"),
            ],
        ),
    ]
}

fn ends() -> Vec<Scenario> {
    let fresh = || {
        run("echo \"[$x]\"")
            .says("[]")
            .in_dir("@DIR@/sub")
            .that("a notice of the new shell", |answer, _| answer["notice"].is_array())
    };
    let again =
        || run("echo again").says("again").that("no notice any more", |answer, _| answer["notice"].is_null());
    vec![
        scenario(
            "`exit` is reported, and the next command gets a fresh shell",
            EVERY,
            [run("x=1; mkdir sub; cd sub"), run("exit 7").ends_shell(7).like("(exit)?"), fresh(), again()],
        ),
        scenario(
            "`exit` after output, in a function",
            EVERY,
            [
                run("x=1; mkdir sub; cd sub; leave() { echo leaving; exit 3; }"),
                run("leave; echo no").ends_shell(3).like("leaving(\nexit)?"),
                fresh(),
            ],
        ),
        scenario(
            "`exit` without a number",
            EVERY,
            [
                run("x=1; mkdir sub; cd sub; false").exits(1),
                run("exit").ends_shell(1).like("(exit)?"),
                fresh(),
            ],
        ),
        scenario(
            "the shell kills itself",
            EVERY,
            [run("x=1; mkdir sub; cd sub"), run("kill -9 $$").ends_shell(137).whatever(), fresh()],
        ),
        scenario(
            "the shell hangs up on itself",
            BASH_SH,
            [run("x=1; mkdir sub; cd sub"), run("kill -HUP $$").ends_shell(129).whatever(), fresh()],
        ),
        scenario(
            "an interactive shell does not end by a polite signal",
            EVERY,
            [run("x=1; kill -TERM $$"), run("echo $x").says("1")],
        ),
        scenario(
            "`set -e` and a failure in one command",
            EVERY,
            [
                run("x=1; mkdir sub; cd sub"),
                run("set -e; false; echo no").ends_shell(1).like("(exit)?"),
                fresh(),
            ],
        ),
        scenario(
            "a trap for the end",
            EVERY,
            [
                run("trap 'echo bye' EXIT"),
                run("echo hi").says("hi"),
                run("exit 3").ends_shell(3).like("(exit\n)?bye"),
            ],
        ),
        scenario(
            "`exec` of what is not there",
            BASH,
            [run("x=1; exec no-such-command").exits(127).whatever(), run("echo $x").says("1")],
        ),
        scenario(
            "`exec` of what is not there ends these shells",
            SH,
            [run("exec no-such-command").ends_shell(127).whatever(), run("echo ok").says("ok")],
        ),
        scenario(
            "`exit` in parentheses is none",
            EVERY,
            [run("x=1; (exit 4)").exits(4), run("echo $x").says("1")],
        ),
        scenario(
            "`exit` while something runs in the background",
            BASH_SH,
            [
                run("sleep 300 >/dev/null &").whatever(),
                run("exit 2").ends_shell(2).whatever(),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "a shell that ends while it is asked for input",
            BASH_ZSH,
            [
                run("read x; exit 8").awaits("text"),
                input("go").ends_shell(8).whatever(),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "a fresh shell twice in a row",
            EVERY,
            [
                run("exit 1").ends_shell(1).whatever(),
                run("exit 2").ends_shell(2).whatever(),
                run("echo ok").says("ok"),
            ],
        ),
    ]
}
