//! `terminal_read`: any line of any command, whenever.
//!
//! A range is given as it is, as far as it goes: what does not fit is the next call's. Only the whole of a command is cut
//! in its middle, as in the answer to the call that ran it.

use super::wait::pattern;
use super::{sixteen_kilobytes, usual};
use crate::verb::mcp::answer::{self, Read, Shown, Status, View};
use crate::verb::mcp::call::{Call, budget, check_name};
use crate::verb::mcp::outcome;
use crate::verb::mcp::picture;
use crate::verb::mcp::refusal::{Refusal, Stop};
use schemars::JsonSchema;
use serde::Deserialize;
use wharf_core::shape::{Budget, Omitted, Shaper};
use wharf_core::shell::{Command, Lines, Shell};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::verb::mcp) struct Args {
    #[serde(default = "usual")]
    terminal_id: String,
    /// The latest if left out
    #[serde(default)]
    #[schemars(with = "u64")]
    command_id: Option<u64>,
    #[serde(default)]
    view: Wanted,
    #[serde(default)]
    #[schemars(with = "u64")]
    from_line: Option<u64>,
    #[serde(default)]
    #[schemars(with = "u64")]
    to_line: Option<u64>,
    /// The last n lines
    #[serde(default)]
    #[schemars(with = "u64")]
    last: Option<u64>,
    /// Regular expression: only lines that match
    #[serde(default)]
    search: String,
    /// Lines around each match
    #[serde(default)]
    context: u64,
    /// Of one long line, begin here
    #[serde(default)]
    #[schemars(with = "u64")]
    column: Option<u64>,
    #[serde(default = "sixteen_kilobytes")]
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

/// What is shown of an output.
#[derive(Default)]
struct Part {
    text: String,
    shown: Option<Shown>,
    matches: Option<u64>,
    omitted: Option<answer::Omitted>,
    notice: Vec<String>,
}

pub(in crate::verb::mcp) async fn run(call: &Call, args: Args) -> Result<Read, Stop> {
    check_name(&args.terminal_id)?;
    let budget = budget(args.max_bytes)?;
    let name = args.terminal_id.as_str();
    let Some(here) = call.desk.look(&call.seat, name).await? else {
        return Err(Refusal::unknown(name, &call.desk.names(&call.seat)?).into());
    };
    let shell = here.shell;
    let command = command(name, &shell, args.command_id)?;
    if wants_screen(&args, &shell, command.as_ref()) {
        return Ok(on_screen(name, &shell, command));
    }
    let id = command.as_ref().map_or(0, |command| command.id);
    let lines = shell.lines(id, 1).await;
    let lines = lines.map_err(|error| Refusal::failed("the output cannot be read", error))?;
    let mut part = part(&args, id, &lines, budget)?;
    if lines.dropped > 0 {
        part.notice.push(format!("the first {} bytes of the output are not kept any more", lines.dropped));
    }
    let mut read = about(name, command, View::Stream);
    read.total_lines = last_of(&lines);
    Ok(Read {
        content: part.text,
        shown: part.shown,
        matches: part.matches,
        omitted: part.omitted,
        notice: part.notice,
        ..read
    })
}

/// None for what was printed outside of commands.
fn command(name: &str, shell: &Shell, id: Option<u64>) -> Result<Option<Command>, Refusal> {
    let id = match id {
        Some(0) => return Ok(None),
        None => return Ok(shell.status().last),
        Some(id) => id,
    };
    let all = shell.commands();
    if let Some(command) = all.iter().find(|command| command.id == id) {
        return Ok(Some(command.clone()));
    }
    let known = match (all.first(), all.last()) {
        (Some(first), Some(last)) => format!("there are {} to {}", first.id, last.id),
        _ => "none has run yet".to_owned(),
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

fn last_of(lines: &Lines) -> u64 {
    lines.first.saturating_sub(1) + lines.lines.len() as u64
}

fn part(args: &Args, command: u64, lines: &Lines, budget: Budget) -> Result<Part, Refusal> {
    let numbered: Vec<(u64, &str)> = (lines.first..).zip(lines.lines.iter().map(String::as_str)).collect();
    let within = range(args, &numbered)?;
    let name = args.terminal_id.as_str();
    if !args.search.is_empty() {
        return search(args, command, within, budget);
    }
    if let Some(column) = args.column {
        return one_line(name, command, within, column, budget);
    }
    let is_range = args.from_line.or(args.to_line).or(args.last).is_some();
    if is_range {
        let from_end = args.last.is_some();
        return Ok(page(name, command, within, budget, if from_end { End::Last } else { End::First }));
    }
    let mut shaper = Shaper::new(budget, lines.first);
    within.iter().for_each(|(_, line)| shaper.line(line));
    let shaped = shaper.finish();
    Ok(Part {
        shown: shown(within),
        omitted: outcome::omitted(name, command, &shaped.omitted),
        text: shaped.text,
        ..Part::default()
    })
}

fn shown(lines: &[(u64, &str)]) -> Option<Shown> {
    Some(Shown { from_line: lines.first()?.0, to_line: lines.last()?.0 })
}

/// The lines that were asked for.
fn range<'a, 'b>(args: &Args, all: &'b [(u64, &'a str)]) -> Result<&'b [(u64, &'a str)], Refusal> {
    let invalid = |text: &str| Err(Refusal::new("invalid", text.to_owned()));
    if args.last.is_some() && args.from_line.or(args.to_line).is_some() {
        return invalid("Say either last, or from_line and to_line.");
    }
    let (from, to) = (args.from_line.unwrap_or(1), args.to_line.unwrap_or(u64::MAX));
    if from == 0 || from > to {
        return invalid("Lines are numbered from 1, and from_line is not after to_line.");
    }
    if let Some(last) = args.last {
        let last = usize::try_from(last).unwrap_or(usize::MAX);
        return Ok(&all[all.len().saturating_sub(last)..]);
    }
    let begin = all.partition_point(|(number, _)| *number < from);
    let end = all.partition_point(|(number, _)| *number <= to);
    Ok(&all[begin..end])
}

