//! Floods, giants and peers that do not read: everything else goes on, and memory has a bound.

use super::{Rig, text};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Duration, timeout};
use wharf_testing::{Place, guarded};

const GIANT: usize = 70 << 20;

/// The most memory this process has had, in bytes.
fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

#[tokio::test]
async fn a_silent_agent_can_be_asked_any_number_of_things() {
    let place = Place::process();
    let mut rig = Rig::begun(&place).await;
    let prompt = json!({"id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[]}});
    for _ in 0..3000 {
        rig.client.say_json(prompt.clone()).await;
        rig.agent.hear().await;
    }
    rig.client.say("{\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"s\"}}\n").await;
    assert_eq!(rig.agent.hear_json().await["method"], "session/cancel");
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn a_giant_passes_in_both_directions_and_nothing_gets_into_it() {
    let place = Place::thread();
    let mut rig = Rig::begun(&place).await;
    let terminal = rig.start("true").await;
    let piece = vec![b'x'; 1 << 20];
    let before = peak_memory();
    // To the agent, while it asks for something: the answer comes before or after, never inside.
    let giant = async {
        for _ in 0..GIANT >> 20 {
            rig.client.write.write_all(&piece).await.unwrap();
        }
        rig.client.write.write_all(b"\n").await.unwrap();
    };
    let asked = json!({"id":"ask","method":"terminal/wait_for_exit","params":{"sessionId":"s","terminalId":terminal}});
    let heard = async {
        let mut bytes = vec![0; 1 << 16];
        let (mut giant, mut others) = (0, Vec::new());
        let mut asked_at = Some(format!("{asked}\n"));
        while giant < GIANT || !others.ends_with(b"}\n") {
            let n = rig.agent.read.read(&mut bytes).await.unwrap();
            assert!(n > 0, "closed after {giant}");
            let own = bytes[..n].iter().filter(|byte| **byte == b'x').count();
            giant += own;
            others.extend(bytes[..n].iter().filter(|byte| **byte != b'x'));
            if giant > GIANT / 2
                && let Some(question) = asked_at.take()
            {
                rig.agent.write.write_all(question.as_bytes()).await.unwrap();
            }
            if giant > 0 && giant < GIANT {
                assert!(others.is_empty(), "inside the giant: {}", text(&others));
            }
        }
        others
    };
    let (_, others) = guarded(async { tokio::join!(giant, heard) }).await;
    assert!(others.starts_with(b"\n{\"jsonrpc\""), "{}", text(&others));
    // To the client.
    let giant = async {
        for _ in 0..GIANT >> 20 {
            rig.agent.write.write_all(&piece).await.unwrap();
        }
        rig.agent.write.write_all(b"\n{\"method\":\"small\"}\n").await.unwrap();
    };
    let heard = async {
        let (mut bytes, mut all) = (vec![0; 1 << 16], 0);
        while all < GIANT {
            let n = rig.client.read.read(&mut bytes[..(GIANT - all).min(1 << 16)]).await.unwrap();
            assert!(n > 0 && bytes[..n].iter().all(|byte| *byte == b'x'));
            all += n;
        }
    };
    guarded(async { tokio::join!(giant, heard) }).await;
    assert_eq!(text(&rig.client.hear().await), "\\n");
    assert_eq!(text(&rig.client.hear().await), text(b"{\"method\":\"small\"}\n"));
    let used = peak_memory() - before;
    assert!(used < 200 << 20, "{used} bytes were used for {GIANT}");
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_makes_only_the_agent_wait() {
    let place = Place::process();
    let mut rig = Rig::begun(&place).await;
    let gate = place.dir().join("gate");
    let line = format!("until [ -e {} ]; do read -t 0.01 <> <(:); done; echo done", gate.display());
    let terminal = rig.start(&line).await;
    let about = json!({"sessionId":"s","terminalId":terminal});
    rig.agent.say_json(json!({"id":"wait","method":"terminal/wait_for_exit","params":about})).await;
    rig.ask("terminal/output", about.clone()).await;
    let before = peak_memory();
    // Until nothing goes any more: then every queue is full, and no more than that.
    let flood = format!("{}\n", json!({"method":"session/update","params":{"x":"y".repeat(1000)}}));
    let mut sent = 0;
    while timeout(Duration::from_millis(500), rig.agent.write.write_all(flood.as_bytes())).await.is_ok() {
        sent += flood.len();
        assert!(sent < 16 << 20, "nobody reads, and yet all of it goes somewhere");
    }
    assert!(peak_memory() - before < 32 << 20);
    // What was asked before is answered all the same.
    std::fs::write(&gate, "").unwrap();
    assert_eq!(rig.agent.hear_json().await["id"], "wait");
    // And the client can still be heard.
    rig.client.say("{\"method\":\"here\"}\n").await;
    assert_eq!(text(&rig.agent.hear().await), text(b"{\"method\":\"here\"}\n"));
    drop(rig.client);
    drop(rig.agent);
    guarded(rig.relay).await.unwrap();
    place.check().await;
}

#[tokio::test]
async fn an_agent_that_does_not_read_makes_only_the_client_wait() {
    let place = Place::thread();
    let mut rig = Rig::begun(&place).await;
    let flood = "z".repeat(1000) + "\n";
    let mut sent = 0;
    while timeout(Duration::from_millis(500), rig.client.write.write_all(flood.as_bytes())).await.is_ok() {
        sent += flood.len();
        assert!(sent < 16 << 20, "nobody reads, and yet all of it goes somewhere");
    }
    // What it asks for is dealt with, and waits for it.
    rig.agent
        .say_json(json!({"id":1,"method":"terminal/create","params":{"sessionId":"s","command":"true"}}))
        .await;
    rig.agent.say("{\"method\":\"still here\"}\n").await;
    assert_eq!(text(&rig.client.hear().await), text(b"{\"method\":\"still here\"}\n"));
    // It comes in its turn among what the client has said.
    while !text(&rig.agent.hear().await).contains("terminalId") {}
    drop(rig.client);
    rig.agent.rest().await;
    rig.agent.close().await;
    guarded(rig.relay).await.unwrap();
    place.check().await;
}
