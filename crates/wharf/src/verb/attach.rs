//! `wharf attach`: sits down at a terminal that already runs.
//!
//! Whoever joins late first gets the screen as it is, painted from the end of the journal, and then every byte from
//! exactly that place on.

use crate::cli::Attach;
use crate::emulation::Emulation;
use crate::exit_code::{self, Code};
use crate::interact::{self, Found, Left};
use crate::live::{self, Until};
use crate::output;
use crate::place::Place;
use crate::quiet::Reports;
use crate::report::{self, Failure};
use crate::request::Requests;
use crate::surface::Surface;
use crate::verb::logs;
use crate::verb::sh::{self, Purpose};
use crate::{show, which};
use wharf_core::{Phase, Size, Terminal};

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
    let (painting, found) = find(&terminal, size, Reports::MouseAndFocus)?;
    output::write(painting).await?;
    let left = interact::interact(&terminal, found, args.detach_key, &mut requests).await?;
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

/// What paints the terminal's screen as it is now, and what to go on with.
pub(crate) fn find(terminal: &Terminal, size: Size, reports: Reports) -> Result<(Vec<u8>, Found), Failure> {
    let start = terminal.look()?.end.saturating_sub(PAST as u64);
    let chunk = terminal.read(start, PAST)?;
    let from = chunk.at + chunk.bytes.len() as u64;
    let past = if chunk.at == 0 { &chunk.bytes } else { after_line(&chunk.bytes) };
    let (mut surface, mut screen) = (Surface::new(reports), Emulation::new(size));
    screen.feed(from - past.len() as u64, past);
    let painting = surface.paint(past, &screen);
    Ok((painting, Found { from, surface, screen }))
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
