//! Kill, release, signals, size.

use super::{Phase, Terminal};
use crate::client::Client;
use crate::error::ControlError;
use crate::spec::{OnOwnerExit, Size};
use std::time::Duration;
use wharf_shim::wire::message::{Refusal, Reply, Request};

impl Terminal {
    /// Ends the whole tree and answers when nothing of it is left and the end can be read. Returns how many processes
    /// that took; none if it had ended before. `grace` replaces the one the terminal was created with.
    pub async fn kill(&self, author: &str, grace: Option<Duration>) -> Result<u32, ControlError> {
        let grace_ms = grace.map(|g| u64::try_from(g.as_millis()).unwrap_or(u64::MAX));
        let request = Request::Kill { grace_ms, author: author.to_owned() };
        let before = self.look()?;
        if !before.held && matches!(before.phase, Phase::Ended(_) | Phase::NotStarted) {
            return Ok(0);
        }
        let asked = match Client::connect(&self.shared.socket).await {
            Ok(mut client) => client.ask(&request).await,
            Err(error) => Err(error),
        };
        match asked {
            Ok(Reply::Killed { processes }) => Ok(processes),
            Ok(Reply::Refused(refusal)) => Err(refusal.into()),
            Ok(_) | Err(_) => {
                self.holder_gone().await?;
                self.look()?;
                // Its own exit was faster than our question, or it died and was settled: the journal has the count.
                Ok(if matches!(before.phase, Phase::Ended(_)) { 0 } else { self.killed() })
            }
        }
    }

    /// Ends the tree and forgets the terminal. Quiet if that was done before.
    pub async fn release(&self) -> Result<(), ControlError> {
        self.release_with(None).await
    }

    /// As [`Terminal::release`], with another grace than the terminal's own.
    pub async fn release_with(&self, grace: Option<Duration>) -> Result<(), ControlError> {
        if !self.is_stored() {
            return Ok(());
        }
        self.kill("release", grace).await?;
        let (store, id) = (self.shared.store.clone(), self.shared.id.clone());
        let task = tokio::task::spawn_blocking(move || store.remove(&id));
        task.await.map_err(std::io::Error::other)??;
        Ok(())
    }

    /// Sends a signal to the foreground group of a PTY, or to the command's group.
    pub async fn signal(&self, signal: i32, author: &str) -> Result<(), ControlError> {
        self.ask(&Request::Signal { signal, author: author.to_owned() }).await
    }

    /// Gives a PTY another size.
    pub async fn resize(&self, size: Size) -> Result<(), ControlError> {
        self.ask(&Request::Resize(size)).await
    }

    /// Lets the terminal outlive this process, although it was created to end with it.
    pub async fn disown(&self) -> Result<(), ControlError> {
        let Some(lease) = self.shared.store.leases().remove(&self.shared.id) else { return Ok(()) };
        let unreachable = ControlError::Unreachable;
        lease.set_nonblocking(true).map_err(unreachable)?;
        let mut client = Client::from_std(lease).map_err(ControlError::Unreachable)?;
        match client.ask(&Request::Lease(OnOwnerExit::Keep)).await {
            Ok(_) => Ok(()),
            Err(_) => self.holder_gone().await,
        }
    }

    /// Asks the holder something that it either does or refuses.
    pub(super) async fn ask(&self, request: &Request) -> Result<(), ControlError> {
        let asked = match Client::connect(&self.shared.socket).await {
            Ok(mut client) => client.ask(request).await,
            Err(error) => Err(error),
        };
        match asked {
            Ok(Reply::Refused(refusal)) => Err(refusal.into()),
            Ok(_) => Ok(()),
            Err(_) => {
                self.holder_gone().await?;
                Err(Refusal::Ended.into())
            }
        }
    }
}
