//! Output by offset.

use super::wait::Fate;
use super::{Phase, Terminal};
use crate::client::Client;
use crate::end::Ended;
use crate::error::{ControlError, ReadError};
use crate::text::{self, Tail};
use wharf_shim::journal::read::{Chunk, read_output};
use wharf_shim::wire::message::{Reply, Request, State};

impl Terminal {
    /// Up to `max` bytes from offset `from`: what is there now, the first kept offset, the end, and the exact gap if
    /// `from` is no longer kept. Never waits.
    pub fn read(&self, from: u64, max: usize) -> Result<Chunk, ReadError> {
        Ok(read_output(&self.shared.events, &self.shared.out, from, max)?)
    }

    /// The newest text, at most `limit` bytes of it, cut between characters; true if anything was left out or dropped.
    /// While nothing is, each answer begins the next.
    pub fn text(&self, limit: usize) -> Result<(String, bool), ReadError> {
        self.output(limit).map(|output| (output.text, output.truncated))
    }

    /// As [`Terminal::text`], with the end if there is one: then the text is complete.
    pub fn output(&self, limit: usize) -> Result<Output, ReadError> {
        let Newest { at, bytes, ended } = self.newest(limit)?;
        let end = if ended.is_some() { Tail::Ended } else { Tail::Open };
        let skip = if at > 0 { text::orphans(&bytes) } else { 0 };
        let (text, cut) = text::tail(&bytes[skip..], limit, end);
        Ok(Output { text, truncated: cut || at > 0, ended })
    }

    /// The newest bytes, at most `max` of them, with the end if there is one: then nothing that the command printed comes
    /// after them.
    pub fn newest(&self, max: usize) -> Result<Newest, ReadError> {
        // Looked at before the bytes are read: an end that is on record has all its bytes in the file.
        let ended = match self.look()?.phase {
            Phase::Ended(ended) => Some(ended),
            Phase::Starting | Phase::Running { .. } | Phase::NotStarted => None,
        };
        let size = self.shared.out.metadata()?.len();
        let chunk = self.read(size.saturating_sub(max as u64), max)?;
        Ok(Newest { at: chunk.at, bytes: chunk.bytes, ended })
    }

    /// A reader that waits for more, from offset `from`.
    #[must_use]
    pub fn reader(&self, from: u64) -> Reader {
        Reader { terminal: self.clone(), at: from, taken: None, told: 0, client: None }
    }
}

/// The newest bytes of a terminal and how it stands, of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Newest {
    /// The offset of the first of them; zero if they are all there ever were.
    pub at: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The end; then everything that the command printed is in the bytes, or before them.
    pub ended: Option<Ended>,
}

/// The newest text of a terminal and how it stands, of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// The text, as much of it as was asked for.
    pub text: String,
    /// Whether anything before it was left out or dropped.
    pub truncated: bool,
    /// The end; then everything that the command printed is in the text, or before it.
    pub ended: Option<Ended>,
}

/// Reads a terminal's output as it comes, at its own pace.
#[derive(Debug)]
pub struct Reader {
    terminal: Terminal,
    at: u64,
    /// How far the owner is done with it, and how far the holder knows.
    taken: Option<u64>,
    told: u64,
    client: Option<Client>,
}

/// Bytes after which the holder is told what was taken; small against the least that is kept.
const TELL_EVERY: u64 = 8 * 1024;

/// What a reader gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// More output, and possibly a gap before it.
    Output(Chunk),
    /// The command has ended and everything it printed was read. Descendants may print more.
    Ended,
    /// The holder is done too: nothing will ever follow.
    Closed,
}

impl Reader {
    /// Whose output it reads.
    #[must_use]
    pub fn terminal(&self) -> &Terminal {
        &self.terminal
    }

    /// The offset of the next byte.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.at
    }

    /// Says, as the terminal's owner, that everything read so far is dealt with. A command that waits for its owner goes
    /// on; for any other this does nothing.
    pub fn taken(&mut self) {
        self.taken = Some(self.at);
        // Not for every few bytes: what is told at the latest before waiting for more is soon enough.
        if self.at - self.told >= TELL_EVERY {
            self.tell_taken();
        }
    }

    fn tell_taken(&mut self) -> bool {
        match self.taken {
            Some(taken) if taken > self.told => {
                let told = self.terminal.taken(taken);
                if told {
                    self.told = taken;
                }
                told
            }
            _ => true,
        }
    }

    /// Up to `max` bytes, waiting for them until the command has ended.
    pub async fn next(&mut self, max: usize) -> Result<Step, ControlError> {
        self.advance(max, State::Running).await
    }

    /// As [`Reader::next`], also for what descendants print after the command's end.
    pub async fn next_until_closed(&mut self, max: usize) -> Result<Step, ControlError> {
        self.advance(max, State::Ended).await
    }

    async fn advance(&mut self, max: usize, until: State) -> Result<Step, ControlError> {
        let mut seen = State::Running;
        loop {
            if let Some(chunk) = self.more(max)? {
                return Ok(Step::Output(chunk));
            }
            // Only now, since it takes longer than to read. And read again after it: nothing that was on record at the
            // look can have been missed then.
            let look = self.terminal.look()?;
            if let Some(chunk) = self.more(max)? {
                return Ok(Step::Output(chunk));
            }
            match look.phase {
                Phase::NotStarted => return Ok(Step::Closed),
                Phase::Ended(_) if !look.held => return Ok(Step::Closed),
                Phase::Ended(_) if until == State::Running => return Ok(Step::Ended),
                // While its holder cannot write, that is the state it will report; else this would go round and round.
                Phase::Ended(_) if seen == State::Running => seen = State::Ended,
                Phase::Ended(_) => {}
                Phase::Starting | Phase::Running { .. } => {}
            }
            seen = self.wait_for_more(seen).await?;
        }
    }

    /// What is there now, if anything is.
    fn more(&mut self, max: usize) -> Result<Option<Chunk>, ReadError> {
        let chunk = self.terminal.read(self.at, max)?;
        if chunk.bytes.is_empty() && chunk.gap == 0 {
            return Ok(None);
        }
        self.at = chunk.at + chunk.bytes.len() as u64;
        Ok(Some(chunk))
    }

    /// Returns when there is something to look at; the state that the holder reports.
    async fn wait_for_more(&mut self, seen: State) -> Result<State, ControlError> {
        // Both would wait for ever if this were not said: it for us to read, we for it to print.
        while !self.tell_taken() {
            tokio::task::yield_now().await;
        }
        let mut client = match self.client.take() {
            Some(client) => client,
            None => match self.terminal.connect().await {
                Ok(client) => {
                    self.terminal.wake_holder();
                    client
                }
                Err(_) => return self.after_silence().await,
            },
        };
        match client.ask(&Request::Watch { past: self.at, seen }).await {
            Ok(Reply::Progress(progress)) => {
                self.client = Some(client);
                Ok(progress.state)
            }
            Ok(Reply::Refused(refusal)) => Err(refusal.into()),
            Ok(_) | Err(_) => self.after_silence().await,
        }
    }

    /// What to ask for next, when the holder did not answer.
    async fn after_silence(&self) -> Result<State, ControlError> {
        Ok(match self.terminal.holder_gone().await? {
            Fate::Gone => State::Ended,
            Fate::Alive => State::Running,
        })
    }
}
