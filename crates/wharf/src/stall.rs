//! What is said to a person whose command waits for a full disk.

use std::convert::Infallible;
use std::io;
use std::time::Duration;
use wharf_core::{Phase, Terminal};

/// How long nothing can be written before it is worth a word: a disk that is nearly full comes and goes.
const NOTEWORTHY: Duration = Duration::from_millis(500);

/// Says that the command waits, and why, and when it goes on. For as long as it is polled.
pub(crate) async fn tell(terminal: &Terminal, say: impl Fn(&str)) -> Infallible {
    loop {
        terminal.stalled().await;
        if tokio::time::timeout(NOTEWORTHY, terminal.flowing()).await.is_ok() {
            continue;
        }
        say(&format!("{}: the command waits for room and nothing is lost", why(terminal)));
        terminal.flowing().await;
        if terminal.look().is_ok_and(|look| matches!(look.phase, Phase::Running { .. })) {
            say("there is room again: the command goes on");
        }
    }
}

fn why(terminal: &Terminal) -> String {
    of(terminal).unwrap_or_else(|| DISK_FULL.to_owned())
}

const DISK_FULL: &str = "the disk is full";

/// Why nothing that a command prints can be written, if that is so.
pub(crate) fn of(terminal: &Terminal) -> Option<String> {
    Some(match terminal.look().ok()?.stalled? {
        // ENOSPC, EDQUOT.
        28 | 122 => DISK_FULL.to_owned(),
        errno => format!("its output cannot be written ({})", io::Error::from_raw_os_error(errno)),
    })
}
