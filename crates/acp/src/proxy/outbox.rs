//! Queues with a bound in bytes, and the one writer that empties two of them into a stream.
//!
//! Whoever sends waits for room, so that memory is bounded whatever the other side does. What passes through and what is
//! our own have rooms of their own: a flood of the one never keeps the other from being queued. Knows bytes, not
//! messages; but not between the pieces of one line may anything else come.

use std::io;
use std::sync::Arc;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

/// What an entry costs beside its bytes, so that many empty ones are bounded too.
const OVERHEAD: usize = 256;
/// Small messages are gathered up to this and written at once.
const GATHER: usize = 64 << 10;
/// Entries looked at in one go.
const AT_ONCE: usize = 64;

/// The other side is gone, or nothing more goes to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("nobody is left to send this to")]
pub(crate) struct Gone;

/// What something takes of a queue's room.
pub(crate) trait Weigh {
    fn weigh(&self) -> usize;
}

/// An entry, and the room it takes until this is dropped.
#[derive(Debug)]
pub(crate) struct Held<T> {
    pub(crate) item: T,
    _room: OwnedSemaphorePermit,
}

/// Puts entries into a queue. Cheap to clone.
#[derive(Debug)]
pub(crate) struct Sender<T> {
    to: mpsc::Sender<Held<T>>,
    room: Arc<Semaphore>,
    limit: usize,
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self { to: self.to.clone(), room: Arc::clone(&self.room), limit: self.limit }
    }
}

/// A queue of that many bytes. An entry that is larger than all of it goes in when it is empty.
pub(crate) fn queue<T: Weigh>(limit: usize) -> (Sender<T>, mpsc::Receiver<Held<T>>) {
    // The room runs out first, so that the channel itself is never what one waits for.
    let (to, from) = mpsc::channel(limit / OVERHEAD + 1);
    (Sender { to, room: Arc::new(Semaphore::new(limit)), limit }, from)
}

impl<T: Weigh> Sender<T> {
    /// Waits for room.
    pub(crate) async fn send(&self, item: T) -> Result<(), Gone> {
        let weight = item.weigh().saturating_add(OVERHEAD).min(self.limit);
        let weight = u32::try_from(weight).unwrap_or(u32::MAX);
        let room = tokio::select! {
            biased;
            room = Arc::clone(&self.room).acquire_many_owned(weight) => room.map_err(|_| Gone)?,
            () = self.to.closed() => return Err(Gone),
        };
        self.to.send(Held { item, _room: room }).await.map_err(|_| Gone)
    }
}

/// Bytes for a stream.
#[derive(Debug)]
pub(crate) enum Bytes {
    /// Ends where a line ends.
    Whole(Vec<u8>),
    /// More of the same line follows in the same queue.
    Part(Vec<u8>),
}

impl Bytes {
    pub(crate) fn get(&self) -> &[u8] {
        match self {
            Self::Whole(bytes) | Self::Part(bytes) => bytes,
        }
    }
}

impl Weigh for Bytes {
    fn weigh(&self) -> usize {
        self.get().len()
    }
}

/// Writes two queues into a stream until both are closed and empty, or it is told to close, and then closes the stream.
/// An error is that of the stream: then nobody reads it.
#[derive(Debug)]
pub(crate) struct Writer<W> {
    passing: mpsc::Receiver<Held<Bytes>>,
    own: mpsc::Receiver<Held<Bytes>>,
    to: Gather<W>,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    pub(crate) fn new(passing: mpsc::Receiver<Held<Bytes>>, own: mpsc::Receiver<Held<Bytes>>, to: W) -> Self {
        Self { passing, own, to: Gather::new(to) }
    }

    /// Does so. What is queued when `close` comes is still written.
    pub(crate) async fn run(mut self, mut close: oneshot::Receiver<()>) -> io::Result<()> {
        let mut entries = Vec::new();
        let (mut passing, mut own, mut closing, mut in_line) = (true, true, false, false);
        while passing || own {
            let (entry, more) = tokio::select! {
                entry = self.passing.recv(), if passing => {
                    passing = entry.is_some();
                    (entry, &mut self.passing)
                }
                // Inside a line, anything but its own rest would become part of it.
                entry = self.own.recv(), if own && !(in_line && passing) => {
                    own = entry.is_some();
                    (entry, &mut self.own)
                }
                _ = &mut close, if !closing => {
                    closing = true;
                    self.passing.close();
                    self.own.close();
                    continue;
                }
            };
            entries.extend(entry);
            while entries.len() < AT_ONCE
                && let Ok(entry) = more.try_recv()
            {
                entries.push(entry);
            }
            for entry in &entries {
                in_line = matches!(entry.item, Bytes::Part(_));
                self.to.push(entry.item.get()).await?;
            }
            self.to.flush().await?;
            // Only now is there room for more.
            entries.clear();
        }
        self.to.close().await
    }
}

