//! Several terminals: opened by name or by use, apart from each other, listed, and closed with all that is in them.

use super::super::step::{
    BASH, Check, EVERY, Scenario, Shell, close, collect, input, key, list, open, read, release, run,
    scenario, wait,
};
use serde_json::{Value, json};

/// The terminal of this name in the list.
fn listed<'a>(answer: &'a Value, suffix: &str) -> Option<&'a Value> {
    let all = answer["terminals"].as_array()?;
    all.iter().find(|one| {
        one["terminal_id"].as_str().is_some_and(|id| id.starts_with("row-") && id.ends_with(suffix))
    })
}

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = apart();
    all.extend(opened());
    all.extend(closed());
    all
}

fn apart() -> Vec<Scenario> {
    vec![
        scenario(
            "two terminals have nothing in common",
            EVERY,
            [
                run("x=one; cd /").in_dir("/"),
                run("echo \"[$x]\"").at("-b").says("[]"),
                run("x=two; cd /tmp").at("-b").in_dir("/tmp"),
                run("echo $x").says("one").in_dir("/"),
                run("echo $x").at("-b").says("two").in_dir("/tmp"),
            ],
        ),
        scenario(
            "one works while another is busy",
            EVERY,
            [
                run("mkfifo gate"),
                run("read x <gate; echo \"a $x\"").times_out(0.1),
                run("echo b").at("-b").says("b"),
                run("sh -c 'exit 3'").at("-b").exits(3),
                release("gate"),
                collect().says("a go"),
            ],
        ),
        scenario(
            "one waits for input while another works",
            EVERY,
            [
                run("read x").awaits("text"),
                run("echo b").at("-b").says("b"),
                input("v").whatever(),
                run("echo $x").says("v"),
            ],
        ),
        scenario(
            "ten at once",
            BASH,
            ["-0", "-1", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9"]
                .into_iter()
                .flat_map(|at| [run(format!("me={at}")).at(at)])
                .chain(["-9", "-4", "-0"].map(|at| run("echo $me").at(at).says(at)))
                .collect::<Vec<_>>(),
        ),
        scenario(
            "names with dots and dashes",
            EVERY,
            [run("echo hi").with("terminal_id", "@ID@.build-1_x").says("hi")],
        ),
        scenario(
            "the shell that is used without being named is one of the user's",
            BASH,
            [run("echo $0").at("-implied").whatever()],
        ),
        scenario(
            "what the list says",
            EVERY,
            [
                run("cd /"),
                list().that("an idle terminal in /", |answer, _| {
                    listed(answer, "").is_some_and(|_| {
                        answer["terminals"].as_array().is_some_and(|all| {
                            all.iter().any(|one| {
                                one["status"] == "idle" && one["working_dir"] == "/" && one["id"].is_string()
                            })
                        })
                    })
                }),
                run("sleep 100").at("-busy").times_out(0.2),
                list().that("a busy terminal and its command", |answer, _| {
                    listed(answer, "-busy").is_some_and(|one| {
                        one["status"] == "running"
                            && one["command"] == "sleep 100"
                            && one["running_ms"].as_u64() >= Some(100)
                    })
                }),
                key("C-c").at("-busy").exits(130).whatever(),
                list().that("an idle terminal", |answer, _| {
                    listed(answer, "-busy").is_some_and(|one| one["status"] == "idle")
                }),
                run("exit 1").at("-busy").ends_shell(1).whatever(),
                list().that("a terminal that has ended", |answer, _| {
                    listed(answer, "-busy").is_some_and(|one| one["status"] == "exited")
                }),
            ],
        ),
        scenario(
            "the list says who waits for input",
            EVERY,
            [
                run("printf 'Name? '; read x").at("-asks").awaits("text").whatever(),
                list().that("what is awaited", |answer, _| {
                    listed(answer, "-asks").is_some_and(|one| one["awaiting"]["kind"] == "text")
                }),
            ],
        ),
    ]
}

fn opened() -> Vec<Scenario> {
    vec![
        scenario(
            "a directory, variables, a size",
            EVERY,
            [
                run("pwd").says("@DIR@/sub dir").in_dir("@DIR@/sub dir"),
                run("echo \"$A|$B\"; sh -c 'echo \"$A\"'").says("1 'x' \"y\" $z|\n1 'x' \"y\" $z"),
                run("stty size").says("40 132"),
            ],
        )
        .file("sub dir/x", "")
        .opened(json!({"cwd": "@DIR@/sub dir", "env": {"A": "1 'x' \"y\" $z", "B": "", "LANG": "C.UTF-8"}, "rows": 40, "cols": 132})),
        scenario(
            "the shell that was asked for",
            EVERY,
            [run("echo ${BASH_VERSION:+bash}${ZSH_VERSION:+zsh}").says("bash").says_in(Shell::Zsh, "zsh").says_in(Shell::Sh, "")],
        ),
        scenario(
            "each shell by its name",
            BASH,
            [
                open(json!({"terminal_id": "@ID@-z", "shell": "zsh"})),
                run("echo ${ZSH_VERSION%%.*}").at("-z").says("5"),
                open(json!({"terminal_id": "@ID@-s", "shell": "sh"})),
                run("echo \"[${BASH_VERSION:-}${ZSH_VERSION:-}]\"").at("-s").says("[]"),
                open(json!({"terminal_id": "@ID@-d", "shell": ""})),
                run("echo hi").at("-d").says("hi"),
            ],
        ),
        scenario("a name that is taken", EVERY, [run("x=1"), open(json!({"terminal_id": "@ID@"})).refused(&["@ID@"]), run("echo $x").says("1")]),
        scenario("a shell that there is not", EVERY, [open(json!({"terminal_id": "@ID@-f", "shell": "fish"})).refused(&[]), run("echo ok").says("ok")]),
        scenario(
            "a directory that there is not",
            EVERY,
            [open(json!({"terminal_id": "@ID@-n", "cwd": "@DIR@/none"})).refused(&["none"]), run("echo ok").says("ok")],
        ),
        scenario("a terminal without a name", EVERY, [open(json!({})).with("terminal_id", "").refused(&[])]),
    ]
}

fn closed() -> Vec<Scenario> {
    vec![
        scenario(
            "a terminal that is closed is gone, and its name is free",
            EVERY,
            [
                run("x=1"),
                close(),
read(json!({})).refused(&["@ID@"]),
                run("echo \"[$x]\"").says("[]"),
            ],
        ),
        scenario(
            "closing ends everything in it, however it got away",
            EVERY,
            [
                run("sleep 4242 & setsid sleep 4243 & (setsid sh -c 'sleep 4244; :' >/dev/null 2>&1 &) ; true").whatever(),
                run("nohup sleep 4245 >/dev/null 2>&1 & sleep 4246").whatever().times_out(0.2),
                close(),
                run("echo fresh").says("fresh"),
            ],
        ),
        scenario("closing what is busy", EVERY, [run("sleep 100").times_out(0.1), close(), run("echo ok").says("ok")]),
        scenario("closing what waits for input", EVERY, [run("cat").awaits("text"), close(), run("echo ok").says("ok")]),
        scenario("closing what has ended", EVERY, [run("exit 1").ends_shell(1).whatever(), close()]),
        scenario("closing one leaves the others", EVERY, [run("x=1"), run("true").at("-b"), close().at("-b"), run("echo $x").says("1")]),
        scenario(
            "names that nobody knows",
            EVERY,
            [
                close().at("-none").refused(&["@ID@-none", "@ID@"]),
                read(json!({})).at("-none").refused(&["@ID@-none"]),
                wait(json!({})).at("-none").refused(&["@ID@-none"]),
                collect().at("-none").any("/exit_code").check(Check::HasNot("/awaiting")),
            ],
        ),
    ]
}
