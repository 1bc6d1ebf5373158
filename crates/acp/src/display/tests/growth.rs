//! Terminals as text.

use super::*;
use agent_client_protocol::v1::schema::RequestPermissionRequest;
use wharf_testing::until;

#[tokio::test]
async fn as_text_a_terminal_grows_and_keeps_its_end() {
    let mut scene = Scene::new(Shows::Text).await;
    let terminal = scene.start("echo one; read x <GATE; echo two; exit 3").await;
    guarded(until(&terminal, "one\n")).await;
    let odd = format!(
        r#"{{ "sessionUpdate" : "tool_call", "toolCallId":"c1", "title":"t\u00e9", "x-own" : {{ "a" :1 }},
            "rawInput": {{"n":123456789012345678901234567890,  "n":1.0}}, "content":[ {{"type":"content" , "content":{{"type":"text","text":"\u0061"}}}},{} ]}}"#,
        item(&terminal)
    );
    let said = scene.say(&odd).unwrap();
    assert_eq!((said.before.len(), said.embedded.len()), (0, 1));
    let other = r#"{"type":"content" , "content":{"type":"text","text":"\u0061"}}"#;
    let expected = format!(
        r#"{{"sessionId":"s","update":{{"sessionUpdate":"tool_call","toolCallId":"c1","title":"t\u00e9","x-own":{{ "a" :1 }},"rawInput":{{"n":123456789012345678901234567890,  "n":1.0}},"content":[{other},{}]}}}}"#,
        text("```\none\n```\nrunning")
    );
    assert_eq!(said.params.get(), expected);
    assert!(scene.catch_up(&terminal).is_empty(), "nothing is said twice");

    scene.open_gate();
    guarded(terminal.wait()).await.unwrap();
    let grown = scene.display.catch_up(terminal.id());
    let last = text("```\none\ntwo\n```\nexit code 3");
    let update =
        r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","content""#;
    assert_eq!(grown[0].get(), format!("{update}:[{other},{last}]}}}}"));
    assert_eq!(grown.len(), 1);
    assert!(scene.catch_up(&terminal).is_empty() && scene.display.live.is_empty());

    // It was released, and the agent says once more what it said before.
    scene.shelf.0.borrow_mut().clear();
    let again = scene.say(&odd).unwrap();
    assert!(again.params.get().ends_with(&format!("[{other},{last}]}}}}")), "{}", again.params);
    assert!(again.embedded.is_empty());
    scene.done().await;
}

