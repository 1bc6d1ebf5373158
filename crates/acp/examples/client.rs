//! A client with real terminals: starts an agent, asks it to build the project in this directory, and prints what happens.
//!
//! ```text
//! cargo build -p wharf-acp --examples
//! cargo run -p wharf-acp --example client                       # with the agent of the other example
//! cargo run -p wharf-acp --example client -- my-agent --acp     # with any other
//! ```
#![expect(clippy::print_stdout, reason = "an example for people")]

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    ContentBlock, InitializeRequest, NewSessionRequest, PromptRequest, SessionNotification, SessionUpdate,
};
use agent_client_protocol::{AcpAgent, Client, Error, on_receive_notification};
use wharf_acp::Host;
use wharf_core::policy::{Law, Places, Policy};
use wharf_core::{Dirs, Holder, Store};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let project = std::env::current_dir()?;
    let agent = AcpAgent::from_args(agent()?)?;

    // These lines, the handler, the capability and the session make `terminal: true` honest. The law is what `wharf acp`
    // has: the person's own policy file, or what is built in, and a sandbox around every command. Without `judge`
    // everything may run, with every right of the person.
    let state = tempfile::tempdir()?;
    let (dirs, holder) = (Dirs::under(state.path().join("wharf")), Holder::found());
    let store = Store::open(dirs.clone(), holder.clone())?;
    let places = Places::of(&dirs, &holder, environment());
    let law = Law::open(Policy::usual(&places)?, places)?;
    let host = Host::new(store).env(environment()).judge(law);

    let client =
        Client.v1().with_handler(host.service()).on_receive_notification(print, on_receive_notification!());
    let done = client.connect_with(agent, async |cx| {
        let hello = InitializeRequest::new(ProtocolVersion::V1).client_capabilities(Host::capabilities());
        cx.send_request(hello).block_task().await?;
        let session = host.new_session(&cx, NewSessionRequest::new(project)).await?.session_id;
        let prompt = PromptRequest::new(session, vec![ContentBlock::from("Build this project.")]);
        Ok(cx.send_request(prompt).block_task().await?.stop_reason)
    });
    println!("the turn is over: {:?}", done.await?);
    Ok(())
}

/// What the command line names, or the agent that is built beside this program.
fn agent() -> std::io::Result<Vec<String>> {
    let named: Vec<String> = std::env::args().skip(1).collect();
    match named.is_empty() {
        true => Ok(vec![std::env::current_exe()?.with_file_name("agent").display().to_string()]),
        false => Ok(named),
    }
}

fn environment() -> impl Iterator<Item = (std::ffi::OsString, std::ffi::OsString)> {
    #[expect(clippy::disallowed_methods, reason = "a program of its own, which may read its environment")]
    std::env::vars_os()
}

async fn print<C>(notification: SessionNotification, _: C) -> Result<(), Error> {
    match notification.update {
        SessionUpdate::ToolCall(call) => println!("{}: {:?}", call.title, call.status),
        SessionUpdate::ToolCallUpdate(update) => {
            let output = update.fields.raw_output.as_ref().and_then(|raw| raw["output"].as_str());
            println!("{}", output.unwrap_or_default());
        }
        SessionUpdate::AgentMessageChunk(chunk) => {
            if let ContentBlock::Text(text) = chunk.content {
                println!("agent: {}", text.text);
            }
        }
        _ => {}
    }
    Ok(())
}
