//! A command that outlives the program that started it.

use crate::harness::{Wharf, finish, json, open_gate, read_until};

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

#[test]
fn a_terminal_whose_holder_was_killed_says_lost() {
    let wharf = Wharf::new();
    let id = wharf.detach(["-c", "echo ready; sleep 1000"]);
    wharf.wait_for_output(&id, "ready");
    let listed = json(&wharf.ok(["ls", "--json"]));
    let pid = listed[0]["pid"].as_u64().unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let holder: i32 = stat.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap();
    let holder = rustix::process::Pid::from_raw(holder).unwrap();
    rustix::process::kill_process(holder, rustix::process::Signal::KILL).unwrap();
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
