//! A client and an agent in one process, with a tap between them: the client has a real host, the agent is the test.

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ClientCapabilities, InitializeRequest, InitializeResponse, SessionId, SessionNotification,
};
use agent_client_protocol::{
    Agent, Channel, Client, RawJsonRpcMessage, on_receive_notification, on_receive_request,
};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, oneshot};
use wharf_acp::{Event, Host};
use wharf_core::TerminalId;
use wharf_testing::{Place, guarded, leak};

/// The only session, open at the client.
pub(crate) fn session() -> SessionId {
    SessionId::new("s")
}

/// A host in a place, and what it tells.
pub(crate) fn host(place: &Place) -> (Host, Told) {
    let (tell, told) = mpsc::channel(1000);
    let host = Host::new(place.store.clone())
        .env([("PATH", "/usr/local/bin:/usr/bin:/bin".as_ref()), (leak::MARK, place.dir().as_os_str())])
        .observe(move |event| {
            if let Event::Released { id, .. } = event {
                // Not everybody wants to know.
                let _ = tell.try_send(id.clone());
            }
        });
    (host, Told(told))
}

/// Terminals that were released, in order.
pub(crate) struct Told(mpsc::Receiver<TerminalId>);

impl Told {
    /// The next one.
    pub(crate) async fn released(&mut self) -> String {
        guarded(self.0.recv()).await.unwrap().to_string()
    }
}

/// What the client announces.
#[derive(Clone, Copy)]
pub(crate) enum Announces {
    Terminals,
    Nothing,
    TerminalOutput,
}

impl Announces {
    pub(crate) fn capabilities(self) -> ClientCapabilities {
        match self {
            Self::Terminals => Host::capabilities(),
            Self::Nothing => ClientCapabilities::new(),
            Self::TerminalOutput => {
                ClientCapabilities::new().meta(json!({ "terminal_output": true }).as_object().cloned())
            }
        }
    }
}

/// Everything the agent sent, in order, as on the wire.
#[derive(Clone, Default)]
pub(crate) struct Sent(Arc<Mutex<Vec<Value>>>);

impl Sent {
    fn note(&self, message: &RawJsonRpcMessage) {
        self.0.lock().unwrap().push(serde_json::to_value(message).unwrap());
    }

    pub(crate) fn all(&self) -> Vec<Value> {
        self.0.lock().unwrap().clone()
    }

    /// The methods of its requests and notifications.
    pub(crate) fn methods(&self) -> Vec<String> {
        self.all().iter().filter_map(|m| m["method"].as_str().map(str::to_owned)).collect()
    }

    /// The tool calls and their updates.
    pub(crate) fn updates(&self) -> Vec<Value> {
        let all = self.all();
        all.iter()
            .filter(|m| m["method"] == "session/update")
            .map(|m| m["params"]["update"].clone())
            .collect()
    }
}

/// Runs `agent` at the other end of a connection to a client with that host. Returns when both sides are done.
pub(crate) async fn connect<R>(
    host: &Host,
    announces: Announces,
    cwd: &Path,
    agent: impl AsyncFnOnce(ConnectionTo<Client>, ClientCapabilities, Sent) -> R,
) -> R {
    let ((client_end, client_far), (agent_end, agent_far)) = (Channel::duplex(), Channel::duplex());
    let sent = Sent::default();
    let tap = sent.clone();
    let bridge = Channel::bridge_with_inspection(
        client_far,
        agent_far,
        |_| Ok(()),
        move |message| {
            tap.note(message);
            Ok(())
        },
    );
    host.open_session(session(), cwd);
    let client = Client
        .v1()
        .with_handler(host.service())
        .on_receive_notification(async |_: SessionNotification, _| Ok(()), on_receive_notification!())
        .connect_with(client_end, async |cx| {
            let hello =
                InitializeRequest::new(ProtocolVersion::V1).client_capabilities(announces.capabilities());
            cx.send_request(hello).block_task().await?;
            cx.incoming_closed().await;
            Ok(())
        });
    let (hear, heard) = oneshot::channel();
    let mut hear = Some(hear);
    let agent = Agent
        .v1()
        .on_receive_request(
            async move |init: InitializeRequest, responder, _| {
                let _ = hear.take().unwrap().send(init.client_capabilities);
                responder.respond(InitializeResponse::new(init.protocol_version))
            },
            on_receive_request!(),
        )
        .connect_with(agent_end, async |cx| Ok(agent(cx, heard.await.unwrap(), sent).await));
    let (client, agent, _) = tokio::join!(client, agent, bridge);
    client.unwrap();
    // The service has begun with it; a test that counts what is left has to know that it is done.
    host.end().await;
    agent.unwrap()
}
