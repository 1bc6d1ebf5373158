//! What is not done, in words that name the next call.
//!
//! A failure of a tool is never an error of the protocol: hosts hide those from the model.

use super::answer::{Refused, Status};
use super::hint;
use super::words::{seconds, short};
use rmcp::model::InputRequiredResult;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};
use wharf_core::shell::{Command, HUMAN};

/// Why a call ends without what it was for.
#[derive(Debug)]
pub(super) enum Stop {
    Refused(Refusal),
    /// A person has to be asked first, and the client then calls again.
    Ask(Box<InputRequiredResult>),
}

/// Why something was not done.
#[derive(Debug)]
pub(super) struct Refusal {
    /// A stable word for programs.
    word: &'static str,
    text: String,
    running: Value,
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Refusal {
    pub(super) fn new(word: &'static str, text: impl Into<String>) -> Self {
        Self { word, text: text.into(), running: Value::Null }
    }

    /// With what is to be said besides.
    pub(super) fn and(mut self, notice: &[String]) -> Self {
        notice.iter().for_each(|line| self.text.extend(["\n[", line, "]"]));
        self
    }

    /// With the terminal that it is about.
    pub(super) fn answer(self, terminal: &str) -> Refused {
        let Self { word, text, running } = self;
        let status = if running.is_null() { Status::Refused } else { Status::Running };
        Refused { content: text, terminal_id: terminal.to_owned(), status, error: word, running }
    }

    /// Something runs already.
    pub(super) fn busy(terminal: &str, command: &Command) -> Self {
        let ms = since(command.began_ms);
        let text = format!(
            "Not run: terminal {terminal:?} has been running `{}` for {} (command {}{}). To go on:\n\
             - wait for it: {}\n\
             - answer it: {}\n\
             - interrupt it: {}\n\
             - or run this elsewhere: another terminal_id opens a new terminal",
            short(&command.text),
            seconds(ms),
            command.id,
            if command.author == HUMAN { ", which a human began: ask before you interrupt it" } else { "" },
            hint::wait(terminal),
            hint::answer(terminal, "…"),
            hint::press(terminal, "C-c"),
        );
        let running = json!({"command": short(&command.text), "command_id": command.id, "running_ms": ms});
        Self { running, ..Self::new("busy", text) }
    }

    /// Nothing runs that could be typed to.
    pub(super) fn idle(terminal: &str, what: &str) -> Self {
        let text = format!(
            "Not sent: nothing is running in terminal {terminal:?}, so nobody would read {what}. To run a command, \
             call terminal_execute without is_input; terminal_list shows what runs where."
        );
        Self::new("idle", text)
    }

    pub(super) fn held(terminal: &str) -> Self {
        let text = format!(
            "Not done: a human has taken terminal {terminal:?}. {} waits until it is given back; {} shows it; or work \
             in another terminal_id meanwhile.",
            hint::wait_longer(terminal),
            hint::screen(terminal),
        );
        Self::new("held_by_human", text)
    }

    pub(super) fn unknown(terminal: &str, known: &[String]) -> Self {
        let list = match known {
            [] => "There is none yet; terminal_execute opens one by itself.".to_owned(),
            names => format!("There are: {}.", names.join(", ")),
        };
        Self::new("no_such_terminal", format!("There is no terminal {terminal:?}. {list}"))
    }

    pub(super) fn failed(what: &str, error: impl std::fmt::Display) -> Self {
        Self::new(
            "failed",
            format!(
                "{what}: {error}. terminal_list shows what there is; another terminal_id opens a new terminal."
            ),
        )
    }
}

/// Milliseconds from then to now.
pub(super) fn since(ms: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    u64::try_from(now).unwrap_or(u64::MAX).saturating_sub(ms)
}
