//! Terminals by the `_meta` convention.

use super::*;
use wharf_testing::until;

#[tokio::test]
async fn by_convention_a_terminal_is_made_known_and_its_output_appended() {
    let mut scene = Scene::new(Shows::Meta).await;
    let terminal = scene.start("printf '\\033[1mone'; read x <GATE; printf two; exit 4").await;
    guarded(until(&terminal, "one")).await;
    let message = format!(
        r#"{{"sessionUpdate":"tool_call","toolCallId":"c1","title":"T" , "_meta" : {{"mine" : 1.0, "n":99999999999999999999}},"content":[ {} ]}}"#,
        item(&terminal)
    );
    let said = scene.say(&message).unwrap();
    let expected = format!(
        r#"{{"sessionId":"s","update":{{"sessionUpdate":"tool_call","toolCallId":"c1","title":"T","_meta":{{"mine":1.0,"n":99999999999999999999,"terminal_info":{{"terminal_id":"{}","cwd":"/"}}}},"content":[ {} ]}}}}"#,
        terminal.id(),
        item(&terminal)
    );
    assert_eq!((said.before.len(), said.embedded.len()), (0, 1));
    assert_eq!(said.params.get(), expected);
    assert_eq!(scene.catch_up(&terminal), [output(&terminal, "\u{1b}[1mone")]);
    assert!(scene.catch_up(&terminal).is_empty());
    assert!(scene.say(&message).is_none(), "made known once only");

    scene.open_gate();
    guarded(terminal.wait()).await.unwrap();
    let done = r#"{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}"#;
    let said = scene.say(done).unwrap();
    assert_eq!(values(&said.before), [output(&terminal, "two"), exit(&terminal, json!(4), Value::Null)]);
    assert_eq!(said.params.get(), format!(r#"{{"sessionId":"s","update":{done}}}"#));
    assert!(scene.catch_up(&terminal).is_empty() && scene.display.live.is_empty());
    // Released; the client knows it for ever.
    scene.shelf.0.borrow_mut().clear();
    assert!(scene.say(&message).is_none());
    scene.done().await;
}

#[tokio::test]
async fn by_convention_a_terminal_that_comes_later_is_made_known_first() {
    let mut scene = Scene::new(Shows::Meta).await;
    let terminal = scene.ended("printf all; kill -TERM $$").await;
    let first = r#"{"sessionUpdate":"tool_call","toolCallId":"c1","title":"T","kind":"execute","rawInput":{"n":123456789012345678901234567890},"_meta":{"mine":1}}"#;
    assert!(scene.say(first).is_none());
    let update = format!(
        r#"{{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","title":null,"content":[{}]}}"#,
        item(&terminal)
    );
    let said = scene.say(&update).unwrap();
    let made_known = format!(
        r#"{{"sessionId":"s","update":{{"sessionUpdate":"tool_call","toolCallId":"c1","title":"T","kind":"execute","rawInput":{{"n":123456789012345678901234567890}},"_meta":{{"mine":1,"terminal_info":{{"terminal_id":"{}","cwd":"/"}}}},"status":"completed","content":[{}]}}}}"#,
        terminal.id(),
        item(&terminal)
    );
    assert_eq!(said.before[0].get(), made_known);
    let rest = [output(&terminal, "all"), exit(&terminal, Value::Null, json!("SIGTERM"))];
    assert_eq!(values(&said.before[1..]), rest);
    assert_eq!(said.params.get(), format!(r#"{{"sessionId":"s","update":{update}}}"#));
    scene.done().await;
}

#[tokio::test]
async fn by_convention_a_permission_request_makes_a_terminal_known_with_its_command_as_title() {
    let mut scene = Scene::new(Shows::Meta).await;
    let terminal = scene.ended("exit 0").await;
    let params = format!(
        r#"{{"sessionId":"s","toolCall":{{"toolCallId":"c1","content":[{}]}},"options":[]}}"#,
        item(&terminal)
    );
    let said = scene.say_raw("session/request_permission", &params).unwrap();
    let info = json!({ "terminal_info": { "terminal_id": terminal.id().as_str(), "cwd": "/" } });
    let embedded = json!([{ "type": "terminal", "terminalId": terminal.id().as_str() }]);
    let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "c1", "title": "exit 0", "content": embedded, "_meta": info });
    assert_eq!(values(&said.before), [in_session(call)]);
    assert_eq!(said.params.get(), params);
    assert_eq!(scene.catch_up(&terminal), [exit(&terminal, json!(0), Value::Null)]);
    scene.done().await;
}

#[tokio::test]
async fn by_convention_no_message_names_a_terminal_that_is_not_known_yet() {
    let mut scene = Scene::new(Shows::Meta).await;
    let (first, second) = (scene.ended("echo 1").await, scene.ended("echo 2").await);
    let said = scene.say(&embedding(&[&first, &second])).unwrap();
    let [before, message] = &values(&[&said.before[..], &[said.params]].concat())[..] else { panic!() };
    assert_eq!(before["update"]["content"], json!([serde_json::from_str::<Value>(&item(&first)).unwrap()]));
    assert_eq!(before["update"]["_meta"]["terminal_info"]["terminal_id"], first.id().as_str());
    assert_eq!(message["update"]["content"].as_array().unwrap().len(), 2);
    assert_eq!(message["update"]["_meta"]["terminal_info"]["terminal_id"], second.id().as_str());
    assert_eq!(said.embedded.len(), 2);
    scene.done().await;
}

#[tokio::test]
async fn by_convention_output_stops_when_the_agent_replaces_the_terminal_and_goes_on_when_it_is_back() {
    let mut scene = Scene::new(Shows::Meta).await;
    let terminal = scene.start("printf one; read x <GATE; printf two").await;
    guarded(until(&terminal, "one")).await;
    assert!(scene.say(&embedding(&[&terminal])).is_some());
    assert_eq!(scene.catch_up(&terminal), [output(&terminal, "one")]);
    let replaced = r#"{"sessionUpdate":"tool_call_update","toolCallId":"c1","content":[]}"#;
    assert!(scene.say(replaced).is_none());
    scene.open_gate();
    guarded(terminal.wait()).await.unwrap();
    assert!(scene.catch_up(&terminal).is_empty() && scene.display.live.is_empty());
    let said = scene.say(&embedding(&[&terminal])).unwrap();
    assert!(said.before.is_empty() && !said.params.get().contains("terminal_info"));
    assert_eq!(said.embedded.len(), 1);
    let rest = [output(&terminal, "two"), exit(&terminal, json!(0), Value::Null)];
    assert_eq!(scene.catch_up(&terminal), rest);
    scene.done().await;
}

#[tokio::test]
async fn by_convention_a_flood_is_cut_to_its_newest_and_says_so() {
    let mut scene = Scene::new(Shows::Meta).await;
    let terminal = scene.start("printf 'begin\\n'; read x <GATE; seq 1 200000; read x <GATE").await;
    guarded(until(&terminal, "begin\n")).await;
    assert!(scene.say(&embedding(&[&terminal])).is_some());
    assert_eq!(scene.catch_up(&terminal), [output(&terminal, "begin\n")]);
    scene.open_gate();
    guarded(until(&terminal, "\n200000\n")).await;
    let said = scene.catch_up(&terminal);
    let sent: String = said.iter().map(|one| data(one).to_owned()).collect();
    let (note, rest) = sent.strip_prefix("\n[").unwrap().split_once(" bytes not shown]\n").unwrap();
    let printed: String = (1..=200_000).map(|n| format!("{n}\n")).collect();
    assert_eq!(note.parse::<usize>().unwrap() + rest.len(), printed.len());
    assert!(printed.ends_with(rest) && (60_000..=65_536).contains(&rest.len()), "{}", rest.len());
    assert!(printed[..printed.len() - rest.len()].ends_with('\n'), "cut between lines");
    assert!(said.iter().all(|one| data(one).len() <= 65_536));
    scene.open_gate();
    guarded(terminal.wait()).await.unwrap();
    assert_eq!(scene.catch_up(&terminal), [exit(&terminal, json!(0), Value::Null)]);
    scene.done().await;
}

fn data(message: &Value) -> &str {
    message["update"]["_meta"]["terminal_output"]["data"].as_str().unwrap()
}

#[tokio::test]
async fn by_convention_a_character_is_sent_whole() {
    let mut scene = Scene::new(Shows::Meta).await;
    let terminal = scene.start("printf 'a\\342\\202'; read x <GATE; printf '\\254\\342'").await;
    guarded(until(&terminal, "a")).await;
    assert!(scene.say(&embedding(&[&terminal])).is_some());
    assert_eq!(scene.catch_up(&terminal), [output(&terminal, "a")]);
    scene.open_gate();
    guarded(terminal.wait()).await.unwrap();
    let rest = [output(&terminal, "€\u{fffd}"), exit(&terminal, json!(0), Value::Null)];
    assert_eq!(scene.catch_up(&terminal), rest);
    scene.done().await;
}

#[tokio::test]
async fn by_convention_what_the_agent_said_of_its_own_terminal_is_not_said_again() {
    let mut scene = Scene::new(Shows::Meta).await;
    let terminal = scene.ended("true").await;
    let own = r#"{"sessionUpdate":"tool_call","toolCallId":"c1","title":"T","content":[{"type":"terminal","terminalId":"own"}],"_meta":{"terminal_info":{"terminal_id":"own"},"terminal_output":{"terminal_id":"own","data":"x"},"mine":1}}"#;
    assert!(scene.say(own).is_none());
    let both = format!(r#"[{{"type":"terminal","terminalId":"own"}},{}]"#, item(&terminal));
    let update = format!(r#"{{"sessionUpdate":"tool_call_update","toolCallId":"c1","content":{both}}}"#);
    let said = scene.say(&update).unwrap();
    let made_known = &values(&said.before)[0]["update"];
    let info = json!({ "terminal_id": terminal.id().as_str(), "cwd": "/" });
    assert_eq!(made_known["_meta"], json!({ "mine": 1, "terminal_info": info }));
    assert_eq!(made_known["content"].as_array().unwrap().len(), 1, "only what the client is sure to know");
    assert!(said.params.get().contains(&both), "{}", said.params);
    scene.done().await;
}
