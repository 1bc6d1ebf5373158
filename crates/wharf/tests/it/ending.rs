//! How a command ended is how `wharf run` ends.

use crate::harness::{Wharf, finish, json};
use std::process::Stdio;

#[test]
fn the_commands_exit_code_is_ours() {
    let wharf = Wharf::new();
    for code in [0, 1, 3, 124, 255] {
        assert_eq!(wharf.call(["run", "-c", &format!("exit {code}")]).code, Some(code));
    }
}

#[test]
fn a_signal_is_128_and_its_number() {
    let wharf = Wharf::new();
    assert_eq!(wharf.call(["run", "-c", "kill -9 $$"]).code, Some(137));
    assert_eq!(wharf.call(["run", "-c", "kill -SEGV $$"]).code, Some(139));
}

#[test]
fn a_time_limit_is_124_and_said_in_one_line() {
    let wharf = Wharf::new();
    let done = wharf.call(["run", "--timeout", "200ms", "--", "sleep", "100"]);
    assert_eq!(
        (done.code, done.err.as_str()),
        (Some(124), "wharf: ended by its time limit of 0.2s (SIGTERM)\n")
    );
    let done = wharf.call(["run", "--idle-timeout", "200ms", "--", "sleep", "100"]);
    assert_eq!(
        (done.code, done.err.as_str()),
        (Some(124), "wharf: ended by its idle limit of 0.2s (SIGTERM)\n")
    );
}

#[test]
fn a_time_limit_is_124_also_when_the_command_ends_nicely() {
    let wharf = Wharf::new();
    let line = "trap 'echo bye; exit 0' TERM; sleep 100 & wait";
    let done = wharf.call(["run", "--timeout", "200ms", "-c", line]);
    assert_eq!((done.code, done.out.as_str()), (Some(124), "bye\n"));
    assert!(done.err.contains("time limit of 0.2s (exit 0)"), "{}", done.err);
}

#[test]
fn too_much_output_ends_it() {
    let wharf = Wharf::new();
    let done = wharf.call(["run", "--max-output", "100K", "--", "yes"]);
    assert_eq!(done.code, Some(143));
    assert!(done.err.contains("output limit of 102,400 bytes"), "{}", done.err);
}

#[test]
fn what_is_not_found_is_127_and_what_is_not_executable_126() {
    let wharf = Wharf::new();
    let done = wharf.call(["run", "--", "no-such-program"]);
    assert_eq!((done.code, done.out.as_str()), (Some(127), ""));
    assert!(done.err.contains("no-such-program"), "{}", done.err);
    assert_eq!(wharf.call(["run", "--", "/etc/passwd"]).code, Some(126));
    assert_eq!(wharf.call(["run", "--", "/etc"]).code, Some(126));
    assert!(wharf.ids().is_empty(), "nothing is left of an attempt");
}

#[test]
fn a_line_given_as_one_word_is_no_shell_line_but_the_hint_says_how() {
    let done = Wharf::new().call(["run", "--", "echo hello"]);
    assert_eq!(done.code, Some(127));
    assert!(done.err.contains("wharf run -c \"echo hello\""), "{}", done.err);
}

#[test]
fn a_directory_that_is_not_there_is_our_failure() {
    let done = Wharf::new().call(["run", "--cwd", "/no/such/place", "--", "true"]);
    assert_eq!(done.code, Some(125));
    assert!(done.err.contains("/no/such/place"), "{}", done.err);
}

#[test]
fn wrong_usage_is_2() {
    let wharf = Wharf::new();
    for args in
        [&["run"][..], &["run", "--timeout", "soon", "--", "true"], &["nonsense"], &["kill"], &["send", "x"]]
    {
        assert_eq!(wharf.call(args.iter().copied()).code, Some(2), "{args:?}");
    }
}

#[test]
fn the_record_has_everything_about_the_end() {
    let wharf = Wharf::new();
    let done = wharf.call(["run", "--json", "-c", "echo out; echo err >&2; exit 4"]);
    assert_eq!((done.code, done.err.as_str()), (Some(4), ""));
    let record = json(&done.out);
    for (field, value) in [
        ("outcome", json("\"exited\"")),
        ("exit_code", json("4")),
        ("signal", json("null")),
        ("cause", json("\"exited\"")),
        ("bytes", json("8")),
        ("dropped", json("0")),
        ("left", json("0")),
        ("output", json("\"out\\nerr\\n\"")),
        ("truncated", json("false")),
    ] {
        assert_eq!(record[field], value, "{field}");
    }
    assert_eq!(record["id"].as_str().unwrap(), wharf.ids()[0]);
    for number in ["duration_ms", "cpu_user_ms", "cpu_system_ms", "peak_memory_bytes"] {
        assert!(record[number].is_u64(), "{number}: {record}");
    }
}

#[test]
fn the_record_tells_a_signal_by_name_and_a_limit_by_cause() {
    let wharf = Wharf::new();
    let record = json(&wharf.call(["run", "--json", "--timeout", "200ms", "--", "sleep", "100"]).out);
    assert_eq!(record["outcome"], "signal");
    assert_eq!(record["signal"], "SIGTERM");
    assert_eq!(record["exit_code"], json("null"));
    assert_eq!(record["cause"], "time_limit");
}

#[test]
fn a_failure_is_a_record_too() {
    let done = Wharf::new().call(["run", "--json", "--", "no-such-program"]);
    assert_eq!(done.code, Some(127));
    assert_eq!(json(&done.out)["error"]["code"], "not_found");
}

#[test]
fn an_exit_code_is_heard_of_although_whoever_started_us_ignores_children() {
    let wharf = Wharf::new();
    #[expect(clippy::disallowed_methods, reason = "this is how a test ignores a signal before exec")]
    let mut deaf = std::process::Command::new("env");
    deaf.arg("--ignore-signal=CHLD").arg(wharf.program());
    deaf.args(["run", "--", "sh", "-c", "echo said; exit 3"]).env_clear().envs(wharf.environment());
    let run = deaf.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let done = finish(run);
    assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (Some(3), "said\n", ""));
}
