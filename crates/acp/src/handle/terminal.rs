//! A command that was started, and everything that can be done with it.

use super::{Exit, Finished, Follow, Output, TerminalError, Terminals};
use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    KillTerminalRequest, ReleaseTerminalRequest, SessionId, Terminal, TerminalId, TerminalOutputRequest,
    ToolCallContent, WaitForTerminalExitRequest,
};
use std::pin::pin;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How long a killed command has to end before it is reported without its end. Some clients only ask it to.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// A command in a terminal. Dropping it releases the terminal in the background, which ends the command.
#[derive(Debug)]
pub struct TerminalHandle {
    terminals: Terminals,
    session: SessionId,
    id: TerminalId,
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
    pub(super) fn new(terminals: Terminals, session: SessionId, id: TerminalId) -> Self {
        Self { terminals, session, id, runtime: Handle::try_current().ok(), state: State::Held }
    }

    /// Its name at the client.
    #[must_use]
    pub fn id(&self) -> &TerminalId {
        &self.id
    }

    /// The session it belongs to.
    #[must_use]
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// The terminal as content of a tool call. The client goes on showing it after it was released, if it was embedded
    /// before. Send it with [`Terminals::update`], and not in a permission request if the command may be a local one: only
    /// updates are put into words that a client without terminals can show.
    #[must_use]
    pub fn content(&self) -> ToolCallContent {
        ToolCallContent::Terminal(Terminal::new(self.id.clone()))
    }

    /// What it has printed so far, and the end if there is one.
    pub async fn current_output(&self) -> Result<Output, TerminalError> {
        let request = TerminalOutputRequest::new(self.session.clone(), self.id.clone());
        Ok(self.terminals.backend.output(request).await?.into())
    }

    /// Waits for the end. Dropping the future takes the question back; the command goes on.
    pub async fn wait_for_exit(&self) -> Result<Exit, TerminalError> {
        let request = WaitForTerminalExitRequest::new(self.session.clone(), self.id.clone());
        match self.terminals.backend.wait_for_exit(request).await {
            Ok(answer) => Ok(answer.exit_status.into()),
            Err(error) if is_lost(&error) => Ok(Exit::Unknown),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends the command. The terminal can still be asked for its output and its end.
    pub async fn kill(&self) -> Result<(), TerminalError> {
        let request = KillTerminalRequest::new(self.session.clone(), self.id.clone());
        self.terminals.backend.kill(request).await.map(drop)
    }

    /// Ends the command if it runs, and lets go of the terminal. Goes on in the background if the future is dropped.
    pub async fn release(mut self) -> Result<(), TerminalError> {
        let released = self.terminals.backend.release(self.release_request()).await;
        // Also if it failed: asking again from `drop` would get the same answer.
        self.state = State::Released;
        released.map(drop)
    }

    /// Waits for the end, at most for `limit`; then kills the command. In both cases takes the final output and releases the
    /// terminal.
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

    /// Its output as it comes: `while let Some(piece) = follow.next().await? { … }`. The protocol can only be asked again and
    /// again, for everything that is kept each time: name an output limit if there may be much.
    #[must_use]
    pub fn follow(&self) -> Follow<'_> {
        Follow::new(self)
    }

    fn release_request(&self) -> ReleaseTerminalRequest {
        ReleaseTerminalRequest::new(self.session.clone(), self.id.clone())
    }
}

impl Drop for TerminalHandle {
    fn drop(&mut self) {
        if self.state == State::Held {
            self.terminals.backend.release_soon(self.release_request(), self.runtime.as_ref());
        }
    }
}

/// How wharf's host says that nobody saw the end, since agents take an empty status for a success.
fn is_lost(error: &Error) -> bool {
    error.data.as_ref().and_then(|data| data.get("code")).is_some_and(|code| code == "lost")
}
