//! A command that outlives the program that started it.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::harness::{GUARD, Wharf, finish, json, open_gate, read_until};
use rustix::process::{Pid, Signal, kill_process};
use std::time::Instant;
use wharf_shim::tree::proc;
use wharf_testing::leak;

#[test]
fn a_detached_command_is_followed_and_waited_for_by_others() {
    let wharf = Wharf::new();
    let gate = wharf.gate();
    let id = wharf.detach(["-c", &format!("echo one; read x < {}; echo two; exit 9", gate.display())]);
    assert_eq!(id.len(), 26);
    let mut logs = wharf.spawn(["logs", "-f", &id]);
    let wait = wharf.spawn(["wait", &id]);
    read_until(logs.stdout.as_mut().unwrap(), "one\n");
    open_gate(&gate);
    assert_eq!(finish(wait).code, Some(9));
    let done = finish(logs);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "two\n"));
    assert_eq!(wharf.call(["wait", &id]).code, Some(9), "also much later");
    assert_eq!(wharf.ok(["logs", &id]), "one\ntwo\n");
}

#[test]
fn waiting_gives_the_same_record_as_running() {
    let wharf = Wharf::new();
    let id = wharf.detach(["-c", "echo x; exit 3"]);
    let done = wharf.call(["wait", "--json", &id]);
    let record = json(&done.out);
    assert_eq!(
        (done.code, &record["exit_code"], &record["output"]),
        (Some(3), &json("3"), &json("\"x\\n\""))
    );
}

#[test]
fn any_unique_beginning_names_a_terminal() {
    let wharf = Wharf::new();
    let id = wharf.detach(["-c", "exit 5"]);
    for beginning in [&id[..], &id[..8], &id[..1], &id[..4].to_uppercase()] {
        assert_eq!(wharf.call(["wait", beginning]).code, Some(5), "{beginning}");
    }
}

#[test]
fn a_beginning_that_several_have_is_an_error_that_names_them() {
    let wharf = Wharf::new();
    // By the pigeonhole two of these begin alike.
    for _ in 0..33 {
        wharf.detach(["--", "true"]);
    }
    let mut firsts: Vec<char> = wharf.ids().iter().map(|id| id.chars().next().unwrap()).collect();
    firsts.sort_unstable();
    let shared = firsts.windows(2).find(|pair| pair[0] == pair[1]).unwrap()[0];
    let done = wharf.call(["logs", &shared.to_string()]);
    assert_eq!(done.code, Some(3));
    let named = wharf.ids().iter().filter(|id| done.err.contains(&id[..8])).count();
    assert!(named >= 2 && done.err.contains("true"), "{}", done.err);
}

#[test]
fn a_terminal_that_is_not_there_is_3_and_the_latest_are_named() {
    let wharf = Wharf::new();
    assert_eq!(wharf.call(["logs", "zzzz"]).code, Some(3));
    let id = wharf.detach(["--", "true"]);
    for verb in ["logs", "wait", "kill", "rm", "attach"] {
        let done = wharf.call([verb, "not-an-id"]);
        assert_eq!(done.code, Some(3), "{verb}");
        assert!(done.err.contains(&id[..8]), "{}", done.err);
    }
}

/// Sends a signal to the process that holds the only terminal.
fn signal_holder(wharf: &Wharf, signal: Signal) {
    let listed = json(&wharf.ok(["ls", "--json"]));
    let pid = i32::try_from(listed[0]["pid"].as_u64().unwrap()).unwrap();
    let holder = proc::look(pid).unwrap().parent;
    kill_process(Pid::from_raw(holder).unwrap(), signal).unwrap();
    let (until, done) = (Instant::now() + GUARD, if signal == Signal::KILL { 'Z' } else { 'T' });
    // Until then it has its lock, or answers.
    while proc::look(holder).is_some_and(|holder| holder.state != done) {
        assert!(Instant::now() < until, "{holder} takes no signal");
    }
}

/// Whether nothing is left of what carries the mark.
fn until_swept(wharf: &Wharf) {
    let until = Instant::now() + GUARD;
    while !leak::living(&wharf.scratch(), &[]).is_empty() {
        assert!(Instant::now() < until, "{:?}", leak::living(&wharf.scratch(), &[]));
        std::thread::yield_now();
    }
}

#[test]
fn whoever_reads_a_terminal_whose_holder_was_killed_is_told_and_sweeps() {
    for way in ["logs", "logs -n 1", "run"] {
        let wharf = Wharf::new();
        let line = "setsid sleep 1000 & echo ready; sleep 1000";
        let mut command = wharf.command(["run", "-d", "-c", line]);
        let begun = command.env(leak::MARK, wharf.scratch()).output().unwrap();
        let id = String::from_utf8(begun.stdout).unwrap().trim().to_owned();
        wharf.wait_for_output(&id, "ready");
        signal_holder(&wharf, Signal::KILL);
        if way == "run" {
            wharf.ok(["run", "--", "true"]);
        } else {
            let done = wharf.call(way.split(' ').chain([id.as_str()]));
            assert_eq!(done.code, Some(125), "{way}: {done:?}");
            assert!(done.err.contains("lost") && done.out.ends_with("ready\n"), "{way}: {done:?}");
        }
        until_swept(&wharf);
    }
}

#[test]
fn a_stopped_holder_is_woken_by_what_needs_it() {
    let wharf = Wharf::new();
    let go = wharf.scratch().join("go");
    let line = "trap 'echo caught' HUP; echo ready; until [ -e \"$0\" ]; do sleep 0.02; done; exit 4";
    let id = wharf.detach(["--", "sh", "-c", line, go.to_str().unwrap()]);
    wharf.wait_for_output(&id, "ready");
    signal_holder(&wharf, Signal::STOP);
    wharf.ok(["kill", "-s", "HUP", &id]);
    wharf.wait_for_output(&id, "caught");
    // Those who wait already, too.
    let waiting = wharf.spawn(["wait", &id]);
    let mut following = wharf.spawn(["logs", "-f", &id]);
    read_until(following.stdout.as_mut().unwrap(), "caught");
    signal_holder(&wharf, Signal::STOP);
    std::fs::write(go, "").unwrap();
    assert_eq!(finish(waiting).code, Some(4));
    assert_eq!(finish(following).code, Some(0));
}

#[test]
fn a_terminal_whose_holder_was_killed_says_lost() {
    let wharf = Wharf::new();
    let id = wharf.detach(["-c", "echo ready; sleep 1000"]);
    wharf.wait_for_output(&id, "ready");
    signal_holder(&wharf, Signal::KILL);
    let done = wharf.call(["wait", &id]);
    assert_eq!(done.code, Some(125));
    assert!(done.err.contains("lost"), "{}", done.err);
    assert!(wharf.ok(["ls"]).contains("lost"));
    let record = json(&wharf.call(["wait", "--json", &id]).out);
    assert_eq!(
        (&record["reason"], &record["duration_ms"]),
        (&"holder_died".into(), &serde_json::Value::Null)
    );
    let followed = wharf.call(["logs", "-f", &id]);
    assert!(followed.code == Some(125) && followed.err.contains("lost"), "{followed:?}");
}
