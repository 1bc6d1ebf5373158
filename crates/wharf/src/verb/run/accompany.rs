//! Beside a command with nobody at its keyboard: output out, input in if asked for, signals on.
//!
//! Whoever presses Ctrl-C is heard at any time, also while an end is awaited: the first is the command's, the second ends
//! it, the third lets us go whatever is left to do.

use super::{AUTHOR, DRAIN};
use crate::cli::Run;
use crate::interact::Left;
use crate::keyboard;
use crate::live::{self, Through, Until};
use crate::quiet::Reports;
use crate::report::{self, Failure};
use crate::request::{Request, Requests};
use crate::stall;
use crate::surface::Surface;
use std::future::pending;
use std::io::{self, IsTerminal};
use std::pin::pin;
use std::time::Duration;
use tokio::task::JoinHandle;
use wharf_core::{ControlError, Refusal, Terminal};

/// How it came to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// By itself, or as somebody asked.
    Usual(Left),
    /// Whoever sent this signal does not want to wait for anything any more.
    Insisted(i32),
}

/// What has been done so far because somebody told us to go.
#[derive(Debug)]
enum Urgency {
    Calm,
    /// The command was sent the signal.
    Passed,
    /// It is being ended, with its grace, since we were told to leave by this signal.
    Leaving(i32),
    /// It is being ended at once.
    Forced(Left),
}

/// Until it is over or nobody wants to wait for that.
pub(super) async fn accompany(
    terminal: &Terminal,
    args: &Run,
    requests: &mut Requests,
) -> Result<Way, Failure> {
    let mut over = pin!(until_over(terminal, args));
    let mut input = pin!(pass_input(terminal));
    let mut telling = pin!(stall::tell(terminal, report::say));
    let (mut passing, mut urgency, mut kill) = (args.stdin, Urgency::Calm, None);
    loop {
        let request = tokio::select! {
            done = &mut over => return done.map(|()| Way::Usual(urgency.left())),
            killed = ended(&mut kill) => {
                kill = None;
                killed?;
                if let Left::Asked(number) = urgency.left() {
                    let _ = tokio::time::timeout(DRAIN, over).await;
                    return Ok(Way::Usual(Left::Asked(number)));
                }
                continue;
            }
            passed = &mut input, if passing => {
                passing = false;
                passed?;
                continue;
            }
            never = &mut telling => match never {},
            request = requests.next() => request,
        };
        urgency = match (request, urgency) {
            (Request::Interrupt(number), Urgency::Calm) => {
                ignore_ended(terminal.signal(number, AUTHOR).await)?;
                Urgency::Passed
            }
            (Request::Leave(number), Urgency::Calm | Urgency::Passed) => {
                kill = Some(begin_kill(terminal, None));
                Urgency::Leaving(number)
            }
            (_, before @ (Urgency::Passed | Urgency::Leaving(_))) => {
                kill = Some(begin_kill(terminal, Some(Duration::ZERO)));
                Urgency::Forced(before.left())
            }
            (Request::Interrupt(number) | Request::Leave(number), Urgency::Forced(_)) => {
                return Ok(Way::Insisted(number));
            }
        };
    }
}

impl Urgency {
    fn left(&self) -> Left {
        match self {
            Self::Calm | Self::Passed => Left::Ended,
            Self::Leaving(number) => Left::Asked(*number),
            Self::Forced(left) => *left,
        }
    }
}

type Kill = JoinHandle<Result<u32, ControlError>>;

/// Ends it, while everything else goes on.
fn begin_kill(terminal: &Terminal, grace: Option<Duration>) -> Kill {
    let terminal = terminal.clone();
    tokio::spawn(async move { terminal.kill(AUTHOR, grace).await })
}

/// Returns when the kill is over; never, if there is none.
async fn ended(kill: &mut Option<Kill>) -> Result<u32, Failure> {
    match kill {
        Some(kill) => Ok(kill.await.map_err(io::Error::other)??),
        None => pending().await,
    }
}

/// Hears whoever is in a hurry while the end is being seen to: the first makes it faster. Returns with the second one's
/// signal.
pub(super) async fn insisted(terminal: &Terminal, requests: &mut Requests) -> i32 {
    requests.next().await;
    let _kill = begin_kill(terminal, Some(Duration::ZERO));
    match requests.next().await {
        Request::Interrupt(number) | Request::Leave(number) => number,
    }
}

async fn until_over(terminal: &Terminal, args: &Run) -> Result<(), Failure> {
    if args.json {
        terminal.keep_awake(terminal.wait()).await?;
        return Ok(());
    }
    live::follow(terminal.reader(0), Until::Ended, suited()).await
}

/// A terminal is painted on, by a command that nobody can type to; a file or a pipe gets every byte.
fn suited() -> Through<'static> {
    if io::stdout().is_terminal() { Through::Painting(Surface::new(Reports::None)) } else { Through::Raw }
}

/// Standard input to the command, until either has enough.
async fn pass_input(terminal: &Terminal) -> Result<(), Failure> {
    let mut keyboard = keyboard::listen(None)?;
    let mut input = terminal.input(AUTHOR)?;
    while let Some(bytes) = keyboard.typed.recv().await {
        // Nothing is taken while the disk is full, and what comes from a pipe can wait.
        let sent = loop {
            match input.send(&bytes).await {
                Err(ControlError::Refused(Refusal::Stalled)) => terminal.flowing().await,
                sent => break sent,
            }
        };
        match sent {
            Ok(()) => {}
            Err(ControlError::Refused(Refusal::LineTooLong)) => {
                report::say("an input line of more than 4095 bytes was left out: a PTY would have cut it");
            }
            // It has ended or closed its input: what is left is for nobody.
            Err(ControlError::Refused(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
    loop {
        match input.end().await {
            Err(ControlError::Refused(Refusal::Stalled)) => terminal.flowing().await,
            Err(ControlError::Refused(_)) | Ok(()) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// It ended before the signal reached it, which is what the signal was for.
fn ignore_ended(sent: Result<(), ControlError>) -> Result<(), ControlError> {
    match sent {
        Err(ControlError::Refused(_)) => Ok(()),
        other => other,
    }
}
