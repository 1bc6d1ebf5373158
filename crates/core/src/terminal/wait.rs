//! Waiting for the end: any number of waiters, one question to the holder, and nothing changes if they go away.

use super::{Phase, Terminal};
use crate::client::Client;
use crate::end::Ended;
use crate::error::{ControlError, ReadError};
use wharf_shim::wire::message::{Reply, Request, State};

impl Terminal {
    /// Waits until the command has ended; at once if it has. Cancelling by dropping touches nothing.
    pub async fn wait(&self) -> Result<Ended, ControlError> {
        loop {
            if let Some(ended) = self.shared.ended.get() {
                return Ok(ended.clone());
            }
            // One of the waiters asks the holder; if it is dropped, the lock passes to the next, who asks again.
            let _turn = self.shared.waiting.lock().await;
            if self.shared.ended.get().is_some() {
                continue;
            }
            match self.look()?.phase {
                Phase::Ended(ended) => return Ok(ended),
                Phase::NotStarted => return Err(ReadError::NotFound.into()),
                Phase::Starting | Phase::Running { .. } => self.watch_for_end().await?,
            }
        }
    }

    /// Returns when the journal is worth looking at again.
    async fn watch_for_end(&self) -> Result<(), ControlError> {
        let Ok(mut client) = Client::connect(&self.shared.socket).await else {
            return self.holder_gone().await;
        };
        let mut seen = State::Running;
        loop {
            match client.ask(&Request::Watch { past: u64::MAX, seen }).await {
                Ok(Reply::Progress(progress)) if progress.state == State::Ended => return Ok(()),
                Ok(Reply::Progress(progress)) => seen = progress.state,
                Ok(Reply::Refused(refusal)) => return Err(refusal.into()),
                Ok(_) | Err(_) => return self.holder_gone().await,
            }
        }
    }

    /// The holder does not answer: done, dead, or busy beyond measure. The lock tells which.
    pub(super) async fn holder_gone(&self) -> Result<(), ControlError> {
        let look = self.look()?;
        if matches!(look.phase, Phase::Ended(_)) {
            return Ok(());
        }
        if look.held {
            let busy = "it has too many connections or is stopped";
            return Err(ControlError::Unreachable(std::io::Error::other(busy)));
        }
        self.settle().await?;
        Ok(())
    }
}
