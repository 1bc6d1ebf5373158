//! From the client to the agent: lines pass as they are; what they say about sessions is told to [`super::outbound`].
//!
//! It is told before the line goes on, so that the agent cannot answer a question that is not on record. Answers to
//! questions of our own go no further.

use super::Hosting;
use super::ask::{Asks, cancelled_session};
use super::envelope::{Envelope, Key};
use super::lines::{Lines, Piece};
use super::offer::{Mode, offer};
use super::outbox::{Bytes, Sender};
use super::session::Asked;
use tokio::io::AsyncRead;
use tokio::sync::mpsc;

/// What the client has said.
#[derive(Debug)]
pub(crate) enum Note {
    Begun(Mode),
    Asked(Key, Asked),
}

/// The client's lines.
pub(crate) struct Inbound<R> {
    pub(crate) lines: Lines<R>,
    pub(crate) terminals: Hosting,
    /// Nothing if the client cannot be asked anything.
    pub(crate) asks: Option<Asks>,
    pub(crate) notes: mpsc::Sender<Note>,
    pub(crate) to_agent: Sender<Bytes>,
}

impl<R: AsyncRead + Unpin> Inbound<R> {
    /// Passes them on until there are no more, or none can be read, which is the same to us.
    pub(crate) async fn run(mut self) {
        while let Ok(Some(piece)) = self.lines.next().await {
            let bytes = match piece {
                Piece::Line(line) => match self.look(line).await {
                    Some(line) => Bytes::Whole(line),
                    None => continue,
                },
                Piece::Part(part) => Bytes::Part(part),
                Piece::Rest(rest) => Bytes::Whole(rest),
            };
            // An agent that has closed its input may still have something to say; what is for it is for nobody.
            let _ = self.to_agent.send(bytes).await;
        }
    }

    /// The line that goes on, if one does.
    async fn look(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        let (id, method, params) = match Envelope::read(&line) {
            Some(Envelope::Request { id, method, params }) => (id, method, params),
            Some(Envelope::Response { id, .. }) => {
                let is_ours = self.asks.as_ref().is_some_and(|asks| asks.take(id, &line));
                return (!is_ours).then_some(line);
            }
            Some(Envelope::Notification { method, params }) => {
                // Clients have to answer what is open then; who does not has not said yes.
                if method == "session/cancel"
                    && let (Some(asks), Some(session)) = (&self.asks, cancelled_session(params))
                {
                    asks.cancel(&session);
                }
                return Some(line);
            }
            None => {
                let is_ours = self.asks.as_ref().is_some_and(|asks| asks.take_broken(&line));
                return (!is_ours).then_some(line);
            }
        };
        if method == "initialize" {
            let (mode, edited) = offer(&line, params, self.terminals);
            let _ = self.notes.send(Note::Begun(mode)).await;
            return Some(edited.unwrap_or(line));
        }
        if let Some(asked) = Asked::read(&method, params) {
            let _ = self.notes.send(Note::Asked(id.key(), asked)).await;
        }
        Some(line)
    }
}