/// Which end of a range is shown if not all of it fits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    First,
    Last,
}

/// As many of them as fit, plain.
fn page(name: &str, command: u64, lines: &[(u64, &str)], budget: Budget, end: End) -> Part {
    let mut room = budget.bytes;
    let fits = |(_, line): &&(u64, &str)| {
        let left = room.checked_sub(line.len() + 1);
        room = left.unwrap_or(0);
        left.is_some()
    };
    let count = match end {
        End::First => lines.iter().take_while(fits).count(),
        End::Last => lines.iter().rev().take_while(fits).count(),
    };
    // A single line that is longer than everything that may be shown.
    if let (0, Some(long)) = (count, if end == End::First { lines.first() } else { lines.last() }) {
        return one_line(name, command, &[*long], 1, budget).unwrap_or_default();
    }
    let (kept, left) = match end {
        End::First => lines.split_at(count),
        End::Last => {
            let (left, kept) = lines.split_at(lines.len() - count);
            (kept, left)
        }
    };
    let text = kept.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n");
    Part { text, shown: shown(kept), omitted: left_out(name, command, left), ..Part::default() }
}

fn left_out(name: &str, command: u64, lines: &[(u64, &str)]) -> Option<answer::Omitted> {
    let (from, to) = (lines.first()?.0, lines.last()?.0);
    let bytes = lines.iter().map(|(_, line)| line.len() as u64 + 1).sum();
    outcome::omitted(name, command, &[Omitted::Lines { from, to, bytes }])
}

/// A piece of one line.
fn one_line(
    name: &str,
    command: u64,
    lines: &[(u64, &str)],
    column: u64,
    budget: Budget,
) -> Result<Part, Refusal> {
    let [(number, line)] = lines else {
        return Err(Refusal::new("invalid", "column is for one line: say the same from_line and to_line."));
    };
    let skipped = usize::try_from(column.saturating_sub(1)).unwrap_or(usize::MAX);
    let rest = line.char_indices().nth(skipped).map_or("", |(at, _)| &line[at..]);
    let text = &rest[..rest.floor_char_boundary(budget.bytes)];
    let left = rest[text.len()..].chars().count() as u64;
    let next = column.max(1) + text.chars().count() as u64;
    let omitted = (left > 0).then_some(Omitted::Part { line: *number, column: next, chars: left });
    Ok(Part {
        text: text.to_owned(),
        shown: Some(Shown { from_line: *number, to_line: *number }),
        omitted: outcome::omitted(name, command, omitted.as_slice()),
        ..Part::default()
    })
}

/// Lines that match, each with its number, and those around them.
fn search(args: &Args, command: u64, lines: &[(u64, &str)], budget: Budget) -> Result<Part, Refusal> {
    let pattern = pattern(&args.search)?;
    let context = usize::try_from(args.context).unwrap_or(usize::MAX);
    let hits: Vec<usize> = (0..lines.len()).filter(|at| pattern.is_match(lines[*at].1)).collect();
    let (mut text, mut next, mut last) = (String::new(), 0, None);
    let mut omitted = None;
    for (count, hit) in hits.iter().enumerate() {
        let from = hit.saturating_sub(context).max(next);
        let to = hit.saturating_add(context).min(lines.len().saturating_sub(1));
        let mut piece = String::new();
        if context > 0 && count > 0 && from > next {
            piece.push_str("--\n");
        }
        for (at, (number, line)) in lines.iter().enumerate().take(to + 1).skip(from) {
            let mark = if pattern.is_match(line) { ": " } else { "- " };
            piece.push_str(&format!("{number}{mark}{}\n", clipped(line)));
            next = at + 1;
        }
        if text.len() + piece.len() > budget.bytes {
            omitted = again(args, command, &lines[*hit..], hits.len() - count);
            break;
        }
        text.push_str(&piece);
        last = Some((lines.get(hits[0]).map_or(1, |line| line.0), lines.get(to).map_or(1, |line| line.0)));
    }
    text.truncate(text.trim_end_matches('\n').len());
    let shown = last.map(|(from_line, to_line)| Shown { from_line, to_line });
    let notice = if hits.is_empty() { vec!["no line matches".to_owned()] } else { Vec::new() };
    Ok(Part { text, shown, matches: Some(hits.len() as u64), omitted, notice })
}

/// The same search, from the first match that is not shown.
fn again(args: &Args, command: u64, rest: &[(u64, &str)], matches: usize) -> Option<answer::Omitted> {
    let mut omitted = left_out(&args.terminal_id, command, rest)?;
    let call = serde_json::json!({
        "terminal_id": args.terminal_id, "command_id": command, "search": args.search, "context": args.context,
        "from_line": omitted.from_line,
    });
    omitted.read = format!("terminal_read {call} ({matches} more matches)");
    Some(omitted)
}

/// A match in a line of a megabyte is no reason to show the megabyte.
fn clipped(line: &str) -> String {
    const LONGEST: usize = 2000;
    if line.len() <= LONGEST {
        return line.to_owned();
    }
    format!("{}… ({} bytes; column shows more)", &line[..line.floor_char_boundary(LONGEST)], line.len())
}