#[tokio::test]
async fn before_a_tool_call_is_done_its_text_is_complete() {
    let mut scene = Scene::new(Shows::Text).await;
    let terminal = scene.start("read x <GATE; echo '`` ``'; kill -9 $$").await;
    let said = scene.say(&embedding(&[&terminal])).unwrap();
    assert_eq!(values(&[said.params])[0]["update"]["content"][0]["content"]["text"], "running");
    scene.open_gate();
    guarded(terminal.wait()).await.unwrap();
    let done = r#"{"sessionUpdate":"tool_call_update", "toolCallId":"c1","status":"failed"}"#;
    let said = scene.say(done).unwrap();
    assert_eq!(values(&said.before), [content("```\n`` ``\n```\nkilled by SIGKILL")]);
    assert_eq!(said.params.get(), format!(r#"{{"sessionId":"s","update":{done}}}"#));
    assert!(scene.say(done).is_none(), "nothing is left to be said");
    scene.done().await;
}

#[tokio::test]
async fn before_a_prompts_answer_a_sessions_text_is_complete() {
    let mut scene = Scene::new(Shows::Text).await;
    let terminal = scene.start("read x <GATE; echo late").await;
    assert!(scene.say(&embedding(&[&terminal])).is_some());
    scene.open_gate();
    guarded(terminal.wait()).await.unwrap();
    assert!(scene.display.flush(&SessionId::new("other")).is_empty());
    let said = scene.display.flush(&SessionId::new("s"));
    assert_eq!(values(&said), [content("```\nlate\n```\nexit code 0")]);
    scene.done().await;
}

#[tokio::test]
async fn when_the_agent_replaces_the_terminal_its_text_stops() {
    let mut scene = Scene::new(Shows::Text).await;
    let terminal = scene.start("read x <GATE; echo late").await;
    assert!(scene.say(&embedding(&[&terminal])).is_some());
    let replaced = r#"{"sessionUpdate":"tool_call_update","toolCallId":"c1","content":[]}"#;
    assert!(scene.say(replaced).is_none());
    scene.open_gate();
    guarded(terminal.wait()).await.unwrap();
    assert!(scene.catch_up(&terminal).is_empty());
    // The end is known all the same, should the agent come back to it.
    scene.shelf.0.borrow_mut().clear();
    let said = scene.say(&embedding(&[&terminal])).unwrap();
    assert!(said.params.get().contains("late"), "{}", said.params);
    scene.done().await;
}

#[tokio::test]
async fn two_terminals_in_one_tool_call_are_both_said_again() {
    let mut scene = Scene::new(Shows::Text).await;
    let first = scene.ended("echo first").await;
    let second = scene.start("read x <GATE; echo second; exit 1").await;
    let said = scene.say(&embedding(&[&first, &second])).unwrap();
    assert_eq!(said.embedded.len(), 2);
    assert!(scene.catch_up(&first).is_empty(), "its end was in the message");
    scene.open_gate();
    guarded(second.wait()).await.unwrap();
    let grown = scene.display.catch_up(second.id());
    let (one, two) = (text("```\nfirst\n```\nexit code 0"), text("```\nsecond\n```\nexit code 1"));
    assert!(grown[0].get().ends_with(&format!(r#""content":[{one},{two}]}}}}"#)), "{}", grown[0]);
    scene.done().await;
}

#[tokio::test]
async fn a_permission_request_is_translated_and_grows_like_an_update() {
    let mut scene = Scene::new(Shows::Text).await;
    let terminal = scene.start("echo asked; read x <GATE").await;
    guarded(until(&terminal, "asked\n")).await;
    let params = format!(
        r#"{{"sessionId":"s","options":[ ],"toolCall":{{"toolCallId":"c1","content":[{}]}},"x":1e2}}"#,
        item(&terminal)
    );
    let said = scene.say_raw("session/request_permission", &params).unwrap();
    let expected = params.replace(&item(&terminal), &text("```\nasked\n```\nrunning"));
    assert_eq!(said.params.get(), expected);
    let _: RequestPermissionRequest = serde_json::from_str(said.params.get()).unwrap();
    scene.open_gate();
    guarded(terminal.wait()).await.unwrap();
    assert_eq!(scene.catch_up(&terminal), [content("```\nasked\n```\nexit code 0")]);
    scene.done().await;
}

#[tokio::test]
async fn a_flood_as_text_is_bounded_while_it_runs_and_at_the_end() {
    let mut scene = Scene::new(Shows::Text).await;
    let terminal = scene.start("seq 1 200000; read x <GATE; echo end").await;
    guarded(until(&terminal, "\n200000\n")).await;
    let said = scene.say(&embedding(&[&terminal])).unwrap();
    let shown = values(&[said.params])[0]["update"]["content"][0]["content"]["text"].clone();
    let shown = shown.as_str().unwrap();
    assert!(shown.ends_with("\n199999\n200000\n```\nrunning"), "{}", &shown[shown.len() - 60..]);
    assert!((30_000..33_000).contains(&shown.len()), "{}", shown.len());
    let printed: String = (1..=200_000).map(|n| format!("{n}\n")).collect();
    let (note, rest) = shown.split_once("\n\n```\n").unwrap();
    let left_out = printed.len() - rest.trim_end_matches("```\nrunning").len();
    assert_eq!(note, format!("[{left_out} earlier bytes not shown]"));
    assert!(printed[..left_out].ends_with('\n'), "cut between lines");

    scene.open_gate();
    guarded(terminal.wait()).await.unwrap();
    let last = scene.catch_up(&terminal)[0]["update"]["content"][0]["content"]["text"].clone();
    let last = last.as_str().unwrap();
    assert!(last.ends_with("200000\nend\n```\nexit code 0"));
    assert!((250_000..263_000).contains(&last.len()), "{}", last.len());
    scene.done().await;
}

#[tokio::test]
async fn a_terminal_that_was_gathered_before_its_release_is_shown_after_it() {
    let mut scene = Scene::new(Shows::Text).await;
    let terminal = scene.ended("echo kept").await;
    let params = format!(r#"{{"sessionId":"s","update":{}}}"#, embedding(&[&terminal]));
    let params = RawValue::from_string(params).unwrap();
    let gathered = gather(&scene.shelf, UPDATE, &params);
    scene.shelf.0.borrow_mut().clear();
    guarded(terminal.release()).await.unwrap();
    let said = scene.display.translate_with(UPDATE, &params, gathered).unwrap();
    assert!(said.params.get().contains(r"```\nkept\n```\nexit code 0"), "{}", said.params);
    scene.done().await;
}
