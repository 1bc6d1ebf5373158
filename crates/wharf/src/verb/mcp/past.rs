//! The shells that had a name before the one that has it now: ended, and readable for a while.
//!
//! Numbers of commands are not used again under a name, so a number says which shell is meant.

use super::slot::{Ground, seated};
use crate::temporary;
use std::io;
use wharf_core::shell::{Command, Shell};
use wharf_core::{Phase, Terminal, TerminalId};

/// So many are kept.
const KEPT: usize = 3;

/// Whoever had that name before, the oldest first. What lives is none of them, whoever opened it.
fn ended(ground: &Ground, name: &str, now: &TerminalId) -> io::Result<Vec<Terminal>> {
    let ended = |terminal: &Terminal| {
        terminal.look().is_ok_and(|look| matches!(look.phase, Phase::Ended(_) | Phase::NotStarted))
    };
    let all = seated(&ground.store, &ground.seat)?.into_iter();
    Ok(all
        .filter(|(known, terminal)| known == name && terminal.id() != now && ended(terminal))
        .map(|(_, terminal)| terminal)
        .collect())
}

/// Another has the name now: what the old one left running is ended, and of those before it the oldest go.
pub(super) async fn retire(ground: &Ground, name: &str, old: &Terminal, now: &TerminalId) {
    // What cannot be ended or removed now is found by whoever looks next.
    let _ = old.kill("wharf", None).await;
    temporary::remove_of_terminal(&ground.state, old.id().as_str());
    let mut past = ended(ground, name, now).unwrap_or_default();
    past.truncate(past.len().saturating_sub(KEPT));
    for terminal in &past {
        remove(ground, terminal).await;
    }
}

/// The name is given up.
pub(super) async fn forget(ground: &Ground, name: &str, now: &TerminalId) {
    for terminal in &ended(ground, name, now).unwrap_or_default() {
        remove(ground, terminal).await;
    }
}

async fn remove(ground: &Ground, terminal: &Terminal) {
    let _ = terminal.release().await;
    temporary::remove_of_terminal(&ground.state, terminal.id().as_str());
}

/// What is known of a command of an earlier shell.
pub(super) enum Known {
    /// It is there.
    Command(Shell, Command),
    /// It is not; the number of the first that is, if there is any.
    From(Option<u64>),
}

/// Looks for a command, in the newest first.
pub(super) async fn find(ground: &Ground, name: &str, now: &TerminalId, id: u64) -> io::Result<Known> {
    let mut from = None;
    for terminal in ended(ground, name, now)?.into_iter().rev() {
        // One that cannot be read keeps none of the others.
        let Ok(shell) = Shell::join(terminal).await else { continue };
        let commands = shell.commands();
        if let Some(command) = commands.iter().find(|command| command.id == id) {
            return Ok(Known::Command(shell, command.clone()));
        }
        from = commands.first().map(|first| first.id).or(from);
    }
    Ok(Known::From(from))
}
