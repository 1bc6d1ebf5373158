//! What is not ours passes in both directions as it is.

use super::{Rig, text};
use serde_json::json;
use wharf_acp::Hosting;
use wharf_testing::Place;

/// Messages and other lines that nobody but the two ends understands.
const ODD: &[&[u8]] = &[
    b"{ \"jsonrpc\" :\t\"2.0\", \"method\":\"_x/y\" ,\"params\" : { \"a\" : 1.50 } }\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":123456789012345678901234567890,\"method\":\"fs/read\",\"params\":{\"n\":1e400}}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":123456789012345678901234567890,\"result\":{\"n\":-0.0}}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"error\":{\"code\":-1,\"message\":\"no\",\"data\":{\"why\":[ ]}}}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":\"\\u0061\\/\",\"method\":\"caf\\u00e9\",\"extra\":{\"_meta\":{}},\"more\":1}\n",
    b"{\"id\":1,\"id\":2,\"method\":\"terminal/create\",\"params\":{}}\n",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":\
      {\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"\\ud83d\\ude00 \"}}}}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s\",\
      \"toolCall\":{\"toolCallId\":\"t\"} , \"options\":[]}}\n",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":7}}\n",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\"}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"terminal/unknown\",\"params\":{\"_meta\":{\"a\":1}}}\n",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"terminal/resize\",\"params\":{}}\n",
    b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"terminal/create\"}]\n",
    b"\n",
    b"\r\n",
    b"   \t\n",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"crlf\"}\r\n",
    b"Listening on port 3000...\n",
    b"{\"broken\":\n",
    b"\xff\xfe\x00\x80 invalid\n",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"\xc3\x28\"}\n",
];

#[tokio::test]
async fn whatever_is_not_about_terminals_passes_byte_for_byte() {
    let place = Place::thread();
    let mut rig = Rig::begun(&place).await;
    for line in ODD {
        rig.passes(line).await;
    }
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn lines_that_come_together_or_in_bits_pass_in_order() {
    let place = Place::thread();
    let mut rig = Rig::begun(&place).await;
    let all: Vec<u8> = ODD.concat();
    rig.agent.say(&all).await;
    for line in ODD {
        assert_eq!(text(&rig.client.hear().await), text(line));
    }
    for byte in &all {
        rig.client.say([*byte]).await;
    }
    for line in ODD {
        assert_eq!(text(&rig.agent.hear().await), text(line));
    }
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn a_last_line_without_a_newline_arrives_without_one() {
    let place = Place::thread();
    let mut rig = Rig::begun(&place).await;
    rig.client.say("{\"method\":\"half").await;
    rig.client.close().await;
    assert_eq!(text(&rig.agent.rest().await), text(b"{\"method\":\"half"));
    rig.agent.say("bye").await;
    rig.agent.close().await;
    assert_eq!(text(&rig.client.rest().await), "bye");
    place.check().await;
}

#[tokio::test]
async fn initialize_is_told_of_terminals_and_otherwise_unchanged() {
    let place = Place::thread();
    let mut rig = Rig::new(&place, Hosting::Always);
    let line = |terminal: &str| {
        format!(
            "{{\"jsonrpc\" : \"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":{{ \"protocolVersion\":1,\
             \"clientCapabilities\":{{ \"fs\":{{\"readTextFile\" :true}}, {terminal}\"_meta\":{{\"x\":1e2}} }}}}}}\n"
        )
    };
    rig.client.say(line("\"terminal\" : false, ")).await;
    assert_eq!(text(&rig.agent.hear().await), text(line("\"terminal\" : true, ").as_bytes()));
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn another_protocol_version_passes_and_its_terminals_are_not_ours() {
    let place = Place::thread();
    let mut rig = Rig::new(&place, Hosting::Always);
    rig.passes("{\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\": 2,\"clientCapabilities\":{}}}\n").await;
    rig.passes(
        "{\"id\":2,\"method\":\"terminal/create\",\"params\":{\"sessionId\":\"s\",\"command\":\"x\"}}\n",
    )
    .await;
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn terminals_that_are_not_missing_are_the_clients() {
    let place = Place::thread();
    let mut rig = Rig::new(&place, Hosting::Missing);
    rig.passes(
        "{\"id\":1,\"method\":\"initialize\",\"params\":{\"clientCapabilities\":{\"terminal\":true}}}\n",
    )
    .await;
    rig.passes("{\"id\":2,\"method\":\"session/new\",\"params\":{\"cwd\":\"/\"}}\n").await;
    rig.passes("{\"id\":2,\"result\":{\"sessionId\":\"s\"}}\n").await;
    for method in ["create", "output", "wait_for_exit", "kill", "release"] {
        rig.passes(format!(
            "{{\"id\":3,\"method\":\"terminal/{method}\",\"params\":{{\"sessionId\":\"s\"}}}}\n"
        ))
        .await;
        rig.passes("{\"method\":\"$/cancel_request\",\"params\":{\"requestId\":3}}\n").await;
    }
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn missing_terminals_are_ours() {
    let place = Place::thread();
    let mut rig = Rig::new(&place, Hosting::Missing);
    rig.client
        .say_json(json!({"id":1,"method":"initialize","params":{"clientCapabilities":{"terminal":false}}}))
        .await;
    let told = rig.agent.hear_json().await;
    assert_eq!(told["params"]["clientCapabilities"]["terminal"], true);
    rig.open("s").await;
    rig.start("true").await;
    rig.finish().await;
    place.check().await;
}
