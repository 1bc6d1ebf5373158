//! The same proxy as a component of a conductor's chain, on the SDK's own connection.
//!
//! The SDK forwards whatever a handler declines, so every message is looked at, edited where it is ours, and declined. How
//! an answer is seen on its way back: the responder that goes on with a request is wrapped. What the SDK itself changes on
//! the way (request ids, members of the envelope that it does not know) is not undone here, and its queue to the client has
//! no bound; the [`Relay`](super::Relay) is for those who need every byte, or have a client that may stop reading.

use super::Hosting;
use super::ask::{Asks, cancelled_session};
use super::offer::{Mode, offer};
use super::opening::Opening;
use super::session::{Action, Asked, Question};
use crate::display::{Display, Wake, watch};
use crate::host::{Host, TerminalService, answer};
use agent_client_protocol::util::MatchDispatchFrom;
use agent_client_protocol::v1::schema::{CreateTerminalRequest, PROXY_METHOD_NAMES};
use agent_client_protocol::{
    Agent, Client, Conductor, ConnectTo, ConnectionTo, Dispatch, Error, HandleDispatchFrom, Handled, Proxy,
    Responder, UntypedMessage,
};
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;

/// Wakes of embedded terminals that may wait; each watcher has one at a time.
const WAKES: usize = 64;

/// A proxy for a conductor's chain that gives its agent terminals, and shows them to the client.
///
/// ```no_run
/// # use agent_client_protocol::{Conductor, ConnectTo, Proxy};
/// # async fn run(host: wharf_acp::Host, stdio: impl ConnectTo<Proxy>) -> Result<(), agent_client_protocol::Error> {
/// wharf_acp::component(host, wharf_acp::Hosting::Always).connect_to(stdio).await
/// # }
/// ```
pub fn component(host: Host, terminals: Hosting) -> impl ConnectTo<Conductor> {
    let component = Component {
        service: host.service(),
        host,
        terminals,
        mode: Mode::Pass,
        opening: Opening::new(),
        asks: None,
        display: None,
        wakes: None,
    };
    Proxy.v1().name("wharf").with_handler(component)
}

struct Component {
    host: Host,
    service: TerminalService,
    terminals: Hosting,
    mode: Mode,
    opening: Opening,
    /// Questions of our own.
    asks: Option<Asks>,
    /// Shared with the answers that are on their way, and with the task that hears wakes. Never held while waiting.
    display: Option<Shown>,
    wakes: Option<mpsc::Sender<Wake>>,
}

type Shown = Arc<Mutex<Display>>;

impl HandleDispatchFrom<Conductor> for Component {
    async fn handle_dispatch_from(
        &mut self,
        message: Dispatch,
        connection: ConnectionTo<Conductor>,
    ) -> Result<Handled<Dispatch>, Error> {
        let handled = MatchDispatchFrom::new(message, &connection)
            .if_dispatch_from(Client, async |message: Dispatch| {
                Ok(declined(self.inbound(message, &connection)))
            })
            .await
            .if_dispatch_from(Agent, async |message: Dispatch| {
                Ok(match self.early(message) {
                    Some(message) => declined(self.outbound(message, &connection)?),
                    None => Handled::Yes,
                })
            })
            .await
            .done()?;
        match handled {
            Handled::No { message, .. } if self.mode != Mode::Pass => {
                self.service.handle_dispatch_from(message, connection).await
            }
            handled => Ok(handled),
        }
    }

    fn describe_chain(&self) -> impl std::fmt::Debug {
        "wharf"
    }
}

fn declined(message: Dispatch) -> Handled<Dispatch> {
    Handled::No { message, retry: false }
}

impl Component {
    fn inbound(&mut self, message: Dispatch, connection: &ConnectionTo<Conductor>) -> Dispatch {
        match message {
            Dispatch::Request(mut request, responder)
                if request.method() == PROXY_METHOD_NAMES.proxy_initialize =>
            {
                self.initialize(&mut request, connection);
                Dispatch::Request(request, responder)
            }
            Dispatch::Request(request, responder) if self.mode != Mode::Pass => {
                let responder =
                    match raw(request.params()).and_then(|p| Asked::read(request.method(), Some(&p))) {
                        Some(asked) => self.note(asked, responder, connection),
                        None => responder,
                    };
                Dispatch::Request(request, responder)
            }
            Dispatch::Notification(notification) if notification.method() == "session/cancel" => {
                let session = raw(notification.params()).and_then(|params| cancelled_session(Some(&params)));
                if let (Some(asks), Some(session)) = (&self.asks, session) {
                    asks.cancel(&session);
                }
                Dispatch::Notification(notification)
            }
            message => message,
        }
    }

