//! What the client gets to see of a terminal that an agent embeds.

use super::Rig;
use serde_json::{Value, json};
use wharf_acp::{End, Hosting};
use wharf_testing::{Place, guarded};

fn about(terminal: &str) -> Value {
    json!({"sessionId": "s", "terminalId": terminal})
}

fn embed(terminal: &str) -> Value {
    json!({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{
        "sessionUpdate":"tool_call","toolCallId":"t","title":"run","status":"in_progress",
        "content":[{"type":"terminal","terminalId":terminal}]}}})
}

/// Everything the client hears until an answer, which is not included.
async fn until_answer(rig: &mut Rig) -> Vec<Value> {
    let mut heard = Vec::new();
    loop {
        let message = rig.client.hear_json().await;
        if message.get("result").is_some() {
            return heard;
        }
        heard.push(message);
    }
}

/// A turn in which a terminal is embedded and released before anybody could have looked at it.
async fn turn(rig: &mut Rig) -> Vec<Value> {
    rig.client
        .say_json(json!({"id":"turn","method":"session/prompt","params":{"sessionId":"s","prompt":[]}}))
        .await;
    rig.agent.hear().await;
    let terminal = rig.start("echo printed; exit 3").await;
    rig.ask("terminal/wait_for_exit", about(&terminal)).await;
    let release = json!({"id":"release","method":"terminal/release","params":about(&terminal)});
    rig.agent.say(format!("{}\n{release}\n", embed(&terminal))).await;
    assert_eq!(rig.agent.hear_json().await["id"], "release");
    rig.agent.say("{\"id\":\"turn\",\"result\":{\"stopReason\":\"end_turn\"}}\n").await;
    until_answer(rig).await
}

#[tokio::test]
async fn a_client_is_shown_text_and_has_all_of_it_before_the_turn_ends() {
    let place = Place::process();
    let mut rig = Rig::begun(&place).await;
    let heard = turn(&mut rig).await;
    assert!(!heard.is_empty());
    let all = json!(heard).to_string();
    assert!(!all.contains(r#""type":"terminal""#), "a reference that the client cannot follow: {all}");
    let last = heard.last().unwrap()["params"]["update"]["content"].to_string();
    assert!(last.contains("printed") && last.contains('3'), "{last}");
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn a_client_that_knows_the_convention_gets_output_and_end_before_the_turn_ends() {
    let place = Place::process();
    let mut rig = Rig::new(&place, Hosting::Always);
    let can = json!({"_meta":{"terminal_output":true}});
    rig.client.say_json(json!({"id":0,"method":"initialize","params":{"clientCapabilities":can}})).await;
    rig.agent.hear().await;
    rig.agent.say("{\"id\":0,\"result\":{}}\n").await;
    rig.client.hear().await;
    rig.open("s").await;
    let heard = turn(&mut rig).await;
    let meta = |name: &str| -> Vec<&Value> {
        heard
            .iter()
            .map(|message| &message["params"]["update"]["_meta"][name])
            .filter(|v| !v.is_null())
            .collect()
    };
    assert_eq!(meta("terminal_info").len(), 1, "{heard:#?}");
    let data: String =
        meta("terminal_output").iter().map(|output| output["data"].as_str().unwrap()).collect();
    assert_eq!(data.replace("\r\n", "\n"), "printed\n");
    assert_eq!(meta("terminal_exit")[0]["exit_code"], 3);
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn when_the_agent_goes_its_running_terminals_are_shown_to_have_ended() {
    let place = Place::process();
    let mut rig = Rig::begun(&place).await;
    let terminal = rig.start("echo begun; exec sleep 1000").await;
    rig.agent.say_json(embed(&terminal)).await;
    rig.client.hear_json().await;
    rig.agent.close().await;
    let rest = String::from_utf8(rig.client.rest().await).unwrap();
    let last = rest.lines().last().unwrap();
    assert!(last.contains("begun") && last.contains("SIGTERM"), "{rest}");
    assert_eq!(guarded(rig.relay).await.unwrap(), End::Agent);
    place.check().await;
}

#[tokio::test]
async fn an_update_that_looks_like_a_request_has_no_dangling_reference_either() {
    let place = Place::process();
    let mut rig = Rig::begun(&place).await;
    let terminal = rig.start("echo printed").await;
    let mut odd = embed(&terminal);
    odd["id"] = json!(null);
    rig.agent.say_json(odd).await;
    let shown = rig.client.hear_json().await.to_string();
    assert!(!shown.contains(&terminal), "{shown}");
    rig.finish().await;
    place.check().await;
}

#[tokio::test]
async fn what_a_running_terminal_prints_is_shown_while_it_runs() {
    let place = Place::process();
    let mut rig = Rig::begun(&place).await;
    let gate = place.dir().join("gate");
    // The command makes the pipe itself, before it says anything.
    let line = format!("mkfifo {0}; echo first; cat {0}; echo last", gate.display());
    let terminal = rig.start(&line).await;
    rig.agent.say_json(embed(&terminal)).await;
    while !rig.client.hear_json().await.to_string().contains("first") {}
    std::fs::write(&gate, "second\n").unwrap();
    while !rig.client.hear_json().await.to_string().contains("last") {}
    rig.finish().await;
    place.check().await;
}
