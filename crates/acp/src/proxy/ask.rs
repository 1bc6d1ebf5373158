//! Questions of our own to the client: which are open, and the two ways they take.
//!
//! In the relay they are requests among the agent's own. Their ids begin with something random that no agent ever sees, so
//! that an answer is ours exactly if its id begins with that, and an agent cannot ask in our name. In a conductor's chain
//! the SDK keeps the ids apart. A conversation goes on by itself until it is over, also if the question is withdrawn: the
//! client is told.

use super::envelope::{Id, Key};
use super::outbox::{Bytes, Sender};
use super::permission::{self, METHOD, Permission};
use agent_client_protocol::{Client, Conductor, ConnectionTo, UntypedMessage};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot};
use wharf_core::TerminalId;
use wharf_core::policy::{Answer, Asker, Question};

/// Questions on their way to a conductor's connection; a host has few open at once.
const QUEUED: usize = 64;

/// The questions that are open. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Asks {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// What our ids begin with.
    prefix: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    count: u64,
    open: HashMap<String, Open>,
}

#[derive(Debug)]
struct Open {
    session: String,
    answer: oneshot::Sender<Answer>,
}

/// One of them, until this is dropped.
struct Begun {
    asks: Asks,
    id: String,
    answer: oneshot::Receiver<Answer>,
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.asks.state().open.remove(&self.id);
    }
}

impl Asks {
    /// None are open. Fails if the system gives no random numbers.
    pub(crate) fn new() -> io::Result<Self> {
        let prefix = format!("wharf-{}-", TerminalId::random()?);
        Ok(Self { shared: Arc::new(Shared { prefix, state: Mutex::default() }) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, session: &str) -> Begun {
        let (answer, answered) = oneshot::channel();
        let mut state = self.state();
        state.count += 1;
        let id = format!("{}{}", self.shared.prefix, state.count);
        state.open.insert(id.clone(), Open { session: session.to_owned(), answer });
        drop(state);
        Begun { asks: self.clone(), id, answer: answered }
    }

    /// Takes an answer of the client's if it is to a question of ours, also to one that was withdrawn.
    pub(crate) fn take(&self, id: Id<'_>, line: &[u8]) -> bool {
        let Some(id) = id.key().text().filter(|id| id.starts_with(&self.shared.prefix)) else { return false };
        if let Some(open) = self.state().open.remove(&id) {
            let _ = open.answer.send(read(line));
        }
        true
    }

    /// Takes what is not one message and yet holds an id of ours: it is no yes, and nothing that an agent should see.
    pub(crate) fn take_broken(&self, line: &[u8]) -> bool {
        let holds = |id: &str| line.windows(id.len()).any(|part| part == id.as_bytes());
        if !holds(&self.shared.prefix) {
            return false;
        }
        for (_, open) in self.state().open.extract_if(|id, _| holds(&format!("\"{id}\""))) {
            let _ = open.answer.send(Answer::No);
        }
        true
    }

    /// The client has cancelled what goes on in a session.
    pub(crate) fn cancel(&self, session: &str) {
        for (_, open) in self.state().open.extract_if(|_, open| open.session == session) {
            let _ = open.answer.send(Answer::Cancelled);
        }
    }

    /// Asks among the lines for a client.
    pub(crate) fn by_line(&self, to_client: Sender<Bytes>) -> Asker {
        let asks = self.clone();
        asker(move |permission, tell| {
            tokio::spawn(converse(asks.clone(), to_client.clone(), permission, tell));
        })
    }

    /// Asks over a connection, for as long as that lives.
    pub(crate) fn by_connection(&self, connection: &ConnectionTo<Conductor>) -> Asker {
        let (asks, own) = (self.clone(), connection.clone());
        let (questions, mut asked) = mpsc::channel::<(Permission, oneshot::Sender<Answer>)>(QUEUED);
        // The task is the connection's, and what holds the connection ends with it.
        let _ = connection.spawn(async move {
            while let Some((permission, tell)) = asked.recv().await {
                let talk = converse_over(asks.clone(), own.clone(), permission, tell);
                let _ = own.spawn(async move {
                    talk.await;
                    Ok(())
                });
            }
            Ok(())
        });
        // If there is no room, or nobody left, the sender is dropped: that is no yes.
        asker(move |permission, tell| drop(questions.try_send((permission, tell))))
    }
}

/// An asker that begins a conversation, which tells the answer.
fn asker(begin: impl Fn(Permission, oneshot::Sender<Answer>) + Send + Sync + 'static) -> Asker {
    Arc::new(move |question: Question| {
        let (tell, told) = oneshot::channel();
        let name = TerminalId::random().ok();
        let permission = name.and_then(|name| Permission::of(&question, name.as_str()));
        let begun = permission.map(|permission| begin(permission, tell));
        Box::pin(async move {
            let unable = || Answer::Unable { why: "the client cannot be asked".to_owned() };
            match begun {
                Some(()) => told.await.unwrap_or_else(|_| unable()),
                None => unable(),
            }
        })
    })
}

/// In the relay.
async fn converse(
    asks: Asks,
    to_client: Sender<Bytes>,
    permission: Permission,
    mut tell: oneshot::Sender<Answer>,
) {
    let send = async |message: Value| to_client.send(Bytes::Whole(format!("{message}\n").into_bytes())).await;
    let update = |params: Value| json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
    let mut begun = asks.begin(permission.session());
    let request = json!({"jsonrpc": "2.0", "id": begun.id, "method": METHOD, "params": permission.request()});
    // A client that is gone has answered nothing; the host hears of that by itself.
    if send(update(permission.announcement())).await.is_err() || send(request).await.is_err() {
        return;
    }
    let answer = tokio::select! {
        biased;
        () = tell.closed() => {
            let params = json!({"requestId": begun.id});
            let _ = send(json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params})).await;
            Answer::Cancelled
        }
        answer = &mut begun.answer => answer.unwrap_or(Answer::Cancelled),
    };
    let conclusion = update(permission.conclusion(&answer));
    let _ = tell.send(answer);
    let _ = send(conclusion).await;
}

