//! The relay between a client and an agent that are spoken by hand, byte for byte.

mod bound;
mod ending;
mod passage;
mod shown;
mod terminal;

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use wharf_acp::{End, Host, Hosting, Relay};
use wharf_testing::leak::MARK;
use wharf_testing::{Place, guarded};

/// As much as a pipe holds.
const PIPE: usize = 64 << 10;

/// One end.
struct Peer {
    read: BufReader<ReadHalf<DuplexStream>>,
    write: WriteHalf<DuplexStream>,
}

impl Peer {
    fn new(stream: DuplexStream) -> Self {
        let (read, write) = split(stream);
        Self { read: BufReader::new(read), write }
    }

    async fn say(&mut self, bytes: impl AsRef<[u8]>) {
        guarded(self.write.write_all(bytes.as_ref())).await.unwrap();
    }

    async fn say_json(&mut self, message: Value) {
        self.say(format!("{message}\n")).await;
    }

    /// The next line with its newline; empty at the end.
    async fn hear(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        guarded(self.read.read_until(b'\n', &mut line)).await.unwrap();
        line
    }

    async fn hear_json(&mut self) -> Value {
        let line = self.hear().await;
        serde_json::from_slice(&line)
            .unwrap_or_else(|error| panic!("{error}: {:?}", String::from_utf8_lossy(&line)))
    }

    /// Everything until the other side closes.
    async fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        guarded(self.read.read_to_end(&mut rest)).await.unwrap();
        rest
    }

    async fn close(&mut self) {
        guarded(self.write.shutdown()).await.unwrap();
    }
}

/// A relay with both its ends.
struct Rig {
    client: Peer,
    agent: Peer,
    leave: Option<oneshot::Sender<()>>,
    relay: JoinHandle<End>,
    cwd: PathBuf,
}

impl Rig {
    fn new(place: &Place, terminals: Hosting) -> Self {
        let host = Host::new(place.store.clone())
            .env([("PATH", Path::new("/usr/local/bin:/usr/bin:/bin")), (MARK, place.dir())]);
        let (client, to_client) = duplex(PIPE);
        let (agent, to_agent) = duplex(PIPE);
        let (leave, left) = oneshot::channel();
        let relay = Relay::new(host, terminals);
        let asked = async {
            if left.await.is_err() {
                std::future::pending().await
            }
        };
        let relay = tokio::spawn(relay.run(split(to_client), split(to_agent), asked));
        let (client, agent) = (Peer::new(client), Peer::new(agent));
        Self { client, agent, leave: Some(leave), relay, cwd: place.dir().to_owned() }
    }

    /// After `initialize` of a client without terminals, with the session `s` open.
    async fn begun(place: &Place) -> Self {
        let mut rig = Self::new(place, Hosting::Always);
        rig.client
            .say_json(json!({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}))
            .await;
        rig.agent.hear().await;
        rig.agent.say("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":1}}\n").await;
        rig.client.hear().await;
        rig.open("s").await;
        rig
    }

    async fn open(&mut self, session: &str) {
        let new = json!({"jsonrpc":"2.0","id":"new","method":"session/new","params":{"cwd":self.cwd}});
        self.client.say_json(new).await;
        self.agent.hear().await;
        self.agent.say_json(json!({"jsonrpc":"2.0","id":"new","result":{"sessionId":session}})).await;
        self.client.hear().await;
    }

    /// A request of the agent, and its answer.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.agent.say_json(json!({"jsonrpc":"2.0","id":"ask","method":method,"params":params})).await;
        let answer = self.agent.hear_json().await;
        assert_eq!(answer["id"], "ask", "{answer}");
        answer
    }

    /// A shell line in the session `s`; its id.
    async fn start(&mut self, line: &str) -> String {
        let answer = self.ask("terminal/create", json!({"sessionId":"s","command":line})).await;
        answer["result"]["terminalId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// What a client says passes to the agent, and what the agent says to the client, byte for byte.
    async fn passes(&mut self, line: impl AsRef<[u8]>) {
        let line = line.as_ref();
        self.client.say(line).await;
        assert_eq!(text(&self.agent.hear().await), text(line));
        self.agent.say(line).await;
        assert_eq!(text(&self.client.hear().await), text(line));
    }

    /// Closes the client's end; the agent leaves when it hears of it.
    async fn finish(mut self) {
        self.client.close().await;
        self.agent.rest().await;
        self.agent.close().await;
        assert_eq!(guarded(self.relay).await.unwrap(), End::Client);
    }
}

/// Readable, and different for different bytes.
fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}
