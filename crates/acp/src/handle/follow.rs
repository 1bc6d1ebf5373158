//! A command's output as it comes.
//!
//! The protocol does not push output: it can only be asked for. So this asks from time to time, while one pending
//! `terminal/wait_for_exit` says at once when there will be no more. What is under way is kept here and not in the futures
//! that [`Follow::next`] gives, so that nothing is lost with one of those.

use super::address::Address;
use super::overlap::unseen;
use super::{Exit, Output, TerminalError};
use futures_core::Stream;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

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

/// A question that is under way.
type Asked<T> = Pin<Box<dyn Future<Output = Result<T, TerminalError>> + Send>>;

/// Gives a terminal's output piece by piece, and ends after the last, or after an error. Made by
/// [`TerminalHandle::follow`](super::TerminalHandle::follow). Needs a Tokio runtime with a clock once it is asked.
#[must_use = "nothing is asked before this is"]
pub struct Follow {
    address: Address,
    interval: Duration,
    /// Until it is time to look again; nothing before the first look.
    pause: Option<Pin<Box<Sleep>>>,
    /// Until the command has ended.
    wait: Option<Asked<Exit>>,
    look: Option<Look>,
    seen: Output,
    /// Whether something may be missing before the next piece.
    missed: bool,
    done: bool,
}

/// A question for output, and whether the end was known before it: then its answer is the last.
struct Look {
    was_over: bool,
    output: Asked<Output>,
}

impl Follow {
    pub(super) fn new(address: Address) -> Self {
        let waiting = address.clone();
        Self {
            address,
            interval: DEFAULT_INTERVAL,
            pause: None,
            wait: Some(Box::pin(async move { waiting.wait_for_exit().await })),
            look: None,
            seen: Output { text: String::new(), truncated: false, exit: None },
            missed: false,
            done: false,
        }
    }

    /// How long to wait between two questions while the command runs.
    pub fn every(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// The next piece; `None` after the last, when the command has ended. Nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Result<Option<Piece>, TerminalError> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await.transpose()
    }

    /// How it ended, once all output was given.
    #[must_use]
    pub fn exit(&self) -> Option<&Exit> {
        self.seen.exit.as_ref().filter(|_| self.done)
    }

    /// What the next answer has that was not seen; nothing if there is none.
    fn poll_look(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Piece>, TerminalError>> {
        if self.look.is_none() {
            ready!(self.poll_pause(cx))?;
        }
        let was_over = self.wait.is_none();
        let look = self.look.get_or_insert_with(|| {
            let address = self.address.clone();
            Look { was_over, output: Box::pin(async move { address.output().await }) }
        });
        let output = ready!(look.output.as_mut().poll(cx));
        let was_over = look.was_over;
        self.look = None;
        self.pause = Some(Box::pin(sleep_until(Instant::now() + self.interval)));
        Poll::Ready(Ok(self.take(output?, was_over)))
    }

    fn take(&mut self, output: Output, was_over: bool) -> Option<Piece> {
        let (text, missed) = unseen(&self.seen.text, self.seen.truncated, &output.text, output.truncated);
        let text = text.to_owned();
        self.missed |= missed;
        self.done = was_over || output.exit.is_some();
        let exit = output.exit.clone().or_else(|| self.seen.exit.take());
        self.seen = Output { exit, ..output };
        let is_told = !text.is_empty() || (self.done && self.missed);
        is_told.then(|| Piece { text, missed: std::mem::take(&mut self.missed) })
    }

    /// Until it is time to look again, or the command has ended.
    fn poll_pause(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TerminalError>> {
        let Some(wait) = &mut self.wait else { return Poll::Ready(Ok(())) };
        if let Poll::Ready(exit) = wait.as_mut().poll(cx) {
            self.wait = None;
            self.seen.exit = Some(exit?);
            return Poll::Ready(Ok(()));
        }
        match &mut self.pause {
            Some(pause) => pause.as_mut().poll(cx).map(Ok),
            None => Poll::Ready(Ok(())),
        }
    }
}

impl Stream for Follow {
    type Item = Result<Piece, TerminalError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        while !self.done {
            match ready!(self.poll_look(cx)) {
                Ok(Some(piece)) => return Poll::Ready(Some(Ok(piece))),
                Ok(None) => {}
                Err(error) => {
                    // A loop that only looks for the end would otherwise never see it.
                    self.done = true;
                    self.seen.exit = None;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
        Poll::Ready(None)
    }
}

impl std::fmt::Debug for Follow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follow")
            .field("address", &self.address)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}
