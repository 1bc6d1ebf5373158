//! The agent's terminal requests: each is given to the host and answered by itself, in whatever order they are done.
//!
//! Whoever asks is answered exactly once, with the id as it was written. What the host does for a request begins here and
//! now, so that requests take effect in the order in which they came; only waiting happens aside. Knows no sessions and no
//! client.

use super::envelope::{Id, Key};
use super::escape::{escape, expected_len};
use super::outbox::{Bytes, Sender};
use crate::host::Host;
use agent_client_protocol::{Error, ErrorCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::mem;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// Requests of one agent that may be open. Hundreds are pending waits; thousands are a mistake. The ways out of it are
/// always open.
const MOST: usize = 4096;
/// An id at most: it is kept for as long as its request is open.
const LONGEST_ID: usize = 1024;

/// One of the five.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Create,
    Output,
    Wait,
    Kill,
    Release,
}

impl Method {
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name.strip_prefix("terminal/")? {
            "create" => Self::Create,
            "output" => Self::Output,
            "wait_for_exit" => Self::Wait,
            "kill" => Self::Kill,
            "release" => Self::Release,
            _ => return None,
        })
    }
}

/// The requests that are open.
pub(crate) struct Answers {
    host: Host,
    to_agent: Sender<Bytes>,
    open: HashMap<Key, Open>,
    tasks: JoinSet<(Key, u64)>,
    /// An agent may use an id twice; then only the later can be cancelled.
    count: u64,
}

struct Open {
    number: u64,
    cancel: oneshot::Sender<()>,
}

impl Answers {
    pub(crate) fn new(host: Host, to_agent: Sender<Bytes>) -> Self {
        Self { host, to_agent, open: HashMap::new(), tasks: JoinSet::new(), count: 0 }
    }

    /// Deals with a request. Waits only for an agent that does not read its answers.
    pub(crate) async fn request(&mut self, method: Method, id: Id<'_>, params: Option<&RawValue>) {
        if id.text().len() > LONGEST_ID {
            let error = Error::new(ErrorCode::INVALID_REQUEST, "the id of the request is too long");
            return self.refuse(id, error).await;
        }
        if self.tasks.len() >= MOST && matches!(method, Method::Create | Method::Wait) {
            let error = Error::new(ErrorCode::INTERNAL_ERROR, "too many terminal requests are open");
            return self.refuse(id, error).await;
        }
        let host = self.host.clone();
        let begun = match method {
            Method::Output => return self.output(id, params).await,
            Method::Create => read(params).map(|request| self.begin(id, host.create(request))),
            Method::Wait => read(params).map(|request| self.begin(id, host.wait_for_exit(&request))),
            Method::Kill => read(params).map(|request| self.begin(id, host.kill(&request))),
            Method::Release => read(params).map(|request| self.begin(id, host.release(&request))),
        };
        if let Err(error) = begun {
            self.refuse(id, error).await;
        }
    }

    /// Deals with one that wants no answer. Only what has an effect does anything.
    pub(crate) fn command(&self, method: Method, params: Option<&RawValue>) {
        match method {
            Method::Kill => drop(read(params).map(|request| tokio::spawn(self.host.kill(&request)))),
            Method::Release => drop(read(params).map(|request| tokio::spawn(self.host.release(&request)))),
            Method::Create | Method::Output | Method::Wait => {}
        }
    }

    /// Gives up waiting for a request; whether there was one.
    pub(crate) fn cancel(&mut self, key: &Key) -> bool {
        let Some(open) = self.open.remove(key) else { return false };
        // If it is just being answered, that is the answer.
        let _ = open.cancel.send(());
        true
    }

    /// Waits until one is answered, and forgets it; for ever if none is open.
    pub(crate) async fn answered(&mut self) {
        match self.tasks.join_next().await {
            Some(Ok((key, number))) => {
                if self.open.get(&key).is_some_and(|open| open.number == number) {
                    self.open.remove(&key);
                }
            }
            Some(Err(_)) => {}
            None => std::future::pending().await,
        }
    }

    fn begin<T: Serialize + Send + 'static>(
        &mut self,
        id: Id<'_>,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) {
        let (key, text, to_agent) = (id.key(), Box::<str>::from(id.text()), self.to_agent.clone());
        self.count += 1;
        let number = self.count;
        let (cancel, cancelled) = oneshot::channel();
        self.open.insert(key.clone(), Open { number, cancel });
        self.tasks.spawn(async move {
            let result = tokio::select! {
                biased;
                result = work => result,
                Ok(()) = cancelled => Err(Error::request_cancelled()),
            };
            let _ = to_agent.send(Bytes::Whole(answer(&text, &result))).await;
            (key, number)
        });
    }

    /// Answered on the spot: what was asked before must not be overtaken by a release.
    async fn output(&self, id: Id<'_>, params: Option<&RawValue>) {
        let mut result = read(params).and_then(|request| self.host.output(&request));
        let text = result.as_mut().map(|answer| mem::take(&mut answer.output)).unwrap_or_default();
        let mut line = answer(id.text(), &result);
        fill_in(&text, &mut line);
        let _ = self.to_agent.send(Bytes::Whole(line)).await;
    }

    async fn refuse(&self, id: Id<'_>, error: Error) {
        let _ = self.to_agent.send(Bytes::Whole(answer(id.text(), &Err::<(), _>(error)))).await;
    }
}

fn read<T: DeserializeOwned>(params: Option<&RawValue>) -> Result<T, Error> {
    let invalid = |why: String| Error::new(ErrorCode::INVALID_PARAMS, why);
    let params = params.ok_or_else(|| invalid("the parameters are missing".to_owned()))?;
    serde_json::from_str(params.get()).map_err(|error| invalid(format!("the parameters are wrong: {error}")))
}

/// The line of an answer.
fn answer<T: Serialize>(id: &str, result: &Result<T, Error>) -> Vec<u8> {
    let mut line = Vec::with_capacity(256);
    line.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    line.extend_from_slice(id.as_bytes());
    let start = line.len();
    let written = match result {
        Ok(result) => {
            line.extend_from_slice(br#","result":"#);
            serde_json::to_writer(&mut line, result)
        }
        Err(error) => {
            line.extend_from_slice(br#","error":"#);
            serde_json::to_writer(&mut line, error)
        }
    };
    if written.is_err() {
        // Only a type whose own serialisation fails gets here; the protocol has none.
        line.truncate(start);
        line.extend_from_slice(br#","error":{"code":-32603,"message":"Internal error"}"#);
    }
    line.extend_from_slice(b"}\n");
    line
}

/// Puts a terminal's output, which may be megabytes, into the answer that was written without it.
fn fill_in(output: &str, line: &mut Vec<u8>) {
    const EMPTY: &[u8] = br#""output":""#;
    if output.is_empty() {
        return;
    }
    // The id comes before it and may be any text, but not with a quote that is not escaped.
    let Some(at) = line.windows(EMPTY.len()).position(|part| part == EMPTY) else { return };
    let after = line.split_off(at + EMPTY.len());
    line.reserve(expected_len(output) + after.len());
    escape(output, line);
    line.extend_from_slice(&after);
}
