//! Sessions that the client has asked for and that have no name yet.
//!
//! A conductor may hand over what an agent asks in its new session before the answer that names the session, although
//! the agent sent them the other way round. So a session that is not known may be one of these, and it is not unknown
//! until all of them are answered.

use tokio::sync::watch;

/// How many there are.
#[derive(Debug, Clone)]
pub(super) struct Opening(watch::Sender<usize>);

/// One of them, until this is dropped.
#[derive(Debug)]
pub(super) struct Unnamed(watch::Sender<usize>);

impl Drop for Unnamed {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Opening {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    /// One more.
    pub(super) fn begin(&self) -> Unnamed {
        self.0.send_modify(|count| *count += 1);
        Unnamed(self.0.clone())
    }

    /// Whether there is any.
    pub(super) fn is_pending(&self) -> bool {
        *self.0.borrow() > 0
    }

    /// Returns when there is none, or when `known` says that it need not be waited for; asked after each answer.
    pub(super) async fn settled(&self, known: impl Fn() -> bool) {
        let mut changes = self.0.subscribe();
        // The sender is our own, so there is no other end of it to be gone.
        let _ = changes.wait_for(|count| *count == 0 || known()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    #[test]
    fn it_is_settled_when_all_are_answered_or_the_one_is_known() {
        let (opening, known) = (Opening::new(), Cell::new(false));
        let mut waker = Context::from_waker(Waker::noop());
        let (one, two, three) = (opening.begin(), opening.begin(), opening.begin());
        let mut all = pin!(opening.settled(|| false));
        let mut any = pin!(opening.settled(|| known.get()));
        drop(one);
        assert!(all.as_mut().poll(&mut waker).is_pending() && any.as_mut().poll(&mut waker).is_pending());
        known.set(true);
        drop(two);
        assert_eq!(any.as_mut().poll(&mut waker), Poll::Ready(()));
        assert!(all.as_mut().poll(&mut waker).is_pending() && opening.is_pending());
        drop(three);
        assert_eq!(all.as_mut().poll(&mut waker), Poll::Ready(()));
        assert!(!opening.is_pending());
    }
}
