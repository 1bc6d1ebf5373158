//! Answers as they are handed over: what was told counts as told only then.
//!
//! A call that is cancelled may have its answer ready, and nobody gets it. The SDK drops such answers without a word, so
//! the connection itself is watched, where requests, cancellations and answers pass one after the other.

use super::tool::Known;
use super::turn::Turns;
use rmcp::model::{ClientNotification, ClientRequest, JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What is done once an answer is handed over, and dropped if it never is.
pub(super) type Deed = Box<dyn FnOnce() + Send>;

/// Requests that are not answered, with what their answers owe. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Handover {
    open: Arc<Mutex<HashMap<RequestId, Vec<Deed>>>>,
}

impl Handover {
    /// Does this when that request is answered; never, if it was cancelled.
    pub(super) fn then(&self, id: &RequestId, deed: impl FnOnce() + Send + 'static) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(deeds) = open.get_mut(id) {
            deeds.push(Box::new(deed));
        }
    }

    fn begin(&self, id: &RequestId) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), Vec::new());
    }

    /// What is owed with that request's answer; nothing from now on.
    fn end(&self, id: &RequestId) -> Vec<Deed> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(id).unwrap_or_default()
    }
}

/// A connection that is watched.
pub(super) struct Connection<T> {
    pub(super) inner: T,
    pub(super) handover: Handover,
    pub(super) turns: Turns,
}

impl<T> Connection<T> {
    /// A request will be answered, or nobody waits for its answer.
    fn end(&self, id: &RequestId) -> Vec<Deed> {
        self.turns.leave(id);
        self.handover.end(id)
    }
}

/// The terminal in which a request wants to begin something.
fn begins_in(request: &ClientRequest) -> Option<&str> {
    let ClientRequest::CallToolRequest(call) = request else { return None };
    let known = Known::named(&call.params.name)?;
    let terminal = call.params.arguments.as_ref().and_then(|all| all.get("terminal_id")?.as_str());
    known.begins_something().then_some(terminal.unwrap_or("default"))
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Connection<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        match &message {
            JsonRpcMessage::Response(response) => {
                self.end(&response.id).into_iter().for_each(|deed| deed());
            }
            JsonRpcMessage::Error(error) => drop(error.id.as_ref().map(|id| self.end(id))),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {}
        }
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let message = self.inner.receive().await?;
        match &message {
            JsonRpcMessage::Request(request) => {
                self.handover.begin(&request.id);
                if let Some(terminal) = begins_in(&request.request) {
                    self.turns.arrive(&request.id, terminal);
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    drop(self.end(id));
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn what_is_owed_is_done_once_when_the_answer_goes_and_never_if_it_was_cancelled() {
        let handover = Handover::default();
        let done = Arc::new(AtomicU32::new(0));
        let owe = |id: i64| {
            let done = done.clone();
            handover.then(&RequestId::Number(id), move || {
                done.store(1 + done.load(Ordering::Relaxed), Ordering::Relaxed)
            });
        };
        for id in [1, 2] {
            handover.begin(&RequestId::Number(id));
        }
        owe(1);
        owe(2);
        // Cancelled: what it owes is dropped, also what it comes to owe before it notices.
        drop(handover.end(&RequestId::Number(2)));
        owe(2);
        assert_eq!(handover.end(&RequestId::Number(2)).len(), 0);
        handover.end(&RequestId::Number(1)).into_iter().for_each(|deed| deed());
        assert_eq!(done.load(Ordering::Relaxed), 1);
        assert!(handover.open.lock().unwrap().is_empty());
    }
}
