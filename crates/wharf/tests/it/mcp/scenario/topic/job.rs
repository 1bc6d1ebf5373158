//! Jobs in the background: known, listed, and never in the answer of another command.

use super::super::step::{BASH, BASH_ZSH, EVERY, Scenario, Step, key, list, read, release, run, scenario};
use serde_json::{Value, json};

/// A shell may say the job's number and process.
const STARTED: &str = r"(\[\d+\]( \d+)+\n?)*";

fn job(command: &str) -> Step {
    run(command).like(STARTED)
}

fn lists_sleep(answer: &Value, state: &str) -> bool {
    let is_sleep = |job: &Value| {
        let named = job["command"].as_str().is_some_and(|command| command.contains("sleep 300"));
        named && job["pid"].is_u64() && job["state"].as_str().is_some_and(|now| now.contains(state))
    };
    answer["background"].as_array().is_some_and(|jobs| jobs.iter().any(is_sleep))
}

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = known();
    all.extend(apart());
    all
}

fn known() -> Vec<Scenario> {
    vec![
        scenario(
            "what a process substitution prints belongs to its command",
            BASH_ZSH,
            [
                run("echo one > >(tee log)").says("one"),
                run("f() { echo two; sleep 0.02; echo three; return 4; }; f > >(sed 's/^/got /')")
                    .says("got two\ngot three")
                    .exits(4),
                run("cat log").says("one"),
            ],
        ),
        scenario(
            "nobody waits for a process substitution that stays, nor for a job",
            BASH,
            [
                run("echo out > >(sleep 300)")
                    .that("at once", |answer, _| answer["duration_ms"].as_u64() < Some(1000)),
                run("true").says(""),
                job("sleep 300 &").whatever(),
                run("jobs | wc -l").says("1"),
            ],
        ),
        scenario(
            "a job that comes to the foreground has not ended",
            BASH_ZSH,
            [
                job("sleep 300 &").text("[background job, running: sleep 300 (pid "),
                run("fg")
                    .whatever()
                    .times_out(0.3)
                    .that("nothing ended", |answer, _| answer.get("notice").is_none()),
                key("C-c").exits(130).whatever(),
            ],
        ),
        scenario(
            "a job in the background is listed while it lives",
            EVERY,
            [
                job("sleep 300 &").that("the job in background", |answer, _| lists_sleep(answer, "running")),
                run("echo hi")
                    .says("hi")
                    .that("the job in background", |answer, _| lists_sleep(answer, "running")),
                list().that("the job in the list", |answer, _| {
                    answer["terminals"]
                        .as_array()
                        .is_some_and(|all| all.iter().any(|one| lists_sleep(one, "")))
                }),
                run("kill $!; wait $! 2>/dev/null; true").whatever(),
                run("echo hi").says("hi").that("no job", |answer, _| answer["background"].is_null()),
            ],
        ),
        scenario(
            "`jobs` names it",
            EVERY,
            [
                job("sleep 300 &"),
                run("jobs").holds("sleep 300"),
                run("kill %1").whatever(),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "the first job is number one",
            EVERY,
            [
                job("sleep 300 &"),
                run("jobs").like(r"\[1\].*sleep 300( &)?"),
                run("kill %1; wait $! 2>/dev/null; true").whatever(),
                run("jobs").whatever(),
                run("jobs").that("no job", |answer, _| answer["background"].is_null()),
            ],
        ),
        scenario(
            "two jobs",
            EVERY,
            [
                job("sleep 300 & sleep 301 &"),
                run("jobs -p >p; wc -l <p | tr -d ' '").says("2"),
                run("kill %1 %2").whatever(),
            ],
        ),
        scenario(
            // Not in sh: dash forgets a job as soon as it has told that it is done.
            "`wait` for a job and its code",
            BASH_ZSH,
            [
                // It may be over, and said to be, before the prompt is there.
                run("sh -c 'exit 3' & j=$!").whatever(),
                run("wait $j").exits(3).whatever(),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "`wait` in the same command",
            EVERY,
            [run("(echo one; exit 4) & wait $!").exits(4).holds("one")],
        ),
        scenario(
            "a job that does not hang up",
            EVERY,
            [
                job("nohup sleep 300 >/dev/null 2>&1 &")
                    .that("the job in background", |answer, _| lists_sleep(answer, "")),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "a job that is given away",
            BASH_ZSH,
            [job("sleep 300 & disown"), run("jobs"), run("echo ok").says("ok")],
        ),
        scenario(
            "a job that is brought back",
            EVERY,
            [
                job("sleep 300 &"),
                run("fg").holds("sleep 300").times_out(0.3),
                key("C-c").exits(130).whatever(),
                run("jobs"),
            ],
        ),
        scenario(
            "a job that is stopped and goes on in the background",
            EVERY,
            [
                run("sleep 300").times_out(0.3),
                key("C-z")
                    .exits(148)
                    .whatever()
                    .that("a stopped job", |answer, _| lists_sleep(answer, "stopped")),
                run("bg").whatever().that("a running job", |answer, _| lists_sleep(answer, "running")),
                run("kill %1").whatever(),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "a job of several programs",
            EVERY,
            [
                job("sleep 300 | cat &").that("the job in background", |answer, _| lists_sleep(answer, "")),
                run("kill %1").whatever(),
            ],
        ),
        scenario(
            "a command does not wait for its job",
            EVERY,
            [job("(sleep 300; echo never) & true")
                .that("at once", |answer, _| answer["duration_ms"].as_u64() < Some(5000))],
        ),
    ]
}

fn apart() -> Vec<Scenario> {
    vec![
        scenario(
            "what a job says later belongs to no command",
            EVERY,
            [
                run("mkfifo gate"),
                job("(read x <gate; echo late) &"),
                release("gate"),
                read(json!({"command_id": 0})).holds("late").eventually(),
                // The shell's own word that the job is done may come with it.
                run("echo next").holds("next").lacks("late"),
                read(json!({})).holds("next").lacks("late"),
            ],
        ),
        scenario(
            "what a job says while nothing runs is not lost and not repeated",
            EVERY,
            [
                run("mkfifo gate"),
                job("(read x <gate; seq 1 5) &"),
                release("gate"),
                read(json!({"command_id": 0})).holds("1\n2\n3\n4\n5").eventually(),
                run("true"),
                run("echo next").says("next"),
            ],
        ),
        scenario(
            "the notice of a job's end is in no answer",
            EVERY,
            [
                run("true & sleep 0.2").whatever(),
                run("echo next").says("next"),
                run("echo again").says("again"),
            ],
        ),
        scenario(
            "the notice of a job's violent end is in no answer",
            EVERY,
            [
                job("sleep 300 &"),
                run("kill -KILL $!; sleep 0.2").whatever(),
                run("echo next").says("next"),
                run("echo again").says("again"),
            ],
        ),
        scenario(
            "notices at once",
            BASH,
            [run("set -b"), run("true & sleep 0.2").whatever(), run("echo next").says("next")],
        ),
        scenario(
            "a job that reads the terminal is stopped, not asked",
            EVERY,
            [
                run("cat & sleep 0.2").whatever(),
                run("echo next").says("next"),
                run("kill -KILL %1").whatever(),
            ],
        ),
        scenario(
            "a job that writes all the time does not keep commands from their ends",
            EVERY,
            [
                run("(while :; do echo tick; sleep 0.01; done) & echo $! >pid").whatever(),
                run("echo in between").holds("in between"),
                run("sh -c 'exit 3'").exits(3).whatever(),
                run("kill $(cat pid); wait 2>/dev/null; true").whatever(),
                run("echo quiet").says("quiet"),
            ],
        ),
    ]
}
