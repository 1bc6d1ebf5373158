//! What the client gets to see. The one task that owns the [`Display`] and writes to the client.
//!
//! It is fed by the agent's lines, by questions of our own and by terminals that have printed something. When the client does not read, it waits in
//! its writing, and everybody who feeds it waits too.

use super::envelope::{Envelope, place, splice};
use super::outbox::{Bytes, Gather, Held, Weigh};
use crate::display::{Display, Shows, Wake, watch};
use crate::host::Host;
use agent_client_protocol::v1::schema::SessionId;
use serde_json::value::RawValue;
use std::io;
use std::time::Duration;
use tokio::io::AsyncWrite;
use tokio::sync::mpsc;
use tokio::time::timeout;
use wharf_core::Terminal;

/// Messages taken at once.
const AT_ONCE: usize = 64;
/// Terminals with something new that may wait to be heard; each says so once at a time.
const WAKES: usize = 64;

/// What a terminal's handle weighs in the queue: it has descriptors, of which there are fewer than bytes.
const HANDLE: usize = 16 << 10;
/// How long, after the agent is gone, the ends of its terminals may take to be shown.
const SETTLE: Duration = Duration::from_secs(5);

/// Something for the client.
#[derive(Debug)]
pub(crate) enum ToClient {
    /// From now on terminals are shown like this.
    Begin(Shows),
    /// As it is.
    Pass(Bytes),
    /// A line that may show one of our terminals: those it names, which may be released by the time it is shown.
    Show(Vec<u8>, Vec<Terminal>),
    /// The end of a turn.
    Answer { session: SessionId, line: Vec<u8> },
}

impl Weigh for ToClient {
    fn weigh(&self) -> usize {
        match self {
            Self::Begin(_) => 0,
            Self::Pass(bytes) => bytes.weigh(),
            Self::Show(line, named) => line.len() + named.len() * HANDLE,
            Self::Answer { line, .. } => line.len(),
        }
    }
}

/// Writes to the client.
pub(crate) struct View<W> {
    host: Host,
    from: mpsc::Receiver<Held<ToClient>>,
    own: mpsc::Receiver<Held<Bytes>>,
    to: Gather<W>,
    display: Option<Display>,
    wakes: mpsc::Sender<Wake>,
    woken: mpsc::Receiver<Wake>,
    /// Whether the last that was written is the beginning of a line.
    in_line: bool,
}

impl<W: AsyncWrite + Unpin> View<W> {
    pub(crate) fn new(
        host: Host,
        from: mpsc::Receiver<Held<ToClient>>,
        own: mpsc::Receiver<Held<Bytes>>,
        to: W,
    ) -> Self {
        let (wakes, woken) = mpsc::channel(WAKES);
        Self { host, from, own, to: Gather::new(to), display: None, wakes, woken, in_line: false }
    }

    /// Until there is nothing more to come. An error means that nobody reads.
    pub(crate) async fn run(mut self) -> io::Result<()> {
        let mut messages = Vec::new();
        loop {
            let taken = tokio::select! {
                biased;
                // There are few of these, and somebody waits for each. Not into the middle of a line that comes in parts.
                Some(line) = self.own.recv(), if !self.in_line => {
                    self.to.push(line.item.get()).await?;
                    self.to.flush().await?;
                    continue;
                }
                // The agent's lines before its terminals' output, which waits in a journal, these in a queue.
                taken = self.from.recv_many(&mut messages, AT_ONCE) => taken,
                Some(wake) = self.woken.recv(), if !self.in_line => {
                    self.catch_up(wake).await?;
                    continue;
                }
            };
            if taken == 0 {
                let _ = timeout(SETTLE, self.settle()).await;
                return self.to.flush().await;
            }
            for message in &messages {
                self.show(&message.item).await?;
            }
            self.to.flush().await?;
            // Only now is there room for more.
            messages.clear();
        }
    }

    /// The agent is gone and its terminals are on their way: nobody is left believing that they run. If it went in the
    /// middle of a line, nothing can follow that.
    async fn settle(&mut self) -> io::Result<()> {
        while !self.in_line && self.display.as_ref().is_some_and(Display::is_live) {
            let Some(wake) = self.woken.recv().await else { break };
            self.catch_up(wake).await?;
        }
        Ok(())
    }

    async fn show(&mut self, message: &ToClient) -> io::Result<()> {
        match message {
            ToClient::Begin(shows) => self.display = Some(Display::new(self.host.clone(), *shows)),
            ToClient::Pass(bytes) => {
                self.in_line = !bytes.get().ends_with(b"\n");
                self.to.push(bytes.get()).await?;
            }
            ToClient::Show(line, named) => self.translate(line, named).await?,
            ToClient::Answer { session, line } => {
                let updates = self.display.as_mut().map(|display| display.flush(session));
                self.update(&updates.unwrap_or_default()).await?;
                self.to.push(line).await?;
            }
        }
        Ok(())
    }

    /// Shows what is new of a terminal. The wake is dropped when the client has it: only then may there be another.
    async fn catch_up(&mut self, wake: Wake) -> io::Result<()> {
        let updates = self.display.as_mut().map(|display| display.catch_up(&wake.terminal));
        self.update(&updates.unwrap_or_default()).await?;
        self.to.flush().await
    }

    async fn translate(&mut self, line: &[u8], named: &[Terminal]) -> io::Result<()> {
        let (method, params) = match Envelope::read(line) {
            Some(Envelope::Request { method, params: Some(params), .. }) => (method, params),
            Some(Envelope::Notification { method, params: Some(params) }) => (method, params),
            _ => return self.to.push(line).await,
        };
        let translated =
            self.display.as_mut().and_then(|display| display.translate_with(&method, params, named.to_vec()));
        let (Some(translated), Some(at)) = (translated, place(line, params)) else {
            return self.to.push(line).await;
        };
        self.update(&translated.before).await?;
        for terminal in translated.embedded {
            tokio::spawn(watch(terminal, self.wakes.clone()));
        }
        self.to.push(&splice(line, at, translated.params.get())).await
    }

    /// Sends updates of our own.
    async fn update(&mut self, updates: &[Box<RawValue>]) -> io::Result<()> {
        for params in updates {
            self.to.push(br#"{"jsonrpc":"2.0","method":"session/update","params":"#).await?;
            self.to.push(params.get().as_bytes()).await?;
            self.to.push(b"}\n").await?;
        }
        Ok(())
    }
}
