//! A command's output as it comes.
//!
//! The protocol does not push output: it can only be asked for. So this asks from time to time, while one pending
//! `terminal/wait_for_exit` says at once when there will be no more.

use super::overlap::unseen;
use super::{Exit, Output, TerminalError, TerminalHandle};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How often output is asked for if nobody says otherwise: often enough for a person who watches, seldom enough for a client
/// that sends all of it every time.
pub(super) const DEFAULT_INTERVAL: Duration = Duration::from_millis(200);

/// Output that was not given before.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Whether something before this text is missing, or may be: more was printed since the last time than the client keeps.
    /// How much, the protocol does not tell.
    pub missed: bool,
}

/// A wait for the exit that is under way.
type Waiting<'a> = Pin<Box<dyn Future<Output = Result<Exit, TerminalError>> + Send + 'a>>;

/// Gives a terminal's output piece by piece, and ends after the last. Made by [`TerminalHandle::follow`].
pub struct Follow<'a> {
    terminal: &'a TerminalHandle,
    interval: Duration,
    next_look: Instant,
    /// Until the command has ended.
    wait: Option<Waiting<'a>>,
    seen: Output,
    /// Whether something may be missing before the next piece.
    missed: bool,
    done: bool,
}

impl<'a> Follow<'a> {
    pub(super) fn new(terminal: &'a TerminalHandle) -> Self {
        Self {
            terminal,
            interval: DEFAULT_INTERVAL,
            next_look: Instant::now(),
            wait: Some(Box::pin(terminal.wait_for_exit())),
            seen: Output { text: String::new(), truncated: false, exit: None },
            missed: false,
            done: false,
        }
    }

    /// How long to wait between two questions while the command runs.
    #[must_use]
    pub fn every(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// The next piece; `None` after the last, when the command has ended. Nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Result<Option<Piece>, TerminalError> {
        while !self.done {
            self.pause().await?;
            // An end that is known before the question makes the answer the last one.
            let was_over = self.wait.is_none();
            let output = self.terminal.current_output().await?;
            self.next_look = Instant::now() + self.interval;
            let (text, missed) = unseen(&self.seen.text, self.seen.truncated, &output.text, output.truncated);
            let text = text.to_owned();
            self.missed |= missed;
            self.done = was_over || output.exit.is_some();
            let exit = output.exit.clone().or_else(|| self.seen.exit.take());
            self.seen = Output { exit, ..output };
            if !text.is_empty() || (self.done && self.missed) {
                return Ok(Some(Piece { text, missed: std::mem::take(&mut self.missed) }));
            }
        }
        Ok(None)
    }

    /// How it ended, once all output was given.
    #[must_use]
    pub fn exit(&self) -> Option<&Exit> {
        self.seen.exit.as_ref().filter(|_| self.done)
    }

    /// Until it is time to look again, or the command has ended.
    async fn pause(&mut self) -> Result<(), TerminalError> {
        if let Some(wait) = &mut self.wait
            && let Ok(exit) = timeout_at(self.next_look, wait).await
        {
            self.wait = None;
            self.seen.exit = Some(exit?);
        }
        Ok(())
    }
}

impl std::fmt::Debug for Follow<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follow")
            .field("terminal", self.terminal)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}
