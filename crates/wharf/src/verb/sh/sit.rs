//! A human at a shell that an agent may use too.
//!
//! Sitting there takes nothing. The first key takes the [`Hold`], which goes when this ends. What is shown passes a
//! [`Surface`], and the shell's follower answers what programs ask; one runs here too, in case there is no other.

use super::find;
use super::note::{Note, Screen};
use crate::detach_key::DetachKey;
use crate::interact::{self, Left};
use crate::keyboard;
use crate::output;
use crate::quiet::Reports;
use crate::raw_mode::RawMode;
use crate::report::Failure;
use crate::request::{Request, Requests};
use crate::stall;
use crate::surface::Surface;
use crate::verb::attach;
use std::future::pending;
use std::pin::pin;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use wharf_core::shell::{HUMAN, Hold, Shell};
use wharf_core::{ControlError, Refusal, Size, Step, Terminal};

/// Read at once, if that much is there.
const PIECE: usize = 1 << 20;
/// Notes that wait while our terminal does not take its output.
const NOTES: usize = 2;

/// What somebody came for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To look on.
    Watch,
    /// To type, perhaps.
    Type,
}

/// Somebody's place at a shell.
#[derive(Debug)]
pub(super) struct Seat<'a> {
    pub(super) terminal: &'a Terminal,
    /// Its size when they came.
    pub(super) before: Size,
    pub(super) purpose: Purpose,
    pub(super) key: DetachKey,
}

/// What our own terminal shows.
#[derive(Debug)]
struct Showing {
    surface: Surface,
    note: Note,
}

/// Shows the shell and types into it, until one of both sides leaves. Our terminal is left as it was found, and the shell
/// has its size again.
pub(super) async fn sit(seat: &Seat<'_>, requests: &mut Requests) -> Result<Left, Failure> {
    let terminal = seat.terminal;
    // Before it is painted, so that it is painted as it will be.
    if seat.purpose == Purpose::Type {
        interact::fit(terminal).await;
    }
    let size = match seat.purpose {
        Purpose::Type => interact::window().unwrap_or(seat.before),
        Purpose::Watch => seat.before,
    };
    let (painting, found) = attach::find(terminal, size, Reports::Mouse)?;
    let mut showing = Showing { surface: found.surface, note: Note::default() };
    let raw = RawMode::enter()?;
    let left = match output::write(painting).await {
        Ok(()) => stay(seat, found.from, &mut showing, requests).await,
        Err(failure) => Err(failure),
    };
    drop(raw);
    let mut last = showing.note.erase();
    last.extend(showing.surface.switch_off());
    // If the window is gone this cannot be written, which has been noticed elsewhere.
    let _ = output::write(last).await;
    give_back(seat).await;
    left
}

async fn stay(
    seat: &Seat<'_>,
    from: u64,
    showing: &mut Showing,
    requests: &mut Requests,
) -> Result<Left, Failure> {
    let mut resized = signal(SignalKind::window_change())?;
    let mut keyboard = keyboard::listen(Some(seat.key))?;
    let (notes, to_note) = mpsc::channel(NOTES);
    let _ = notes.try_send(welcome(seat));
    let mut shown = pin!(show(seat.terminal, from, showing, to_note));
    let of_disk = notes.clone();
    let mut telling = pin!(stall::tell(seat.terminal, move |line| {
        let _ = of_disk.try_send(format!("wharf: {line}"));
    }));
    let mut typing = pin!(type_into(seat, &mut keyboard.typed, notes));
    let mut following = pin!(follow(seat.terminal));
    let mut types = true;
    loop {
        tokio::select! {
            done = &mut shown => return done.map(|()| Left::Ended),
            () = keyboard.detach.notified() => return Ok(Left::Detached),
            _ = &mut typing, if types => types = false,
            () = &mut following => {}
            never = &mut telling => match never {},
            _ = resized.recv() => if seat.purpose == Purpose::Type { interact::fit(seat.terminal).await },
            request = requests.next() => match request {
                Request::Interrupt(number) | Request::Leave(number) => return Ok(Left::Asked(number)),
            },
        }
    }
}

