//! A command that was started, and everything that can be done with it.

use super::address::Address;
use super::{Exit, Finished, Follow, Output, TerminalError};
use agent_client_protocol::v1::schema::{SessionId, Terminal, TerminalId, ToolCallContent};
use std::pin::pin;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How long a killed command has to end before it is reported without its end. Some clients only ask it to.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// A command in a terminal. Dropping it releases the terminal in the background, which ends the command.
#[derive(Debug)]
pub struct TerminalHandle {
    address: Address,
    /// Where a local terminal is released from, wherever the handle is dropped.
    runtime: Option<Handle>,
    state: State,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Held,
    Released,
}

impl TerminalHandle {
    pub(super) fn new(address: Address) -> Self {
        Self { address, runtime: Handle::try_current().ok(), state: State::Held }
    }

    /// Its name at the client.
    #[must_use]
    pub fn id(&self) -> &TerminalId {
        &self.address.id
    }

    /// The session it belongs to.
    #[must_use]
    pub fn session(&self) -> &SessionId {
        &self.address.session
    }

    /// The terminal as content of a tool call. The client goes on showing it after it was released, if it was embedded
    /// before. Send it with [`Terminals::update`](super::Terminals::update), and not in a permission request if the
    /// command may be a local one: only updates are put into words that a client without terminals can show.
    #[must_use]
    pub fn content(&self) -> ToolCallContent {
        ToolCallContent::Terminal(Terminal::new(self.address.id.clone()))
    }

    /// What it has printed so far, and the end if there is one. Never more text than the limit the command was started
    /// with, whatever the client sends.
    pub async fn current_output(&self) -> Result<Output, TerminalError> {
        self.address.output().await
    }

    /// Waits for the end. Dropping the future takes the question back; the command goes on.
    pub async fn wait_for_exit(&self) -> Result<Exit, TerminalError> {
        self.address.wait_for_exit().await
    }

    /// Ends the command. The terminal can still be asked for its output and its end.
    pub async fn kill(&self) -> Result<(), TerminalError> {
        self.address.kill().await
    }

    /// Ends the command if it runs, and lets go of the terminal. Goes on in the background if the future is dropped.
    pub async fn release(mut self) -> Result<(), TerminalError> {
        let released = self.address.release().await;
        // Also if it failed: asking again from `drop` would get the same answer.
        self.state = State::Released;
        released
    }

    /// Waits for the end, at most for `limit`; then kills the command. In both cases takes the final output, within the limit
    /// of [`Command::output_byte_limit`](super::Command::output_byte_limit), and releases the terminal.
    pub async fn wait_or_kill(self, limit: Duration) -> Result<Finished, TerminalError> {
        let finished = self.settle(limit).await?;
        // All that was wanted is here. A client that cannot let go of its terminal does not change the result.
        let _ = self.release().await;
        Ok(finished)
    }

    /// The part before the release, in the order the protocol recommends: wait, kill, output.
    pub(super) async fn settle(&self, limit: Duration) -> Result<Finished, TerminalError> {
        let mut wait = pin!(self.wait_for_exit());
        let waited = timeout(limit, &mut wait).await;
        let timed_out = waited.is_err();
        let exit = match waited {
            Ok(exit) => Some(exit?),
            Err(_) => {
                // Not every client has ended it when it answers, or answers at all; and one that refuses may be late
                // because the command had just ended. The same wait goes on: some never answer one that comes after the end.
                let ended = async {
                    let _ = self.kill().await;
                    wait.await
                };
                timeout(LAST_WORDS, ended).await.ok().and_then(Result::ok)
            }
        };
        let output = self.current_output().await?;
        let exit = exit.filter(|exit| *exit != Exit::Unknown).or(output.exit).unwrap_or(Exit::Unknown);
        Ok(Finished { exit, output: output.text, truncated: output.truncated, timed_out })
    }

    /// Its output as it comes: `while let Some(piece) = follow.next().await? { … }`, or as a [`Stream`]. It is a value of its
    /// own and can go to another task; it ends with the command, or with an error once this handle has released it. The
    /// protocol can only be asked again and again, for everything that is kept each time: name an output limit that is
    /// lower than the usual one if there may be much.
    ///
    /// [`Stream`]: futures_core::Stream
    pub fn follow(&self) -> Follow {
        Follow::new(self.address.clone())
    }
}

impl Drop for TerminalHandle {
    fn drop(&mut self) {
        if self.state == State::Held {
            self.address.release_soon(self.runtime.as_ref());
        }
    }
}
