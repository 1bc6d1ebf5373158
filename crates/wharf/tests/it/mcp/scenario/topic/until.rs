//! Waiting for something in particular.

use super::super::step::{BASH, EVERY, Scenario, Step, collect, input, key, release, run, scenario, wait};
use serde_json::json;

/// Prints without an end, and ends with C-c.
const TICKS: &str = "/usr/bin/python3 -uc 'import signal, time; signal.signal(2, signal.SIG_DFL)
while True: print(\"tick\"); time.sleep(0.05)'";

/// Begins a command that waits at a gate for its first line.
fn begun(command: &str) -> [Step; 2] {
    [run("mkfifo gate"), run(format!("read x <gate; {command}")).times_out(0.0)]
}

fn steps(command: &str, more: impl IntoIterator<Item = Step>) -> Vec<Step> {
    begun(command).into_iter().chain(more).collect()
}

fn pattern(pattern: &str) -> Step {
    wait(json!({"until": "pattern", "pattern": pattern}))
}

fn because(step: Step, reason: &str) -> Step {
    step.field("/returned_because", reason)
}

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = patterns();
    all.extend(others());
    all
}

fn patterns() -> Vec<Scenario> {
    vec![
        scenario(
            "a pattern in new output",
            EVERY,
            steps(
                "echo starting; echo 'listening on port 8080'; sleep 100",
                [
                    release("gate"),
                    because(pattern("port [0-9]+"), "pattern")
                        .field("/status", "running")
                        .field("/match/line", 2)
                        .field("/match/text", "listening on port 8080")
                        .holds("starting"),
                    key("C-c").exits(130).whatever(),
                ],
            ),
        ),
        scenario(
            "a pattern that comes in pieces",
            EVERY,
            steps(
                "printf rea; sleep 0.1; printf dy; sleep 0.1; printf '!\\n'; sleep 100",
                [
                    release("gate"),
                    because(pattern("ready!"), "pattern").field("/match/line", 1).holds("ready!"),
                    key("C-c").exits(130).whatever(),
                ],
            ),
        ),
        scenario(
            "a pattern in a line that is not ended",
            EVERY,
            steps(
                "printf 'mysql> '; sleep 100",
                [release("gate"), because(pattern("mysql> ?$"), "pattern"), key("C-c").exits(130).whatever()],
            ),
        ),
        scenario(
            "a pattern with colours in it",
            EVERY,
            steps(
                "printf 're\\033[31mad\\033[0my\\n'; sleep 100",
                [release("gate"), because(pattern("^ready$"), "pattern"), key("C-c").exits(130).whatever()],
            ),
        ),
        scenario(
            "a pattern that was said before is not new",
            EVERY,
            [
                run("mkfifo gate second"),
                run("echo token; read x <gate; echo other; read x <second; echo token")
                    .says("token")
                    .times_out(0.3),
                because(pattern("token").with("timeout", 0.3), "timeout").field("/status", "running"),
                release("gate"),
                because(pattern("other"), "pattern"),
                release("second"),
                pattern("token").holds("token"),
            ],
        ),
        scenario(
            "a command that ends without the pattern",
            EVERY,
            steps(
                "echo nothing; (exit 3)",
                [release("gate"), because(pattern("never"), "exited").exits(3).field("/content", "nothing")],
            ),
        ),
        scenario(
            "a pattern in the last line of a command",
            EVERY,
            steps(
                "echo last",
                [
                    release("gate"),
                    pattern("last").holds("last").that("the pattern or the end", |answer, _| {
                        ["pattern", "exited"]
                            .contains(&answer["returned_because"].as_str().unwrap_or_default())
                    }),
                ],
            ),
        ),
        scenario(
            "a pattern that cannot be read",
            EVERY,
            steps(
                "echo on",
                [
                    pattern("[unclosed").refused(&["unclosed"]),
                    wait(json!({"until": "pattern"})).refused(&["pattern"]),
                    release("gate"),
                    collect().says("on"),
                ],
            ),
        ),
        scenario(
            "a pattern while input is awaited",
            EVERY,
            [
                run("read x").awaits("text"),
                because(pattern("never"), "awaiting_input").field("/awaiting/kind", "text"),
            ],
        ),
    ]
}

fn others() -> Vec<Scenario> {
    vec![
        scenario(
            "the end",
            EVERY,
            steps(
                "echo end; (exit 7)",
                [
                    release("gate"),
                    because(wait(json!({"until": "exit"})), "exited")
                        .exits(7)
                        .field("/status", "completed")
                        .field("/content", "end"),
                ],
            ),
        ),
        scenario(
            "the end, which is what is meant if nothing is said",
            EVERY,
            steps("echo end", [release("gate"), because(wait(json!({})), "exited").exits(0)]),
        ),
        scenario(
            "the end, which does not come in time",
            EVERY,
            steps(
                "echo end",
                [
                    because(wait(json!({"timeout": 0.2})), "timeout").field("/status", "running"),
                    release("gate"),
                    collect().says("end"),
                ],
            ),
        ),
        scenario(
            "the end has come already",
            EVERY,
            [
                run("echo x; sh -c 'exit 5'").says("x").exits(5),
                because(wait(json!({})), "exited").exits(5).field("/status", "completed"),
                run("echo $?").says("5"),
            ],
        ),
        scenario(
            "the end of the shell",
            EVERY,
            steps("exit 6", [release("gate"), because(wait(json!({})), "shell_exited").exits(6)]),
        ),
        scenario(
            "silence",
            EVERY,
            steps(
                "for i in 1 2 3; do echo $i; sleep 0.1; done; sleep 100",
                [
                    release("gate"),
                    because(wait(json!({"until": "silence", "silence_ms": 700})), "silence")
                        .field("/status", "running")
                        .field("/content", "1\n2\n3"),
                    key("C-c").exits(130).whatever(),
                ],
            ),
        ),
        scenario(
            "silence that does not come",
            EVERY,
            steps(
                // One program: C-c on one that a shell has just forked is lost in any terminal.
                TICKS,
                [
                    release("gate"),
                    because(wait(json!({"until": "silence", "silence_ms": 1000, "timeout": 0.5})), "timeout")
                        .holds("tick"),
                    key("C-c").exits(130).whatever(),
                ],
            ),
        ),
        scenario(
            "the end before the silence",
            EVERY,
            steps(
                "echo x",
                [
                    release("gate"),
                    because(wait(json!({"until": "silence", "silence_ms": 20_000})), "exited").exits(0),
                ],
            ),
        ),
        scenario(
            "a screen that has come to rest",
            BASH,
            steps(
                "printf '\\033[?1049hfirst'; sleep 0.1; printf ' second'; sleep 100",
                [
                    release("gate"),
                    because(wait(json!({"until": "screen_stable"})), "screen_stable")
                        .field("/view", "screen")
                        .holds("first second"),
                    key("C-c").exits(130).whatever(),
                ],
            ),
        ),
        scenario(
            "input that is awaited",
            EVERY,
            steps(
                "printf 'Sure? [y/n] '; read a; echo \"[$a]\"",
                [
                    release("gate"),
                    because(wait(json!({})), "awaiting_input").field("/awaiting/kind", "confirm"),
                    input("y").holds("[y]"),
                ],
            ),
        ),
        scenario(
            "something that cannot be waited for",
            EVERY,
            [wait(json!({"until": "tomorrow"})).refused(&[])],
        ),
    ]
}
