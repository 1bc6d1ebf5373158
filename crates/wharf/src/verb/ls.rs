//! `wharf ls`: those that run, then those that ended last.

use crate::cli::Ls;
use crate::exit_code::{self, Code};
use crate::json;
use crate::life;
use crate::place::Place;
use crate::report::Failure;
use crate::{interact, show};
use anstyle::{AnsiColor, Style};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wharf_core::{Ended, Look, Outcome, Phase, ReadError, Store, Terminal, TerminalId};

/// Ended ones shown without `--all`.
const RECENT: usize = 10;
/// A column is as wide as what is in it, and the command gets the rest of the window, at least this much.
const LEAST_COMMAND: usize = 20;

/// An agent's name in the listing at most.
const MOST_ORIGIN: usize = 20;

struct Seen {
    id: TerminalId,
    state: Result<(Terminal, Look), ReadError>,
}

pub(crate) async fn run(args: &Ls, place: &Place) -> Result<Code, Failure> {
    let store = place.store()?;
    place.tidy(&store);
    let mut seen = look(&store).await?;
    let hidden = if args.all { 0 } else { keep_recent(&mut seen) };
    if args.json {
        let record = |seen: &Seen| match &seen.state {
            Ok((terminal, look)) => json::Entry::Readable(Box::new(json::Listed::new(terminal, look))),
            Err(error) => json::Entry::Unreadable(json::Unreadable::new(&seen.id, error)),
        };
        let records: Vec<json::Entry> = seen.iter().map(record).collect();
        show::print_json(&records)?;
        return Ok(exit_code::DONE);
    }
    if seen.is_empty() {
        show::eprint("no terminals; `wharf run -- COMMAND` makes one\n");
        return Ok(exit_code::DONE);
    }
    show::print(&table(&seen))?;
    if hidden > 0 {
        show::eprint(&format!("{hidden} more ended before; `wharf ls -a` shows them\n"));
    }
    Ok(exit_code::DONE)
}

/// The living first, by age; then the others, the last one to end first.
async fn look(store: &Store) -> Result<Vec<Seen>, Failure> {
    let mut seen = Vec::new();
    for found in store.list()? {
        let state = match found.terminal {
            Ok(terminal) => terminal.look_and_settle().await.map(|look| (terminal, look)),
            Err(error) => Err(error),
        };
        if !matches!(state, Err(ReadError::NotFound)) {
            seen.push(Seen { id: found.id, state });
        }
    }
    seen.sort_by_key(|seen| (!seen.lives(), std::cmp::Reverse(seen.ended().map(|ended| ended.at))));
    Ok(seen)
}

fn keep_recent(seen: &mut Vec<Seen>) -> usize {
    let living = seen.iter().filter(|seen| seen.lives()).count();
    let hidden = seen.len().saturating_sub(living + RECENT);
    seen.truncate(living + RECENT);
    hidden
}

impl Seen {
    fn lives(&self) -> bool {
        self.state.as_ref().is_ok_and(|(_, look)| life::is_alive(look))
    }

    fn ended(&self) -> Option<&Ended> {
        match self.state.as_ref().map(|(_, look)| &look.phase) {
            Ok(Phase::Ended(ended)) => Some(ended),
            _ => None,
        }
    }

    /// Its cells, and the colour of its state.
    fn row(&self, now: Duration) -> (Style, [String; 8]) {
        let id = self.id.short().to_owned();
        let (terminal, look) = match &self.state {
            Ok(both) => both,
            Err(error) => {
                let [age, time, bytes, sandbox, from] = [const { String::new() }; 5];
                let state = match error {
                    ReadError::Damaged(_) => "damaged".to_owned(),
                    _ => "unreadable".to_owned(),
                };
                let cells = [id, state, age, time, bytes, sandbox, from, error.to_string()];
                return (AnsiColor::Red.on_default(), cells);
            }
        };
        let age = now.saturating_sub(Duration::from_millis(terminal.meta().created_ms));
        let (style, state, time) = match &look.phase {
            Phase::Starting => (Style::new(), "starting".to_owned(), String::new()),
            Phase::Running { since, .. } => {
                let time = show::duration(whole_seconds(now.saturating_sub(Duration::from_nanos(*since))));
                match look.stalled {
                    Some(_) => (AnsiColor::Red.on_default(), "stalled".to_owned(), time),
                    None => (AnsiColor::Green.on_default(), "running".to_owned(), time),
                }
            }
            Phase::Ended(ended) => (style_of(ended), state_of(ended, look), time_of(ended)),
            Phase::NotStarted => (AnsiColor::Red.on_default(), "not started".to_owned(), String::new()),
        };
        let meta = terminal.meta();
        let from = show::one_line(&meta.origin, MOST_ORIGIN);
        let age = show::duration(whole_seconds(age));
        let sandbox = show::one_line(&meta.sandbox, MOST_ORIGIN);
        (style, [id, state, age, time, show::size(look.end), sandbox, from, meta.command_line()])
    }
}

fn state_of(ended: &Ended, look: &Look) -> String {
    // Its command is gone, but something that it started is not.
    if life::is_alive(look) { format!("{}, lives on", show::outcome(ended)) } else { show::outcome(ended) }
}

fn style_of(ended: &Ended) -> Style {
    match ended.outcome {
        Outcome::Code(0) => Style::new().dimmed(),
        Outcome::Code(_) | Outcome::Signal(_) => AnsiColor::Yellow.on_default(),
        Outcome::Lost(_) => AnsiColor::Red.on_default(),
    }
}

fn time_of(ended: &Ended) -> String {
    if matches!(ended.outcome, Outcome::Lost(_)) { String::new() } else { show::duration(ended.lasted) }
}

fn whole_seconds(d: Duration) -> Duration {
    Duration::from_secs(d.as_secs())
}

fn table(seen: &[Seen]) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let head = ["ID", "STATE", "AGE", "TIME", "BYTES", "SANDBOX", "FROM", "COMMAND"].map(str::to_owned);
    let mut rows = vec![(Style::new().bold(), head)];
    rows.extend(seen.iter().map(|seen| seen.row(now)));
    let width = |column: usize| rows.iter().map(|(_, row)| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 7] = std::array::from_fn(width);
    let used: usize = widths.iter().map(|width| width + 2).sum();
    let command = interact::window()
        .map_or(usize::MAX - 1, |w| usize::from(w.cols).saturating_sub(used).max(LEAST_COMMAND));
    let [w_id, w_state, w_age, w_time, w_bytes, w_sandbox, w_from] = widths;
    let mut text = String::new();
    for (at, (style, [id, state, age, time, bytes, sandbox, from, line])) in rows.iter().enumerate() {
        let line = show::one_line(line, command);
        let whole = if at == 0 { *style } else { Style::new() };
        text += &format!(
            "{whole}{id:w_id$}  {style}{state:w_state$}{style:#}{whole}  {age:>w_age$}  {time:>w_time$}  {bytes:>w_bytes$}  {sandbox:w_sandbox$}  {from:w_from$}  {line}{whole:#}\n"
        );
    }
    text
}
