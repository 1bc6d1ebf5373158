//! How a client is asked on the wire: what it is sent, and what it may answer.

use super::{Open, Person, Rig, code};
use crate::station::Where;
use crate::wire::Line;
use serde_json::{Value, json};
use wharf_testing::Place;

const PROXIES: [Where; 2] = [Where::Relay, Where::Conductor];

#[tokio::test]
async fn the_tool_call_is_announced_asked_about_and_concluded() {
    for at in PROXIES {
        for (option, status) in [("allow_once", "completed"), ("reject_once", "failed")] {
            let place = Place::process();
            let rig = Rig::open(&place, at).await;
            let Person::Client(client) = &rig.person else { unreachable!() };
            let params = json!({"sessionId": rig.station.one, "command": "echo", "args": ["a b"]});
            let asked = rig.station.agent.begin("terminal/create", params).await;
            let announced = client.next_of("session/update").await["params"]["update"].clone();
            assert_eq!(announced["sessionUpdate"], "tool_call");
            let request = client.next_of("session/request_permission").await;
            let call = &request["params"]["toolCall"];
            assert_eq!(request["params"]["sessionId"], rig.station.one.as_str());
            for (key, expected) in [
                ("title", json!("Run `echo 'a b'`")),
                ("kind", json!("execute")),
                ("status", json!("pending")),
                ("rawInput", json!({"command": "echo 'a b'", "cwd": rig.station.cwd})),
                ("toolCallId", announced["toolCallId"].clone()),
                ("content", announced["content"].clone()),
            ] {
                assert_eq!(call[key], expected, "{at:?} {key}");
            }
            let kinds = request["params"]["options"].as_array().unwrap().iter().map(|option| &option["kind"]);
            assert_eq!(kinds.collect::<Vec<_>>(), ["allow_once", "allow_always", "reject_once"]);
            let id = call["toolCallId"].clone();
            rig.answer(Open::Client(request), option).await;
            let concluded = client.next_of("session/update").await["params"]["update"].clone();
            assert_eq!((&concluded["toolCallId"], &concluded["status"]), (&id, &json!(status)));
            assert_eq!(asked.answer().await.is_ok(), option == "allow_once");
            rig.station.finish().await;
            place.check().await;
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_not_clearly_a_yes_is_none() {
    for at in PROXIES {
        let place = Place::process();
        let rig = Rig::open(&place, at).await;
        let Person::Client(client) = &rig.person else { unreachable!() };
        let (file, params) = rig.mark("made");
        let yes = json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}});
        for answer in [
            json!({"result": null}),
            json!({"result": true}),
            json!({"result": {}}),
            json!({"result": "allow_once"}),
            json!({"result": {"outcome": "allow_once"}}),
            json!({"result": {"outcome": {"outcome": "selected"}}}),
            json!({"result": {"outcome": {"outcome": "selected", "optionId": "something"}}}),
            json!({"result": {"outcome": {"outcome": "selected", "optionId": ["allow_once"]}}}),
            json!({"result": {"outcome": {"outcome": "approved", "optionId": "allow_once"}}}),
            json!({"result": [yes]}),
            json!({"error": {"code": -32603, "message": "allow_once"}}),
            json!({"error": {"code": -32602, "message": "no", "data": yes}}),
        ] {
            let created = rig.station.create(&rig.station.one, params.clone());
            let answered = async {
                let mut line = answer.clone();
                let request = client.next_of("session/request_permission").await;
                line["jsonrpc"] = json!("2.0");
                line["id"] = request["id"].clone();
                client.line(&line.to_string()).await;
            };
            let refused = tokio::join!(created, answered).0.unwrap_err();
            assert_eq!(refused.code, -32003, "{at:?} {answer}: {refused:?}");
        }
        rig.nothing_started(&place, &file).await;
        rig.station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn an_answer_that_is_not_one_message_is_a_no_and_stays_here() {
    let place = Place::process();
    let rig = Rig::open(&place, Where::Relay).await;
    let Person::Client(client) = &rig.person else { unreachable!() };
    let (file, params) = rig.mark("made");
    let yes = r#"{"outcome":{"outcome":"selected","optionId":"allow_once"}}"#;
    for broken in [
        format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{yes},"error":{{"code":1,"message":"x"}}}}"#),
        format!(r#"[{{"jsonrpc":"2.0","id":ID,"result":{yes}}}]"#),
        format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{yes}}} noise"#),
        format!(r#"{{"jsonrpc":"2.0","id":ID,"id":1,"result":{yes}}}"#),
    ] {
        let created = rig.station.create(&rig.station.one, params.clone());
        let answered = async {
            let request = client.next_of("session/request_permission").await;
            client.line(&broken.replace("ID", &request["id"].to_string())).await;
        };
        let refused = tokio::join!(created, answered).0.unwrap_err();
        assert_eq!(code(&refused), (-32003, "refused_by_user"), "{broken}");
    }
    rig.nothing_started(&place, &file).await;
    let heard = |line: &Line| matches!(line, Line::Got(line) if line.contains("allow_once"));
    assert!(!rig.station.agent.log().iter().any(heard));
    rig.station.finish().await;
    place.check().await;
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_named_as_the_reason() {
    for at in PROXIES {
        let place = Place::process();
        let rig = Rig::open(&place, at).await;
        let Person::Client(client) = &rig.person else { unreachable!() };
        let (file, params) = rig.mark("made");
        let created = rig.station.create(&rig.station.one, params);
        let answered = async {
            let request = client.next_of("session/request_permission").await;
            let error = json!({"code": -32601, "message": "Method not found"});
            client.line(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}).to_string()).await;
        };
        let refused = tokio::join!(created, answered).0.unwrap_err();
        assert_eq!(code(&refused), (-32003, "nobody_to_ask"), "{at:?}");
        let message = refused.error["message"].as_str().unwrap();
        assert!(message.contains("does not know session/request_permission"), "{message}");
        rig.nothing_started(&place, &file).await;
        rig.station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn an_agent_cannot_ask_in_our_name() {
    let place = Place::process();
    let rig = Rig::open(&place, Where::Relay).await;
    let Person::Client(client) = &rig.person else { unreachable!() };
    let (file, mut params) = rig.mark("made");
    params["sessionId"] = json!(rig.station.one);
    let mut create = rig.station.agent.begin("terminal/create", params).await;
    let Open::Client(ours) = rig.question().await else { unreachable!() };
    let our_id = ours["id"].as_str().unwrap();
    let shape = our_id.replace(|c: char| c.is_ascii_digit(), "0");
    assert!(our_id.starts_with("wharf-") && our_id.len() > 30 && shape != our_id);
    // Whatever looks like ours, and all that an agent can know of it.
    for id in [json!(shape), json!("wharf-1"), json!("wharf--1"), json!(1), json!("1"), json!(null)] {
        let question = json!({
            "sessionId": rig.station.one,
            "toolCall": {"toolCallId": "wharf-permission-1", "title": "look at the weather"},
            "options": [{"optionId": "allow_once", "name": "Yes", "kind": "allow_once"}],
        });
        let asked =
            rig.station.agent.begin_as(id.clone(), "session/request_permission", question.clone()).await;
        let theirs = client.next_of("session/request_permission").await;
        assert_eq!((&theirs["id"], &theirs["params"]), (&id, &question), "passed as it is");
        rig.answer(Open::Client(theirs), "allow_once").await;
        let answer = asked.answer().await.unwrap();
        assert_eq!(answer["outcome"]["optionId"], "allow_once", "the answer is the agent's: {id}");
        assert!(!create.is_answered(), "and not ours: {id}");
    }
    rig.answer(Open::Client(ours.clone()), "reject_once").await;
    assert_eq!(code(&create.answer().await.unwrap_err()), (-32003, "refused_by_user"));
    // Answered twice, it is still nobody else's.
    rig.answer(Open::Client(ours.clone()), "allow_once").await;
    rig.nothing_started(&place, &file).await;
    let heard = |line: &Line| matches!(line, Line::Got(line) if line.contains(our_id));
    assert!(!rig.station.agent.log().iter().any(heard), "the agent never sees our id");
    rig.station.finish().await;
    place.check().await;
}

#[tokio::test]
async fn a_command_cannot_hide_in_what_a_client_renders() {
    for at in PROXIES {
        let place = Place::process();
        let rig = Rig::open(&place, at).await;
        for (command, title) in [
            ("[ls](rm) <!-- x -->", "Run `[ls](rm) <!-- x -->`".to_owned()),
            ("echo `x` ```", "Run ```` echo `x` ``` ````".to_owned()),
            ("ls\n\r\u{1b}[8m", "Run `ls⟨newline⟩⟨carriage return⟩⟨escape⟩[8m`".to_owned()),
        ] {
            let created = rig.station.create(&rig.station.one, json!({"command": command}));
            let answered = async {
                let question = rig.question().await;
                let Open::Client(request) = &question else { unreachable!() };
                assert_eq!(request["params"]["toolCall"]["title"], title);
                let text = question.text();
                let fence = text.lines().next().unwrap();
                assert!(fence.chars().all(|c| c == '`') && text.ends_with(fence), "{text}");
                assert_eq!(text.matches(fence).count(), 2, "{text}");
                rig.answer(question, "reject_once").await;
            };
            assert_eq!(code(&tokio::join!(created, answered).0.unwrap_err()).1, "refused_by_user");
        }
        let long = format!("echo {}", "x".repeat(300));
        let created = rig.station.create(&rig.station.one, json!({"command": long}));
        let answered = async {
            let question = rig.question().await;
            let Open::Client(Value::Object(request)) = &question else { unreachable!() };
            let title = request["params"]["toolCall"]["title"].as_str().unwrap();
            assert!(title.contains("shown in full below") && question.text().contains(&long), "{title}");
            rig.answer(question, "reject_once").await;
        };
        tokio::join!(created, answered).0.unwrap_err();
        rig.station.finish().await;
        place.check().await;
    }
}
