//! `terminal_open`: a terminal with a directory, variables, shell or size of its own.

use super::list::entry;
use crate::verb::mcp::answer::Entry;
use crate::verb::mcp::call::{Call, check_name};
use crate::verb::mcp::hint;
use crate::verb::mcp::outcome;
use crate::verb::mcp::permit::Wanted;
use crate::verb::mcp::refusal::{Refusal, Stop};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use wharf_core::Size;
use wharf_core::shell::State;

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::verb::mcp) struct Args {
    /// Its name
    terminal_id: String,
    /// Where it starts, from the project directory
    #[serde(default)]
    cwd: String,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// bash, zsh or sh
    #[serde(default)]
    shell: String,
    /// Default 40
    #[serde(default = "forty")]
    #[schemars(range(min = 2, max = 500))]
    rows: u16,
    /// Default 120
    #[serde(default = "hundred_and_twenty")]
    #[schemars(range(min = 10, max = 1000))]
    cols: u16,
}

fn forty() -> u16 {
    40
}

fn hundred_and_twenty() -> u16 {
    120
}

pub(in crate::verb::mcp) async fn run(call: &Call, args: Args) -> Result<Entry, Stop> {
    check_name(&args.terminal_id)?;
    let name = args.terminal_id.as_str();
    let _turn = call.turn().await;
    let mut notice = Vec::new();
    if let Some(here) = call.desk.look(&call.seat, name).await? {
        let State::Exited(ended) = here.shell.status().state else { return Err(there_already(name).into()) };
        notice.push(format!("it replaces the shell of that name, which {}", outcome::how(&ended)));
    }
    let (kind, program) = call.programs.named(&args.shell)?;
    let wanted = Wanted {
        name: name.to_owned(),
        program,
        kind,
        cwd: call.desk.project().join(&args.cwd),
        env: args.env.into_iter().collect(),
        size: Size { cols: args.cols, rows: args.rows },
    };
    let granted = call.permit.shell(&call.desk, &call.seat, &call.client, &wanted)?;
    let opened = call.desk.open(&call.seat, name, granted).await?;
    if let Some(before) = opened.before {
        // It is told with this answer.
        call.then(move || before.told());
    }
    call.permit.watch_settings(&call.desk);
    notice.extend(call.desk.sandbox_notes(opened.shell.terminal().meta()));
    let mut entry = entry(name, &opened.shell).await;
    entry.notice = notice;
    Ok(entry)
}

fn there_already(name: &str) -> Refusal {
    let text = format!(
        "Terminal {name:?} is open already. Use it with terminal_execute, close it with {}, or choose another terminal_id.",
        hint::close(name)
    );
    Refusal::new("exists", text)
}
