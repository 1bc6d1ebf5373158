//! One end of a connection, spoken by hand: lines of JSON, with nothing between the test and what is really sent.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use wharf_testing::guarded;

type Log = Arc<Mutex<Vec<Line>>>;

/// A line on the wire.
#[derive(Debug, Clone)]
pub(crate) enum Line {
    /// From here.
    Sent(String),
    /// From the other side.
    Got(String),
}

type Pending = Arc<Mutex<HashMap<String, oneshot::Sender<Value>>>>;

/// A peer.
pub(crate) struct Wire {
    writer: tokio::sync::Mutex<Option<Box<dyn AsyncWrite + Send + Unpin>>>,
    pending: Pending,
    /// Requests and notifications that came in.
    incoming: tokio::sync::Mutex<mpsc::Receiver<Value>>,
    /// Every line, in order.
    log: Log,
    next: AtomicU64,
}

/// A request that is under way.
pub(crate) struct Asked {
    pub(crate) id: Value,
    answer: oneshot::Receiver<Value>,
}

/// An error of the other side.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refused {
    pub(crate) code: i64,
    pub(crate) error: Value,
}

impl Wire {
    pub(crate) fn new(
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let (pending, log) = (Pending::default(), Log::default());
        let (sender, incoming) = mpsc::channel(10_000);
        tokio::spawn(listen(BufReader::new(read), pending.clone(), log.clone(), sender));
        Self {
            writer: tokio::sync::Mutex::new(Some(Box::new(write))),
            pending,
            incoming: tokio::sync::Mutex::new(incoming),
            log,
            next: AtomicU64::new(0),
        }
    }

    /// Sends one line as it is.
    pub(crate) async fn line(&self, line: &str) {
        self.log.lock().unwrap().push(Line::Sent(line.to_owned()));
        let mut writer = self.writer.lock().await;
        let writer = writer.as_mut().expect("the end is still open");
        guarded(writer.write_all(format!("{line}\n").as_bytes())).await.unwrap();
        guarded(writer.flush()).await.unwrap();
    }

    /// Sends a request and does not wait.
    pub(crate) async fn begin(&self, method: &str, params: Value) -> Asked {
        let id = json!(self.next.fetch_add(1, Ordering::Relaxed));
        self.begin_as(id, method, params).await
    }

    /// The same, with an id of the test's choice.
    pub(crate) async fn begin_as(&self, id: Value, method: &str, params: Value) -> Asked {
        let (sender, answer) = oneshot::channel();
        self.pending.lock().unwrap().insert(id.to_string(), sender);
        self.line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()).await;
        Asked { id, answer }
    }

    /// A request and its answer.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Result<Value, Refused> {
        self.begin(method, params).await.answer().await
    }

    pub(crate) async fn notify(&self, method: &str, params: Value) {
        self.line(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()).await;
    }

    pub(crate) async fn cancel(&self, asked: &Asked) {
        self.notify("$/cancel_request", json!({"requestId": asked.id})).await;
    }

    pub(crate) async fn respond(&self, request: &Value, result: Value) {
        self.line(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string()).await;
    }

    /// The next request or notification from the other side.
    pub(crate) async fn next(&self) -> Value {
        guarded(self.incoming.lock().await.recv()).await.expect("the other side closed the connection")
    }

    /// The next one of that method; others before it are dropped.
    pub(crate) async fn next_of(&self, method: &str) -> Value {
        loop {
            let message = self.next().await;
            if message["method"] == method {
                return message;
            }
        }
    }

    /// Every line until now.
    pub(crate) fn log(&self) -> Vec<Line> {
        self.log.lock().unwrap().clone()
    }

    /// Closes this end.
    pub(crate) async fn close(&self) {
        if let Some(mut writer) = self.writer.lock().await.take() {
            let _ = writer.shutdown().await;
        }
    }
}

impl Asked {
    pub(crate) async fn answer(self) -> Result<Value, Refused> {
        let message = guarded(self.answer).await.expect("the connection closed before the answer");
        match message.get("error") {
            Some(error) => Err(Refused { code: error["code"].as_i64().unwrap(), error: error.clone() }),
            None => Ok(message["result"].clone()),
        }
    }

    /// Whether the answer is there.
    pub(crate) fn is_answered(&mut self) -> bool {
        !self.answer.is_empty()
    }
}

async fn listen(
    read: BufReader<impl AsyncRead + Unpin>,
    pending: Pending,
    log: Log,
    incoming: mpsc::Sender<Value>,
) {
    let mut lines = read.lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap_or(Value::Null);
        log.lock().unwrap().push(Line::Got(line));
        if message.get("method").is_some() {
            let _ = incoming.send(message).await;
        } else if let Some(waiting) = pending.lock().unwrap().remove(&message["id"].to_string()) {
            let _ = waiting.send(message);
        }
    }
    // Nobody answers any more.
    pending.lock().unwrap().clear();
}
