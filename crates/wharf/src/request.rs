//! What is asked of this program from outside while it runs: signals.

use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals that would end this program, and do not while this is listened to.
#[derive(Debug)]
pub(crate) struct Requests {
    interrupt: Signal,
    quit: Signal,
    terminate: Signal,
    hang_up: Signal,
}

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Request {
    /// Ctrl-C or Ctrl-\: meant for the command. The signal's number.
    Interrupt(i32),
    /// Meant for us. The signal's number.
    Leave(i32),
}

impl Requests {
    /// From now on.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> Request {
        tokio::select! {
            _ = self.interrupt.recv() => Request::Interrupt(SignalKind::interrupt().as_raw_value()),
            _ = self.quit.recv() => Request::Interrupt(SignalKind::quit().as_raw_value()),
            _ = self.terminate.recv() => Request::Leave(SignalKind::terminate().as_raw_value()),
            _ = self.hang_up.recv() => Request::Leave(SignalKind::hangup().as_raw_value()),
        }
    }
}
