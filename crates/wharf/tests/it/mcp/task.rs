//! Waits that outlast a call: tasks, for who takes them.

use super::client::{Answer, Client};
use crate::harness::{GUARD, Wharf};
use serde_json::{Value, json};
use std::time::Instant;

const TASKS: &str = "io.modelcontextprotocol/tasks";

fn able() -> Value {
    json!({"extensions": {TASKS: {}}})
}

/// Starts something that runs until the file of that name is there.
fn begin(client: &mut Client, name: &str) {
    let line = format!("until [ -e {name} ]; do sleep 0.02; done; echo it is there");
    let begun = client.call("terminal_execute", json!({"command": line, "timeout": 0}));
    assert_eq!(begun.get("status"), "running");
}

fn wait(client: &mut Client) -> Value {
    let arguments = json!({"timeout": 600});
    client.request("tools/call", json!({"name": "terminal_wait", "arguments": arguments}))
}

/// Looks in on it until it is over: the protocol has no other way.
fn over(client: &mut Client, id: &Value) -> Value {
    let began = Instant::now();
    loop {
        let looked = client.request("tasks/get", json!({"taskId": id}));
        let task = &looked["result"];
        if task["status"] != "working" {
            return task.clone();
        }
        assert!(began.elapsed() < GUARD, "never over: {looked}");
    }
}

#[test]
fn a_long_wait_is_a_task_whose_result_is_the_answer() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]).able(able()).modern();
    let found = client.request("server/discover", json!({}));
    assert!(found["result"]["capabilities"]["extensions"][TASKS].is_object(), "{found}");
    begin(&mut client, "done");
    let task = wait(&mut client)["result"].clone();
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{task}");
    // The terminal can be used meanwhile, and other calls are answered.
    assert_eq!(client.call("terminal_list", json!({})).get("terminals")[0]["status"], "running");
    std::fs::write(wharf.scratch().join("done"), "").unwrap();
    let task = over(&mut client, &task["taskId"]);
    assert_eq!(task["status"], "completed", "{task}");
    let answer = Answer::of(&task["result"]);
    assert_eq!((answer.content(), answer.get("exit_code")), ("it is there", &json!(0)));
    assert_eq!(answer.get("returned_because"), "exited");
    // And is told once.
    assert_eq!(client.call("terminal_wait", json!({})).content(), "");
    client.leave();
}

#[test]
fn ending_a_task_ends_the_waiting_alone() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]).able(able()).modern();
    begin(&mut client, "done");
    let task = wait(&mut client)["result"]["taskId"].clone();
    let ended = client.request("tasks/cancel", json!({"taskId": task}));
    assert!(ended["result"].is_object(), "{ended}");
    assert_eq!(over(&mut client, &task)["status"], "cancelled");
    std::fs::write(wharf.scratch().join("done"), "").unwrap();
    let answer = client.call("terminal_wait", json!({}));
    assert_eq!((answer.content(), answer.get("exit_code")), ("it is there", &json!(0)));
    let unknown = client.request("tasks/get", json!({"taskId": "nothing"}));
    assert!(unknown["error"].is_object(), "{unknown}");
    client.leave();
}

#[test]
fn a_wrong_wait_is_refused_in_the_tasks_result() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]).able(able()).modern();
    let arguments = json!({"timeout": 600, "terminal_id": "nobody"});
    let task = client.request("tools/call", json!({"name": "terminal_wait", "arguments": arguments}));
    let answer = Answer::of(&over(&mut client, &task["result"]["taskId"])["result"]);
    assert!(answer.is_error && answer.text.contains("nobody"), "{answer:?}");
    client.leave();
}

#[test]
fn who_cannot_take_a_task_gets_none() {
    let wharf = Wharf::new();
    let mut classic = Client::start(&wharf, &[]).able(able());
    // Some clients of that era say that they take tasks.
    assert!(classic.initialize()["capabilities"]["extensions"].is_null());
    let mut plain = Client::start(&wharf, &[]).modern();
    let mut short = Client::start(&wharf, &[]).able(able()).modern();
    for (client, timeout) in [(&mut classic, 600), (&mut plain, 600), (&mut short, 60)] {
        client.run("echo told");
        let answer = client.call("terminal_wait", json!({"timeout": timeout}));
        assert_eq!(answer.get("status"), "completed");
        let capped = answer.text.contains("the timeout was capped");
        assert_eq!(capped, timeout > 60, "{}", answer.text);
    }
    for client in [classic, plain, short] {
        client.leave();
    }
}
