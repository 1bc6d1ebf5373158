//! The agent of the demonstration: no model, five commands, and wharf's own handle.
//!
//! It speaks ACP on standard input and output like any other. Everything it does with terminals is in [`act`].

use super::transport;
use crate::exit_code::{self, Code};
use crate::report::Failure;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, InitializeRequest, InitializeResponse, NewSessionRequest, NewSessionResponse,
    PromptRequest, PromptResponse, SessionId, SessionUpdate, StopReason,
};
use agent_client_protocol::{Agent, Client, Error, on_receive_request};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use wharf_acp::{TerminalError, Terminals};

/// One thing that it does.
struct Act {
    says: &'static str,
    title: &'static str,
    line: &'static str,
    limit: Duration,
}

/// More than any of them needs, but the one that is to run out of it.
const ENOUGH: Duration = Duration::from_secs(30);
/// How much output it wants of each command.
const KEEP: u64 = 64 * 1024;

const ACTS: [Act; 5] = [
    Act {
        says: "First a build. You see what it prints as it prints it.",
        title: "Build the project",
        line: "for part in core shim acp wharf; do echo \"   Compiling $part\"; sleep 0.5; done; echo '    Finished in 2.0s'",
        limit: ENOUGH,
    },
    Act {
        says: "Tests that fail. A failed command is a result, with its exit code.",
        title: "Run the tests",
        line: "echo 'test adds ... ok'; sleep 0.3; echo 'test divides ... FAILED'; exit 101",
        limit: ENOUGH,
    },
    Act {
        says: "A server that never ends, with children in sessions of their own, one of them deaf to SIGTERM. It has two seconds.",
        title: "Start a server",
        line: "setsid sleep 1000 & setsid sh -c 'trap \"\" TERM; while :; do sleep 1000; done' & echo 'listening on :8080, with two daemons'; wait",
        limit: Duration::from_secs(2),
    },
    Act {
        says: "A flood: 100 MB as fast as it can. I asked for the newest 64 KiB of it, and get no more.",
        title: "Print far too much",
        line: "yes 'all work and no play makes an agent a dull boy' | head -c 100000000; echo; echo 'that was all'",
        limit: ENOUGH,
    },
    Act {
        says: "And a crash, which is not mistaken for an exit code.",
        title: "Crash",
        line: "echo 'about to crash'; kill -SEGV $$",
        limit: ENOUGH,
    },
];

pub(crate) async fn run() -> Result<Code, Failure> {
    let terminals = Arc::new(OnceLock::new());
    let set = terminals.clone();
    let served = Agent
        .v1()
        .on_receive_request(
            async move |init: InitializeRequest, responder, cx: ConnectionTo<Client>| {
                let _ = set.set(Terminals::new(cx, &init.client_capabilities));
                responder.respond(InitializeResponse::new(init.protocol_version))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |_: NewSessionRequest, responder, _| responder.respond(NewSessionResponse::new("demo")),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |prompt: PromptRequest, responder, cx: ConnectionTo<Client>| {
                let terminals = terminals.get().cloned().ok_or_else(Error::invalid_request)?;
                cx.spawn(async move {
                    let played = play(&terminals, &prompt.session_id).await;
                    let done = played.map(|()| PromptResponse::new(StopReason::EndTurn));
                    responder.respond_with_result(done.map_err(Error::from))
                })
            },
            on_receive_request!(),
        )
        .connect_to(transport(tokio::io::stdout(), tokio::io::stdin()))
        .await;
    served.map_err(|error| Failure::new(format!("the demo agent's connection failed: {error}")))?;
    Ok(exit_code::DONE)
}

async fn play(terminals: &Terminals, session: &SessionId) -> Result<(), TerminalError> {
    for (number, part) in ACTS.iter().enumerate() {
        let message = ContentChunk::new(ContentBlock::from(part.says));
        terminals.update(session, SessionUpdate::AgentMessageChunk(message)).await?;
        act(terminals, session, number, part).await?;
    }
    Ok(())
}

async fn act(
    terminals: &Terminals,
    session: &SessionId,
    number: usize,
    act: &Act,
) -> Result<(), TerminalError> {
    let command = terminals.command(session, act.line).output_byte_limit(KEEP);
    let call = command.tool_call(format!("act-{number}")).title(act.title);
    call.run(act.limit).await.map(drop)
}