/// A stream that small pieces are written to together.
#[derive(Debug)]
pub(crate) struct Gather<W> {
    to: W,
    waiting: Vec<u8>,
}

impl<W: AsyncWrite + Unpin> Gather<W> {
    pub(crate) fn new(to: W) -> Self {
        Self { to, waiting: Vec::new() }
    }

    /// Written at the latest when this is flushed.
    pub(crate) async fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        if self.waiting.len() + piece.len() > GATHER {
            self.to.write_all(&self.waiting).await?;
            self.waiting.clear();
        }
        if piece.len() > GATHER {
            return self.to.write_all(piece).await;
        }
        self.waiting.extend_from_slice(piece);
        Ok(())
    }

    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        self.to.write_all(&self.waiting).await?;
        self.waiting.clear();
        self.to.flush().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.flush().await?;
        self.to.shutdown().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;
    use tokio::time::{Duration, timeout};

    const GUARD: Duration = Duration::from_secs(10);

    fn whole(text: &str) -> Bytes {
        Bytes::Whole(text.into())
    }

    #[tokio::test]
    async fn what_is_queued_is_written_before_the_stream_is_closed() {
        let (to, mut from) = tokio::io::duplex(4);
        let (sender, passing) = queue(1 << 20);
        let (_own, own) = queue(1 << 20);
        let (close, closed) = oneshot::channel();
        sender.send(whole("one\n")).await.unwrap();
        sender.send(whole("two\n")).await.unwrap();
        close.send(()).unwrap();
        let writing = tokio::spawn(Writer::new(passing, own, to).run(closed));
        let mut text = String::new();
        timeout(GUARD, from.read_to_string(&mut text)).await.unwrap().unwrap();
        assert_eq!(text, "one\ntwo\n");
        writing.await.unwrap().unwrap();
        assert_eq!(sender.send(whole("late\n")).await, Err(Gone));
    }

    #[tokio::test]
    async fn nothing_comes_between_the_pieces_of_a_line() {
        let (to, mut from) = tokio::io::duplex(1 << 20);
        let (sender, passing) = queue(1 << 20);
        let (answers, own) = queue(1 << 20);
        let (_close, closed) = oneshot::channel();
        sender.send(Bytes::Part(b"gi".into())).await.unwrap();
        let writing = tokio::spawn(Writer::new(passing, own, to).run(closed));
        let mut begun = [0; 2];
        timeout(GUARD, from.read_exact(&mut begun)).await.unwrap().unwrap();
        answers.send(whole("answer\n")).await.unwrap();
        sender.send(Bytes::Part(b"an".into())).await.unwrap();
        sender.send(whole("t\n")).await.unwrap();
        drop((sender, answers));
        let mut text = String::new();
        timeout(GUARD, from.read_to_string(&mut text)).await.unwrap().unwrap();
        assert_eq!(text, "ant\nanswer\n");
        writing.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_full_queue_makes_its_senders_wait_and_lets_them_go_when_the_reader_does() {
        let (sender, passing) = queue(1000);
        sender.send(whole(&"x".repeat(5000))).await.unwrap();
        let waiting = tokio::spawn({
            let sender = sender.clone();
            async move { sender.send(whole("y")).await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(passing);
        assert_eq!(timeout(GUARD, waiting).await.unwrap().unwrap(), Err(Gone));
        timeout(GUARD, sender.to.closed()).await.unwrap();
    }

    #[tokio::test]
    async fn a_reader_that_goes_away_ends_the_writer() {
        let (to, from) = tokio::io::duplex(4);
        let (sender, passing) = queue(1 << 20);
        let (_answers, own) = queue(1 << 20);
        let (_close, closed) = oneshot::channel();
        let writing = tokio::spawn(Writer::new(passing, own, to).run(closed));
        drop(from);
        sender.send(whole("to nobody\n")).await.unwrap();
        assert!(timeout(GUARD, writing).await.unwrap().unwrap().is_err());
        timeout(GUARD, sender.to.closed()).await.unwrap();
    }
}
