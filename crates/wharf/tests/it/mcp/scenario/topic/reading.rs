//! Reading what was said: by lines, from the end, by a search, of any command, also when the shell is gone.

use super::super::step::{Check, EVERY, Scenario, Step, collect, read, release, run, scenario};
use serde_json::{Value, json};

/// `seq 1 50`.
fn fifty() -> Step {
    run("seq 1 50").whatever()
}

fn range(from: u64, to: u64) -> Step {
    read(json!({"from_line": from, "to_line": to}))
}

fn is(step: Step, content: &str, from: u64, to: u64) -> Step {
    step.field("/content", content).field("/shown/from_line", from).field("/shown/to_line", to)
}

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = lines();
    all.extend(searches());
    all.extend(whose());
    all
}

fn lines() -> Vec<Scenario> {
    vec![
        scenario(
            "lines by their numbers",
            EVERY,
            [
                fifty(),
                is(range(10, 12), "10\n11\n12", 10, 12)
                    .field("/total_lines", 50)
                    .field("/status", "completed"),
                is(range(1, 1), "1", 1, 1),
                is(range(50, 50), "50", 50, 50),
                is(range(49, 500), "49\n50", 49, 50),
                is(read(json!({"from_line": 48})), "48\n49\n50", 48, 50),
                is(read(json!({"to_line": 2})), "1\n2", 1, 2),
            ],
        ),
        scenario(
            "the last lines",
            EVERY,
            [
                fifty(),
                is(read(json!({"last": 3})), "48\n49\n50", 48, 50),
                read(json!({"last": 500})).holds("1\n2\n").field("/shown/from_line", 1),
            ],
        ),
        scenario(
            "all lines",
            EVERY,
            [run("printf 'a\\n\\n  b\\n'").says("a\n\n  b"), is(read(json!({})), "a\n\n  b", 1, 3)],
        ),
        scenario(
            "lines beyond the end",
            EVERY,
            [fifty(), range(60, 70).that("nothing, or an error", |answer, _| answer["content"] == "")],
        ),
        scenario(
            "nothing was said",
            EVERY,
            [run("true"), read(json!({})).field("/content", "").field("/total_lines", 0)],
        ),
        scenario(
            "more lines than the budget",
            EVERY,
            [
                run("seq 1 5000").whatever(),
                read(json!({"from_line": 1, "to_line": 5000, "max_bytes": 2000}))
                    .check(Check::Has("/omitted"))
                    .that("within the budget", |answer, _| {
                        answer["content"].as_str().is_some_and(|text| text.len() <= 2512)
                    }),
            ],
        ),
        scenario(
            "numbers that do not fit",
            EVERY,
            [fifty(), range(20, 10).refused(&[]), is(range(0, 2), "1\n2", 1, 2)],
        ),
    ]
}

fn searches() -> Vec<Scenario> {
    vec![
        scenario(
            "lines that match",
            EVERY,
            [
                fifty(),
                read(json!({"search": "^4.$"}))
                    .field(
                        "/content",
                        "40: 40\n41: 41\n42: 42\n43: 43\n44: 44\n45: 45\n46: 46\n47: 47\n48: 48\n49: 49",
                    )
                    .that("ten matches", |answer, _| {
                        answer["matches"] == 10 || answer["matches"].as_array().map(Vec::len) == Some(10)
                    }),
            ],
        ),
        scenario(
            "lines around those that match",
            EVERY,
            [
                fifty(),
                read(json!({"search": "^30$", "context": 2}))
                    .holds("28")
                    .holds("30: 30")
                    .holds("32")
                    .lacks("27")
                    .lacks("33"),
            ],
        ),
        scenario(
            "no line matches",
            EVERY,
            [
                fifty(),
                read(json!({"search": "none"})).field("/content", "").that("no match", |answer, _| {
                    answer["matches"] == 0 || answer["matches"].as_array().is_some_and(Vec::is_empty)
                }),
            ],
        ),
        scenario(
            "a search in some of the lines",
            EVERY,
            [
                fifty(),
                read(json!({"search": "5", "from_line": 10, "to_line": 30}))
                    .field("/content", "15: 15\n25: 25"),
            ],
        ),
        scenario(
            "a search that cannot be read",
            EVERY,
            [fifty(), read(json!({"search": "(open"})).refused(&["open"])],
        ),
        scenario(
            "a search for letters of every alphabet",
            EVERY,
            [
                run("printf 'žlutý\\n日本\\n'").says("žlutý\n日本"),
                read(json!({"search": "本$"})).field("/content", "2: 日本"),
            ],
        ),
    ]
}

fn whose() -> Vec<Scenario> {
    vec![
        scenario(
            "earlier commands by their numbers",
            EVERY,
            [
                run("echo one").says("one"),
                run("echo two; sh -c 'exit 3'").says("two").exits(3),
                run("echo three").says("three"),
                read(json!({"command_id": 1})).field("/content", "one").field("/command_id", 1),
                read(json!({"command_id": 2})).field("/content", "two").field("/command_id", 2),
                read(json!({})).field("/content", "three").field("/command_id", 3),
                read(json!({"command_id": 99})).refused(&["99"]),
            ],
        ),
        scenario(
            "what is still running, without taking it away",
            EVERY,
            [
                run("mkfifo gate second"),
                run("echo a; read x <gate; echo b; read x <second; echo c").says("a").times_out(0.3),
                read(json!({})).field("/content", "a").field("/status", "running"),
                release("gate"),
                read(json!({})).field("/content", "a\nb").eventually(),
                read(json!({"last": 1})).field("/content", "b"),
                release("second"),
                collect().says("b\nc"),
            ],
        ),
        scenario(
            "the numbers of a shell's commands are not used again by the next, and say which shell is meant",
            EVERY,
            [
                run("echo old; exit 3").ends_shell(3).whatever().field("/command_id", 1),
                run("echo fresh").says("fresh").field("/command_id", 2).any("/notice"),
                read(json!({"command_id": 1})).holds("old").field("/command_id", 1),
                read(json!({"command_id": 3})).refused(&["no command 3: there are 1 to 2"]),
            ],
        ),
        scenario(
            "a shell that has ended",
            EVERY,
            [
                run("echo one").says("one"),
                run("echo last; exit 3").ends_shell(3).whatever(),
                read(json!({})).holds("last"),
                read(json!({"command_id": 1})).field("/content", "one"),
            ],
        ),
        scenario(
            "the screen of a shell",
            EVERY,
            [
                run("echo on the screen").says("on the screen"),
                read(json!({"view": "screen"}))
                    .holds("on the screen")
                    .field("/screen/rows", 24)
                    .field("/screen/cols", 80),
            ],
        ),
        scenario(
            "a very long line by its columns",
            EVERY,
            [
                run("seq -s , 1 20000").whatever().field("/total_lines", 1),
                read(json!({"from_line": 1, "to_line": 1, "column": 1, "max_bytes": 1024}))
                    .that("its beginning", |answer, _| begins(answer, "1,2,3,4,5,")),
                read(json!({"from_line": 1, "to_line": 1, "column": 108_889, "max_bytes": 1024}))
                    .that("its end", |answer, _| begins(answer, "20000")),
            ],
        ),
    ]
}

fn begins(answer: &Value, with: &str) -> bool {
    answer["content"].as_str().is_some_and(|text| text.starts_with(with))
}
