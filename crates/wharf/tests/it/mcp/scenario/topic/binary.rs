//! Bytes that are no text, and more of them than anybody reads.

use super::super::step::{Check, EVERY, Scenario, collect, key, read, read_all, release, run, scenario};
use serde_json::json;

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = bytes();
    all.extend(floods());
    all
}

fn bytes() -> Vec<Scenario> {
    vec![
        scenario("zeros", EVERY, [run("printf 'a\\000b\\n'").like("a\u{fffd}?b")]),
        scenario(
            "bytes that are no letters",
            EVERY,
            [
                run("printf 'A\\377\\376\\200B\\n'").like("A\u{fffd}{1,3}B"),
                run("printf '\\303\\n'").like("\u{fffd}?"),
            ],
        ),
        scenario(
            "a letter in two writes",
            EVERY,
            [
                run("printf '\\303'; sleep 0.1; printf '\\251\\n'").says("é"),
                run("printf '\\360\\237'; sleep 0.1; printf '\\216\\211\\n'").says("🎉"),
            ],
        ),
        scenario(
            "half a letter at the end",
            EVERY,
            [run("printf 'a\\303'").like("a\u{fffd}?"), run("echo é").says("é")],
        ),
        scenario(
            "20 KB of noise, and the shell still works",
            EVERY,
            [
                run("head -c 20000 /dev/urandom").whatever(),
                run("echo ok").says("ok"),
                run("head -c 20000 /dev/urandom").whatever(),
                run("sh -c 'exit 3'").exits(3),
                run("stty size").says("24 80"),
            ],
        ),
        scenario(
            "every byte there is",
            EVERY,
            [
                run("i=0; while [ $i -lt 256 ]; do printf \"\\\\$(printf %o $i)\"; i=$((i + 1)); done")
                    .whatever(),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "a program as text",
            EVERY,
            [run("head -c 50000 /bin/ls").whatever(), run("echo ok").says("ok")],
        ),
    ]
}

fn floods() -> Vec<Scenario> {
    vec![
        scenario(
            "100,000 lines, all of which can be read",
            EVERY,
            [
                run("seq 1 100000")
                    .whatever()
                    .field("/total_lines", 100_000)
                    .check(Check::Has("/omitted"))
                    .that("head and tail", |answer, _| {
                        answer["content"].as_str().is_some_and(|text| {
                            text.starts_with("1\n2\n3\n") && text.ends_with("\n99999\n100000")
                        })
                    }),
                read_all(100_000, |n| n.to_string()),
                read(json!({"from_line": 50_000, "to_line": 50_001})).field("/content", "50000\n50001"),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "long lines, all of which can be read",
            EVERY,
            [
                run("seq -f '%0150.0f' 1 2000").whatever().field("/total_lines", 2000),
                read_all(2000, |n| format!("{n:0150}")),
            ],
        ),
        scenario(
            "a flood that is stopped",
            EVERY,
            [
                run("yes").whatever().with("timeout", 0.3).goes_on(),
                key("C-c").exits(130).whatever(),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "a flood that is collected piece by piece",
            EVERY,
            [
                run("mkfifo gate; seq 1 3000; read x <gate; seq 3001 6000").whatever().times_out(0.5),
                release("gate"),
                collect().holds("6000").lacks("\n2999\n"),
                read_all(6000, |n| n.to_string()),
            ],
        ),
        scenario(
            "lines that come drop by drop",
            EVERY,
            [run("for i in 1 2 3 4 5; do echo $i; sleep 0.05; done").says("1\n2\n3\n4\n5")],
        ),
    ]
}
