//! Waiting for a terminal's own events, with a guard against waiting for ever.

use std::future::Future;
use std::time::Duration;
use wharf_core::{Step, Terminal};

/// Longer than anything here takes, shorter than anybody's patience.
pub const GUARD: Duration = Duration::from_secs(20);

/// The future's result.
///
/// # Panics
/// If it takes longer than [`GUARD`].
pub async fn guarded<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(GUARD, future).await.expect("took longer than the guard allows")
}

/// All output up to the command's end.
pub async fn all_of(terminal: &Terminal) -> Vec<u8> {
    let mut reader = terminal.reader(0);
    let mut all = Vec::new();
    loop {
        match guarded(reader.next(1 << 20)).await.unwrap() {
            Step::Output(chunk) => {
                assert_eq!(chunk.gap, 0, "nothing was to be dropped");
                all.extend(chunk.bytes);
            }
            Step::Ended | Step::Closed => return all,
        }
    }
}

/// The output up to and including the first time that `text` appears.
///
/// # Panics
/// If the command ends without having printed it.
pub async fn until(terminal: &Terminal, text: &str) -> Vec<u8> {
    let mut reader = terminal.reader(0);
    let mut all = Vec::new();
    loop {
        if let Some(at) = all.windows(text.len()).position(|w| w == text.as_bytes()) {
            all.truncate(at + text.len());
            return all;
        }
        match guarded(reader.next(1 << 20)).await.unwrap() {
            Step::Output(chunk) => all.extend(chunk.bytes),
            step => panic!("{step:?} before {text:?}; so far: {}", String::from_utf8_lossy(&all)),
        }
    }
}
