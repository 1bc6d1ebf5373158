//! The relay: four tasks between two streams, and how it ends.
//!
//! ```text
//! client ─▶ inbound ──▶ writer ─▶ agent          inbound ─ notes ─▶ outbound
//! client ◀─ view ◀── outbound ◀─ agent           outbound ─ answers ─▶ writer
//! ```
//! Each owns what it knows and tells the next; every arrow has a bound. Who started the agent and what becomes of its
//! process is not known here.

use super::Hosting;
use super::answer::Answers;
use super::ask::Asks;
use super::inbound::Inbound;
use super::lines::Lines;
use super::offer::Mode;
use super::outbound::Outbound;
use super::outbox::{Writer, queue};
use super::session::Sessions;
use super::view::View;
use crate::host::Host;
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Bytes on their way in one direction. More only delays the moment when the sender has to wait.
const PASSING: usize = 1 << 20;
/// Answers on their way to the agent: some of the largest there are.
const ANSWERS: usize = 16 << 20;
/// Requests of the client that the agent's side has not heard of yet.
const NOTES: usize = 1024;
/// How long an agent may take to leave after its input was closed.
const LEAVE: Duration = Duration::from_secs(5);

/// Who ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The client has closed its end.
    Client,
    /// The agent has closed its end. Everything it sent was delivered.
    Agent,
    /// It was asked to.
    Asked,
}

/// Passes messages between a client and an agent byte for byte, and hosts the agent's terminals.
#[derive(Debug)]
pub struct Relay {
    host: Host,
    terminals: Hosting,
}

/// A task that ends with whoever started it, and whether its result was taken.
struct Task<T>(JoinHandle<T>, bool);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T: Send + 'static> Task<T> {
    fn start(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(tokio::spawn(work), false)
    }

    /// Returns when it is over, however; the first time with what came of it.
    async fn over(&mut self) -> Option<T> {
        // Asked again after its end, a handle would panic.
        if self.1 {
            return None;
        }
        let result = (&mut self.0).await.ok();
        self.1 = true;
        result
    }
}

impl Relay {
    /// A relay for one connection, with a host of its own.
    #[must_use]
    pub fn new(host: Host, terminals: Hosting) -> Self {
        Self { host, terminals }
    }

    /// Runs until either side is at its end or `leave` is done. Then no terminal is left, and the agent has had its input
    /// closed and some seconds to leave. Streams are given as what is read from and what is written to.
    pub async fn run(
        self,
        client: (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
        agent: (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
        leave: impl Future<Output = ()>,
    ) -> End {
        let (to_agent, passing) = queue(PASSING);
        let (answers, own) = queue(ANSWERS);
        let (to_client, shown) = queue(PASSING);
        let (told, notes) = mpsc::channel(NOTES);
        let (close, closed) = oneshot::channel();
        let host = self.host;
        let (questions, asked) = queue(PASSING);
        let asks = Asks::new().ok().inspect(|asks| host.ask_client(asks.by_line(questions)));
        let _writer = Task::start(Writer::new(passing, own, agent.1).run(closed));
        let mut view = Task::start(View::new(host.clone(), shown, asked, client.1).run());
        let inbound =
            Inbound { lines: Lines::new(client.0), terminals: self.terminals, asks, notes: told, to_agent };
        let mut inbound = Task::start(inbound.run());
        let outbound = Outbound {
            lines: Lines::new(agent.0),
            host: host.clone(),
            mode: Mode::Pass,
            sessions: Sessions::default(),
            answers: Answers::new(host.clone(), answers),
            notes,
            to_client,
        };
        let mut outbound = Task::start(outbound.run());
        let mut leave = pin!(leave);
        let end = tokio::select! {
            _ = inbound.over() => End::Client,
            // Whichever of the two notices first that nobody reads, or that there is nothing more to come.
            written = view.over() => if matches!(written, Some(Ok(()))) { End::Agent } else { End::Client },
            passed = outbound.over() => if matches!(passed, Some(Ok(()))) { End::Agent } else { End::Client },
            () = &mut leave => End::Asked,
        };
        // Begins with the call: whatever else takes its time, terminals end now.
        let ended = host.end();
        drop(close);
        match end {
            End::Client | End::Asked => {
                drop(timeout(LEAVE, async { tokio::join!(outbound.over(), view.over()) }).await);
                ended.await;
            }
            End::Agent => {
                let delivered = async {
                    tokio::select! {
                        _ = view.over() => {}
                        _ = inbound.over() => drop(timeout(LEAVE, view.over()).await),
                        () = leave => {}
                    }
                };
                tokio::join!(delivered, ended);
            }
        }
        end
    }
}
