//! Whose turn it is: what is begun in a terminal is begun in the order in which it was asked for.
//!
//! Clients send calls without waiting for the answers before, and the SDK serves all of them at once: `cd x` and the
//! command after it could swap. So calls are entered as they come in, on the connection itself, and begin one after the
//! other in each terminal. Waiting is no part of a turn, so a key can be pressed while another call waits.

use rmcp::model::RequestId;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// Calls that have not begun what they are for, in the order in which they came. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Turns {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// With the name of the terminal.
    waiting: Mutex<Vec<(RequestId, String)>>,
    changed: Notify,
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    turns: Turns,
    id: RequestId,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.turns.leave(&self.id);
    }
}

impl Turns {
    /// A call for that terminal has come in.
    pub(super) fn arrive(&self, id: &RequestId, terminal: &str) {
        self.waiting().push((id.clone(), terminal.to_owned()));
    }

    /// It has begun, or never will.
    pub(super) fn leave(&self, id: &RequestId) {
        self.waiting().retain(|(waiting, _)| waiting != id);
        self.shared.changed.notify_waiters();
    }

    /// Returns when no call before this one has still to begin in its terminal.
    pub(super) async fn take(&self, id: &RequestId) -> Turn {
        let turn = Turn { turns: self.clone(), id: id.clone() };
        loop {
            let changed = self.shared.changed.notified();
            if self.is_first(id) {
                return turn;
            }
            changed.await;
        }
    }

    /// One that never arrived waits for nobody.
    fn is_first(&self, id: &RequestId) -> bool {
        let waiting = self.waiting();
        let own = waiting.iter().find(|(waiting, _)| waiting == id).map(|(_, terminal)| terminal);
        own.is_none_or(|own| {
            waiting.iter().find(|(_, terminal)| terminal == own).is_some_and(|(first, _)| first == id)
        })
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<(RequestId, String)>> {
        self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    async fn comes(taken: impl Future<Output = Turn>) -> Option<Turn> {
        tokio::time::timeout(Duration::from_millis(1), taken).await.ok()
    }

    #[tokio::test]
    async fn calls_of_one_terminal_take_turns_and_others_do_not_wait() {
        let turns = Turns::default();
        let ids: Vec<RequestId> = (0..4).map(RequestId::Number).collect();
        for (id, terminal) in ids.iter().zip(["a", "a", "b", "a"]) {
            turns.arrive(id, terminal);
        }
        assert!(comes(turns.take(&ids[1])).await.is_none());
        // One that was given up has left.
        assert!(comes(turns.take(&ids[3])).await.is_none());
        assert!(comes(turns.take(&ids[2])).await.is_some());
        let first = comes(turns.take(&ids[0])).await;
        assert!(first.is_some());
        drop(first);
        assert!(turns.waiting().is_empty());
        assert!(comes(turns.take(&RequestId::Number(9))).await.is_some());
    }
}
