//! `wharf mcp`: gives a model shells that remember, as a server of the Model Context Protocol.
//!
//! It holds nothing that anyone would miss: the terminals are held by their shims, and what is known of them is in their
//! journals. Standard output belongs to the protocol; what is to be said is said on standard error.
//!
//! Deliberately absent: the tasks extension. A call here never takes longer than a minute and names the call that goes
//! on, which every client understands; a task would be a second way to the same, for few of them.

mod answer;
mod ask;
mod call;
mod desk;
mod fit;
mod given;
mod handover;
mod hint;
mod outcome;
mod past;
mod permit;
mod picture;
mod program;
mod progress;
mod refusal;
mod roots;
mod schema;
mod seat;
mod server;
mod slot;
mod stdio;
mod task;
mod teach;
mod told;
mod tool;
mod turn;
mod typing;
mod words;

use crate::cli::Mcp;
use crate::exit_code::{self, Code};
use crate::law;
use crate::place::Place;
use crate::report::{self, Failure};
use crate::request::{Request, Requests};
use crate::show;
use crate::verb::mcp_config;
use answer::Form;
use desk::{Chosen, Desk};
use handover::{Connection, Handover};
use permit::Permit;
use program::Programs;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use server::Server;
use std::io::IsTerminal;
use std::sync::Arc;
use stdio::Watched;
use task::Tasks;
use tokio_util::sync::CancellationToken;
use tool::Tools;
use turn::Turns;

pub(crate) async fn run(args: &Mcp, place: &Place) -> Result<Code, Failure> {
    if let Some(client) = args.print_config {
        let program = place.programs().first().map(|path| path.display().to_string());
        show::print(&mcp_config::print(client, program.as_deref().unwrap_or("wharf")))?;
        return Ok(exit_code::DONE);
    }
    // A person who tries it would sit before an empty line otherwise.
    if std::io::stdin().is_terminal() {
        report::say("waits for an MCP client on standard input; --print-config tells a client of it");
    }
    let mut requests = Requests::listen()?;
    let project = place.directory(args.cwd.as_deref())?.canonicalize().map_err(|error| {
        Failure::new(format!("the project's directory cannot be used: {error}"))
            .hint("--cwd DIR names another")
    })?;
    let store = place.store_for_many()?;
    let law = Arc::new(law::read(&args.choice, place)?);
    let programs = Programs::find(args.shell.as_deref(), place)?;
    let state = place.dirs.state.clone();
    let chosen = if args.cwd.is_some() { Chosen::ByPerson } else { Chosen::ByStart };
    let desk = Desk::new(store.clone(), state, (project, chosen), place.audit()?, args.name.clone());
    desk.work_in(None, |project| law.too_wide(project));
    let leaving = CancellationToken::new();
    let form = if args.structured { Form::Structured } else { Form::Text };
    let server = Server {
        desk: Arc::new(desk),
        permit: Arc::new(Permit::new(law.clone(), place.environment())),
        programs: Arc::new(programs),
        handover: Handover::default(),
        turns: Turns::default(),
        leaving: leaving.clone(),
        tools: Arc::new(Tools::new(form)),
        form,
        tasks: Tasks::default(),
        instructions: teach::instructions(&law.outlook()).into(),
        asked: Arc::default(),
    };
    let over = CancellationToken::new();
    let told = tokio::spawn(stdio::tell_calls(over.clone(), leaving));
    let code = tokio::select! {
        served = serve(server, over) => served,
        // The terminals go on; who was waiting is gone with us.
        Request::Interrupt(number) | Request::Leave(number) = requests.next() => Ok(exit_code::of_signal(number)),
    };
    told.abort();
    law.leave();
    place.tidy_now_and_then(&store);
    code
}

/// Until the client has closed its end and every call under way is answered.
async fn serve(server: Server, over: CancellationToken) -> Result<Code, Failure> {
    let (input, output) = rmcp::transport::io::stdio_pipes();
    let inner = AsyncRwTransport::new_server(Watched::new(input, over), output);
    let connection = Connection { inner, handover: server.handover.clone(), turns: server.turns.clone() };
    let running = match server.serve(connection).await {
        Ok(running) => running,
        // A client that leaves before it has said anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(exit_code::DONE),
        Err(error) => return Err(Failure::new(format!("the client does not speak the protocol: {error}"))),
    };
    let ended = running.waiting().await;
    ended.map(|_| exit_code::DONE).map_err(|error| Failure::new(format!("the connection broke: {error}")))
}
