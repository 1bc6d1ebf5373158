//! A command as a tool call, message by message.

use crate::pair::{Announces, Sent, connect, host, session};
use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use serde_json::json;
use std::time::Duration;
use wharf_acp::{Exit, Host, Terminals};
use wharf_testing::{Place, guarded};

const LONG: Duration = Duration::from_secs(15);

async fn with_terminals<R>(place: &Place, host: &Host, agent: impl AsyncFnOnce(Terminals, &Sent) -> R) -> R {
    let body = async |cx: ConnectionTo<Client>, capabilities, sent: Sent| {
        agent(Terminals::new(cx, &capabilities), &sent).await
    };
    guarded(connect(host, Announces::Terminals, place.dir(), body)).await
}

#[tokio::test]
async fn a_command_is_reported_from_start_to_end() {
    let place = Place::process();
    let (host, _told) = host(&place);
    with_terminals(&place, &host, async |terminals, sent| {
        let command = terminals.command(&session(), "printf").args(["%s", "hi"]).env("SECRET", "x").cwd("/");
        let finished = command.tool_call("call-1").title("Greeting").run(LONG).await.unwrap();
        assert!(finished.success());
        let updates = sent.updates();
        let id = updates[0]["content"][0]["terminalId"].clone();
        let expected = json!({
            "sessionUpdate": "tool_call",
            "toolCallId": "call-1",
            "title": "Greeting",
            "kind": "execute",
            "status": "in_progress",
            "content": [{ "type": "terminal", "terminalId": id }],
            "rawInput": { "command": "printf", "args": ["%s", "hi"], "cwd": "/" },
        });
        assert_eq!(updates[0], expected);
        let expected = json!({
            "sessionUpdate": "tool_call_update",
            "toolCallId": "call-1",
            "status": "completed",
            "rawOutput":
                { "exitCode": 0, "signal": null, "truncated": false, "timedOut": false, "output": "hi" },
        });
        assert_eq!(updates[1..], [expected]);
        let order = [
            "terminal/create",
            "session/update",
            "terminal/wait_for_exit",
            "terminal/output",
            "session/update",
            "terminal/release",
        ];
        assert_eq!(sent.methods(), order, "embedded before it is released");
    })
    .await;
    place.check().await;
}

#[tokio::test]
async fn every_bad_end_is_reported_as_failed_with_what_is_known() {
    let place = Place::process();
    let (host, _told) = host(&place);
    with_terminals(&place, &host, async |terminals, sent| {
        for (line, limit, output) in [
            (
                "echo no; exit 7",
                LONG,
                json!({"exitCode": 7, "signal": null, "timedOut": false, "output": "no\n"}),
            ),
            (
                "kill -9 $$",
                LONG,
                json!({"exitCode": null, "signal": "SIGKILL", "timedOut": false, "output": ""}),
            ),
            (
                "echo begun; exec sleep 100",
                Duration::from_millis(200),
                json!({"exitCode": null, "signal": "SIGTERM", "timedOut": true, "output": "begun\n"}),
            ),
        ] {
            let finished = terminals.command(&session(), line).tool_call(line).run(limit).await.unwrap();
            assert!(!finished.success());
            let last = sent.updates().pop().unwrap();
            let mut expected = output;
            expected["truncated"] = json!(false);
            assert_eq!((&last["status"], &last["rawOutput"]), (&json!("failed"), &expected), "{line}");
        }
        assert_eq!(sent.updates()[0]["title"], "echo no; exit 7", "the line, if there is no title");
    })
    .await;
    place.check().await;
}

#[tokio::test]
async fn a_command_that_is_refused_is_reported_too() {
    let place = Place::process();
    let (host, _told) = host(&place);
    let (error, sent) = with_terminals(&place, &host, async |terminals, sent| {
        let command = terminals.command(&session(), "true").cwd("/does/not/exist");
        (command.tool_call("call-1").run(LONG).await.unwrap_err(), sent.clone())
    })
    .await;
    assert_eq!(error.code(), "invalid");
    let updates = sent.updates();
    assert_eq!(updates.len(), 1);
    assert_eq!(
        (&updates[0]["sessionUpdate"], &updates[0]["status"]),
        (&json!("tool_call"), &json!("failed"))
    );
    let text = updates[0]["content"][0]["content"]["text"].as_str().unwrap();
    assert_eq!(text, error.to_string());
    place.check().await;
}

#[tokio::test]
async fn a_tool_call_the_client_knows_is_updated() {
    let place = Place::process();
    let (host, _told) = host(&place);
    with_terminals(&place, &host, async |terminals, sent| {
        terminals.command(&session(), "true").tool_call_update("asked").run(LONG).await.unwrap();
        let updates = sent.updates();
        let kinds: Vec<_> = updates.iter().map(|u| u["sessionUpdate"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["tool_call_update", "tool_call_update"]);
        assert_eq!((&updates[0]["status"], &updates[0]["title"]), (&json!("in_progress"), &json!(null)));
        assert_eq!(updates[1]["status"], "completed");
    })
    .await;
    place.check().await;
}

#[tokio::test]
async fn a_run_that_is_given_up_does_not_stay_in_progress() {
    let place = Place::process();
    let (host, mut told) = host(&place);
    with_terminals(&place, &host, async |terminals, sent| {
        let run = terminals.command(&session(), "sleep 100").tool_call("call-1").run(LONG);
        assert!(tokio::time::timeout(Duration::from_millis(500), run).await.is_err());
        told.released().await;
        let last = sent.updates().pop().unwrap();
        assert_eq!((&last["status"], &last["rawOutput"]), (&json!("failed"), &json!({ "cancelled": true })));
        let methods = sent.methods();
        assert_eq!(methods[methods.len() - 2..], ["session/update", "terminal/release"], "{methods:?}");
    })
    .await;
    place.check().await;
}

#[tokio::test]
async fn a_truncated_output_is_said_to_be_truncated() {
    let place = Place::process();
    let (host, _told) = host(&place);
    with_terminals(&place, &host, async |terminals, sent| {
        let command = terminals.command(&session(), "seq 1 100000").output_byte_limit(12);
        let finished = command.tool_call("call-1").run(LONG).await.unwrap();
        assert_eq!((finished.output.as_str(), finished.exit), ("9999\n100000\n", Exit::Code(0)));
        assert!(finished.truncated);
        assert_eq!(sent.updates()[1]["rawOutput"]["truncated"], true);
    })
    .await;
    place.check().await;
}

/// Its permission was asked for, so the client shows it.
#[tokio::test]
async fn a_known_tool_call_that_is_given_up_while_it_starts_does_not_stay_pending() {
    let place = Place::process();
    let (host, _told) = host(&place);
    with_terminals(&place, &host, async |terminals, sent| {
        let mut run =
            Box::pin(terminals.command(&session(), "sleep 100").tool_call_update("asked").run(LONG));
        let poll = std::future::poll_fn(|cx| std::task::Poll::Ready(run.as_mut().poll(cx).is_pending()));
        assert!(poll.await);
        drop(run);
        // What comes after it on the wire was sent after it.
        terminals.command(&session(), "true").start().await.unwrap().release().await.unwrap();
        let last = sent.updates().pop().expect("nothing was said about it");
        assert_eq!((&last["toolCallId"], &last["status"]), (&json!("asked"), &json!("failed")));
    })
    .await;
    place.check().await;
}
