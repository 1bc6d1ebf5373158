//! Terminal requests are answered by the relay, and the client never hears of them.

use super::{Rig, text};
use serde_json::{Value, json};
use wharf_testing::Place;

fn about(terminal: &str) -> Value {
    json!({"sessionId": "s", "terminalId": terminal})
}

#[tokio::test]
async fn a_release_that_wants_no_answer_is_carried_out_and_goes_no_further() {
    let place = Place::process();
    let mut rig = Rig::begun(&place).await;
    let terminal = rig.start("exec sleep 1000").await;
    let about = json!({"sessionId": "s", "terminalId": terminal});
    rig.agent.say_json(json!({"jsonrpc":"2.0","method":"terminal/release","params":about})).await;
    assert_eq!(rig.ask("terminal/output", about.clone()).await["error"]["code"], -32002);
    assert!(rig.ask("terminal/release", about).await.get("result").is_some());
    assert!(place.store.ids().unwrap().is_empty());
    rig.passes("{\"method\":\"next\"}\n").await;
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn the_five_methods_are_answered_and_the_client_hears_nothing() {
    let place = Place::process();
    let mut rig = Rig::begun(&place).await;
    let terminal = rig.start("printf 'caf\\303\\251\\n'; exit 3").await;
    let waited = rig.ask("terminal/wait_for_exit", about(&terminal)).await;
    assert_eq!(waited["result"]["exitCode"], 3, "{waited}");
    let output = rig.ask("terminal/output", about(&terminal)).await;
    assert_eq!(output["result"]["output"], "café\n");
    assert_eq!(output["result"]["exitStatus"]["exitCode"], 3);
    assert!(rig.ask("terminal/kill", about(&terminal)).await["result"].is_object());
    assert!(rig.ask("terminal/release", about(&terminal)).await["result"].is_object());
    assert_eq!(rig.ask("terminal/output", about(&terminal)).await["error"]["code"], -32002);
    // The next that the client hears is the next that is for it.
    rig.agent.say("{\"method\":\"next\"}\n").await;
    assert_eq!(text(&rig.client.hear().await), text(b"{\"method\":\"next\"}\n"));
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn answers_carry_the_id_as_it_was_written() {
    let place = Place::thread();
    let mut rig = Rig::begun(&place).await;
    let terminal = rig.start("true").await;
    for id in ["1", "\"a\\u0062\"", "null", "-1.50", "123456789012345678901234567890", "\"\""] {
        for method in ["output", "wait_for_exit", "kill"] {
            let request = format!(
                "{{ \"id\" : {id} ,\"method\":\"terminal/{method}\",\"params\":{}}}\n",
                about(&terminal)
            );
            rig.agent.say(request).await;
            let answer = text(&rig.agent.hear().await);
            let expected = text(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":").as_bytes());
            assert!(answer.starts_with(&expected), "{answer}");
        }
    }
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn wrong_parameters_are_refused_and_nothing_is_started() {
    let place = Place::thread();
    let mut rig = Rig::begun(&place).await;
    for params in
        [json!({}), json!(null), json!([]), json!({"sessionId":"s"}), json!({"sessionId":"s","command":7})]
    {
        let answer = rig.ask("terminal/create", params).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    rig.agent.say("{\"id\":1,\"method\":\"terminal/output\"}\n").await;
    assert_eq!(rig.agent.hear_json().await["error"]["code"], -32602);
    assert!(place.store.list().unwrap().is_empty());
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn a_session_that_nobody_opened_has_no_terminals() {
    let place = Place::thread();
    let mut rig = Rig::begun(&place).await;
    let answer = rig.ask("terminal/create", json!({"sessionId":"other","command":"true"})).await;
    assert!(answer["error"].is_object(), "{answer}");
    assert!(place.store.list().unwrap().is_empty());
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn a_cancelled_wait_is_answered_so_and_another_goes_on() {
    let place = Place::process();
    let mut rig = Rig::begun(&place).await;
    let terminal = rig.start("exec sleep 1000").await;
    for id in ["one", "two"] {
        rig.agent
            .say_json(json!({"id":id,"method":"terminal/wait_for_exit","params":about(&terminal)}))
            .await;
    }
    rig.agent.say_json(json!({"method":"$/cancel_request","params":{"requestId":"one"}})).await;
    let cancelled = rig.agent.hear_json().await;
    assert_eq!((&cancelled["id"], &cancelled["error"]["code"]), (&json!("one"), &json!(-32800)));
    // Nobody knows that request any more, so that its cancellation is somebody else's business.
    rig.passes("{\"method\":\"$/cancel_request\",\"params\":{\"requestId\":\"one\"}}\n").await;
    rig.agent.say_json(json!({"id":"kill","method":"terminal/kill","params":about(&terminal)})).await;
    let mut answers = [rig.agent.hear_json().await, rig.agent.hear_json().await];
    answers.sort_by_key(|answer| answer["id"].to_string());
    assert_eq!(answers[0]["id"], "kill");
    assert_eq!((&answers[1]["id"], &answers[1]["result"]["signal"]), (&json!("two"), &json!("SIGTERM")));
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn output_that_was_asked_for_before_a_release_is_not_overtaken_by_it() {
    let place = Place::process();
    let mut rig = Rig::begun(&place).await;
    let terminal = rig.start("echo here").await;
    rig.ask("terminal/wait_for_exit", about(&terminal)).await;
    let mut both = Vec::new();
    for method in ["output", "release"] {
        let request = json!({"id":method,"method":format!("terminal/{method}"),"params":about(&terminal)});
        both.extend_from_slice(format!("{request}\n").as_bytes());
    }
    rig.agent.say(both).await;
    assert_eq!(rig.agent.hear_json().await["result"]["output"], "here\n");
    assert_eq!(rig.agent.hear_json().await["id"], "release");
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn a_loaded_session_has_terminals_before_its_answer_and_none_after_a_refusal() {
    let place = Place::thread();
    let mut rig = Rig::begun(&place).await;
    for (method, answer, code) in [
        ("session/load", json!({"id":1,"error":{"code":-1,"message":"no"}}), Some(-32002)),
        ("session/resume", json!({"id":1,"result":{}}), None),
    ] {
        let load = json!({"id":1,"method":method,"params":{"sessionId":"old","cwd":rig.cwd}});
        rig.client.say_json(load).await;
        rig.agent.hear().await;
        let create = json!({"sessionId":"old","command":"true"});
        let created = rig.ask("terminal/create", create.clone()).await;
        assert!(created["result"].is_object(), "{created}");
        rig.agent.say_json(answer).await;
        rig.client.hear().await;
        assert_eq!(rig.ask("terminal/create", create).await["error"]["code"].as_i64(), code);
    }
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn a_closed_session_takes_its_terminals_along_and_no_others() {
    let place = Place::process();
    let mut rig = Rig::begun(&place).await;
    let kept = rig.start("exec sleep 1000").await;
    rig.open("t").await;
    let created = rig.ask("terminal/create", json!({"sessionId":"t","command":"exec sleep 1000"})).await;
    let closed = json!({"sessionId":"t","terminalId":created["result"]["terminalId"]});
    rig.agent.say_json(json!({"id":"wait","method":"terminal/wait_for_exit","params":closed})).await;
    rig.client.say_json(json!({"id":5,"method":"session/close","params":{"sessionId":"t"}})).await;
    rig.agent.hear().await;
    rig.agent.say("{\"id\":5,\"result\":{}}\n").await;
    rig.client.hear().await;
    // Ended by the closing: nobody else did anything to it.
    assert_eq!(rig.agent.hear_json().await["id"], "wait");
    assert_eq!(rig.ask("terminal/output", closed).await["error"]["code"], -32002);
    assert!(rig.ask("terminal/output", about(&kept)).await["result"]["exitStatus"].is_null());
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn too_many_open_requests_are_refused_and_those_that_are_open_go_on() {
    let place = Place::thread();
    let mut rig = Rig::begun(&place).await;
    let terminal = rig.start("exec sleep 1000").await;
    for id in 0..4096 {
        rig.agent
            .say_json(json!({"id":id,"method":"terminal/wait_for_exit","params":about(&terminal)}))
            .await;
    }
    let refused = rig.ask("terminal/wait_for_exit", about(&terminal)).await;
    assert_eq!(refused["error"]["code"], -32603, "{refused}");
    let output = rig.ask("terminal/output", about(&terminal)).await;
    assert!(output["result"].is_object(), "what leads out of it is never refused: {output}");
    rig.agent.say_json(json!({"method":"$/cancel_request","params":{"requestId":17}})).await;
    assert_eq!(rig.agent.hear_json().await["error"]["code"], -32800);
    rig.agent.say_json(json!({"id":"kill","method":"terminal/kill","params":about(&terminal)})).await;
    for _ in 0..4096 {
        let answer = rig.agent.hear_json().await;
        assert!(answer["result"].is_object(), "{answer}");
    }
    rig.finish().await;
    place.check().await;
}
