//! What is not a message, or not the one it should be.

use crate::rig::Rig;
use serde_json::{Value, json};

/// Lines that nobody should send.
fn noise() -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = [
        "",
        "\r",
        " ",
        "not JSON",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"terminal/create\",\"params\":{",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"terminal/create\",\"params\":{}} {}",
        "{\"id\":1,\"id\":2,\"method\":\"terminal/output\"}",
        "{\"method\":\"session/update\",\"params\":{\"sessionId\":\"\\ud800\"}}",
        "{\"method\":7,\"id\":{}}",
        "{\"id\":1,\"result\":1,\"error\":1}",
        "{\"jsonrpc\":\"2.0\",\"id\":1}",
        "{\"id\":1e999,\"result\":{}}",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"terminal/kill\"}]",
        "null",
        "\"",
    ]
    .iter()
    .map(|line| line.as_bytes().to_vec())
    .collect();
    lines.push(b"\xff\xfe\x00\x01".into());
    lines.push(
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"terminal/create\",\"params\":{\"command\":\"\xff\"}}"
            .into(),
    );
    lines.push(b"{\"method\":\"\xed\xa0\x80\"}".into());
    // Deeper than any parser may go.
    lines.push(b"[".repeat(100_000));
    lines.push([b"{\"method\":\"m\",\"params\":".as_slice(), &b"[".repeat(100_000)].concat());
    lines.iter_mut().for_each(|line| line.push(b'\n'));
    lines
}

#[test]
fn noise_from_either_side_passes_as_it_is_and_nothing_breaks() {
    let mut rig = Rig::new("");
    // Before anybody has said who he is, and after.
    noise().iter().for_each(|line| rig.passes(line));
    rig.begin(&json!({}));
    noise().iter().for_each(|line| rig.passes(line));
    rig.works();
    rig.finish();
}

/// Parameters with something in them that is of another kind.
fn wrong(method: &str) -> Vec<Value> {
    let mut all = vec![json!(null), json!([]), json!("x"), json!(1), json!({})];
    let valid = match method {
        "create" => json!({"sessionId":"s","command":"touch ran"}),
        _ => json!({"sessionId":"s","terminalId":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}),
    };
    let mut with = |key: &str, values: &[Value]| {
        for value in values {
            let mut params = valid.clone();
            params[key] = value.clone();
            all.push(params);
        }
    };
    with("sessionId", &[json!(null), json!(1), json!({}), json!(["s"])]);
    if method == "create" {
        with("command", &[json!(null), json!(1), json!(["true"]), json!({})]);
        with("args", &[json!("x"), json!([1]), json!([null]), json!({}), json!([["x"]])]);
        with(
            "env",
            &[json!({"A":"b"}), json!(["A=b"]), json!([{"name":1,"value":"x"}]), json!([{"name":"A"}])],
        );
        with("cwd", &[json!(1), json!([]), json!({})]);
        with("outputByteLimit", &[json!("1"), json!(-1), json!(1.5), json!([])]);
    } else {
        with("terminalId", &[json!(null), json!(1), json!({}), json!([])]);
    }
    all
}

#[test]
fn wrong_types_in_every_terminal_method_are_refused_and_the_connection_lives() {
    let mut rig = Rig::begun("", &json!({}));
    for method in ["create", "output", "wait_for_exit", "kill", "release"] {
        let mut taken = Vec::new();
        for params in wrong(method) {
            let answer = rig.ask(&format!("terminal/{method}"), &params);
            if answer["error"]["code"] != -32602 {
                taken.push(format!("{params}: {answer}"));
            }
        }
        assert!(taken.is_empty(), "{method}: {}", taken.join("\n"));
        rig.agent.to.say_json(&json!({"jsonrpc":"2.0","id":"bare","method":format!("terminal/{method}")}));
        assert_eq!(rig.agent.from.hear_json()["error"]["code"], -32602, "without parameters");
    }
    assert!(!rig.wharf.scratch().join("ran").exists());
    rig.works();
    rig.finish();
}
