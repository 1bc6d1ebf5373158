//! What is typed, or piped, into us.
//!
//! Read on a thread of its own, which may be stuck in a read for as long as nobody types; it ends with the program.

use crate::detach_key::DetachKey;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io;
use std::sync::Arc;
use tokio::sync::{Notify, mpsc};

/// One read. A terminal gives no more at once, and a longer line would be cut by its driver anyway.
const PIECE: usize = 4096;
/// Pieces that wait while the command does not read. Long, because the detach key is found only by reading on.
const QUEUE: usize = 1024;

/// Standard input.
#[derive(Debug)]
pub(crate) struct Keyboard {
    /// Pieces in order; closed at the end of the input.
    pub(crate) typed: mpsc::Receiver<Vec<u8>>,
    /// Told when the detach key was pressed.
    pub(crate) detach: Arc<Notify>,
}

/// Begins to read. With a key, reading ends when it is pressed.
pub(crate) fn listen(key: Option<DetachKey>) -> io::Result<Keyboard> {
    let (sender, typed) = mpsc::channel(QUEUE);
    let detach = Arc::new(Notify::new());
    let pressed = Arc::clone(&detach);
    std::thread::Builder::new().name("keyboard".to_owned()).spawn(move || {
        while let Some(mut bytes) = read() {
            let key_at = key.and_then(|key| key.find(&bytes));
            bytes.truncate(key_at.unwrap_or(bytes.len()));
            let gone = !bytes.is_empty() && sender.blocking_send(bytes).is_err();
            if key_at.is_some() {
                pressed.notify_one();
            }
            if gone || key_at.is_some() {
                return;
            }
        }
    })?;
    Ok(Keyboard { typed, detach })
}

/// The next piece; nothing at the end, or when the terminal is gone.
fn read() -> Option<Vec<u8>> {
    let input = rustix::stdio::stdin();
    let mut bytes = vec![0; PIECE];
    loop {
        match rustix::io::read(input, &mut bytes) {
            Ok(0) => return None,
            Ok(n) => {
                bytes.truncate(n);
                return Some(bytes);
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => drop(poll(&mut [PollFd::new(&input, PollFlags::IN)], None)),
            Err(_) => return None,
        }
    }
}
