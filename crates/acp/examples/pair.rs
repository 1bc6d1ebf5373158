//! A client and an agent in one process: the shortest way to see both sides of a terminal.
//!
//! ```text
//! cargo run -p wharf-acp --example pair
//! ```
#![expect(clippy::print_stdout, reason = "an example for people")]

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, InitializeRequest, InitializeResponse, NewSessionRequest, NewSessionResponse,
    PromptRequest, PromptResponse, SessionId, StopReason,
};
use agent_client_protocol::{Agent, Client, ConnectTo, Error, on_receive_request};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use wharf_acp::{Host, TerminalError, Terminals};
use wharf_core::{Dirs, Holder, Store};

/// The client: a host for its agent's terminals, and one prompt.
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let state = tempfile::tempdir()?;
    let store = Store::open(Dirs::under(state.path().join("wharf")), Holder::found())?;
    let host = Host::new(store).env([("PATH", "/usr/local/bin:/usr/bin:/bin")]);
    let client = Client.v1().with_handler(host.service()).connect_with(agent(), async |cx| {
        let hello = InitializeRequest::new(ProtocolVersion::V1).client_capabilities(Host::capabilities());
        cx.send_request(hello).block_task().await?;
        let session = host.new_session(&cx, NewSessionRequest::new("/")).await?.session_id;
        let prompt = PromptRequest::new(session, vec![ContentBlock::from("Count to three, then wait.")]);
        cx.send_request(prompt).block_task().await.map(drop)
    });
    client.await?;
    host.end().await;
    Ok(())
}

/// The agent: nothing but its connection.
fn agent() -> impl ConnectTo<Client> {
    let terminals = Arc::new(OnceLock::new());
    let set = terminals.clone();
    Agent
        .v1()
        .on_receive_request(
            async move |init: InitializeRequest, responder, cx: ConnectionTo<Client>| {
                let _ = set.set(Terminals::new(cx, &init.client_capabilities));
                responder.respond(InitializeResponse::new(init.protocol_version))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |_: NewSessionRequest, responder, _| {
                responder.respond(NewSessionResponse::new("session-1"))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |prompt: PromptRequest, responder, cx: ConnectionTo<Client>| {
                let terminals = terminals.get().cloned().ok_or_else(Error::invalid_request)?;
                cx.spawn(async move {
                    let counted = count(&terminals, &prompt.session_id).await;
                    let done = counted.map(|()| PromptResponse::new(StopReason::EndTurn));
                    responder.respond_with_result(done.map_err(Error::from))
                })
            },
            on_receive_request!(),
        )
}

/// What it does with a terminal: follows it, then gives it another half a second.
async fn count(terminals: &Terminals, session: &SessionId) -> Result<(), TerminalError> {
    let line = "for n in one two three; do echo $n; sleep 0.3; done";
    let terminal = terminals.command(session, line).start().await?;
    let mut follow = terminal.follow();
    while let Some(piece) = follow.next().await? {
        print!("{}", piece.text);
    }
    println!("counted: {}", terminal.wait_for_exit().await?);
    drop(follow);
    terminal.release().await?;

    let terminal = terminals.command(session, "echo waiting; sleep 100").start().await?;
    let finished = terminal.wait_or_kill(Duration::from_millis(500)).await?;
    println!("{}waited: {}, timed out: {}", finished.output, finished.exit, finished.timed_out);
    Ok(())
}
