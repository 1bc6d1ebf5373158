//! A person at a terminal: keys go to it, its output comes to the screen, its size follows the window.

use crate::detach_key::DetachKey;
use crate::keyboard;
use crate::live::{self, Through, Until};
use crate::modes::Modes;
use crate::output;
use crate::raw_mode::RawMode;
use crate::report::{self, Failure};
use crate::request::{Request, Requests};
use crate::stall;
use std::io::IsTerminal;
use std::pin::pin;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use wharf_core::{ControlError, Refusal, Size, Terminal};

/// Who types, in the journal.
const AUTHOR: &str = "wharf attach";

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

/// Shows output from offset `from` on and types, until one of both sides leaves. `modes` are those that our terminal has
/// by what was painted on it; it is left as it was found.
pub(crate) async fn interact(
    terminal: &Terminal,
    from: u64,
    key: DetachKey,
    mut modes: Modes,
    requests: &mut Requests,
) -> Result<Left, Failure> {
    let raw = RawMode::enter()?;
    let left = sit(terminal, from, key, &mut modes, requests).await;
    drop(raw);
    // If the window is gone this cannot be written, which has been noticed elsewhere.
    let _ = output::write(modes.switch_off().into_bytes()).await;
    left
}

async fn sit(
    terminal: &Terminal,
    from: u64,
    key: DetachKey,
    modes: &mut Modes,
    requests: &mut Requests,
) -> Result<Left, Failure> {
    let mut resized = signal(SignalKind::window_change())?;
    let mut keyboard = keyboard::listen(Some(key))?;
    fit(terminal).await;
    let mut shown = pin!(live::follow(terminal.reader(from), Until::Ended, Through::Watched(modes)));
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
