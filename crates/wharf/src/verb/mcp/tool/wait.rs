//! `terminal_wait`: for an end, a line, silence, or a screen that stands still.

use super::{half_a_minute, sixteen_kilobytes, usual};
use crate::verb::mcp::answer::Executed;
use crate::verb::mcp::call::{Call, check_name};
use crate::verb::mcp::fit;
use crate::verb::mcp::outcome::Outcome;
use crate::verb::mcp::refusal::{Refusal, Stop};
use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;
use wharf_core::shell::{Because, Shell, State, Until};

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::verb::mcp) struct Args {
    /// Default "default"
    #[serde(default = "usual")]
    terminal_id: String,
    /// Default exit
    #[serde(default)]
    until: What,
    /// Regular expression for one line of new output
    #[serde(default)]
    pattern: String,
    /// Default 2000
    #[serde(default = "two_seconds")]
    silence_ms: u64,
    /// Seconds to wait, 0 to 60 (default 30); up to 3600 as a task, for clients that take tasks
    #[serde(default = "half_a_minute")]
    timeout: f64,
    /// Of output, from 1024 (default 16384)
    #[serde(default = "sixteen_kilobytes")]
    #[schemars(range(min = 1024, max = fit::MOST))]
    max_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum What {
    #[default]
    Exit,
    Pattern,
    Silence,
    ScreenStable,
}

fn two_seconds() -> u64 {
    2000
}

pub(in crate::verb::mcp) async fn run(call: &Call, args: Args) -> Result<Executed, Stop> {
    check_name(&args.terminal_id)?;
    let (budget, cut) = call.budget(args.max_bytes);
    let (patience, capped) = call.patience(args.timeout);
    let name = args.terminal_id.as_str();
    let quiet = Duration::from_millis(args.silence_ms);
    let (until, pattern) = match args.until {
        What::Exit if args.pattern.is_empty() => (Until::Answered, None),
        What::Exit | What::Pattern => {
            let pattern = pattern(&args.pattern)?;
            (Until::End, Some(pattern))
        }
        What::Silence => (Until::Silence(quiet), None),
        What::ScreenStable => (Until::Stable(quiet), None),
    };
    let Some(here) = call.desk.look(&call.seat, name).await? else {
        return Err(Refusal::unknown(name, &call.desk.names(&call.seat)?).into());
    };
    let shell = here.shell;
    let mut notice: Vec<String> = capped.into_iter().collect();
    let Some(patience) = call.given_back(&shell, patience).await else {
        return Ok(Outcome { name, shell: &shell, because: Because::Held, budget, cut, notice }
            .tell(call)
            .await?);
    };
    let until = match pattern.clone() {
        Some(pattern) => {
            let (command, from) = unseen(call, name, &shell).await?;
            Until::LineFrom(command, from, Arc::new(move |line| pattern.is_match(line)))
        }
        None => until,
    };
    let because = call.wait(&shell, until, patience).await;
    if pattern.is_some() && matches!(because, Because::Ended | Because::Exited(_)) {
        notice.push(format!("no line of the new output matches {:?}", args.pattern));
    }
    Ok(Outcome { name, shell: &shell, because, budget, cut, notice }.tell(call).await?)
}

pub(super) fn pattern(text: &str) -> Result<Regex, Refusal> {
    if text.is_empty() {
        return Err(Refusal::new(
            "invalid",
            "until \"pattern\" needs a pattern: a regular expression for one line.",
        ));
    }
    Regex::new(text).map_err(|error| {
        let literal = regex::escape(text);
        Refusal::new(
            "invalid",
            format!("The regular expression is not valid: {error}\nTo find this text as it is: {literal}"),
        )
    })
}

/// The first line that the agent has not seen: one that was printed since the last answer counts, too.
async fn unseen(call: &Call, name: &str, shell: &Shell) -> Result<(u64, u64), Refusal> {
    let status = shell.status();
    let Some(command) = status.last.filter(|_| !matches!(status.state, State::Exited(_))) else {
        return Ok((0, 1));
    };
    Ok((command.id, call.desk.unseen(&call.seat, name, command.id).await?))
}
