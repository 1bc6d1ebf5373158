//! From the agent to the client: lines pass as they are, but for what is about terminals.
//!
//! This is the one place that knows whether terminals are ours and which sessions there are. It waits when the client
//! does not read, and then the agent has to, with whatever it asks next; what it has asked is answered all the same.

use super::answer::{Answers, Method};
use super::envelope::Envelope;
use super::inbound::Note;
use super::lines::{Lines, Piece};
use super::offer::Mode;
use super::outbox::{Bytes, Gone, Sender};
use super::session::{Action, Sessions, cancelled};
use super::view::ToClient;
use crate::display::gather;
use crate::host::Host;
use serde_json::value::RawValue;
use tokio::io::AsyncRead;
use tokio::sync::mpsc;
use wharf_core::Terminal;

/// The agent's lines.
pub(crate) struct Outbound<R> {
    pub(crate) lines: Lines<R>,
    pub(crate) host: Host,
    pub(crate) mode: Mode,
    pub(crate) sessions: Sessions,
    pub(crate) answers: Answers,
    pub(crate) notes: mpsc::Receiver<Note>,
    pub(crate) to_client: Sender<ToClient>,
}

/// Where a line goes.
enum Way {
    /// To the client, as it is.
    Pass,
    /// To the client, with these of our terminals in words that the client knows.
    Show(Vec<Terminal>),
    /// To the client, after what that session's terminals have printed.
    AfterOutput(agent_client_protocol::v1::schema::SessionId),
    /// No further.
    Ours,
}

impl<R: AsyncRead + Unpin> Outbound<R> {
    /// Passes them on until there are no more, or nobody wants them, which is an error.
    pub(crate) async fn run(mut self) -> Result<(), Gone> {
        loop {
            let piece = tokio::select! {
                biased;
                () = self.answers.answered() => continue,
                // Also while the agent is silent: a client may ask much of one that does not answer.
                Some(note) = self.notes.recv() => {
                    self.learn(note).await?;
                    continue;
                }
                piece = self.lines.next() => piece,
            };
            let Ok(Some(piece)) = piece else { return Ok(()) };
            // Whatever the agent answers, the question was noted before it got it.
            while let Ok(note) = self.notes.try_recv() {
                self.learn(note).await?;
            }
            self.deal(piece).await?;
        }
    }

    async fn learn(&mut self, note: Note) -> Result<(), Gone> {
        match note {
            Note::Begun(mode) => {
                self.mode = mode;
                if let Mode::Host(shows) = mode {
                    self.to_client.send(ToClient::Begin(shows)).await?;
                }
            }
            Note::Asked(key, asked) => {
                let host = &self.host;
                let action = self.sessions.asked(key, asked, |session| host.has_session(session));
                self.act(action);
            }
        }
        Ok(())
    }

    /// Opens or closes; the session to be flushed is given back.
    fn act(&self, action: Option<Action>) -> Option<agent_client_protocol::v1::schema::SessionId> {
        match action? {
            Action::Open { session, cwd } => self.host.open_session(session, cwd),
            Action::Close { session } => drop(tokio::spawn(self.host.close_session(&session))),
            Action::Flush { session } => return Some(session),
        }
        None
    }

    async fn deal(&mut self, piece: Piece) -> Result<(), Gone> {
        let line = match piece {
            Piece::Part(part) => return self.to_client.send(ToClient::Pass(Bytes::Part(part))).await,
            Piece::Rest(rest) => return self.to_client.send(ToClient::Pass(Bytes::Whole(rest))).await,
            Piece::Line(line) => line,
        };
        let message = match self.way(&line).await {
            Way::Ours => return Ok(()),
            Way::Pass => ToClient::Pass(Bytes::Whole(line)),
            Way::Show(named) => ToClient::Show(line, named),
            Way::AfterOutput(session) => ToClient::Answer { session, line },
        };
        self.to_client.send(message).await
    }

    /// Finds the terminals now: the agent may release them with its next line.
    fn show(&self, method: &str, params: Option<&RawValue>) -> Way {
        Way::Show(params.map(|params| gather(&self.host, method, params)).unwrap_or_default())
    }

    async fn way(&mut self, line: &[u8]) -> Way {
        if self.mode == Mode::Pass {
            return Way::Pass;
        }
        match Envelope::read(line) {
            Some(Envelope::Request { id, method, params }) => match Method::of(&method) {
                Some(method) => {
                    self.answers.request(method, id, params).await;
                    Way::Ours
                }
                None if matches!(&*method, "session/request_permission" | "session/update") => {
                    self.show(&method, params)
                }
                None => Way::Pass,
            },
            Some(Envelope::Notification { method, params }) => match &*method {
                name if Method::of(name).is_some() => {
                    Method::of(name).inspect(|method| self.answers.command(*method, params));
                    Way::Ours
                }
                "session/update" => self.show(&method, params),
                "$/cancel_request" if cancelled(params).is_some_and(|key| self.answers.cancel(&key)) => {
                    Way::Ours
                }
                _ => Way::Pass,
            },
            Some(Envelope::Response { id, result }) if !self.sessions.is_empty() => {
                let action = self.sessions.answered(&id.key(), result);
                self.act(action).map_or(Way::Pass, Way::AfterOutput)
            }
            Some(Envelope::Response { .. }) | None => Way::Pass,
        }
    }
}
