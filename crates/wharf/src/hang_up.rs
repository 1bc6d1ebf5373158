//! Whether anybody is at the other end of our standard input and output, without reading or writing.
//!
//! Whoever reads until the end of the input notices that by itself, unless it does not get to read: because it waits for
//! somebody else to take what it has read before. The kernel says so all the same.

use rustix::event::{PollFd, PollFlags, poll};
use std::future::pending;
use std::io;
use tokio::sync::oneshot;

/// Returns when somebody was there and is no longer.
pub(crate) async fn hung_up() {
    let (tell, told) = oneshot::channel();
    // A thread, because what we are connected to may be a file, of which the runtime would want nothing to do. It ends with
    // the program.
    let waiting = std::thread::Builder::new().name("hang-up".to_owned()).spawn(move || {
        if wait() {
            let _ = tell.send(());
        }
    });
    if waiting.is_err() || told.await.is_err() {
        pending().await
    }
}

/// True when it has come; false if it never can.
fn wait() -> bool {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    // No event is asked for: the end of the other side is told unasked, and even if there is something left to read.
    let mut ends = [PollFd::new(&stdin, PollFlags::empty()), PollFd::new(&stdout, PollFlags::empty())];
    loop {
        match poll(&mut ends, None) {
            Ok(_) => break,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
    ends.iter().any(|end| end.revents().intersects(PollFlags::HUP | PollFlags::ERR))
}
