//! One task for each terminal that is shown: says when there is something new, and never what.
//!
//! Who is told reads the journal by itself, at its own pace. It is not told again before it has dealt with the last time,
//! and at most ten times a second; so a flood, or a client that reads slowly, costs neither memory nor time here.

use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Interval, MissedTickBehavior, interval};
use wharf_core::{Step, Terminal, TerminalId};

/// Often enough for a person to see it move.
const PACE: Duration = Duration::from_millis(100);
/// What is read only to learn that it is there.
const PEEK: usize = 16 * 1024;

/// A terminal has something new to show. Dropped when that has been dealt with.
#[derive(Debug)]
pub(crate) struct Wake {
    /// Which.
    pub(crate) terminal: TerminalId,
    _dealt_with: oneshot::Sender<()>,
}

/// Nobody is left to be told.
struct Gone;

/// Wakes the owner of the display until the terminal's end has been dealt with, or nobody takes wakes any more.
pub(crate) async fn watch<W: From<Wake>>(terminal: Terminal, wakes: mpsc::Sender<W>) {
    let told = async {
        follow(&terminal, &wakes).await?;
        wake(&terminal, &wakes).await
    };
    tokio::select! {
        _ = told => {}
        () = wakes.closed() => {}
    }
}

/// Wakes for output until the terminal's end.
async fn follow<W: From<Wake>>(terminal: &Terminal, wakes: &mpsc::Sender<W>) -> Result<(), Gone> {
    let mut pace = pace();
    let mut reader = terminal.reader(0);
    loop {
        match terminal.keep_awake(reader.next(PEEK)).await {
            Ok(Step::Output(_)) => pace.tick().await,
            Ok(Step::Ended | Step::Closed) => return Ok(()),
            // The holder does not want this reader. Then only the end is shown, which any number may wait for.
            Err(_) => {
                let _ = terminal.keep_awake(terminal.wait()).await;
                return Ok(());
            }
        };
        // What is there now will have been shown after the wake, so there is no need to read through it.
        let end = terminal.look().map_or(0, |look| look.end);
        wake(terminal, wakes).await?;
        if end > reader.offset() {
            reader = terminal.reader(end);
        }
    }
}

/// Says that there is something new, and waits until that was dealt with.
async fn wake<W: From<Wake>>(terminal: &Terminal, wakes: &mpsc::Sender<W>) -> Result<(), Gone> {
    let (dealt_with, done) = oneshot::channel();
    let wake = Wake { terminal: terminal.id().clone(), _dealt_with: dealt_with };
    wakes.send(wake.into()).await.map_err(|_| Gone)?;
    // It is dropped, never sent: either way it was dealt with.
    let _ = done.await;
    Ok(())
}

fn pace() -> Interval {
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    pace
}
