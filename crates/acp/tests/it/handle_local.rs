//! Commands that run at the agent because the client has no terminals, and what the client sees of them.

use crate::pair::{Announces, Sent, connect, host, session};
use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{ContentChunk, SessionNotification, SessionUpdate, ToolCall};
use serde_json::{Value, json};
use std::time::Duration;
use wharf_acp::{Exit, Host, TerminalHandle, Terminals};
use wharf_core::policy::{Denial, Judge, Judgement, SessionPlace};
use wharf_core::{Spec, SpecError, TerminalId, unrestricted};
use wharf_testing::{Place, guarded, until};

const LONG: Duration = Duration::from_secs(15);

/// An agent whose client has no terminals, with a host of its own.
async fn alone<R>(
    place: &Place,
    announces: Announces,
    local: &Host,
    agent: impl AsyncFnOnce(Terminals, &Sent) -> R,
) -> R {
    // Nobody asks it for anything.
    let (client_host, _told) = host(place);
    let body = async |cx: ConnectionTo<Client>, capabilities, sent: Sent| {
        let terminals = Terminals::new(cx, &capabilities).or_local(local.clone());
        (agent(terminals, &sent).await, sent)
    };
    let (result, sent) = guarded(connect(&client_host, announces, place.dir(), body)).await;
    assert!(sent.methods().iter().all(|method| method == "session/update"), "{:?}", sent.methods());
    result
}

#[tokio::test]
async fn the_same_api_runs_commands_here() {
    let place = Place::process();
    let (host, mut told) = host(&place);
    alone(&place, Announces::Nothing, &host, async |terminals, _| {
        assert!(terminals.can_run());
        let error = terminals.command(&session(), "true").start().await.unwrap_err();
        assert_eq!(error.code(), "no_session", "{error}");
        terminals.open_session(session(), "/");

        let terminal = terminals.command(&session(), "pwd; exit 3").start().await.unwrap();
        assert_eq!(terminal.wait_for_exit().await.unwrap(), Exit::Code(3));
        let mut follow = terminal.follow();
        assert_eq!(follow.next().await.unwrap().unwrap().text, "/\n");
        assert_eq!(follow.next().await.unwrap(), None);
        drop(follow);
        let finished = terminal.wait_or_kill(LONG).await.unwrap();
        assert_eq!((finished.exit, finished.output.as_str()), (Exit::Code(3), "/\n"));
        told.released().await;

        let terminal = terminals.command(&session(), "sleep 100").start().await.unwrap();
        terminal.kill().await.unwrap();
        assert_eq!(terminal.current_output().await.unwrap().exit, Some(Exit::Signal("SIGTERM".into())));
        std::thread::spawn(move || drop(terminal)).join().unwrap();
        told.released().await;

        let error = terminals.command(&session(), "true").cwd("no").start().await.unwrap_err();
        assert_eq!(error.code(), "invalid");
        terminals.command(&session(), "sleep 100").start().await.map(std::mem::forget).unwrap();
        terminals.close_session(&session()).await;
        told.released().await;
    })
    .await;
    place.check().await;
}

#[tokio::test]
async fn a_client_that_shows_terminal_output_gets_it_by_that_convention() {
    let place = Place::process();
    let (host, _told) = host(&place);
    let sent = alone(&place, Announces::TerminalOutput, &host, async |terminals, sent| {
        terminals.open_session(session(), "/");
        let command = terminals.command(&session(), "echo one; sleep 0.3; echo two; exit 5");
        let finished = command.tool_call("call-1").title("Counting").run(LONG).await.unwrap();
        assert_eq!((finished.exit, finished.output.as_str()), (Exit::Code(5), "one\ntwo\n"));
        sent.clone()
    })
    .await;
    let updates = sent.updates();
    let first = &updates[0];
    let id = first["content"][0]["terminalId"].as_str().unwrap();
    assert!(TerminalId::parse(id).is_some());
    assert_eq!((&first["title"], &first["status"]), (&json!("Counting"), &json!("in_progress")));
    assert_eq!(first["_meta"]["terminal_info"], json!({ "terminal_id": id, "cwd": "/" }));
    let data = |update: &Value| update["_meta"]["terminal_output"]["data"].as_str().unwrap_or("").to_owned();
    assert_eq!(updates.iter().map(data).collect::<String>(), "one\ntwo\n");
    let exits: Vec<_> = updates.iter().filter_map(|update| update["_meta"].get("terminal_exit")).collect();
    assert_eq!(exits, [&json!({ "terminal_id": id, "exit_code": 5, "signal": null })]);
    let last = updates.last().unwrap();
    assert_eq!((&last["status"], &last["rawOutput"]["exitCode"]), (&json!("failed"), &json!(5)));
    place.check().await;
}

#[tokio::test]
async fn a_client_that_shows_only_text_gets_text_that_grows_and_stays() {
    let place = Place::process();
    let (host, _told) = host(&place);
    let sent = alone(&place, Announces::Nothing, &host, async |terminals, sent| {
        terminals.open_session(session(), "/");
        let command = terminals.command(&session(), "echo one; sleep 0.5; echo two; exit 5");
        command.tool_call("call-1").title("Counting").run(LONG).await.unwrap();
        sent.clone()
    })
    .await;
    let updates = sent.updates();
    let text = |update: &Value| update["content"][0]["content"]["text"].as_str().map(str::to_owned);
    let texts: Vec<String> = updates.iter().filter_map(text).collect();
    assert!(texts.iter().any(|text| text.contains("one") && !text.contains("two")), "it grew: {texts:?}");
    let end = texts.last().unwrap();
    assert!(end.contains("one\ntwo\n") && end.contains("exit code 5"), "{end:?}");
    assert!(!json!(updates).to_string().contains("terminalId"), "no reference that the client cannot follow");
    let last = updates.last().unwrap();
    assert_eq!((&last["status"], &last["rawOutput"]["exitCode"]), (&json!("failed"), &json!(5)));
    place.check().await;
}

