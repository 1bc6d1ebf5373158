//! A person at a terminal: keys go to it, its output comes to the screen, its size follows the window.

use crate::detach_key::DetachKey;
use crate::emulation::{Emulation, Responder};
use crate::keyboard;
use crate::live::{self, Through, Until};
use crate::output;
use crate::raw_mode::RawMode;
use crate::report::{self, Failure};
use crate::request::{Request, Requests};
use crate::stall;
use crate::surface::Surface;
use std::convert::Infallible;
use std::future::pending;
use std::io::IsTerminal;
use std::pin::pin;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use wharf_core::{ControlError, Refusal, Size, Terminal};

/// Who types, in the journal.
const AUTHOR: &str = "wharf attach";
/// Who answers what a command asks its terminal, there.
const TERMINAL: &str = "terminal";
/// Answers that wait to be sent. A command that asks without reading gets no more.
const ANSWERS: usize = 16;

/// How a person left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// The command ended.
    Ended,
    /// By the detach key; the command runs on.
    Detached,
    /// A signal told us to go.
    Asked(i32),
}

/// Whether somebody sits here who can see and type.
pub(crate) fn is_possible() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// What somebody finds who sits down.
#[derive(Debug)]
pub(crate) struct Found {
    /// The offset after what is painted.
    pub(crate) from: u64,
    /// Our terminal, with what was switched on when that was painted.
    pub(crate) surface: Surface,
    /// The command's screen up to there.
    pub(crate) screen: Emulation,
}

/// Shows output and types, until one of both sides leaves. Our terminal is left as it was found.
pub(crate) async fn interact(
    terminal: &Terminal,
    found: Found,
    key: DetachKey,
    requests: &mut Requests,
) -> Result<Left, Failure> {
    let raw = RawMode::enter()?;
    let Found { from, mut surface, screen } = found;
    let left = sit(terminal, from, key, &mut surface, screen, requests).await;
    drop(raw);
    // If the window is gone this cannot be written, which has been noticed elsewhere.
    let _ = output::write(surface.switch_off()).await;
    left
}

async fn sit(
    terminal: &Terminal,
    from: u64,
    key: DetachKey,
    surface: &mut Surface,
    screen: Emulation,
    requests: &mut Requests,
) -> Result<Left, Failure> {
    let mut resized = signal(SignalKind::window_change())?;
    let mut keyboard = keyboard::listen(Some(key))?;
    fit(terminal).await;
    let (answers, asked) = mpsc::channel(ANSWERS);
    let mut responder = Responder::new(screen, terminal.clone(), answers);
    let through = Through::Seated(surface, &mut responder);
    let mut shown = pin!(live::follow(terminal.reader(from), Until::Ended, through));
    let mut answering = pin!(answer(terminal, asked));
    let mut typing = pin!(type_into(terminal, &mut keyboard.typed));
    let mut telling = pin!(stall::tell(terminal, report::say_raw));
    let mut types = true;
    loop {
        tokio::select! {
            done = &mut shown => return done.map(|()| Left::Ended),
            () = keyboard.detach.notified() => return Ok(Left::Detached),
            typed = &mut typing, if types => match typed {
                Ok(Typed::Interrupted) => return Ok(Left::Asked(INTERRUPT)),
                _ => types = false,
            },
            never = &mut telling => match never {},
            never = &mut answering => match never {},
            _ = resized.recv() => fit(terminal).await,
            request = requests.next() => match request {
                // Typed keys come as bytes; this one was sent by somebody else, to us.
                Request::Interrupt(number) | Request::Leave(number) => return Ok(Left::Asked(number)),
            },
        }
    }
}

/// Gives the terminal the size of our window. One that has just ended needs none.
pub(crate) async fn fit(terminal: &Terminal) {
    if let Some(size) = window() {
        let _ = terminal.resize(size).await;
    }
}

/// The size of our window.
pub(crate) fn window() -> Option<Size> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some(Size { cols: size.ws_col, rows: size.ws_row })
}

/// Why nothing more is typed.
enum Typed {
    /// The keyboard is gone.
    All,
    /// Ctrl-C was pressed again, while the key itself could not be taken.
    Interrupted,
}

/// The signal of Ctrl-C, and its key.
pub(crate) const INTERRUPT: i32 = 2;
pub(crate) const CTRL_C: u8 = 3;

/// Sends what our side of the terminal says. A command that does not take it is not told.
async fn answer(terminal: &Terminal, mut asked: mpsc::Receiver<Vec<u8>>) -> Infallible {
    if let Ok(mut input) = terminal.input(TERMINAL) {
        while let Some(bytes) = asked.recv().await {
            let _ = input.send(&bytes).await;
        }
    }
    pending().await
}

async fn type_into(terminal: &Terminal, typed: &mut mpsc::Receiver<Vec<u8>>) -> Result<Typed, ControlError> {
    let mut input = terminal.input(AUTHOR)?;
    let mut interrupts = 0;
    while let Some(bytes) = typed.recv().await {
        match input.send(&bytes).await {
            // On a full disk no key is taken. This one is its signal, and pressed again it is meant for us.
            Err(ControlError::Refused(Refusal::Stalled)) if bytes.contains(&CTRL_C) => {
                if interrupts > 0 {
                    return Ok(Typed::Interrupted);
                }
                interrupts += 1;
                let _ = terminal.signal(INTERRUPT, AUTHOR).await;
            }
            // What a terminal does with a line that is too long, except that this is not silent.
            Err(ControlError::Refused(Refusal::LineTooLong | Refusal::Stalled)) => {
                let _ = output::write(b"\x07".to_vec()).await;
            }
            sent => sent?,
        }
    }
    Ok(Typed::All)
}
