//! `terminal_list`: what there is, and how it stands.

use crate::stall;
use crate::verb::mcp::answer::{Entry, Life, Listed};
use crate::verb::mcp::call::Call;
use crate::verb::mcp::outcome::{self, code, jobs, lasted};
use crate::verb::mcp::program;
use crate::verb::mcp::refusal::Stop;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;
use wharf_core::shell::{Because, Hold, Shell, State, Until};

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::verb::mcp) struct Args {}

/// How long is looked whether what runs waits for input.
const LOOK: Duration = Duration::from_millis(500);

pub(in crate::verb::mcp) async fn run(call: &Call, _: Args) -> Result<Listed, Stop> {
    let mut looks = Vec::new();
    for name in call.desk.names(&call.seat)? {
        // Gone since: then it is not there.
        if let Some(here) = call.desk.look(&call.seat, &name).await? {
            looks.push(tokio::spawn(async move { entry(&name, &here.shell).await }));
        }
    }
    // All are looked at at once, each for a moment.
    let mut terminals = Vec::new();
    for look in looks {
        terminals.extend(look.await.ok());
    }
    Ok(Listed { terminals, notice: Vec::new() })
}

/// One terminal as it stands.
pub(super) async fn entry(name: &str, shell: &Shell) -> Entry {
    let status = shell.status();
    let (meta, command) = (shell.terminal().meta(), status.last.as_ref());
    let running = matches!(status.state, State::Running);
    let awaiting = if running { awaiting(name, shell).await } else { None };
    let (life, exit_code, shell_end) = match &status.state {
        State::Running | State::Starting => (Life::Running, None, None),
        State::Idle => (Life::Idle, command.and_then(|command| command.exit_code), None),
        State::Exited(ended) => (Life::Exited, code(ended), Some(outcome::how(ended))),
    };
    let size = shell.picture().size;
    Entry {
        terminal_id: name.to_owned(),
        status: life,
        command: command.map(|command| command.text.clone()),
        running_ms: command.filter(|_| running).map(lasted),
        exit_code,
        shell_end,
        held_by_human: Hold::is_taken(shell.terminal()).unwrap_or(false),
        stalled: stall::of(shell.terminal()),
        working_dir: status.cwd.to_string_lossy().into_owned(),
        shell: program::word(shell.meta().kind).to_owned(),
        sandbox: meta.sandbox.clone(),
        size: format!("{}x{}", size.cols, size.rows),
        awaiting,
        background: jobs(shell).await,
        id: shell.terminal().id().short().to_owned(),
        notice: Vec::new(),
    }
}

async fn awaiting(name: &str, shell: &Shell) -> Option<crate::verb::mcp::answer::Awaiting> {
    match shell.wait(Until::End, std::time::Instant::now() + LOOK).await {
        Because::Awaiting(waits) => Some(outcome::awaiting(name, shell, &waits)),
        _ => None,
    }
}
