//! Sending input so that every byte arrives once, in order, whatever happens to the connection.

use super::Terminal;
use crate::client::Client;
use crate::error::ControlError;
use crate::id::TerminalId;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io;
use wharf_shim::wire::message::{Reply, Request};

/// One message to the holder, which takes it whole: what another sender types comes before it or after it. As much as
/// may wait there; of what is longer, another sender's message can pass between two pieces.
const PIECE: usize = 64 * 1024;
/// How often a cut connection is made again for one piece. Each attempt reaches a holder that listens.
const ATTEMPTS: usize = 5;

/// A sender of input to one terminal.
#[derive(Debug)]
pub struct Input {
    terminal: Terminal,
    author: String,
    writer: u64,
    seq: u64,
    client: Option<Client>,
}

impl Terminal {
    /// Somebody who types. `author` says who, for the journal.
    pub fn input(&self, author: &str) -> io::Result<Input> {
        let mut hasher = DefaultHasher::new();
        TerminalId::random()?.hash(&mut hasher);
        let writer = hasher.finish();
        Ok(Input { terminal: self.clone(), author: author.to_owned(), writer, seq: 0, client: None })
    }
}

impl Input {
    /// Sends bytes. Waits while the command has too much unread input; nobody else waits with it. If the future is dropped
    /// on the way, the pieces before have been taken, and of the one under way it is not known.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<(), ControlError> {
        for piece in bytes.chunks(PIECE) {
            self.seq += 1;
            let request = Request::Input {
                writer: self.writer,
                seq: self.seq,
                author: self.author.clone(),
                bytes: piece.to_vec(),
            };
            self.deliver(&request).await?;
        }
        Ok(())
    }

    /// Says that no more input will come.
    pub async fn end(&mut self) -> Result<(), ControlError> {
        self.seq += 1;
        let request = Request::EndInput { writer: self.writer, seq: self.seq, author: self.author.clone() };
        self.deliver(&request).await
    }

    /// Until the holder has said yes or no. The same number again is harmless if only its answer was lost.
    async fn deliver(&mut self, request: &Request) -> Result<(), ControlError> {
        for _ in 0..ATTEMPTS {
            let connected = match self.client.take() {
                Some(client) => Ok(client),
                None => self.terminal.connect().await,
            };
            let Ok(mut client) = connected else { break };
            match self.terminal.keep_awake(client.ask(request)).await {
                Ok(Reply::Refused(refusal)) => {
                    self.client = Some(client);
                    return Err(refusal.into());
                }
                Ok(_) => {
                    self.client = Some(client);
                    return Ok(());
                }
                Err(_) => {}
            }
        }
        Err(self.terminal.silent().await)
    }
}
