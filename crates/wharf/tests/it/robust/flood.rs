//! Too much of everything. Whoever else asks is answered at once, and memory has a bound.

use super::{LIMIT, meta};
use crate::harness::GUARD;
use crate::rig::{Listener, Rig, Speaker, text};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// What `wharf acp` may take of memory, however much passes through it.
const BOUND: u64 = 80 << 20;
/// The same while a giant passes, of which so much is collected to look at that a smaller one would be whole.
const GIANT_BOUND: u64 = 160 << 20;
const GIANT: usize = 100 << 20;
/// For how long a flood is looked at.
const LONG: Duration = Duration::from_secs(2);

/// Says a giant at one end and hears it at the other.
fn pass_giant(to: &mut Speaker, from: &mut Listener) {
    let mut giant = br#"{"jsonrpc":"2.0","method":"_giant","params":""#.to_vec();
    giant.resize(GIANT, b'g');
    giant.extend_from_slice(b"\"}\n");
    let heard = std::thread::scope(|scope| {
        scope.spawn(|| to.say(&giant));
        from.hear()
    });
    assert!(heard == giant, "{} bytes came of {}", heard.len(), giant.len());
}

#[test]
fn a_message_of_100_mib_passes_each_way() {
    let mut rig = Rig::begun("", &json!({}));
    pass_giant(&mut rig.client.to, &mut rig.agent.from);
    rig.works();
    pass_giant(&mut rig.agent.to, &mut rig.client.from);
    rig.works();
    rig.passes(b"{\"method\":\"_small\"}\n");
    assert!(rig.peak_memory() < GIANT_BOUND, "{}", rig.peak_memory());
    rig.finish();
}

#[test]
fn while_the_client_does_not_read_and_a_terminal_floods_its_tool_call_the_agent_is_served() {
    for capabilities in [json!({}), meta()] {
        let mut rig = Rig::begun("", &capabilities);
        let flood = rig.flood("exec yes");
        rig.embed(&flood);
        rig.await_full_pipe();
        for _ in 0..20 {
            let output = rig.about("output", &flood);
            assert!(output["result"]["output"].as_str().is_some_and(|output| output.len() > 2), "{output}");
            rig.works();
        }
        // The client can still be heard.
        rig.client.to.say("{\"method\":\"_still here\"}\n");
        assert_eq!(text(&rig.agent.from.hear()), text(b"{\"method\":\"_still here\"}\n"));
        assert!(rig.about("kill", &flood)["result"].is_object());
        let end = rig.about("wait_for_exit", &flood);
        assert!(end["result"]["signal"].is_string(), "{end}");
        assert!(rig.peak_memory() < BOUND, "{}", rig.peak_memory());
        // When it reads again, it gets to know the end.
        rig.agent.to.say("{\"method\":\"_over\"}\n");
        assert!(
            shown_until(&mut rig.client.from, "_over").contains(end["result"]["signal"].as_str().unwrap())
        );
        rig.finish();
    }
}

/// The last update before a message of that method, if it says how a terminal ended; updates are waited for.
fn shown_until(from: &mut Listener, method: &str) -> String {
    let (mut over, mut end, until) = (false, None, Instant::now() + GUARD);
    while !over || end.is_none() {
        assert!(Instant::now() < until, "over: {over}, end: {end:?}");
        let message = from.hear_json();
        over |= message["method"] == method;
        let line = message.to_string();
        if line.contains("terminal_exit") || line.contains("killed by") {
            end = Some(line);
        }
    }
    end.unwrap_or_default()
}

#[test]
fn while_300_waits_are_pending_everything_else_is_answered() {
    let mut rig = Rig::begun("", &json!({}));
    let terminal = rig.start("exec sleep 1000");
    for n in 0..300 {
        let params = json!({"sessionId":"s","terminalId":terminal});
        let wait = json!({"jsonrpc":"2.0","id":n,"method":"terminal/wait_for_exit","params":params});
        rig.agent.to.say_json(&wait);
    }
    for _ in 0..5 {
        rig.works();
        rig.passes(b"{\"method\":\"_beside\"}\n");
    }
    let params = json!({"sessionId":"s","terminalId":terminal});
    rig.agent.to.say_json(&json!({"jsonrpc":"2.0","id":"kill","method":"terminal/kill","params":params}));
    let answers: Vec<Value> = (0..301).map(|_| rig.agent.from.hear_json()).collect();
    let mut waits: Vec<u64> = answers.iter().filter_map(|answer| answer["id"].as_u64()).collect();
    waits.sort_unstable();
    assert_eq!(waits, (0..300).collect::<Vec<u64>>());
    for answer in answers.iter().filter(|answer| answer["id"].is_u64()) {
        let result = &answer["result"];
        assert_eq!((&result["signal"], &result["exitCode"]), (&json!("SIGTERM"), &Value::Null), "{answer}");
    }
    rig.finish();
}