/// In a conductor's chain.
async fn converse_over(
    asks: Asks,
    connection: ConnectionTo<Conductor>,
    permission: Permission,
    mut tell: oneshot::Sender<Answer>,
) {
    let message = |method: &str, params: Value| UntypedMessage { method: method.to_owned(), params };
    // Fails only when there is nobody left.
    let update = |params| drop(connection.send_notification_to(Client, message("session/update", params)));
    let mut begun = asks.begin(permission.session());
    update(permission.announcement());
    let sent = connection.send_request_to(Client, message(METHOD, permission.request()));
    let answer = tokio::select! {
        biased;
        // Dropped without an answer, the request is cancelled by the SDK.
        () = tell.closed() => Answer::Cancelled,
        answer = &mut begun.answer => answer.unwrap_or(Answer::Cancelled),
        result = sent.block_task() => {
            permission::answer(result.map_err(|error| i64::from(i32::from(error.code))))
        }
    };
    update(permission.conclusion(&answer));
    let _ = tell.send(answer);
}

/// What a line says that is an answer.
fn read(line: &[u8]) -> Answer {
    #[derive(Deserialize)]
    struct Response {
        #[serde(default)]
        result: Option<Value>,
        #[serde(default)]
        error: Option<Failure>,
    }
    #[derive(Deserialize)]
    struct Failure {
        #[serde(default)]
        code: i64,
    }
    match serde_json::from_slice(line) {
        Ok(Response { error: Some(error), .. }) => permission::answer(Err(error.code)),
        Ok(Response { result, .. }) => permission::answer(Ok(result.unwrap_or_default())),
        Err(_) => Answer::No,
    }
}

/// The session that a `session/cancel` is about.
pub(crate) fn cancelled_session(params: Option<&serde_json::value::RawValue>) -> Option<String> {
    #[derive(Deserialize)]
    struct Cancel {
        #[serde(rename = "sessionId")]
        session: String,
    }
    let Cancel { session } = serde_json::from_str(params?.get()).ok()?;
    Some(session)
}

impl Key {
    /// The text of an id that is text.
    fn text(&self) -> Option<String> {
        serde_json::from_str(self.as_json()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::envelope::Envelope;

    fn take(asks: &Asks, line: &str) -> bool {
        match Envelope::read(line.as_bytes()) {
            Some(Envelope::Response { id, .. }) => asks.take(id, line.as_bytes()),
            _ => panic!("{line}"),
        }
    }

    #[test]
    fn an_answer_is_ours_by_its_id_and_taken_once() {
        let asks = Asks::new().unwrap();
        let mut begun = asks.begin("s");
        let yes = r#"{"outcome":{"outcome":"selected","optionId":"allow_once"}}"#;
        let line = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{yes}}}"#);
        // Not ours: other prefixes, other kinds of ids.
        let other = Asks::new().unwrap();
        for id in ["1", "null", r#""wharf-1""#, r#""wharf--1""#, &format!("{:?}", other.begin("s").id)] {
            assert!(!take(&asks, &line(id)), "{id}");
        }
        assert!(begun.answer.try_recv().is_err());
        // Ours, however it is spelled; also one that is not open any more, which answers nothing.
        let id = begun.id.replace('w', "\\u0077");
        assert!(take(&asks, &line(&format!("\"{id}\""))));
        assert_eq!(begun.answer.try_recv(), Ok(Answer::Once));
        assert!(take(&asks, &line(&format!("{:?}", begun.id))));
        assert!(take(&asks, &line(&format!("{:?}", format!("{}x", begun.id)))));
    }

    #[test]
    fn what_is_not_one_message_answers_no_and_stays_here() {
        let asks = Asks::new().unwrap();
        let mut begun: Vec<_> = (0..10).map(|_| asks.begin("s")).collect();
        assert!(!asks.take_broken(b"[{\"id\":\"wharf-1\"}]") && !asks.take_broken(b""));
        assert!(asks.take_broken(format!("[{{\"id\":{:?},\"result\":{{}}}}]", begun[0].id).as_bytes()));
        assert_eq!(begun[0].answer.try_recv(), Ok(Answer::No));
        assert!(begun[9].answer.try_recv().is_err(), "one id may be the beginning of another");
    }

    #[test]
    fn a_session_that_is_cancelled_takes_its_questions_along() {
        let asks = Asks::new().unwrap();
        let (mut one, mut two) = (asks.begin("one"), asks.begin("two"));
        asks.cancel("one");
        assert_eq!(one.answer.try_recv(), Ok(Answer::Cancelled));
        assert!(two.answer.try_recv().is_err());
        drop((one, two));
        assert!(asks.state().open.is_empty());
    }

    #[test]
    fn an_error_and_what_cannot_be_read_are_no_yes() {
        for line in [
            r#"{"id":1,"error":{"code":-32601,"message":"x"}}"#,
            r#"{"id":1,"error":"no"}"#,
            r#"{"id":1,"error":{},"result":{"outcome":{"outcome":"selected","optionId":"allow_once"}}}"#,
            r#"{"id":1,"result":null}"#,
            "noise",
        ] {
            assert!(!matches!(read(line.as_bytes()), Answer::Once | Answer::Always), "{line}");
        }
    }
}
