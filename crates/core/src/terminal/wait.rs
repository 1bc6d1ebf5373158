//! Waiting for the end: any number of waiters, one of whom listens to the holder, and nothing changes if they go away.

use super::{Look, Phase, Terminal};
use crate::client::Client;
use crate::end::Ended;
use crate::error::{ControlError, ReadError};
use crate::store::open_events;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use std::io;
use tokio::runtime::Handle;
use tokio::sync::watch;
use wharf_shim::wire::message::{Reply, Request, State, UNASKED};

/// How often a holder that listens and does not answer is tried again.
pub(super) const ATTEMPTS: usize = 20;

/// What became of a holder that did not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is gone, and the journal says what happened.
    Gone,
    /// It is there and answers others: ask again.
    Alive,
}

impl Terminal {
    /// Waits until the command has ended; at once if it has. Cancelling by dropping touches nothing.
    pub async fn wait(&self) -> Result<Ended, ControlError> {
        loop {
            if let Some(ended) = self.shared.ended.get() {
                return Ok(ended.clone());
            }
            // One of the waiters asks the holder; if it is dropped, the lock passes to the next, who asks again.
            let mut told = match self.shared.waiting.try_lock() {
                Ok(told) => told,
                Err(_) => {
                    // Whoever waits already may do so because the holder was stopped since.
                    self.wake_holder();
                    self.shared.waiting.lock().await
                }
            };
            if self.shared.ended.get().is_some() {
                continue;
            }
            match self.look()?.phase {
                Phase::Ended(ended) => return Ok(ended),
                Phase::NotStarted => return Err(ReadError::NotFound.into()),
                Phase::Starting | Phase::Running { .. } => self.watch_for_end(&mut told).await?,
            }
        }
    }

    /// Returns when the journal is worth looking at again.
    async fn watch_for_end(&self, told: &mut Option<Client>) -> Result<(), ControlError> {
        // A connection of a runtime that may not run at this moment would hear nothing.
        let is_here = self.shared.runtime.get() == Some(&Handle::current().id());
        if let Some(creator) = told.as_mut().filter(|_| is_here) {
            // It stays where it is while it is waited for: if this is dropped, the next goes on with it.
            let heard = creator.hear(UNASKED).await;
            *told = None;
            if matches!(heard, Ok(Reply::Progress(progress)) if progress.state == State::Ended) {
                return Ok(());
            }
        }
        let mut client = match self.connect().await {
            Ok(client) => client,
            // The socket alone was removed; the lock tells as much, if later.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && self.is_stored() && self.is_held()? =>
            {
                return self.let_go().await;
            }
            Err(_) => return self.holder_gone().await.map(drop),
        };
        self.wake_holder();
        let mut seen = State::Running;
        loop {
            match client.ask(&Request::Watch { past: u64::MAX, seen }).await {
                Ok(Reply::Progress(progress)) if progress.state == State::Ended => return Ok(()),
                Ok(Reply::Progress(progress)) => seen = progress.state,
                Ok(Reply::Refused(refusal)) => return Err(refusal.into()),
                Ok(_) | Err(_) => return self.holder_gone().await.map(drop),
            }
        }
    }

    /// Returns when the holder has let go of its lock.
    async fn let_go(&self) -> Result<(), ControlError> {
        let mut let_go = self.shared.let_go.get_or_init(|| self.watch_lock()).clone();
        // Nothing is ever sent: the thread's end closes it.
        while let_go.changed().await.is_ok() {}
        if self.is_held()? { Err(socket_gone()) } else { Ok(()) }
    }

    /// The kernel has no event for a lock, so a thread waits for it: one for each handle, and none of the runtime's, whose
    /// end would wait for it.
    fn watch_lock(&self) -> watch::Receiver<()> {
        let (waits, let_go) = watch::channel(());
        let dir = self.shared.dir.clone();
        let wait = move || {
            if let Ok(events) = open_events(&dir) {
                while rustix::fs::flock(&events, FlockOperation::LockShared) == Err(Errno::INTR) {}
            }
            drop(waits);
        };
        // If there can be no thread, it is closed at once, and the lock is found held.
        let _ = std::thread::Builder::new().name("wharf-lock".to_owned()).spawn(wait);
        let_go
    }

    /// The holder did not answer: it is done, dead, or gave our place to somebody else.
    pub(super) async fn holder_gone(&self) -> Result<Fate, ControlError> {
        self.settle_unless(|look| matches!(look.phase, Phase::Ended(_))).await
    }

    /// The same; gone only when nothing of its tree is left either.
    pub(super) async fn holder_closed(&self) -> Result<Fate, ControlError> {
        match self.settle_unless(|_| self.closed().is_some()).await {
            // Somebody else has released it meanwhile, which takes as much.
            Err(ControlError::Read(ReadError::NotFound)) => Ok(Fate::Gone),
            settled => settled,
        }
    }

    async fn settle_unless(&self, is_good: impl Fn(&Look) -> bool) -> Result<Fate, ControlError> {
        for _ in 0..ATTEMPTS {
            let look = self.look()?;
            if is_good(&look) {
                return Ok(Fate::Gone);
            }
            match self.connect().await {
                // Somebody listens: it lives, or it has just begun to leave, which this waits for.
                Ok(mut client) => match self.keep_awake(client.ask(&Request::Status)).await {
                    Ok(_) => return Ok(Fate::Alive),
                    Err(_) => tokio::task::yield_now().await,
                },
                // Nobody listens, so whoever has the lock is settling it at this moment. Without a socket nothing can
                // be said of a holder that is still there.
                Err(error) if !look.held || error.kind() == io::ErrorKind::ConnectionRefused => {
                    self.settle().await?;
                    return Ok(Fate::Gone);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(socket_gone()),
                // It died while we stood at its door; the next one to knock finds nobody.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    tokio::task::yield_now().await
                }
                Err(error) => return Err(ControlError::Unreachable(error)),
            }
        }
        Err(ControlError::Unreachable(io::Error::other("it closes every connection")))
    }
}

/// Nobody but the holder could have said more.
fn socket_gone() -> ControlError {
    let why = "its socket was deleted; it can only be waited for, or ended";
    ControlError::Unreachable(io::Error::new(io::ErrorKind::NotFound, why))
}
