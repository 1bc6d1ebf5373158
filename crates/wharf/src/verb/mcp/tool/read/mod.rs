//! `terminal_read`: any line of any command, whenever.
//!
//! A range is given as it is, as far as it goes: what does not fit is the next call's. Only the whole of a command is cut
//! in its middle, as in the answer to the call that ran it. Lines are gone over, never collected: an output may be larger
//! than memory.

mod gather;
mod part;
mod search;

use self::gather::{Column, First, Gather, Last, Whole};
use self::part::Of;
use self::search::Search;
use super::wait::pattern;
use super::{sixteen_kilobytes, usual};
use crate::verb::mcp::answer::{self, Read, Status, View};
use crate::verb::mcp::call::{Call, check_name};
use crate::verb::mcp::fit;
use crate::verb::mcp::past::Known;
use crate::verb::mcp::picture;
use crate::verb::mcp::refusal::{Refusal, Stop};
use schemars::JsonSchema;
use serde::Deserialize;
use std::ops::ControlFlow;
use wharf_core::ReadError;
use wharf_core::shape::Budget;
use wharf_core::shell::{Command, Line, Passed, Shell};

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::verb::mcp) struct Args {
    /// Default "default"
    #[serde(default = "usual")]
    terminal_id: String,
    /// The latest if left out
    #[serde(default)]
    #[schemars(with = "u64")]
    command_id: Option<u64>,
    /// Default auto: lines, or the screen while a full-screen program has it
    #[serde(default)]
    view: Wanted,
    #[serde(default)]
    #[schemars(with = "u64", range(min = 1))]
    from_line: Option<u64>,
    #[serde(default)]
    #[schemars(with = "u64", range(min = 1))]
    to_line: Option<u64>,
    /// The last n lines
    #[serde(default)]
    #[schemars(with = "u64", range(min = 1))]
    last: Option<u64>,
    /// Regular expression: only lines that match
    #[serde(default)]
    search: String,
    /// Lines around each match
    #[serde(default)]
    context: u64,
    /// Of one long line, begin here
    #[serde(default)]
    #[schemars(with = "u64", range(min = 1))]
    column: Option<u64>,
    /// From 1024 (default 16384)
    #[serde(default = "sixteen_kilobytes")]
    #[schemars(range(min = 1024, max = fit::MOST))]
    max_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Wanted {
    #[default]
    Auto,
    Stream,
    Screen,
}

pub(in crate::verb::mcp) async fn run(call: &Call, args: Args) -> Result<Read, Stop> {
    check_name(&args.terminal_id)?;
    let (budget, cut) = call.budget(args.max_bytes);
    let name = args.terminal_id.as_str();
    let Some(here) = call.desk.look(&call.seat, name).await? else {
        return Err(Refusal::unknown(name, &call.desk.names(&call.seat)?).into());
    };
    let (shell, command) = command(call, name, here.shell, args.command_id).await?;
    if wants_screen(&args, &shell, command.as_ref()) {
        return Ok(on_screen(name, &shell, command));
    }
    let id = command.as_ref().map_or(0, |command| command.id);
    let unread = |error| Refusal::failed("the output cannot be read", error);
    let mut within = range(&args)?;
    let gather = gather(&args, Of { name: name.to_owned(), command: id }, budget)?;
    if let Some(count) = args.last {
        within = last(&shell, id, count).await.map_err(unread)?;
    }
    let Passed { state: (gather, total_lines), dropped } =
        pass(&shell, id, within, gather).await.map_err(unread)?;
    let mut part = gather.finish()?;
    part.notice.extend(cut.filter(|_| part.omitted.is_some()));
    if dropped > 0 {
        part.notice.push(format!("{dropped} bytes of the output are not kept any more"));
    }
    Ok(Read {
        content: part.text,
        total_lines,
        shown: part.shown,
        matches: part.matches,
        omitted: part.omitted,
        notice: part.notice,
        ..about(name, command, View::Stream)
    })
}

/// The command that is meant and the shell that has it, which may be an earlier one of that name. No command for what was
/// printed outside of commands.
async fn command(
    call: &Call,
    name: &str,
    shell: Shell,
    id: Option<u64>,
) -> Result<(Shell, Option<Command>), Refusal> {
    let id = match id {
        Some(0) => return Ok((shell, None)),
        None => {
            let last = shell.status().last;
            return Ok((shell, last));
        }
        Some(id) => id,
    };
    let all = shell.commands();
    if let Some(command) = all.iter().find(|command| command.id == id) {
        return Ok((shell, Some(command.clone())));
    }
    let first = match call.desk.past(&call.seat, name, (shell.terminal().id(), id)).await? {
        Known::Command(shell, command) => return Ok((shell, Some(command))),
        Known::From(first) => first.or(all.first().map(|first| first.id)),
    };
    let last = all.last().map_or_else(|| id.saturating_sub(1), |last| last.id);
    let known = match first {
        Some(first) => format!("there are {first} to {last}"),
        None => "none has run yet".to_owned(),
    };
    Err(Refusal::new("no_such_command", format!("Terminal {name:?} has no command {id}: {known}.")))
}

/// `auto` is the screen while a full-screen program has it, unless lines were asked for.
fn wants_screen(args: &Args, shell: &Shell, command: Option<&Command>) -> bool {
    let asks_for_lines =
        args.from_line.or(args.to_line).or(args.last).or(args.column).is_some() || !args.search.is_empty();
    match args.view {
        Wanted::Screen => true,
        Wanted::Stream => false,
        Wanted::Auto => {
            let running = command.is_some_and(|command| command.lasted.is_none());
            running && args.command_id.is_none() && !asks_for_lines && shell.picture().alternate
        }
    }
}

fn about(name: &str, command: Option<Command>, view: View) -> Read {
    let running = command.as_ref().is_some_and(|command| command.lasted.is_none());
    Read {
        content: String::new(),
        terminal_id: name.to_owned(),
        command_id: command.as_ref().map_or(0, |command| command.id),
        status: if running { Status::Running } else { Status::Completed },
        exit_code: command.as_ref().and_then(|command| command.exit_code),
        command: command.map(|command| command.text).unwrap_or_default(),
        view,
        total_lines: 0,
        shown: None,
        matches: None,
        omitted: None,
        screen: None,
        notice: Vec::new(),
    }
}

fn on_screen(name: &str, shell: &Shell, command: Option<Command>) -> Read {
    let picture = shell.picture();
    let read = about(name, command, View::Screen);
    let total_lines = picture.rows.len() as u64;
    Read { content: picture::text(&picture), total_lines, screen: Some(picture::screen(&picture)), ..read }
}

/// The lines that were asked for, by their numbers.
fn range(args: &Args) -> Result<(u64, u64), Refusal> {
    let invalid = |text: &str| Err(Refusal::new("invalid", text));
    if args.last.is_some() && args.from_line.or(args.to_line).is_some() {
        return invalid("Say either last, or from_line and to_line.");
    }
    let (from, to) = (args.from_line.unwrap_or(1), args.to_line.unwrap_or(u64::MAX));
    if from == 0 || from > to {
        return invalid("Lines are numbered from 1, and from_line is not after to_line.");
    }
    Ok((from, to))
}

fn gather(args: &Args, of: Of, budget: Budget) -> Result<Gather, Refusal> {
    Ok(if !args.search.is_empty() {
        Gather::Search(Box::new(Search::new(of, budget, pattern(&args.search)?, args.context)))
    } else if let Some(column) = args.column {
        Gather::Column(Column::new(of, budget, column))
    } else if args.last.is_some() {
        Gather::Last(Last::new(of, budget))
    } else if args.from_line.or(args.to_line).is_some() {
        Gather::First(First::new(of, budget))
    } else {
        Gather::Whole(Box::new(Whole::new(of, budget)))
    })
}

/// Goes over the lines once: what is shown, how many there are, and how many bytes are gone.
async fn pass(
    shell: &Shell,
    command: u64,
    (from, to): (u64, u64),
    gather: Gather,
) -> Result<Passed<(Gather, u64)>, ReadError> {
    let known = shell.count(command);
    // To count them, all have to be seen.
    let first = if known.is_some() { from } else { 1 };
    shell
        .fold(command, first, (gather, known.unwrap_or(0)), move |(gather, total), line| {
            *total = line.number.max(*total);
            if (from..=to).contains(&line.number) {
                gather.take(line.number, line.text);
            }
            if line.number >= to && known.is_some() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .await
}

/// The numbers of the last lines, of which it has to be known how many there are.
async fn last(shell: &Shell, command: u64, count: u64) -> Result<(u64, u64), ReadError> {
    let total = match shell.count(command) {
        Some(total) => total,
        None => {
            let count = |total: &mut u64, line: Line<'_>| {
                *total = line.number;
                ControlFlow::Continue(())
            };
            shell.fold(command, 1, 0, count).await?.state
        }
    };
    Ok((total.saturating_sub(count) + 1, total))
}
