//! The places where a host serves an agent: in a client, on a private connection, in the relay, in a conductor chain.
//!
//! In each the agent's end is spoken by hand, and the same rules hold.

use crate::wire::{Line, Refused, Wire};
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{InitializeRequest, NewSessionRequest};
use agent_client_protocol::{Builder, ByteStreams, Client};
use agent_client_protocol_conductor::{ConductorImpl, ProxiesAndAgent};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{ReadHalf, WriteHalf, split};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};
use wharf_acp::{Event, Host, Hosting, Relay, component};
use wharf_testing::acp_schema::{Author, Direction, Transcript};
use wharf_testing::leak::MARK;
use wharf_testing::{Place, guarded};

/// Where the host is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    Client,
    Private,
    Relay,
    Conductor,
}

pub(crate) const EVERYWHERE: [Where; 4] = [Where::Client, Where::Private, Where::Relay, Where::Conductor];

/// An agent's end of a connection whose other end has terminals, with two sessions open.
pub(crate) struct Station {
    pub(crate) agent: Arc<Wire>,
    /// The client's end, where it is spoken by hand too.
    pub(crate) client: Option<Arc<Wire>>,
    pub(crate) host: Host,
    /// The sessions and where their commands start.
    pub(crate) one: String,
    pub(crate) two: String,
    pub(crate) cwd: PathBuf,
    /// What was told of terminals: `created`, `ended`, `released`, `refused`.
    pub(crate) events: Arc<Mutex<Vec<String>>>,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

type Pipe = tokio::io::DuplexStream;

/// A host with what tests need in the environment of its commands.
pub(crate) fn host(place: &Place) -> (Host, Arc<Mutex<Vec<String>>>) {
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
        Event::Ended { id, ended, .. } => format!("ended {id} by {}", ended.author),
        Event::Released { id, .. } => format!("released {id}"),
        Event::Refused { command, .. } => format!("refused {}", command.join(" ")),
        _ => "something else".to_owned(),
    }
}

impl Station {
    pub(crate) async fn open(place: &Place, at: Where) -> Self {
        Self::open_with(place, at, host(place)).await
    }