    fn initialize(&mut self, request: &mut UntypedMessage, connection: &ConnectionTo<Conductor>) {
        let Some(params) = raw(request.params()) else { return };
        let (mode, edited) = offer(params.get().as_bytes(), Some(&params), self.terminals);
        if let Some(edited) = edited.and_then(|edited| serde_json::from_slice(&edited).ok()) {
            request.params = edited;
        }
        self.mode = mode;
        if let Mode::Host(shows) = mode {
            let display = Arc::new(Mutex::new(Display::new(self.host.clone(), shows)));
            let (wakes, woken) = mpsc::channel(WAKES);
            // If the connection is over already, there is nobody to show anything to.
            let _ = connection.spawn(show_when_woken(display.clone(), woken, connection.clone()));
            self.asks = Asks::new().ok().inspect(|asks| self.host.ask_client(asks.by_connection(connection)));
            (self.display, self.wakes) = (Some(display), Some(wakes));
        }
    }

    /// Sees to what a request means for its session, now and when it is answered.
    fn note(&self, asked: Asked, responder: Responder, connection: &ConnectionTo<Conductor>) -> Responder {
        let (host, display, connection) = (self.host.clone(), self.display.clone(), connection.clone());
        let (now, question) = asked.begin(|session| host.has_session(session));
        if let Some(now) = now {
            carry_out(&host, now);
        }
        let Some(question) = question else { return responder };
        let unnamed = matches!(question, Question::New { .. }).then(|| self.opening.begin());
        responder.wrap_params(move |_, result: Result<Value, Error>| {
            let answer = result.as_ref().ok().and_then(raw);
            match question.answered(answer.as_deref()) {
                Some(Action::Flush { session }) => {
                    if let Some(display) = &display {
                        let mut display = lock(display);
                        let updates = display.flush(&session);
                        send_updates(&connection, updates);
                    }
                }
                Some(action) => carry_out(&host, action),
                None => {}
            }
            drop(unnamed);
            result
        })
    }

    /// Sees to a command in a session whose name may not have come yet. Given back is what is not such a request.
    fn early(&self, message: Dispatch) -> Option<Dispatch> {
        let Dispatch::Request(request, responder) = message else { return Some(message) };
        let create = match request.method() {
            "terminal/create" if self.mode != Mode::Pass && self.opening.is_pending() => {
                serde_json::from_value::<CreateTerminalRequest>(request.params().clone()).ok()
            }
            _ => None,
        };
        let Some(create) = create.filter(|create| !self.host.has_session(&create.session_id)) else {
            return Some(Dispatch::Request(request, responder));
        };
        let (host, opening) = (self.host.clone(), self.opening.clone());
        let work = async move {
            opening.settled(|| host.has_session(&create.session_id)).await;
            host.create(create).await
        };
        // Fails only when there is nobody left.
        let _ = answer(work, responder.cast());
        None
    }

    fn outbound(
        &mut self,
        message: Dispatch,
        connection: &ConnectionTo<Conductor>,
    ) -> Result<Dispatch, Error> {
        let Some(display) = &self.display else { return Ok(message) };
        let mut display = lock(display);
        let mut translate = |message: UntypedMessage| -> UntypedMessage {
            let params = match message.method() {
                "session/update" | "session/request_permission" => raw(message.params()),
                _ => None,
            };
            let Some(translated) = params.and_then(|params| display.translate(message.method(), &params))
            else {
                return message;
            };
            send_updates(connection, translated.before);
            for terminal in translated.embedded {
                if let Some(wakes) = &self.wakes {
                    tokio::spawn(watch(terminal, wakes.clone()));
                }
            }
            UntypedMessage { params: value(&translated.params), ..message }
        };
        Ok(match message {
            Dispatch::Request(request, responder) => Dispatch::Request(translate(request), responder),
            Dispatch::Notification(notification) => Dispatch::Notification(translate(notification)),
            message => message,
        })
    }
}

/// Opens or closes what the two sides have agreed on.
fn carry_out(host: &Host, action: Action) {
    match action {
        Action::Open { session, cwd } => host.open_session(session, cwd),
        Action::Close { session } => drop(tokio::spawn(host.close_session(&session))),
        Action::Flush { .. } => {}
    }
}

/// Sends what is new of each terminal that says so, for as long as the connection lives.
async fn show_when_woken(
    display: Shown,
    mut woken: mpsc::Receiver<Wake>,
    connection: ConnectionTo<Conductor>,
) -> Result<(), Error> {
    while let Some(wake) = woken.recv().await {
        let mut display = lock(&display);
        let updates = display.catch_up(&wake.terminal);
        // Under the lock, so that what was read first is sent first.
        send_updates(&connection, updates);
    }
    Ok(())
}

fn send_updates(connection: &ConnectionTo<Conductor>, updates: Vec<Box<RawValue>>) {
    for params in updates {
        let update = UntypedMessage { method: "session/update".to_owned(), params: value(&params) };
        // Fails only when there is nobody left.
        let _ = connection.send_notification_to(Client, update);
    }
}

fn lock(display: &Shown) -> MutexGuard<'_, Display> {
    display.lock().unwrap_or_else(PoisonError::into_inner)
}

fn raw(value: &Value) -> Option<Box<RawValue>> {
    serde_json::value::to_raw_value(value).ok()
}

fn value(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or(Value::Null)
}
