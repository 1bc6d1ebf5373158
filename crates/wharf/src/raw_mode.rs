//! Our own terminal in raw mode, and back, on every way out.
//!
//! Dropping the guard restores it. So does a panic, by a hook: release builds abort without unwinding, and a shell
//! without echo is a poor place to read a bug report.

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io;
use std::sync::{Mutex, Once, PoisonError};

/// As it was before.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);
static HOOK: Once = Once::new();

/// While this lives, keys arrive one by one and nothing is echoed.
#[derive(Debug)]
pub(crate) struct RawMode;

impl RawMode {
    pub(crate) fn enter() -> io::Result<Self> {
        let before = tcgetattr(rustix::stdio::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        HOOK.call_once(restore_on_panic);
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        let entered = Self;
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &raw)?;
        Ok(entered)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        restore();
    }
}

fn restore() {
    if let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // If even this fails the terminal is gone, and with it whoever would mind.
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &before);
    }
}

fn restore_on_panic() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        restore();
        usual(panic);
    }));
}
