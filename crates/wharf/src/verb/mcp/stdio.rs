//! Standard input, watched for its end.
//!
//! The SDK gives calls that are still waiting five seconds when the input ends, and clients give us two. So the calls are
//! told themselves, and end.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

/// How long a call that was under way may take to its end: who pipes a few calls in wants their answers.
const GRACE: Duration = Duration::from_millis(500);

/// An input that tells when it is over.
pub(super) struct Watched<R> {
    inner: R,
    over: CancellationToken,
}

impl<R> Watched<R> {
    pub(super) fn new(inner: R, over: CancellationToken) -> Self {
        Self { inner, over }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(cx, buf);
        let is_over = match &polled {
            Poll::Ready(Ok(())) => buf.filled().len() == before && buf.remaining() > 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if is_over && !self.over.is_cancelled() {
            self.over.cancel();
        }
        polled
    }
}

/// Tells the calls, a moment after the input was over.
pub(super) async fn tell_calls(over: CancellationToken, leaving: CancellationToken) {
    over.cancelled().await;
    let _ = tokio::time::timeout(GRACE, std::future::pending::<()>()).await;
    leaving.cancel();
}
