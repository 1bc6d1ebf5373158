//! An agent on stdio that builds whatever project it finds, in the client's terminal and with a time limit.
//!
//! It is meant to be started by a client, for example by the one beside it:
//!
//! ```text
//! cargo build -p wharf-acp --examples
//! cargo run -p wharf-acp --example client -- target/debug/examples/agent 60      # a minute is enough
//! ```

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, InitializeRequest, InitializeResponse, NewSessionRequest, NewSessionResponse,
    PromptRequest, PromptResponse, SessionId, SessionUpdate, StopReason,
};
use agent_client_protocol::{Agent, Client, Error, Stdio, on_receive_request};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use wharf_acp::{TerminalError, Terminals};

/// What is known when: the terminals after `initialize`, the project after `session/new`.
#[derive(Default)]
struct State {
    terminals: OnceLock<Terminals>,
    project: OnceLock<PathBuf>,
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let seconds = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(600);
    let limit = Duration::from_secs(seconds);
    let state = Arc::new(State::default());
    let (at_start, at_session, at_prompt) = (state.clone(), state.clone(), state);
    Agent
        .v1()
        .on_receive_request(
            async move |init: InitializeRequest, responder, cx: ConnectionTo<Client>| {
                let _ = at_start.terminals.set(Terminals::new(cx, &init.client_capabilities));
                responder.respond(InitializeResponse::new(init.protocol_version))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |new: NewSessionRequest, responder, _| {
                let _ = at_session.project.set(new.cwd);
                responder.respond(NewSessionResponse::new("session-1"))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |prompt: PromptRequest, responder, cx: ConnectionTo<Client>| {
                let state = at_prompt.clone();
                // A turn waits for the client, so it must not hold up the connection.
                cx.spawn(async move {
                    responder.respond_with_result(turn(&state, &prompt.session_id, limit).await)
                })
            },
            on_receive_request!(),
        )
        .connect_to(Stdio::new())
        .await
}

async fn turn(state: &State, session: &SessionId, limit: Duration) -> Result<PromptResponse, Error> {
    let (Some(terminals), Some(project)) = (state.terminals.get(), state.project.get()) else {
        return Err(Error::invalid_request());
    };
    let verdict = match build(terminals, session, project, limit).await {
        Ok(verdict) => verdict,
        Err(error) => format!("I could not build it: {error}."),
    };
    let message = ContentChunk::new(ContentBlock::from(verdict));
    terminals.update(session, SessionUpdate::AgentMessageChunk(message)).await?;
    Ok(PromptResponse::new(StopReason::EndTurn))
}

/// All there is to running a command: shown while it runs, ended when its time is over, cleaned up in any case.
async fn build(
    terminals: &Terminals,
    session: &SessionId,
    project: &Path,
    limit: Duration,
) -> Result<String, TerminalError> {
    let Some(command) = how_to_build(project) else { return Ok("There is nothing to build here.".into()) };
    let command = terminals.command(session, command).env("NO_COLOR", "1").output_byte_limit(64 * 1024);
    let finished = command.tool_call("build").title("Building the project").run(limit).await?;
    Ok(match finished {
        finished if finished.timed_out => format!("The build took longer than {limit:?} and was ended."),
        finished if finished.success() => "It builds.".into(),
        finished => format!("The build failed: {}.", finished.exit),
    })
}

fn how_to_build(project: &Path) -> Option<&'static str> {
    let ways = [
        ("build.sh", "./build.sh"),
        ("Cargo.toml", "cargo build"),
        ("Makefile", "make"),
        ("package.json", "npm run build"),
    ];
    ways.iter().find(|(file, _)| project.join(file).exists()).map(|(_, command)| *command)
}