#[tokio::test]
async fn a_tool_call_of_the_agents_own_is_shown_too() {
    let place = Place::process();
    let (host, _told) = host(&place);
    let sent = alone(&place, Announces::Nothing, &host, async |terminals, sent| {
        terminals.open_session(session(), "/");
        let terminal = terminals.command(&session(), "echo own").start().await.unwrap();
        terminal.wait_for_exit().await.unwrap();
        let call = ToolCall::new("mine", "Mine").content(vec![terminal.content()]);
        terminals.update(&session(), SessionUpdate::ToolCall(call)).await.unwrap();
        terminal.release().await.unwrap();
        sent.clone()
    })
    .await;
    let updates = sent.updates();
    assert!(updates[0]["content"][0]["content"]["text"].as_str().unwrap().contains("own\n"), "{updates:?}");
    place.check().await;
}

#[tokio::test]
async fn local_commands_end_with_the_connection() {
    let place = Place::process();
    let (host, mut told) = host(&place);
    let (terminals, terminal) = alone(&place, Announces::Nothing, &host, async |terminals, _| {
        terminals.open_session(session(), "/");
        let terminal = terminals.command(&session(), "sleep 100").start().await.unwrap();
        (terminals, terminal)
    })
    .await;
    assert_eq!(told.released().await, *terminal.id().0);
    drop((terminals, terminal));
    place.check().await;
}

/// Allows what it was told to, asks about one thing and denies the rest.
struct Strict;

impl Judge for Strict {
    fn judge(&self, spec: Spec, place: &SessionPlace) -> Result<Judgement, SpecError> {
        assert_eq!((place.cwd.to_str(), place.key.as_str()), (Some("/"), "s"));
        let line = format!("{spec:?}");
        if line.contains("allowed") {
            return unrestricted(spec).map(Judgement::Allow);
        }
        Ok(Judgement::Deny(Denial { reason: "it is not on the list".to_owned(), ..Denial::default() }))
    }
}

#[tokio::test]
async fn the_hosts_judge_decides_here_too() {
    let place = Place::process();
    let (host, _told) = host(&place);
    let host = host.judge(Strict);
    alone(&place, Announces::Nothing, &host, async |terminals, sent| {
        terminals.open_session(session(), "/");
        let ran = place.dir().join("ran");
        let line = format!("touch {}", ran.display());
        let refused = terminals.command(&session(), line).tool_call("no").run(LONG).await.unwrap_err();
        assert!(refused.to_string().contains("it is not on the list"), "{refused}");
        assert!(!ran.exists());
        // Who watches is told too.
        while sent.updates().is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(sent.updates().last().unwrap()["status"], "failed");
        let finished =
            terminals.command(&session(), "echo allowed").start().await.unwrap().wait_or_kill(LONG).await;
        assert_eq!(finished.unwrap().output, "allowed\n");
    })
    .await;
    place.check().await;
}

/// Prints much and stays, is embedded by hand, and beside it one is given up half-way, which says so without waiting.
async fn keep_the_client_busy(terminals: &Terminals, host: &Host) -> TerminalHandle {
    let line = "for i in $(seq 50); do echo $i; done; echo all said; sleep 100";
    let terminal = terminals.command(&session(), line).start().await.unwrap();
    let call = ToolCall::new("mine", "Mine").content(vec![terminal.content()]);
    terminals.update(&session(), SessionUpdate::ToolCall(call)).await.unwrap();
    let given_up = terminals.command(&session(), "sleep 100").tool_call("given-up").run(LONG);
    assert!(tokio::time::timeout(Duration::from_millis(200), given_up).await.is_err());
    let real = host.terminal(&session(), &terminal.id().0).unwrap();
    until(&real, "all said").await;
    terminal
}

#[tokio::test]
async fn after_a_flush_nothing_of_the_session_is_left_to_send_before_the_prompts_answer() {
    let place = Place::process();
    for announces in [Announces::Nothing, Announces::TerminalOutput] {
        let ((local, _told), (client_host, _told_too)) = (host(&place), host(&place));
        let body = async |cx: ConnectionTo<Client>, capabilities, sent: Sent| {
            let terminals = Terminals::new(cx.clone(), &capabilities).or_local(local.clone());
            terminals.open_session(session(), "/");
            terminals.flush(&session()).await;
            let terminal = keep_the_client_busy(&terminals, &local).await;
            terminals.flush(&session()).await;
            // In the place of the answer, which goes the same way: behind everything that was sent before.
            let answer = SessionUpdate::AgentMessageChunk(ContentChunk::new("the answer".into()));
            cx.send_notification(SessionNotification::new(session(), answer)).unwrap();
            let is_answer = |update: &Value| update["content"]["text"] == "the answer";
            while !sent.updates().iter().any(is_answer) {
                tokio::task::yield_now().await;
            }
            let mut updates = sent.updates();
            updates.truncate(updates.iter().position(is_answer).unwrap());
            assert!(json!(updates).to_string().contains("all said"), "{updates:?}");
            assert!(updates.iter().any(|update| update["rawOutput"]["cancelled"] == true), "{updates:?}");
            terminal.release().await.unwrap();
            terminals.close_session(&session()).await;
        };
        guarded(connect(&client_host, announces, place.dir(), body)).await;
    }
    place.check().await;
}
