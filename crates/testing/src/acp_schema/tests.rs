//! The check accepts what the specification shows and refuses what implementations get wrong.

use super::*;
use serde_json::json;

/// The exchange that asks for `params` and is answered with `result`; what is wrong with the answer.
fn answered(method: &str, params: Value, result: Value) -> Vec<String> {
    let mut transcript = Transcript::new();
    let asked = json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": params});
    assert_eq!(transcript.value(Direction::ToClient, &asked, Author::Wharf), []);
    let answer = json!({"jsonrpc": "2.0", "id": 5, "result": result});
    let found = transcript.value(Direction::ToAgent, &answer, Author::Wharf);
    assert_eq!(transcript.unanswered(Direction::ToClient), [""; 0]);
    found.into_iter().map(|problem| problem.to_string()).collect()
}

/// What is wrong with the answer to a `terminal/` method.
fn terminal(method: &str, result: Value) -> Vec<String> {
    let params = json!({"sessionId": "sess_abc123def456", "terminalId": "term_xyz789"});
    answered(&format!("terminal/{method}"), params, result)
}

fn update(update: Value) -> Vec<String> {
    let params = json!({"sessionId": "sess_abc123def456", "update": update});
    let message = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
    let found = Transcript::new().value(Direction::ToClient, &message, Author::Wharf);
    found.into_iter().map(|problem| problem.to_string()).collect()
}

fn assert_one(found: &[String], text: &str) {
    assert!(matches!(found, [one] if one.contains(text)), "{text:?}: {found:#?}");
}

const NOTHING: [String; 0] = [];

#[test]
fn the_examples_of_the_specification_are_accepted() {
    let create = json!({
        "sessionId": "sess_abc123def456", "command": "npm", "args": ["test", "--coverage"],
        "env": [{"name": "NODE_ENV", "value": "test"}], "cwd": "/project", "outputByteLimit": 1_048_576,
    });
    assert_eq!(answered("terminal/create", create, json!({"terminalId": "term_xyz789"})), NOTHING);
    let output = json!({"output": "Running tests...\n", "truncated": false, "exitStatus": {"exitCode": 0, "signal": null}});
    assert_eq!(terminal("output", output), NOTHING);
    assert_eq!(terminal("wait_for_exit", json!({"exitCode": 0, "signal": null})), NOTHING);
    assert_eq!(terminal("kill", json!({})), NOTHING);
    assert_eq!(terminal("release", json!({})), NOTHING);
    let call = json!({
        "sessionUpdate": "tool_call", "toolCallId": "call_002", "title": "Running tests", "kind": "execute",
        "status": "in_progress", "content": [{"type": "terminal", "terminalId": "term_xyz789"}],
    });
    assert_eq!(update(call), NOTHING);
}

#[test]
fn the_usual_mistakes_in_answers_are_found() {
    assert_one(&terminal("output", json!({"output": "x"})), "truncated");
    assert_one(&terminal("output", json!({"output": "x", "truncated": "no"})), "/truncated");
    assert_one(&terminal("wait_for_exit", json!({"exitCode": -9})), "/exitCode");
    assert_one(&terminal("wait_for_exit", json!({"exitCode": "0"})), "/exitCode");
    assert_one(&terminal("wait_for_exit", json!({"exitCode": null, "signal": 9})), "/signal");
    let nested = json!({"exitStatus": {"exitCode": 0}});
    assert_one(&terminal("wait_for_exit", nested), "unknown key /exitStatus");
    let other_shape =
        json!({"output": "", "truncated": false, "exitStatus": {"type": "exit_code", "exitCode": 0}});
    assert_one(&terminal("output", other_shape), "unknown key /exitStatus/type");
    assert_one(&terminal("kill", Value::Null), "null");
    assert_one(
        &answered("terminal/create", json!({"sessionId": "s", "command": "x"}), json!({})),
        "terminalId",
    );
}