#[test]
fn a_flood_is_polled_within_its_limit_and_killed_at_once() {
    let mut rig = Rig::begun("", &json!({}));
    let flood = rig.flood("exec yes");
    let (begun, mut polls, mut truncated) = (Instant::now(), 0, false);
    // Some seconds, and as often as an impatient agent would.
    while polls < 200 || begun.elapsed() < LONG {
        let output = rig.about("output", &flood);
        let printed = output["result"]["output"].as_str().unwrap();
        assert!(printed.len() <= LIMIT, "{} bytes", printed.len());
        assert_eq!(printed.trim_matches(['y', '\n']), "");
        assert!(output["result"]["truncated"] == true || !truncated, "it was truncated before");
        truncated |= output["result"]["truncated"] == true;
        polls += 1;
    }
    assert!(truncated);
    assert!(rig.about("kill", &flood)["result"].is_object());
    assert!(rig.about("wait_for_exit", &flood)["result"]["signal"].is_string());
    assert!(rig.about("release", &flood)["result"].is_object());
    assert!(rig.peak_memory() < BOUND, "{}", rig.peak_memory());
    rig.finish();
}

#[test]
fn an_agent_that_asks_10_000_times_before_it_reads_gets_every_answer() {
    const TIMES: usize = 10_000;
    let mut rig = Rig::begun("", &json!({}));
    let terminal = rig.start("seq 1 5000");
    rig.about("wait_for_exit", &terminal);
    let params = json!({"sessionId":"s","terminalId":terminal});
    let requests: String = (0..TIMES)
        .map(|id| {
            let method = if id % 10 == 0 { "output" } else { ["wait_for_exit", "kill"][id % 2] };
            let method = format!("terminal/{method}");
            format!("{}\n", json!({"jsonrpc":"2.0","id":id,"method":method,"params":params}))
        })
        .collect();
    let mut answered = vec![0; TIMES];
    std::thread::scope(|scope| {
        let (to, from) = (&mut rig.agent.to, &mut rig.agent.from);
        // All answers together are more than there is room for: it is made to wait until it reads.
        let asked = scope.spawn(move || to.say(requests));
        // Until nothing more goes, the client is served all the same.
        for n in 0..100 {
            rig.client.to.say_json(&json!({"method":"_note","params":[n]}));
        }
        let (mut notes, mut answers) = (0, 0);
        while notes < 100 || answers < TIMES {
            let message = from.hear_json();
            match message["id"].as_u64() {
                Some(id) if message["result"].is_object() => {
                    answered[usize::try_from(id).unwrap()] += 1;
                    answers += 1;
                }
                _ => notes += usize::from(message["method"] == "_note"),
            }
        }
        asked.join().unwrap();
    });
    assert!(answered.iter().all(|times| *times == 1));
    assert!(rig.peak_memory() < BOUND, "{}", rig.peak_memory());
    rig.works();
    rig.finish();
}

#[test]
fn an_agent_that_floods_its_stderr_disturbs_nobody() {
    // Nobody reads it until the end, so that it soon stands still there.
    let mut rig = Rig::begun("yes on stderr >&2 &", &json!({}));
    for _ in 0..20 {
        rig.works();
        rig.passes(b"{\"method\":\"_beside\"}\n");
    }
    assert!(rig.peak_memory() < BOUND, "{}", rig.peak_memory());
    rig.client.to.close();
    let (wharf, done) = rig.ended();
    assert_eq!(done.code, Some(0));
    assert!(done.err.starts_with("on stderr\non stderr\n"));
    crate::rig::nothing_is_left(&wharf);
}
