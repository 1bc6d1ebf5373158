//! Timeouts kill nothing, and every answer has only what is new.

use super::super::step::{EVERY, Scenario, collect, key, read, release, run, scenario};
use serde_json::json;

pub(crate) fn table() -> Vec<Scenario> {
    vec![
        scenario(
            "a timeout kills nothing",
            EVERY,
            [
                run("sleep 1; touch made").times_out(0.2).leaves_no("made"),
                collect().leaves("made", ""),
                run("echo $?").says("0"),
            ],
        ),
        scenario(
            "no time at all",
            EVERY,
            [
                run("mkfifo gate"),
                run("read x <gate; echo \"$x\"").times_out(0.0),
                release("gate"),
                collect().says("go"),
            ],
        ),
        scenario(
            "more time than there is",
            EVERY,
            [run("true").with("timeout", 90).notice("55 s"), run("true").with("timeout", 55)],
        ),
        scenario(
            "less than no time is no time",
            EVERY,
            [
                run("sleep 100").times_out(-1.0).notice("timeout was taken as 0"),
                key("C-c").exits(130).whatever(),
            ],
        ),
        scenario(
            "the empty command collects what is new, and only that",
            EVERY,
            [
                run("mkfifo gate second"),
                run("echo one; read x <gate; echo two; read x <second; echo three; (exit 5)")
                    .says("one")
                    .times_out(0.3),
                collect().says("").times_out(0.2),
                release("gate"),
                collect().says("two").times_out(0.3),
                release("second"),
                collect().says("three").exits(5),
                read(json!({})).field("/content", "one\ntwo\nthree"),
            ],
        ),
        scenario(
            "a line that grows is told again from its beginning",
            EVERY,
            [
                run("mkfifo gate"),
                run("echo zero; printf half; read x <gate; echo -done; echo next")
                    .says("zero\nhalf")
                    .times_out(0.3),
                release("gate"),
                collect().says("half-done\nnext"),
            ],
        ),
        scenario(
            "progress is told in its newest state",
            EVERY,
            [
                run("mkfifo gate second"),
                run("printf '10%%'; read x <gate; printf '\\r50%%'; read x <second; printf '\\r100%%\\n'")
                    .says("10%")
                    .times_out(0.3),
                release("gate"),
                collect().says("50%").times_out(0.3),
                release("second"),
                collect().says("100%"),
                read(json!({})).field("/content", "100%"),
            ],
        ),
        scenario(
            "the empty command with nothing running",
            EVERY,
            [
                collect().any("/exit_code").text("othing is running"),
                run("sh -c 'exit 6'").exits(6),
                collect().exits(6).text("othing is running"),
                run("echo $?").says("6"),
            ],
        ),
        scenario(
            "what ended meanwhile is told by the empty command",
            EVERY,
            [
                run("mkfifo gate"),
                run("echo a; read x <gate; echo b; (exit 3)").says("a").times_out(0.3),
                release("gate"),
                read(json!({})).field("/content", "a\nb").field("/status", "completed").eventually(),
                collect().says("b").exits(3),
            ],
        ),
        scenario(
            "a new command after one that ended meanwhile",
            EVERY,
            [
                run("mkfifo gate"),
                run("read x <gate; echo old").times_out(0.2),
                release("gate"),
                read(json!({})).field("/status", "completed").eventually(),
                run("echo new").says("new"),
                read(json!({"command_id": 2})).field("/content", "old"),
            ],
        ),
        scenario(
            "how long it took",
            EVERY,
            [run("sleep 0.3").that("about 300 ms", |answer, _| {
                answer["duration_ms"].as_u64().is_some_and(|ms| (290..5000).contains(&ms))
            })],
        ),
        scenario(
            "the end is known at once",
            EVERY,
            [
                run("true"),
                run("true").that("at once", |answer, _| answer["duration_ms"].as_u64() < Some(1000)),
            ],
        ),
        scenario(
            "nothing is said to have been said",
            EVERY,
            [run("true").text("no output]"), run("echo x").says("x")],
        ),
        scenario(
            "how to go on is said of what runs",
            EVERY,
            [
                run("sleep 100").times_out(0.2).text("still running").text("terminal_execute").text("C-c"),
                key("C-c").exits(130).whatever(),
            ],
        ),
    ]
}