#[test]
fn an_unknown_key_is_found_however_deep_but_not_in_meta_or_raw_values() {
    let with = |content: Value| {
        update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "content": [content]}))
    };
    assert_eq!(with(json!({"type": "content", "content": {"type": "text", "text": "x"}})), NOTHING);
    let misspelt = json!({"type": "content", "content": {"type": "text", "text": "x", "txet": "x"}});
    assert_one(&with(misspelt), "unknown key /update/content/0/content/txet");
    // A key of another alternative is not one of this.
    let foreign = json!({"type": "terminal", "terminalId": "t", "path": "/x"});
    assert_one(&with(foreign), "unknown key /update/content/0/path");
    let free = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "1", "rawInput": {"any": {"thing": 1}},
        "_meta": {"terminal_output": {"terminal_id": "t", "data": "x"}},
    });
    assert_eq!(update(free), NOTHING);
    assert_one(&update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "stats": 1})), "stats");
}

#[test]
fn a_peer_may_add_keys_but_not_change_types() {
    let message = |params: Value| json!({"jsonrpc": "2.0", "id": "a", "method": "terminal/create", "params": params, "x": 1});
    let extended = message(json!({"sessionId": "s", "command": "x", "shell": true}));
    assert_eq!(Transcript::new().value(Direction::ToClient, &extended, Author::Peer), []);
    assert_eq!(Transcript::new().value(Direction::ToClient, &extended, Author::Wharf).len(), 2);
    let wrong = message(json!({"sessionId": "s", "command": ["x"]}));
    assert_eq!(Transcript::new().value(Direction::ToClient, &wrong, Author::Peer).len(), 1);
}

#[test]
fn answers_are_matched_with_the_requests_of_the_other_direction() {
    let mut transcript = Transcript::new();
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let ask =
        r#"{"jsonrpc":"2.0","id":1,"method":"terminal/kill","params":{"sessionId":"s","terminalId":"t"}}"#;
    assert_eq!(transcript.message(Direction::ToAgent, answer, Author::Wharf).len(), 1);
    assert_eq!(transcript.message(Direction::ToClient, ask, Author::Wharf), []);
    assert_eq!(transcript.unanswered(Direction::ToClient), ["terminal/kill"]);
    // The other side counts by itself, and its 1 is another.
    assert_eq!(transcript.message(Direction::ToClient, answer, Author::Wharf).len(), 1);
    assert_eq!(transcript.message(Direction::ToAgent, answer, Author::Wharf), []);
    assert_eq!(transcript.message(Direction::ToAgent, answer, Author::Wharf).len(), 1);
}

#[test]
fn errors_are_checked_like_results() {
    let answer = |error: Value| {
        let mut transcript = Transcript::new();
        let ask = json!({"jsonrpc": "2.0", "id": 1, "method": "_free", "params": 1});
        assert_eq!(transcript.value(Direction::ToClient, &ask, Author::Wharf), []);
        let answer = json!({"jsonrpc": "2.0", "id": 1, "error": error});
        transcript.value(Direction::ToAgent, &answer, Author::Wharf).len()
    };
    assert_eq!(
        answer(json!({"code": -32002, "message": "Resource not found", "data": {"terminalId": "t"}})),
        0
    );
    assert_eq!(answer(json!({"code": -32002})), 1);
    assert_eq!(answer(json!({"code": "-32002", "message": "x"})), 1);
    assert_eq!(answer(json!({"code": -32002, "message": "x", "reason": "y"})), 1);
}

#[test]
fn what_is_no_message_at_all_is_said_to_be_none() {
    let found = |line: &str| Transcript::new().message(Direction::ToAgent, line, Author::Peer).len();
    for line in
        ["", "nonsense", "[]", "1", r#"{"id":1,"method":"x"}"#, r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#]
    {
        assert_eq!(found(line), 1, "{line}");
    }
    assert!(found(r#"{"jsonrpc":"2.0","id":1}"#) > 0);
    assert!(found(r#"{"jsonrpc":"2.0","id":1,"method":"x","result":1}"#) > 0);
}

#[test]
fn a_method_goes_to_one_side_and_is_a_request_or_a_notification() {
    let kill = json!({"sessionId": "s", "terminalId": "t"});
    let found = |to, message: Value| Transcript::new().value(to, &message, Author::Wharf).len();
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "terminal/kill", "params": kill});
    assert_eq!(found(Direction::ToClient, request.clone()), 0);
    assert_eq!(found(Direction::ToAgent, request), 1);
    let notification = json!({"jsonrpc": "2.0", "method": "terminal/kill", "params": kill});
    assert_eq!(found(Direction::ToClient, notification), 1);
    for to in [Direction::ToAgent, Direction::ToClient] {
        let cancel = json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "a"}});
        assert_eq!(found(to, cancel), 0);
    }
}
