//! One call of a tool: who calls, whose terminals, how long it may take.

use super::ask::Client;
use super::desk::Desk;
use super::fit::Fit;
use super::handover::Handover;
use super::permit::Permit;
use super::program::Programs;
use super::progress::Progress;
use super::refusal::Refusal;
use super::seat::Seat;
use super::turn::{Turn, Turns};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use wharf_core::shape::Budget;
use wharf_core::shell::{Because, Hold, Shell, Until};

/// The longest wait that can be asked for.
const LONGEST: Duration = Duration::from_secs(60);
/// The longest wait for a client that did not ask for progress. Many give up after 60 s and lose the answer; with progress
/// they are told every few seconds that all is well, and most then wait on.
const WITHOUT_PROGRESS: Duration = Duration::from_secs(55);
/// The longest wait of a task, which keeps nobody waiting.
const AS_A_TASK: Duration = Duration::from_secs(3600);

/// What everything that a tool does is done with.
pub(super) struct Call {
    pub(super) desk: Arc<Desk>,
    pub(super) seat: Arc<Seat>,
    pub(super) permit: Arc<Permit>,
    pub(super) programs: Arc<Programs>,
    pub(super) client: Client,
    pub(super) fit: Fit,
    pub(super) progress: Option<Progress>,
    pub(super) handover: Handover,
    pub(super) turns: Turns,
    /// The client has closed its end.
    pub(super) leaving: CancellationToken,
}

impl Call {
    /// Waits until it is this call's turn to begin something in its terminal.
    pub(super) async fn turn(&self) -> Turn {
        self.turns.take(self.client.request()).await
    }

    /// How much of an output is shown, and what to say if that is less than was asked for and something is left out.
    pub(super) fn budget(&self, max_bytes: u64) -> (Budget, Option<String>) {
        self.fit.budget(max_bytes)
    }

    /// How long to wait, and what to say if that is less than was asked for.
    pub(super) fn patience(&self, asked: f64) -> (Duration, Option<String>) {
        let asked = Duration::try_from_secs_f64(asked).unwrap_or(Duration::MAX);
        let (most, longest) = match self.progress {
            Some(Progress::Task(_)) => (AS_A_TASK, AS_A_TASK),
            Some(Progress::Call(..)) => (LONGEST, LONGEST),
            None => (WITHOUT_PROGRESS, LONGEST),
        };
        let said = match asked {
            asked if asked > longest => Some(format!(
                "the timeout was capped: no call waits longer than {} s; call again to wait on",
                most.as_secs()
            )),
            asked if asked > most => Some(format!(
                "waited {} s at most, because clients that do not ask for progress give up after 60 s",
                most.as_secs()
            )),
            _ => None,
        };
        (asked.min(most), said)
    }

    /// Does this once the answer to this call is handed over; never, if the call is cancelled. The answer of a task lies
    /// ready for who comes for it, perhaps never: nobody else waits for that.
    pub(super) fn then(&self, deed: impl FnOnce() + Send + 'static) {
        match self.progress {
            Some(Progress::Task(_)) => deed(),
            _ => self.handover.then(self.client.request(), deed),
        }
    }

    /// Waits, with signs of life for who wants them. Ends early if the client leaves.
    pub(super) async fn wait(&self, shell: &Shell, until: Until, patience: Duration) -> Because {
        let waiting = shell.wait(until, Instant::now() + patience);
        self.meanwhile(shell, waiting).await.unwrap_or(Because::Deadline)
    }

    /// Waits for a human who has the terminal to give it back: what is left of the time then, nothing if nobody does.
    pub(super) async fn given_back(&self, shell: &Shell, patience: Duration) -> Option<Duration> {
        if !Hold::is_taken(shell.terminal()).unwrap_or(false) {
            return Some(patience);
        }
        let began = Instant::now();
        let released = timeout(patience, Hold::released(shell.terminal()));
        self.meanwhile(shell, released).await?.ok()?.ok()?;
        Some(patience.saturating_sub(began.elapsed()))
    }

    async fn meanwhile<T>(&self, shell: &Shell, waiting: impl Future<Output = T>) -> Option<T> {
        let told = async {
            match &self.progress {
                Some(progress) => progress.follow(shell).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            done = waiting => Some(done),
            () = told => None,
            () = self.leaving.cancelled() => None,
        }
    }
}

/// How long a task waits that is asked to wait so many seconds, if that is longer than a call can.
pub(super) fn beyond_a_call(seconds: f64) -> Option<Duration> {
    let asked = Duration::try_from_secs_f64(seconds).ok()?;
    (asked > LONGEST).then_some(asked.min(AS_A_TASK))
}

/// What can be a terminal's name.
pub(super) fn check_name(name: &str) -> Result<(), Refusal> {
    let fits =
        !name.is_empty() && name.len() <= 64 && !name.chars().any(char::is_control) && name.trim() == name;
    if fits {
        return Ok(());
    }
    Err(Refusal::new(
        "invalid",
        "terminal_id must be a name of 1 to 64 bytes on one line, such as \"default\" or \"server\".",
    ))
}
