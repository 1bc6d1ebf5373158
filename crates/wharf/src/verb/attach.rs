//! `wharf attach`: sits down at a terminal that already runs.
//!
//! Whoever joins late first gets the screen as it is, painted from the end of the journal, and then every byte from
//! exactly that place on.

use crate::cli::Attach;
use crate::exit_code::{self, Code};
use crate::interact::{self, Left};
use crate::live::{self, Until};
use crate::modes::Modes;
use crate::output;
use crate::place::Place;
use crate::report::{self, Failure};
use crate::request::Requests;
use crate::verb::logs;
use crate::verb::sh::{self, Purpose};
use crate::{show, which};
use wharf_core::{Phase, Screen, Size, Terminal};

/// As much of the past as is looked at to know what is on the screen.
const PAST: usize = 1 << 20;

pub(crate) async fn run(args: &Attach, place: &Place) -> Result<Code, Failure> {
    let terminal = which::find(&place.store()?, &args.id)?;
    let id = terminal.id().short();
    let look = terminal.look_and_settle().await?;
    match look.phase {
        Phase::Ended(ended) => {
            let message = format!("{id} has {}", show::sentence(&ended));
            let failure = Failure { code: exit_code::REFUSED, word: "ended", ..Failure::new(message) };
            return Err(failure.hint(format!("`wharf logs {id}` shows what it printed")));
        }
        Phase::NotStarted => return Err(Failure::new(format!("the command of {id} was never started"))),
        Phase::Starting | Phase::Running { .. } => {}
    }
    let Some(size) = look.size else { return watch(&terminal).await };
    if !interact::is_possible() {
        return Err(Failure::usage("attach needs a terminal to sit at")
            .hint(format!("`wharf logs -f {id}` shows its output, `wharf send {id}` types into it")));
    }
    // Heard from before anything is painted: whoever tells us to go gets the terminal back as it was.
    let mut requests = Requests::listen()?;
    // Others may use a shell too, and somebody answers for its terminal.
    if terminal.meta().integration.is_some() {
        let back = format!("wharf attach {id}");
        return sh::sit_down(&terminal, Purpose::Type, args.detach_key, &back, &mut requests).await;
    }
    let (from, modes) = paint(&terminal, size).await?;
    let left = interact::interact(&terminal, from, args.detach_key, modes, &mut requests).await?;
    leave(&terminal, left).await
}

/// Without a PTY there is nothing to sit at; its output can be watched.
async fn watch(terminal: &Terminal) -> Result<Code, Failure> {
    let id = terminal.id().short();
    report::say(&format!("{id} is not on a PTY, so this only shows its output; Ctrl-C leaves it running"));
    let from = terminal.look()?.end.saturating_sub(PAST as u64);
    live::follow(terminal.reader(from.max(terminal.look()?.first)), Until::Ended, logs::suited()).await?;
    leave(terminal, Left::Ended).await
}

/// Paints what is on the terminal's screen; from which offset to go on, and what is switched on.
async fn paint(terminal: &Terminal, size: Size) -> Result<(u64, Modes), Failure> {
    let (past, from) = past(terminal)?;
    let (bytes, modes) = painting(&past, size);
    output::write(bytes).await?;
    Ok((from, modes))
}

/// As much of its output as tells what is on its screen, and the offset after it.
pub(crate) fn past(terminal: &Terminal) -> Result<(Vec<u8>, u64), Failure> {
    let from = terminal.look()?.end.saturating_sub(PAST as u64);
    let chunk = terminal.read(from, PAST)?;
    let end = chunk.at + chunk.bytes.len() as u64;
    let past = if chunk.at == 0 { chunk.bytes } else { after_line(&chunk.bytes).to_vec() };
    Ok((past, end))
}

/// What paints the screen that this output has made, and what is switched on then.
pub(crate) fn painting(past: &[u8], size: Size) -> (Vec<u8>, Modes) {
    let (mut screen, mut modes) = (Screen::new(size), Modes::default());
    screen.feed(past);
    modes.feed(past);
    let mut bytes = modes.enter_screen().into_bytes();
    bytes.extend_from_slice(b"\x1b[H\x1b[2J");
    bytes.extend(screen.paint());
    bytes.extend(modes.switch_on().into_bytes());
    (bytes, modes)
}

/// What was cut off its beginning may begin in the middle of a sequence; a new line is a place to begin.
fn after_line(bytes: &[u8]) -> &[u8] {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(at) => &bytes[at + 1..],
        None => bytes,
    }
}

async fn leave(terminal: &Terminal, left: Left) -> Result<Code, Failure> {
    let id = terminal.id().short();
    match left {
        Left::Ended => {
            let ended = terminal.wait().await?;
            report::say(&format!("{id} {}", show::sentence(&ended)));
            Ok(exit_code::of(&ended))
        }
        Left::Detached => {
            report::say_below(&format!("left {id} running; `wharf attach {id}` comes back"));
            Ok(exit_code::DONE)
        }
        Left::Asked(signal) => Ok(exit_code::of_signal(signal)),
    }
}
