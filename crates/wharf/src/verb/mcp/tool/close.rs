//! `terminal_close`: ends what runs in a terminal, and forgets it.

use crate::temporary;
use crate::verb::mcp::answer::Closed;
use crate::verb::mcp::call::Call;
use crate::verb::mcp::refusal::{Refusal, Stop};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::verb::mcp) struct Args {
    terminal_id: String,
}

pub(in crate::verb::mcp) async fn run(call: &Call, args: Args) -> Result<Closed, Stop> {
    let name = args.terminal_id.as_str();
    let _turn = call.turn().await;
    let Some(here) = call.desk.look(&call.seat, name).await? else {
        return Err(Refusal::unknown(name, &call.desk.names(&call.seat)?).into());
    };
    let terminal = here.shell.terminal();
    let failed = |error| Refusal::failed("the terminal cannot be ended", error);
    // Also after a kill that failed: releasing knows more ways, and says itself what is left.
    let ended = terminal.kill(&call.client.author(), None).await.unwrap_or(0);
    terminal.release().await.map_err(failed)?;
    temporary::remove_of_terminal(&call.desk.state, terminal.id().as_str());
    call.desk.forget(&call.seat, name, terminal.id()).await;
    let processes = match ended {
        0 => "nothing ran in it".to_owned(),
        1 => "1 process was ended".to_owned(),
        n => format!("{n} processes were ended"),
    };
    let content = format!("Terminal {name:?} is closed; {processes}.");
    Ok(Closed { content, terminal_id: name.to_owned(), ended_processes: ended, notice: Vec::new() })
}