    /// With a host of the test's choice, and what that is told.
    pub(crate) async fn open_with(
        place: &Place,
        at: Where,
        (host, events): (Host, Arc<Mutex<Vec<String>>>),
    ) -> Self {
        let cwd = place.dir().join("project");
        std::fs::create_dir_all(&cwd).unwrap();
        let (near, far) = tokio::io::duplex(1 << 20);
        let (read, write) = split(near);
        let agent = Arc::new(Wire::new(read, write));
        let (stop, stopped) = oneshot::channel();
        let (near, far_client) = tokio::io::duplex(1 << 20);
        let (read, write) = split(near);
        let editor = Arc::new(Wire::new(read, write));
        let serving = match at {
            Where::Client => client(host.clone(), far, cwd.clone(), stopped),
            Where::Private => private(host.clone(), far, cwd.clone()),
            Where::Relay => relay(host.clone(), far_client, far, stopped),
            Where::Conductor => conductor(host.clone(), far_client, far),
        };
        let by_hand = matches!(at, Where::Relay | Where::Conductor);
        match at {
            Where::Private => {}
            Where::Client => greet(&agent).await,
            Where::Relay | Where::Conductor => {
                tokio::join!(greet(&agent), introduce(&editor, &cwd));
            }
        }
        let station = Self {
            agent,
            client: by_hand.then_some(editor),
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

    /// Both sessions are open at the other end, as soon as the agent has named them.
    async fn settled(&self) {
        for session in [&self.one, &self.two] {
            // Refused because of the command, not because of the session: that is open, although the agent has only just
            // named it.
            let refused = self.create(session, json!({"command": ""})).await.unwrap_err();
            assert_eq!(refused.code, -32602, "{refused:?}");
        }
        self.events.lock().unwrap().clear();
    }

    /// `terminal/create` in a session.
    pub(crate) async fn create(&self, session: &str, mut params: Value) -> Result<String, Refused> {
        params["sessionId"] = json!(session);
        let created = self.agent.call("terminal/create", params).await?;
        Ok(created["terminalId"].as_str().unwrap().to_owned())
    }

    /// A shell line in the first session.
    pub(crate) async fn start(&self, line: &str) -> String {
        self.create(&self.one, json!({"command": line})).await.unwrap()
    }

    /// Any of the other methods, in the first session.
    pub(crate) async fn ask(&self, method: &str, terminal: &str) -> Result<Value, Refused> {
        self.agent.call(&format!("terminal/{method}"), self.about(terminal)).await
    }

    /// The parameters of all of them.
    pub(crate) fn about(&self, terminal: &str) -> Value {
        json!({"sessionId": self.one, "terminalId": terminal})
    }

    /// Waits for the end and gives the output.
    pub(crate) async fn finished(&self, terminal: &str) -> Value {
        self.ask("wait_for_exit", terminal).await.unwrap();
        self.ask("output", terminal).await.unwrap()
    }

    /// The text of a line that is run to its end and released.
    pub(crate) async fn text_of(&self, params: Value) -> String {
        let terminal = self.create(&self.one, params).await.unwrap();
        let output = self.finished(&terminal).await;
        self.ask("release", &terminal).await.unwrap();
        output["output"].as_str().unwrap().to_owned()
    }

    /// Polls until the output holds a text.
    pub(crate) async fn until(&self, terminal: &str, text: &str) {
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
    ///
    /// Everything that wharf has said is then held against the protocol's schema.
    pub(crate) async fn finish(mut self) {
        self.agent.close().await;
        if let Some(client) = &self.client {
            client.close().await;
        }
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        guarded(self.serving).await.unwrap();
        guarded(self.host.end()).await;
        conform(&self.agent.log(), Direction::ToAgent);
        if let Some(client) = &self.client {
            conform(&client.log(), Direction::ToClient);
        }
    }
}

/// Answers to the agent and updates to the client are ours; the rest is only passed on. What the test itself sends may be
/// wrong on purpose.
fn conform(log: &[Line], got: Direction) {
    let mut transcript = Transcript::new();
    let sent = if got == Direction::ToAgent { Direction::ToClient } else { Direction::ToAgent };
    for line in log {
        match line {
            Line::Sent(line) => drop(transcript.message(sent, line, Author::Peer)),
            Line::Got(line) => {
                let ours = ["session/update", "wharf-permission-", "$/cancel_request"];
                let is_ours = ours.iter().any(|word| line.contains(word)) || !line.contains("\"method\"");
                let author = if is_ours { Author::Wharf } else { Author::Peer };
                let problems = transcript.message(got, line, author);
                assert!(problems.is_empty(), "{problems:?} in {line}");
            }
        }
    }
}

pub(crate) type Bytes = ByteStreams<Compat<WriteHalf<Pipe>>, Compat<ReadHalf<Pipe>>>;

pub(crate) fn bytes(pipe: Pipe) -> Bytes {
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

/// The client's side of them, of a client without terminals.
async fn introduce(client: &Wire, cwd: &Path) {
    let hello = json!({"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": false}}});
    client.call("initialize", hello).await.unwrap();
    for session in ["session-1", "session-2"] {
        let new = client.call("session/new", json!({"cwd": cwd, "mcpServers": []})).await.unwrap();
        assert_eq!(new["sessionId"], session);
    }
}

/// The byte-exact proxy between two streams.
fn relay(host: Host, client: Pipe, agent: Pipe, stopped: oneshot::Receiver<()>) -> JoinHandle<()> {
    tokio::spawn(async move {
        let leave = async {
            let _ = stopped.await;
        };
        Relay::new(host, Hosting::Always).run(split(client), split(agent), leave).await;
    })
}

/// The official conductor with wharf's component between the client and the agent.
fn conductor(host: Host, client: Pipe, agent: Pipe) -> JoinHandle<()> {
    tokio::spawn(async move {
        let chain = ProxiesAndAgent::new(bytes(agent)).proxy(component(host, Hosting::Always));
        let _ = ConductorImpl::new_agent("test", chain).run(bytes(client)).await;
    })
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
                    host.new_session(&cx, NewSessionRequest::new(&cwd)).await?;
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
