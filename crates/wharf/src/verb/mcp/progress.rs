//! Signs of life while a call waits, for clients that asked for them or look in on a task.
//!
//! There is no event for "something was printed" that costs nothing, so output is looked for once a second, and only
//! while a client listens.

use super::words::{seconds, short};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use rmcp::task_manager::TaskContext;
use std::future::pending;
use std::time::{Duration, Instant};
use tokio::time::{MissedTickBehavior, interval};
use wharf_core::shell::Shell;

/// How often it is looked.
const LOOK: Duration = Duration::from_secs(1);
/// How often it is said that nothing is new.
const QUIET: u32 = 5;
/// Of the line that is shown.
const LONGEST: usize = 160;

/// Where they go.
#[derive(Clone)]
pub(super) enum Progress {
    /// To the client, while its call waits.
    Call(Peer<RoleServer>, ProgressToken),
    /// Where the client finds them when it looks.
    Task(TaskContext),
}

impl Progress {
    /// Tells how a shell gets on, until this is dropped.
    pub(super) async fn follow(&self, shell: &Shell) {
        let began = Instant::now();
        // The first sign comes soon, so that a client knows that there are some.
        let (mut seen, mut quiet) = (shell.status().seen, QUIET - 1);
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        loop {
            ticks.tick().await;
            let status = shell.status();
            quiet += 1;
            if status.seen == seen && quiet < QUIET {
                continue;
            }
            (seen, quiet) = (status.seen, 0);
            let command = status.last.map(|command| short(&command.text)).unwrap_or_default();
            let elapsed = began.elapsed();
            let took = seconds(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX));
            let line = last_line(shell);
            let message =
                if line.is_empty() { format!("{took}: {command}") } else { format!("{took}: {line}") };
            self.say(elapsed, message).await;
        }
    }

    async fn say(&self, elapsed: Duration, message: String) {
        let (peer, token) = match self {
            Self::Call(peer, token) => (peer, token),
            Self::Task(task) => return task.set_status_message(message),
        };
        let told = ProgressNotificationParam::new(token.clone(), elapsed.as_secs_f64()).with_message(message);
        if peer.notify_progress(told).await.is_err() {
            // Nobody listens; the wait is for others to end.
            pending::<()>().await;
        }
    }
}

/// The last line on its screen that says anything.
fn last_line(shell: &Shell) -> String {
    let picture = shell.picture();
    let line = picture
        .rows
        .iter()
        .rev()
        .find(|row| !row.trim().is_empty())
        .map(|row| row.trim())
        .unwrap_or_default();
    line[..line.floor_char_boundary(LONGEST)].to_owned()
}
