//! Terminals that are being made: counted, so that an end can wait for them, and taken away if nobody claims them.

use super::Host;
use super::entry::Entry;
use std::sync::Arc;
use tokio::sync::watch;

/// How many there are.
#[derive(Debug, Default)]
pub(super) struct Making {
    count: watch::Sender<usize>,
}

/// One of them, until it is dropped.
pub(super) struct Begun {
    count: watch::Sender<usize>,
}

impl Making {
    pub(super) fn begin(&self) -> Begun {
        self.count.send_modify(|count| *count += 1);
        Begun { count: self.count.clone() }
    }

    /// Done when there is none.
    pub(super) fn over(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut count = self.count.subscribe();
        async move {
            let _ = count.wait_for(|count| *count == 0).await;
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.count.send_modify(|count| *count -= 1);
    }
}

/// A terminal on its way to whoever asked for it. If it does not arrive, it goes.
pub(super) struct Unclaimed {
    entry: Option<Arc<Entry>>,
    host: Host,
}

impl Unclaimed {
    pub(super) fn new(entry: Arc<Entry>, host: &Host) -> Self {
        Self { entry: Some(entry), host: host.clone() }
    }

    /// It has arrived.
    pub(super) fn claim(mut self) -> Option<Arc<Entry>> {
        self.entry.take()
    }
}

impl Drop for Unclaimed {
    fn drop(&mut self) {
        if let Some(entry) = self.entry.take() {
            drop(self.host.give_up(&entry));
        }
    }
}
