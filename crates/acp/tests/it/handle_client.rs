//! The agent-side handle against clients that are not wharf's, and do less than it hopes for.

use crate::pair::{Announces, session};
use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReleaseTerminalRequest, ReleaseTerminalResponse, TerminalExitStatus, TerminalOutputRequest,
    TerminalOutputResponse, WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Agent, Channel, Client, Error, on_receive_request};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use wharf_acp::{Exit, Terminals};
use wharf_testing::guarded;

/// How a client takes `terminal/kill`.
#[derive(Clone, Copy)]
enum Kill {
    /// The command ends, and whoever waits is told.
    Answered,
    /// It had ended already, which this client calls an error.
    Refused,
    /// Never.
    Ignored,
}

/// Runs an agent with a client whose waits listen for the exit, as an `exit` event is listened for: one that comes after
/// it hears nothing any more.
async fn with_client(kill: Kill, agent: impl AsyncFnOnce(Terminals)) {
    let (client_end, agent_end) = Channel::duplex();
    let exited = Arc::new(Notify::new());
    let exits = exited.clone();
    let client = Client
        .v1()
        .on_receive_request(
            async |_: CreateTerminalRequest, responder, _| {
                responder.respond(CreateTerminalResponse::new("t"))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: WaitForTerminalExitRequest, responder, cx: ConnectionTo<Agent>| {
                let exited = exited.clone();
                cx.spawn(async move {
                    exited.notified().await;
                    let status = TerminalExitStatus::new().signal("SIGKILL".to_owned());
                    responder.respond(WaitForTerminalExitResponse::new(status))
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: KillTerminalRequest, responder: Responder<_>, cx: ConnectionTo<Agent>| match kill {
                Kill::Answered => {
                    exits.notify_waiters();
                    responder.respond(KillTerminalResponse::new())
                }
                Kill::Refused => responder.respond_with_error(Error::internal_error().data("kill ESRCH")),
                Kill::Ignored => cx.spawn(async move {
                    std::future::pending::<()>().await;
                    responder.respond(KillTerminalResponse::new())
                }),
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |_: TerminalOutputRequest, responder, _| {
                responder.respond(TerminalOutputResponse::new("text", false))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |_: ReleaseTerminalRequest, responder, _| responder.respond(ReleaseTerminalResponse::new()),
            on_receive_request!(),
        )
        .connect_to(client_end);
    let agent = Agent.v1().connect_with(agent_end, async |cx| {
        agent(Terminals::new(cx, &Announces::Terminals.capabilities())).await;
        Ok(())
    });
    tokio::select! {
        client = client => panic!("{client:?}"),
        agent = agent => agent.unwrap(),
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_killed_command_is_heard_by_the_wait_that_was_there_before() {
    with_client(Kill::Answered, async |terminals| {
        let terminal = terminals.command(&session(), "x").start().await.unwrap();
        let finished = terminal.wait_or_kill(Duration::from_secs(1)).await.unwrap();
        assert_eq!(finished.exit, Exit::Signal("SIGKILL".into()));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_kill_takes_nothing_from_the_result() {
    with_client(Kill::Refused, async |terminals| {
        let terminal = terminals.command(&session(), "x").start().await.unwrap();
        let finished = terminal.wait_or_kill(Duration::from_secs(1)).await.unwrap();
        assert_eq!((finished.output.as_str(), finished.timed_out), ("text", true));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_kill_that_is_never_answered_does_not_hold_up_the_result() {
    with_client(Kill::Ignored, async |terminals| {
        let terminal = terminals.command(&session(), "x").start().await.unwrap();
        let finished = terminal.wait_or_kill(Duration::from_secs(1));
        let finished = tokio::time::timeout(Duration::from_secs(3600), finished).await.unwrap().unwrap();
        assert_eq!((finished.output.as_str(), finished.exit), ("text", Exit::Unknown));
    })
    .await;
}

/// The TypeScript SDK answers whatever its user throws with "Internal error", and the reason in `data.details`.
#[tokio::test]
async fn the_reason_that_a_client_gives_beside_its_message_is_told() {
    for (data, told) in
        [(json!({ "details": "spawn ENOENT" }), "spawn ENOENT"), (json!("no disk"), "no disk")]
    {
        let (client_end, agent_end) = Channel::duplex();
        let client = Client
            .v1()
            .on_receive_request(
                async move |_: CreateTerminalRequest, responder: Responder<CreateTerminalResponse>, _| {
                    responder.respond_with_error(Error::internal_error().data(data.clone()))
                },
                on_receive_request!(),
            )
            .connect_to(client_end);
        let agent = Agent.v1().connect_with(agent_end, async |cx| {
            let terminals = Terminals::new(cx, &Announces::Terminals.capabilities());
            let error = terminals.command(&session(), "x").start().await.unwrap_err();
            assert!(error.to_string().contains(told), "{error}");
            Ok(())
        });
        let (client, agent) = guarded(async { tokio::join!(client, agent) }).await;
        client.unwrap();
        agent.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_sends_more_than_it_was_asked_for_is_cut() {
    with_client(Kill::Answered, async |terminals| {
        let terminal = terminals.command(&session(), "x").output_byte_limit(3).start().await.unwrap();
        let output = terminal.current_output().await.unwrap();
        assert_eq!((output.text.as_str(), output.truncated), ("ext", true));
        let finished = terminal.wait_or_kill(Duration::from_secs(1)).await.unwrap();
        assert_eq!((finished.output.as_str(), finished.truncated), ("ext", true));
    })
    .await;
}