/// Answers programs while nobody else does. Without it all the same can be seen and typed.
async fn follow(terminal: &Terminal) {
    let _shell = Shell::join(terminal.clone()).await;
    pending().await
}

async fn show(
    terminal: &Terminal,
    from: u64,
    showing: &mut Showing,
    mut notes: mpsc::Receiver<String>,
) -> Result<(), Failure> {
    let mut reader = terminal.reader(from);
    loop {
        let bytes = tokio::select! {
            step = reader.next(PIECE) => {
                let Step::Output(chunk) = step? else { return Ok(()) };
                if chunk.gap > 0 {
                    showing.surface.forget();
                }
                let bytes = showing.surface.pass(&chunk.bytes);
                showing.note.around(&bytes, showing.screen())
            }
            Some(note) = notes.recv() => showing.note.put(note, showing.screen()),
        };
        output::write(bytes).await?;
        reader.taken();
    }
}

impl Showing {
    fn screen(&self) -> Screen {
        if self.surface.is_alternate() { Screen::Alternate } else { Screen::Normal }
    }
}

/// Passes keys on; the first of them takes the shell.
async fn type_into(
    seat: &Seat<'_>,
    typed: &mut mpsc::Receiver<Vec<u8>>,
    notes: mpsc::Sender<String>,
) -> Result<(), Failure> {
    let mut input = seat.terminal.input(HUMAN)?;
    let mut hold = None;
    while let Some(bytes) = typed.recv().await {
        if seat.purpose == Purpose::Watch || (hold.is_none() && is_mouse(&bytes)) {
            continue;
        }
        if hold.is_none() {
            match Hold::take(seat.terminal) {
                Ok(taken) => hold = Some(taken),
                // Typing without it would be typing between an agent's words.
                Err(error) => {
                    let _ = notes.try_send(format!("wharf: it cannot be taken over: {error}"));
                    continue;
                }
            }
            if !is_own(seat.terminal) {
                let text = "wharf: you have taken over; the agent types nothing until you leave";
                let _ = notes.try_send(format!("{text} ({})", seat.key));
            }
        }
        match input.send(&bytes).await {
            // On a full disk no key is taken; this one is its signal.
            Err(ControlError::Refused(Refusal::Stalled)) if bytes.contains(&interact::CTRL_C) => {
                let _ = seat.terminal.signal(interact::INTERRUPT, HUMAN).await;
            }
            // What a terminal does with a line that is too long, except that this is not silent.
            Err(ControlError::Refused(Refusal::LineTooLong | Refusal::Stalled)) => {
                let _ = output::write(b"\x07".to_vec()).await;
            }
            sent => sent?,
        }
    }
    Ok(())
}

/// A mouse that passes over the window is not a hand on the keyboard.
fn is_mouse(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x1b[<") || bytes.starts_with(b"\x1b[M")
}

fn is_own(terminal: &Terminal) -> bool {
    find::shell_of(terminal).is_some_and(|shell| shell.seat == HUMAN)
}

/// Whose it is, how it is kept, how to leave.
fn welcome(seat: &Seat<'_>) -> String {
    let (terminal, key) = (seat.terminal, seat.key);
    let name = find::shell_of(terminal).map_or("", |shell| &shell.name);
    let sandbox = &terminal.meta().sandbox;
    let of = || format!("of {}", find::owner(terminal));
    // What typing does comes first: a window of 80 columns shows no more than the beginning.
    let (typing, whose) = match (is_own(terminal), seat.purpose) {
        (true, _) => ("", "your own".to_owned()),
        (false, Purpose::Watch) => ("", of()),
        (false, Purpose::Type) => (", typing takes it over", of()),
    };
    format!("wharf: {key} leaves{typing}. Shell {name}, sandbox {sandbox}, {whose}")
}

/// Its size is again what those have who stay.
async fn give_back(seat: &Seat<'_>) {
    let others = Hold::is_taken(seat.terminal).unwrap_or(false);
    if seat.purpose == Purpose::Type && !others {
        // One that has ended needs none.
        let _ = seat.terminal.resize(seat.before).await;
    }
}
