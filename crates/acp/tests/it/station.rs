//! The places where a host serves an agent: in a client, on a private connection, in the relay, in a conductor chain.
//!
//! In each the agent's end is spoken by hand, and the same rules hold.

use crate::wire::{Refused, Wire};
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{InitializeRequest, NewSessionRequest};
use agent_client_protocol::{Builder, ByteStreams, Client};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{ReadHalf, WriteHalf, split};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};
use wharf_acp::{Event, Host};
use wharf_testing::leak::MARK;
use wharf_testing::{Place, guarded};

/// Where the host is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    Client,
    Private,
}

pub const EVERYWHERE: [Where; 2] = [Where::Client, Where::Private];

/// An agent's end of a connection whose other end has terminals, with two sessions open.
pub struct Station {
    pub agent: Arc<Wire>,
    pub host: Host,
    /// The sessions and where their commands start.
    pub one: String,
    pub two: String,
    pub cwd: PathBuf,
    /// What was told of terminals: `created`, `ended`, `released`, `refused`.
    pub events: Arc<Mutex<Vec<String>>>,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

type Pipe = tokio::io::DuplexStream;

/// A host with what tests need in the environment of its commands.
pub fn host(place: &Place) -> (Host, Arc<Mutex<Vec<String>>>) {
    let events = Arc::new(Mutex::new(Vec::new()));
    let told = events.clone();
    let host = Host::new(place.store.clone())
        .env([
            ("PATH", Path::new("/usr/local/bin:/usr/bin:/bin")),
            (MARK, place.dir()),
            ("HOME", place.dir()),
            ("PAGER", Path::new("less")),
            ("TERM", Path::new("inherited")),
        ])
        .agent("test")
        .grace(Duration::from_millis(500))
        .observe(move |event| told.lock().unwrap().push(name(event)));
    (host, events)
}

fn name(event: &Event) -> String {
    match event {
        Event::Created { terminal, .. } => format!("created {}", terminal.id()),
        Event::Ended { id, .. } => format!("ended {id}"),
        Event::Released { id, .. } => format!("released {id}"),
        Event::Refused { command, .. } => format!("refused {command}"),
        _ => "something else".to_owned(),
    }
}

impl Station {
    pub async fn open(place: &Place, at: Where) -> Self {
        let (host, events) = host(place);
        let cwd = place.dir().join("project");
        std::fs::create_dir_all(&cwd).unwrap();
        let (near, far) = tokio::io::duplex(1 << 20);
        let (read, write) = split(near);
        let agent = Arc::new(Wire::new(read, write));
        let (stop, stopped) = oneshot::channel();
        let serving = match at {
            Where::Client => client(host.clone(), far, cwd.clone(), stopped),
            Where::Private => private(host.clone(), far, cwd.clone()),
        };
        if at == Where::Client {
            greet(&agent).await;
        }
        let station = Self {
            agent,
            host,
            one: "session-1".to_owned(),
            two: "session-2".to_owned(),
            cwd,
            events,
            stop: Some(stop),
            serving,
        };
        station.settled().await;
        station
    }

    /// Until both sessions are open at the other end.
    async fn settled(&self) {
        for session in [&self.one, &self.two] {
            // Refused because of the command, not because of the session.
            let refused = loop {
                let refused = self.create(session, json!({"command": ""})).await.unwrap_err();
                if refused.code == -32602 {
                    break refused;
                }
            };
            assert_eq!(refused.code, -32602, "{refused:?}");
        }
        self.events.lock().unwrap().clear();
    }

    /// `terminal/create` in a session.
    pub async fn create(&self, session: &str, mut params: Value) -> Result<String, Refused> {
        params["sessionId"] = json!(session);
        let created = self.agent.call("terminal/create", params).await?;
        Ok(created["terminalId"].as_str().unwrap().to_owned())
    }

    /// A shell line in the first session.
    pub async fn start(&self, line: &str) -> String {
        self.create(&self.one, json!({"command": line})).await.unwrap()
    }

    /// Any of the other methods, in the first session.
    pub async fn ask(&self, method: &str, terminal: &str) -> Result<Value, Refused> {
        self.agent.call(&format!("terminal/{method}"), self.about(terminal)).await
    }

    /// The parameters of all of them.
    pub fn about(&self, terminal: &str) -> Value {
        json!({"sessionId": self.one, "terminalId": terminal})
    }

    /// Waits for the end and gives the output.
    pub async fn finished(&self, terminal: &str) -> Value {
        self.ask("wait_for_exit", terminal).await.unwrap();
        self.ask("output", terminal).await.unwrap()
    }

    /// The text of a line that is run to its end and released.
    pub async fn text_of(&self, params: Value) -> String {
        let terminal = self.create(&self.one, params).await.unwrap();
        let output = self.finished(&terminal).await;
        self.ask("release", &terminal).await.unwrap();
        output["output"].as_str().unwrap().to_owned()
    }

    /// Polls until the output holds a text.
    pub async fn until(&self, terminal: &str, text: &str) {
        let found = async {
            loop {
                let output = self.ask("output", terminal).await.unwrap();
                if output["output"].as_str().unwrap().contains(text) {
                    return;
                }
                assert!(output.get("exitStatus").is_none(), "ended without {text:?}: {output}");
            }
        };
        guarded(found).await;
    }

    /// Closes the agent's end and waits until the other end has seen to everything.
    pub async fn finish(mut self) -> Vec<String> {
        let seen = self.agent.seen();
        self.agent.close().await;
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        guarded(self.serving).await.unwrap();
        guarded(self.host.end()).await;
        seen
    }
}

pub type Bytes = ByteStreams<Compat<WriteHalf<Pipe>>, Compat<ReadHalf<Pipe>>>;

pub fn bytes(pipe: Pipe) -> Bytes {
    let (read, write) = split(pipe);
    ByteStreams::new(write.compat_write(), read.compat())
}

/// The agent's side of the first messages.
async fn greet(agent: &Wire) {
    let initialize = agent.next_of("initialize").await;
    assert_eq!(initialize["params"]["clientCapabilities"]["terminal"], true);
    agent.respond(&initialize, json!({"protocolVersion": 1, "agentCapabilities": {}})).await;
    for session in ["session-1", "session-2"] {
        let new = agent.next_of("session/new").await;
        agent.respond(&new, json!({"sessionId": session})).await;
    }
}

/// A client as its author writes it.
fn client(host: Host, pipe: Pipe, cwd: PathBuf, stopped: oneshot::Receiver<()>) -> JoinHandle<()> {
    tokio::spawn(async move {
        let service = host.service();
        let served = Client
            .v1()
            .with_handler(service)
            .connect_with(bytes(pipe), async |cx| {
                let hello =
                    InitializeRequest::new(ProtocolVersion::V1).client_capabilities(Host::capabilities());
                cx.send_request(hello).block_task().await?;
                for _ in 0..2 {
                    let session = cx.send_request(NewSessionRequest::new(&cwd)).block_task().await?;
                    host.open_session(session.session_id, &cwd);
                }
                let _ = stopped.await;
                Ok(())
            })
            .await;
        // The agent's end may be closed first.
        let _ = served;
    })
}

/// A connection with nothing but terminals on it, which needs no `initialize`.
fn private(host: Host, pipe: Pipe, cwd: PathBuf) -> JoinHandle<()> {
    for session in ["session-1", "session-2"] {
        host.open_session(session, &cwd);
    }
    tokio::spawn(async move {
        let _ = Builder::new(Client).with_handler(host.service()).connect_to(bytes(pipe)).await;
    })
}
