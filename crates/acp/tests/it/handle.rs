//! The agent-side handle against a real host, over a connection.

use crate::pair::{Announces, Sent, connect, host, session};
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, CreateTerminalResponse, ReleaseTerminalRequest, ReleaseTerminalResponse,
    TerminalExitStatus, TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest,
    WaitForTerminalExitResponse,
};
use agent_client_protocol::{Agent, Channel, Client, on_receive_request};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use wharf_acp::{Exit, Host, TerminalError, Terminals};
use wharf_testing::{Place, guarded, until};

/// Runs an agent with the client's terminals.
async fn with_terminals<R>(place: &Place, host: &Host, agent: impl AsyncFnOnce(Terminals, Sent) -> R) -> R {
    let body = async |cx: ConnectionTo<Client>, capabilities, sent| {
        agent(Terminals::new(cx, &capabilities), sent).await
    };
    guarded(connect(host, Announces::Terminals, place.dir(), body)).await
}

#[tokio::test]
async fn every_method_does_what_its_name_says() {
    let place = Place::process();
    let (host, _told) = host(&place);
    with_terminals(&place, &host, async |terminals, sent| {
        assert!(terminals.can_run());
        let command = terminals
            .command(&session(), "/bin/sh")
            .arg("-c")
            .args([r#"echo "$GREETING $NAME"; pwd; exec sleep 100"#])
            .env("GREETING", "hello")
            .envs([("NAME", "wharf")])
            .cwd("/")
            .output_byte_limit(1000);
        let terminal = command.start().await.unwrap();
        assert_eq!(terminal.session(), &session());
        let real = host.terminal(&session(), &terminal.id().0).unwrap();
        until(&real, "/\n").await;

        let output = terminal.current_output().await.unwrap();
        assert_eq!((output.text.as_str(), output.truncated, output.exit), ("hello wharf\n/\n", false, None));
        terminal.kill().await.unwrap();
        assert_eq!(terminal.wait_for_exit().await.unwrap(), Exit::Signal("SIGTERM".into()));
        let output = terminal.current_output().await.unwrap();
        assert_eq!(output.exit, Some(Exit::Signal("SIGTERM".into())));
        let id = terminal.id().clone();
        terminal.release().await.unwrap();
        assert!(host.terminal(&session(), &id.0).is_none());

        let create = &sent.all()[1];
        assert_eq!(create["method"], "terminal/create");
        assert_eq!(create["params"]["outputByteLimit"], 1000);
        let last = sent.methods().pop().unwrap();
        assert_eq!(last, "terminal/release", "and it is not released again when it is dropped");
    })
    .await;
    place.check().await;
}

#[tokio::test]
async fn a_client_without_terminals_is_never_asked_for_one() {
    let place = Place::process();
    let (host, _told) = host(&place);
    let body = async |cx: ConnectionTo<Client>, capabilities, sent: Sent| {
        let terminals = Terminals::new(cx, &capabilities);
        assert!(!terminals.can_run());
        let error = terminals.command(&session(), "true").start().await.unwrap_err();
        assert!(matches!(error, TerminalError::Unsupported));
        assert_eq!(error.code(), "unsupported");
        let reported = terminals.command(&session(), "true").tool_call("1").run(Duration::MAX).await;
        assert_eq!(reported.unwrap_err().code(), "unsupported");
        sent
    };
    let sent = guarded(connect(&host, Announces::Nothing, place.dir(), body)).await;
    assert_eq!(sent.methods(), [""; 0], "the agent only answers");
    place.check().await;
}

#[tokio::test]
async fn a_refused_command_is_a_typed_error() {
    let place = Place::process();
    let (host, _told) = host(&place);
    with_terminals(&place, &host, async |terminals, _| {
        let error = terminals.command(&session(), "true").cwd("relative").start().await.unwrap_err();
        assert_eq!(error.code(), "invalid", "{error}");
        let elsewhere = terminals.command(&"other".into(), "true").start().await.unwrap_err();
        assert_eq!(elsewhere.code(), "not_found", "{elsewhere}");
    })
    .await;
    place.check().await;
}

#[tokio::test]
async fn dropping_a_handle_releases_its_terminal_in_the_background() {
    let place = Place::process();
    let (host, mut told) = host(&place);
    with_terminals(&place, &host, async |terminals, _| {
        let terminal = terminals.command(&session(), "sleep 100").start().await.unwrap();
        let id = terminal.id().0.to_string();
        drop(terminal);
        assert_eq!(told.released().await, id);
        assert!(host.terminal(&session(), &id).is_none());
    })
    .await;
    place.check().await;
}

#[tokio::test]
async fn a_handle_may_be_dropped_on_a_thread_without_a_runtime() {
    let place = Place::process();
    let (host, mut told) = host(&place);
    with_terminals(&place, &host, async |terminals, _| {
        let terminal = terminals.command(&session(), "sleep 100").start().await.unwrap();
        let id = terminal.id().0.to_string();
        std::thread::spawn(move || drop(terminal)).join().unwrap();
        assert_eq!(told.released().await, id);
    })
    .await;
    place.check().await;
}

#[tokio::test]
async fn dropping_a_handle_after_its_connection_is_quiet() {
    let place = Place::process();
    let (host, _told) = host(&place);
    let (terminals, terminal) = with_terminals(&place, &host, async |terminals, _| {
        let terminal = terminals.command(&session(), "sleep 100").start().await.unwrap();
        (terminals, terminal)
    })
    .await;
    assert_eq!(terminal.current_output().await.unwrap_err().code(), "disconnected");
    assert_eq!(terminal.wait_for_exit().await.unwrap_err().code(), "disconnected");
    let error = terminals.command(&session(), "true").start().await.unwrap_err();
    assert_eq!(error.code(), "disconnected", "{error:?}");
    std::thread::spawn(move || drop(terminal)).join().unwrap();
    place.check().await;
}

#[test]
fn a_handle_may_outlive_its_runtime() {
    let last = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let place = Place::process();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (terminal, host) = runtime.block_on(async {
        let (host, _told) = host(&place);
        let terminal = with_terminals(&place, &host, async |terminals, _| {
            terminals.command(&session(), "sleep 100").start().await.unwrap()
        })
        .await;
        (terminal, host)
    });
    runtime.block_on(host.end());
    drop(runtime);
    assert_eq!(terminal.session(), &session());
    drop(terminal);
    last.block_on(place.check());
}

/// A client that made the terminal before it read that nobody wants it.
#[tokio::test]
async fn a_start_that_is_given_up_leaves_no_terminal_even_if_the_answer_was_on_its_way() {
    let asked = Arc::new(Notify::new());
    let (note, mut released) = mpsc::channel(1);
    let (client_end, agent_end) = Channel::duplex();
    let client = Client
        .v1()
        .on_receive_request(
            {
                let asked = asked.clone();
                async move |_: CreateTerminalRequest, responder, cx: ConnectionTo<Agent>| {
                    asked.notify_one();
                    cx.spawn(async move {
                        responder.cancellation().cancelled().await;
                        responder.respond(CreateTerminalResponse::new("crossed"))
                    })
                }
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ReleaseTerminalRequest, responder, _| {
                note.try_send(request.terminal_id.0.to_string()).unwrap();
                responder.respond(ReleaseTerminalResponse::new())
            },
            on_receive_request!(),
        )
        .connect_to(client_end);
    let agent = Agent.v1().connect_with(agent_end, async |cx| {
        let terminals = Terminals::new(cx, &Announces::Terminals.capabilities());
        tokio::select! {
            started = terminals.command(&session(), "sleep 100").start() => panic!("{started:?}"),
            () = asked.notified() => {}
        }
        assert_eq!(released.recv().await.as_deref(), Some("crossed"));
        Ok(())
    });
    let (client, agent) = guarded(async { tokio::join!(client, agent) }).await;
    client.unwrap();
    agent.unwrap();
}

#[tokio::test]
async fn a_start_that_is_given_up_is_cancelled_at_the_host() {
    let place = Place::process();
    let (host, _told) = host(&place);
    with_terminals(&place, &host, async |terminals, sent| {
        let mut start = Box::pin(terminals.command(&session(), "sleep 100").start());
        let poll = std::future::poll_fn(|cx| std::task::Poll::Ready(start.as_mut().poll(cx).is_pending()));
        assert!(poll.await);
        drop(start);
        // What comes after it on the wire is answered after it.
        terminals.command(&session(), "true").start().await.unwrap().release().await.unwrap();
        let methods = sent.methods();
        assert_eq!(methods[..2], ["terminal/create", "$/cancel_request"], "{methods:?}");
    })
    .await;
    place.check().await;
}

#[tokio::test]
async fn a_command_that_ends_in_time_is_told_with_its_code_and_all_its_output() {
    let place = Place::process();
    let (host, _told) = host(&place);
    with_terminals(&place, &host, async |terminals, sent| {
        let terminal = terminals.command(&session(), "echo out; echo err >&2; exit 3").start().await.unwrap();
        let id = terminal.id().0.clone();
        let finished = terminal.wait_or_kill(Duration::from_secs(15)).await.unwrap();
        assert_eq!(finished.exit, Exit::Code(3));
        assert_eq!(finished.output, "out\nerr\n");
        assert!(!finished.truncated && !finished.timed_out && !finished.success());
        assert!(host.terminal(&session(), &id).is_none(), "released");
        let recipe = ["terminal/create", "terminal/wait_for_exit", "terminal/output", "terminal/release"];
        assert_eq!(sent.methods(), recipe);
        // Otherwise a client could keep, and send, whatever was printed.
        let create = sent.all().into_iter().find(|message| message["method"] == "terminal/create").unwrap();
        assert_eq!(create["params"]["outputByteLimit"], 1 << 20);
    })
    .await;
    place.check().await;
}

#[tokio::test]
async fn a_command_that_runs_out_of_time_is_killed_and_told_with_its_last_words() {
    let place = Place::process();
    let (host, _told) = host(&place);
    with_terminals(&place, &host, async |terminals, sent| {
        // Ignores TERM, so that only the host's grace ends it, and has a child in a session of its own.
        let line = r#"trap "" TERM; setsid sleep 100 & echo started; while :; do sleep 100; done"#;
        let terminal = terminals.command(&session(), line).start().await.unwrap();
        let id = terminal.id().0.clone();
        let finished = terminal.wait_or_kill(Duration::from_millis(300)).await.unwrap();
        assert_eq!(finished.exit, Exit::Signal("SIGKILL".into()));
        assert_eq!(finished.output, "started\n");
        assert!(finished.timed_out && !finished.success());
        assert!(host.terminal(&session(), &id).is_none(), "released");
        let recipe = [
            "terminal/create",
            "terminal/wait_for_exit",
            "terminal/kill",
            "terminal/output",
            "terminal/release",
        ];
        assert_eq!(sent.methods(), recipe);
    })
    .await;
    place.check().await;
}

#[tokio::test]
async fn a_wait_that_is_given_up_releases_the_terminal() {
    let place = Place::process();
    let (host, mut told) = host(&place);
    with_terminals(&place, &host, async |terminals, _| {
        let terminal = terminals.command(&session(), "sleep 100").start().await.unwrap();
        let id = terminal.id().0.to_string();
        let wait = terminal.wait_or_kill(Duration::from_secs(100));
        assert!(tokio::time::timeout(Duration::from_millis(50), wait).await.is_err());
        assert_eq!(told.released().await, id);
    })
    .await;
    place.check().await;
}

/// A client that only asks the command to end, and does not know how it ended.
#[tokio::test]
async fn an_end_that_the_client_does_not_tell_is_unknown_and_no_success() {
    let (client_end, agent_end) = Channel::duplex();
    let client = Client
        .v1()
        .on_receive_request(
            async |_: CreateTerminalRequest, responder, _| {
                responder.respond(CreateTerminalResponse::new("t"))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |_: WaitForTerminalExitRequest, responder, _| {
                responder.respond(WaitForTerminalExitResponse::new(TerminalExitStatus::new()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |_: TerminalOutputRequest, responder, _| {
                responder.respond(TerminalOutputResponse::new("text", true))
            },
            on_receive_request!(),
        )
        .connect_to(client_end);
    let agent = Agent.v1().connect_with(agent_end, async |cx| {
        let terminals = Terminals::new(cx, &Announces::Terminals.capabilities());
        let terminal = terminals.command(&session(), "x").start().await.unwrap();
        // It has no `terminal/release` either, which takes nothing from the result.
        let finished = terminal.wait_or_kill(Duration::from_secs(10)).await.unwrap();
        assert_eq!(finished.exit, Exit::Unknown);
        assert!(!finished.success() && finished.truncated && !finished.timed_out);
        Ok(())
    });
    let (client, agent) = guarded(async { tokio::join!(client, agent) }).await;
    client.unwrap();
    agent.unwrap();
}
