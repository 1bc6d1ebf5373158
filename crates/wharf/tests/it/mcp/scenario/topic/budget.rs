//! An answer has a budget; what does not fit is named exactly and can be read.

use super::super::step::{BASH, Check, EVERY, Scenario, Step, read, run, scenario};
use serde_json::{Value, json};

/// The lines that are shown and those that are left out are all there are, once.
fn adds_up(answer: &Value) -> bool {
    let number = |pointer: &str| answer.pointer(pointer).and_then(Value::as_u64);
    let numbers = (number("/omitted/from_line"), number("/omitted/to_line"), number("/total_lines"));
    let (Some(from), Some(to), Some(total)) = numbers else { return false };
    let content = answer["content"].as_str().unwrap_or_default();
    let shown: Vec<u64> = content.lines().filter_map(|line| line.parse().ok()).collect();
    shown == (1..from).chain(to + 1..=total).collect::<Vec<_>>()
}

/// The tail is what is wanted.
fn is_tail_heavy(answer: &Value) -> bool {
    let number = |pointer: &str| answer.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
    number("/omitted/from_line") - 1 < number("/total_lines") - number("/omitted/to_line")
}

pub(crate) fn table() -> Vec<Scenario> {
    vec![
        scenario(
            "what is shown and what is left out is all there is",
            EVERY,
            [
                run("seq 1 9000")
                    .whatever()
                    .field("/total_lines", 9000)
                    .that("shown and omitted are all", |answer, _| adds_up(answer))
                    .that("tail-heavy", |answer, _| is_tail_heavy(answer)),
                run("seq 1 9000")
                    .whatever()
                    .with("max_bytes", 1024)
                    .that("shown and omitted are all", |answer, _| adds_up(answer)),
                run("seq 1 9000")
                    .whatever()
                    .with("max_bytes", 40_000)
                    .that("shown and omitted are all", |answer, _| adds_up(answer)),
                run("seq 1 9000")
                    .with("max_bytes", 100_000)
                    .says((1..=9000).map(|n| n.to_string()).collect::<Vec<_>>().join("\n"))
                    .check(Check::HasNot("/omitted")),
            ],
        ),
        scenario(
            "the text names the call that reads what is left out",
            EVERY,
            [run("seq 1 9000")
                .whatever()
                .text("terminal_read")
                .text("from_line")
                .text("omitted")
                .check(Check::Has("/omitted/read"))
                .check(Check::Has("/omitted/bytes"))],
        ),
        scenario(
            "output that is just within the budget",
            EVERY,
            [
                run("seq 1000 1203")
                    .with("max_bytes", 1024)
                    .says((1000..=1203).map(|n| n.to_string()).collect::<Vec<_>>().join("\n"))
                    .check(Check::HasNot("/omitted")),
                run("seq 10000 10999").with("max_bytes", 1024).whatever().check(Check::Has("/omitted")),
            ],
        ),
        scenario(
            "lines that repeat are folded",
            EVERY,
            [
                run("echo first; yes same | head -n 5000; echo last")
                    .holds("first")
                    .holds("same")
                    .holds("last")
                    .field("/total_lines", 5002)
                    .that("a short answer", |answer, _| {
                        answer["content"].as_str().is_some_and(|text| text.len() < 500)
                    }),
                read(json!({"from_line": 5000, "to_line": 5002}))
                    .field("/total_lines", 5002)
                    .holds("same")
                    .holds("last"),
            ],
        ),
        scenario(
            "lines that repeat a little are not",
            EVERY,
            [run("echo a; echo a; echo b").says("a\na\nb")],
        ),
        scenario(
            "totals are given",
            EVERY,
            [
                run("seq 1 9").says("1\n2\n3\n4\n5\n6\n7\n8\n9").field("/total_lines", 9),
                run("printf abc").says("abc").field("/total_lines", 1),
                run("true").field("/total_lines", 0),
            ],
        ),
        scenario(
            "one line that is longer than the budget",
            EVERY,
            [run("printf '%030000d\\n' 7").whatever().field("/total_lines", 1).that(
                "within the budget",
                |answer, _| {
                    answer["content"]
                        .as_str()
                        .is_some_and(|text| text.len() <= 16_384 + 512 && text.contains("0007"))
                },
            )],
        ),
        scenario("a line of 1 MB", EVERY, long_line(1_000_000)),
        scenario(
            "a line of 10 MB is cut into lines of one, and none of it is lost",
            BASH,
            [
                run("head -c 10000000 /dev/zero | tr '\\0' x; echo; echo end")
                    .with("timeout", 55)
                    .whatever()
                    .field("/total_lines", 11)
                    .field("/total_bytes", 10_000_014),
                read(json!({"from_line": 11, "to_line": 11})).field("/content", "end"),
                read(json!({"from_line": 9, "to_line": 9, "column": 1_048_570})).field("/content", "xxxxxxx"),
            ],
        ),
    ]
}

/// It is one line, whole, and its end can be read by its columns.
fn long_line(length: u64) -> [Step; 4] {
    let last = json!({"from_line": 1, "to_line": 1, "column": length - 8});
    [
        run(format!("head -c {length} /dev/zero | tr '\\0' x; echo; echo end"))
            .with("timeout", 55)
            .whatever()
            .field("/total_lines", 2)
            .that("the end of it", |answer, _| {
                answer["content"].as_str().is_some_and(|text| text.ends_with("\nend"))
            }),
        read(json!({"from_line": 2, "to_line": 2})).field("/content", "end"),
        read(last).that("its last columns", |answer, _| {
            answer["content"].as_str().is_some_and(|text| text.starts_with("xxxxxxxxx") && text.len() < 200)
        }),
        run("echo ok").says("ok"),
    ]
}
