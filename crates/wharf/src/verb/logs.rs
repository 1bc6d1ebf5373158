//! `wharf logs`: what a terminal printed, from any byte on.

use crate::cli::Logs;
use crate::exit_code::{self, Code};
use crate::harmless::Harmless;
use crate::live::{self, Through, Until};
use crate::place::Place;
use crate::report::{self, Failure};
use crate::unmarked::{BEFORE, Unmarked};
use crate::{show, which};
use std::io::IsTerminal;
use wharf_core::{Outcome, Phase, ReadError, Terminal};
use wharf_shim::journal::format::Damage;
use wharf_shim::journal::read::Chunk;

pub(crate) async fn run(args: &Logs, place: &Place) -> Result<Code, Failure> {
    let terminal = which::find(&place.store()?, &args.id)?;
    let (damage, Chunk { first, end, .. }) = match terminal.look_and_settle().await {
        // What was printed is a file of its own.
        Err(ReadError::Damaged(damage @ Damage::Record { .. })) => (Some(damage), terminal.read(0, 0)?),
        look => {
            look?;
            (None, terminal.read(0, 0)?)
        }
    };
    let from = match (args.from, args.tail) {
        (Some(offset), _) if offset >= 0 => offset.unsigned_abs(),
        (Some(before_end), _) => end.saturating_sub(before_end.unsigned_abs()),
        (None, Some(lines)) => last_lines(&terminal, lines, first, end)?,
        (None, None) => 0,
    };
    let until = if args.follow && damage.is_none() { Until::Closed } else { Until::Here(end) };
    let through = if args.raw { Through::Raw } else { unmarked(&terminal, from)? };
    live::follow(terminal.reader(from), until, through).await?;
    if let Some(damage) = damage {
        report::say(&format!("{damage}; this is what was printed, and how it stands cannot be told"));
        return Ok(exit_code::FAILED);
    }
    match terminal.look()?.phase {
        // Without a word it would look as if this were all there was to come.
        Phase::Ended(ended) if matches!(ended.outcome, Outcome::Lost(_)) => {
            report::say(&show::sentence(&ended));
            Ok(exit_code::FAILED)
        }
        _ => Ok(exit_code::DONE),
    }
}

/// As suited; and wherever a shell's output goes, its secret does not.
fn unmarked(terminal: &Terminal, from: u64) -> Result<Through<'static>, ReadError> {
    let shell = terminal.meta().integration.as_ref().filter(|shell| !shell.nonce.is_empty());
    let (Through::Raw, Some(shell)) = (suited(), shell) else { return Ok(suited()) };
    let mut filter = Unmarked::new(&shell.nonce);
    let before = from.saturating_sub(BEFORE);
    let past = terminal.read(before, usize::try_from(from - before).unwrap_or_default())?;
    // What is no longer kept has no end that could be told from what is wanted.
    if past.at <= from {
        filter.skip(&past.bytes);
    }
    Ok(Through::Unmarked(filter))
}

/// A terminal is shown nothing that could do something to it; a file or a pipe gets every byte.
pub(crate) fn suited() -> Through<'static> {
    if std::io::stdout().is_terminal() { Through::Harmless(Harmless::default()) } else { Through::Raw }
}

/// Read at once when looking for lines from the end.
const STEP: u64 = 64 * 1024;

/// Where the last so many lines begin. A line feed at the very end begins no line.
fn last_lines(terminal: &Terminal, lines: u64, first: u64, end: u64) -> Result<u64, ReadError> {
    let mut missing = lines;
    let mut upto = end;
    if lines == 0 {
        return Ok(upto);
    }
    while upto > first {
        let from = upto.saturating_sub(STEP).max(first);
        let chunk = terminal.read(from, usize::try_from(upto - from).unwrap_or(usize::MAX))?;
        for (at, _) in chunk.bytes.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n') {
            let begin = chunk.at + at as u64 + 1;
            if begin < end {
                missing -= 1;
            }
            if missing == 0 {
                return Ok(begin);
            }
        }
        upto = from;
    }
    Ok(first)
}
