//! From the start of a shell to its first prompt, through whatever files its user has.
//!
//! A file that asks something on the terminal would wait for ever, since nobody is there. It is given the end of its input,
//! as often as it asks.

use super::mend::{self, Doubt};
use super::{Shell, ShellError, State};
use crate::foreground::{Foreground, Pace};
use std::time::{Duration, Instant};
use tokio::time::timeout_at;

/// The end of input, as typed.
const END: &[u8] = b"\x04";
/// How long a program may take to read it.
const READING: Duration = Duration::from_secs(1);
/// How often it is given.
const MOST: usize = 20;

/// Waits for the first prompt, at most that long. That it has not come by then is no error.
pub(super) async fn first_prompt(shell: &Shell, patience: Duration) -> Result<(), ShellError> {
    let core = &shell.follower.core;
    let deadline = Instant::now() + patience;
    let mut changes = core.changes();
    let mut pace = Pace::default();
    let mut given = 0;
    let mut last: Option<(Foreground, Instant)> = None;
    loop {
        changes.borrow_and_update();
        match core.state() {
            State::Starting => {}
            State::Exited(ended) => return Err(ShellError::Exited(Box::new(ended))),
            State::Idle | State::Running => return Ok(()),
        }
        if Instant::now() >= deadline {
            return Ok(());
        }
        let next = (Instant::now() + pace.pause()).min(deadline);
        if timeout_at(next.into(), changes.changed()).await.is_ok() {
            pace.moved();
            continue;
        }
        let Ok(foreground) = core.terminal.foreground().await else { continue };
        let picture = core.view().display.picture();
        // A line editor has the terminal: that is a prompt, and the end of input would end the shell.
        if !foreground.canonical {
            if mend::is_at_prompt(core, &foreground) && pace.look(foreground, &picture).is_some() {
                // Its own files have taken our hooks away.
                mend::mend(shell, Doubt::Running).await;
            }
            continue;
        }
        // One that was given may not have been read yet, and a second would reach the prompt.
        let is_pending =
            last.as_ref().is_some_and(|(then, at)| *then == foreground && at.elapsed() < READING);
        if pace.look(foreground.clone(), &picture).is_some() && !is_pending && given < MOST {
            given += 1;
            last = Some((foreground, Instant::now()));
            pace.moved();
            if let Ok(mut input) = core.terminal.input("wharf") {
                let _ = input.send(END).await;
            }
        }
    }
}
