//! Ends in the middle of something.

use super::meta;
use crate::harness::{json, signal};
use crate::rig::{Rig, nothing_is_left, text};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[test]
fn a_client_that_ends_in_the_middle_of_a_line_is_passed_on_as_far_as_it_got() {
    let mut rig = Rig::begun("", &json!({}));
    rig.start("setsid sleep 1000 & exec sleep 1000");
    rig.client.to.say("{\"method\":\"_whole\"}\n{\"jsonrpc\":\"2.0\",\"method\":\"_ha");
    rig.client.to.close();
    let heard = rig.agent.from.rest();
    assert_eq!(text(&heard), text(b"{\"method\":\"_whole\"}\n{\"jsonrpc\":\"2.0\",\"method\":\"_ha"));
    rig.finish();
}

#[test]
fn a_client_that_goes_is_missed_although_the_agent_takes_nothing_more() {
    let mut rig = Rig::begun("", &json!({}));
    rig.start("setsid sleep 1000 & exec sleep 1000");
    // The agent's other end, the test, does not listen: everything between the client and it is full.
    rig.client.to.fill();
    let gone = Instant::now();
    rig.client.to.close();
    let (wharf, _) = rig.ended();
    assert!(gone.elapsed() < Duration::from_secs(15), "{:?}", gone.elapsed());
    nothing_is_left(&wharf);
    assert_eq!(wharf.ids(), [""; 0], "terminals are left");
}

#[test]
fn an_agent_that_is_killed_in_the_middle_of_a_message_has_said_what_came_before() {
    const WHOLE: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"_whole\"}\n";
    const HALF: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"_half";
    let mut rig = Rig::begun("", &json!({}));
    let terminal = rig.start("setsid sleep 1000 & echo begun; exec sleep 1000");
    rig.embed(&terminal);
    rig.agent.to.say(WHOLE.repeat(1000));
    // Answered, so everything before was heard.
    rig.works();
    rig.agent.to.say(HALF);
    rig.kill_agent();
    let heard = String::from_utf8(rig.client.from.rest()).unwrap();
    let (lines, rest) = heard.rsplit_once('\n').unwrap();
    let methods: Vec<Value> = lines.lines().map(|line| json(line)["method"].take()).collect();
    assert_eq!(methods.iter().filter(|method| **method == "_whole").count(), 1000);
    assert!(methods.iter().all(|method| method == "_whole" || method == "session/update"), "{methods:?}");
    assert!(HALF.starts_with(rest), "{rest:?}");
    let (wharf, done) = rig.ended();
    assert_eq!((done.code, done.err.as_str()), (Some(128 + 9), ""));
    nothing_is_left(&wharf);
    assert_eq!(wharf.ids(), [""; 0], "terminals are left");
}

#[test]
fn asked_to_end_in_the_middle_of_all_that_it_does() {
    let mut rig = Rig::begun("yes on stderr >&2 &", &meta());
    let flood = rig.flood("setsid yes & exec yes");
    let idle = rig.start("trap '' TERM; while :; do sleep 1000; done");
    // The client reads nothing, and the agent has asked for more than it reads.
    rig.embed(&flood);
    rig.await_full_pipe();
    for n in 0..300 {
        let params = json!({"sessionId":"s","terminalId":idle});
        rig.agent
            .to
            .say_json(&json!({"jsonrpc":"2.0","id":n,"method":"terminal/wait_for_exit","params":params}));
    }
    rig.agent.to.say("{\"jsonrpc\":\"2.0\",\"id\":\"half");
    rig.client.to.say("{\"jsonrpc\":\"2.0\",\"id\":\"half");
    let asked = Instant::now();
    signal(&rig.child, Signal::TERM);
    let (wharf, done) = rig.ended();
    assert_eq!(done.code, Some(128 + 15), "{:?}", done.code);
    nothing_is_left(&wharf);
    assert!(asked.elapsed() < Duration::from_secs(15), "{:?}", asked.elapsed());
}
