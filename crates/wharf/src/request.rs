//! What is asked of this program from outside while it runs: signals.

use std::future::pending;
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals that would end this program, and do not while this is listened to.
#[derive(Debug)]
pub(crate) struct Requests {
    interrupt: Option<Signal>,
    quit: Option<Signal>,
    terminate: Option<Signal>,
    hang_up: Option<Signal>,
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
            interrupt: unless_ignored(SignalKind::interrupt())?,
            quit: unless_ignored(SignalKind::quit())?,
            terminate: unless_ignored(SignalKind::terminate())?,
            hang_up: unless_ignored(SignalKind::hangup())?,
        })
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> Request {
        tokio::select! {
            _ = heard(&mut self.interrupt) => Request::Interrupt(SignalKind::interrupt().as_raw_value()),
            _ = heard(&mut self.quit) => Request::Interrupt(SignalKind::quit().as_raw_value()),
            _ = heard(&mut self.terminate) => Request::Leave(SignalKind::terminate().as_raw_value()),
            _ = heard(&mut self.hang_up) => Request::Leave(SignalKind::hangup().as_raw_value()),
        }
    }
}

/// A signal that was ignored when we were started stays so: that is what `nohup`, or a shell's `&`, asked for.
fn unless_ignored(kind: SignalKind) -> io::Result<Option<Signal>> {
    let own = std::process::id().cast_signed();
    if wharf_shim::tree::proc::ignores(own, kind.as_raw_value()) { Ok(None) } else { signal(kind).map(Some) }
}

async fn heard(listened_to: &mut Option<Signal>) {
    match listened_to {
        Some(signal) => drop(signal.recv().await),
        None => pending().await,
    }
}
