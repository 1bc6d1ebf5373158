//! Whose terminals are whose: two at once have their own, and one that comes back finds them.

use super::client::{Answer, Client};
use crate::harness::{Wharf, open_gate};
use serde_json::json;

fn client(wharf: &Wharf, args: &[&str]) -> Client {
    let mut client = Client::start(wharf, args);
    client.initialize();
    client
}

fn listed(client: &mut Client) -> Answer {
    client.call("terminal_list", json!({}))
}

#[test]
fn one_that_was_killed_comes_back_to_its_names_state_output_and_running_command() {
    let wharf = Wharf::new();
    let gate = wharf.gate();
    let mut first = client(&wharf, &[]);
    first.run("cd /tmp; colour=red; echo before");
    let line = format!("echo begun; read x < {}; echo ended", gate.display());
    first.call("terminal_execute", json!({"command": line, "terminal_id": "server", "timeout": 0.3}));
    first.kill();
    let mut second = client(&wharf, &[]);
    let all = listed(&mut second);
    let state = |at: usize| all.get("terminals")[at].clone();
    assert_eq!((&state(0)["terminal_id"], &state(0)["status"]), (&json!("default"), &json!("idle")));
    assert_eq!((&state(1)["terminal_id"], &state(1)["status"]), (&json!("server"), &json!("running")));
    assert!(state(1)["command"].as_str().unwrap().contains("echo begun"), "{all:?}");
    assert_eq!(second.run("echo $colour $PWD").content(), "red /tmp");
    let old = second.call("terminal_read", json!({"command_id": 1}));
    assert_eq!(old.content(), "before");
    open_gate(&gate);
    let rest = second.call("terminal_execute", json!({"command": "", "terminal_id": "server"}));
    assert_eq!((rest.content(), rest.get("exit_code")), ("begun\nended", &json!(0)));
}

#[test]
fn two_at_the_same_time_have_terminals_of_their_own() {
    let wharf = Wharf::new();
    let (mut one, mut other) = (client(&wharf, &[]), client(&wharf, &[]));
    one.run("whose=one");
    other.run("whose=other");
    assert_eq!((one.run("echo $whose").content(), other.run("echo $whose").content()), ("one", "other"));
    assert_eq!(listed(&mut one).get("terminals").as_array().unwrap().len(), 1);
    // Both leave, both come back, in the order in which they came.
    assert_eq!((one.leave().code, other.leave().code), (Some(0), Some(0)));
    let (mut one, mut other) = (client(&wharf, &[]), client(&wharf, &[]));
    assert_eq!((one.run("echo $whose").content(), other.run("echo $whose").content()), ("one", "other"));
}

#[test]
fn other_clients_and_other_projects_have_terminals_of_their_own() {
    let wharf = Wharf::new();
    client(&wharf, &[]).run("x=1");
    let mut other = Client::start(&wharf, &[]).named("another");
    other.initialize();
    assert_eq!(listed(&mut other).get("terminals"), &json!([]));
    let elsewhere = wharf.scratch().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut there = Client::start_in(&wharf, &elsewhere, &[]);
    there.initialize();
    assert_eq!(there.run("echo ${x-none} $(basename $PWD)").content(), "none elsewhere");
}

#[test]
fn who_says_the_same_name_shares_on_purpose() {
    let wharf = Wharf::new();
    let (mut one, mut other) = (client(&wharf, &["--as", "pair"]), client(&wharf, &["--as", "pair"]));
    one.run("shared=yes");
    assert_eq!(other.run("echo $shared").content(), "yes");
    let mut third = client(&wharf, &["--as", "alone"]);
    assert_eq!(third.run("echo ${shared-no}").content(), "no");
}

#[test]
fn a_terminal_that_somebody_removed_is_not_there_any_more() {
    let wharf = Wharf::new();
    let mut client = client(&wharf, &[]);
    client.run("x=1");
    let id = wharf.ids().remove(0);
    wharf.ok(["rm", &id]);
    assert_eq!(listed(&mut client).get("terminals"), &json!([]));
    assert_eq!(client.run("echo ${x-fresh}").content(), "fresh");
}
