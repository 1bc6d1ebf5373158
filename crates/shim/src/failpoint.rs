//! Named places where a test may make something go wrong. Release builds contain none of this.
//!
//! `WHARF_FAILPOINTS=place=action,place=action` in a process's environment, or in the environment of the command that a
//! shim is to start. Actions: `kill` (SIGKILL to this process), `enospc` (the place reports a full disk), `stop`
//! (SIGSTOP to this process, until a test continues it), or a number (the machine is taken for one that has no more).

#[cfg(debug_assertions)]
mod armed {
    use std::sync::OnceLock;

    pub(super) static TABLE: OnceLock<Vec<(String, String)>> = OnceLock::new();

    pub(super) fn parse(text: &str) -> Vec<(String, String)> {
        text.split(',')
            .filter_map(|pair| pair.split_once('='))
            .map(|(place, action)| (place.trim().to_owned(), action.trim().to_owned()))
            .collect()
    }

    pub(super) fn action(place: &str) -> Option<&'static str> {
        #[expect(clippy::disallowed_methods, reason = "test hook of debug builds")]
        let table = TABLE
            .get_or_init(|| std::env::var("WHARF_FAILPOINTS").map_or_else(|_| Vec::new(), |t| parse(&t)));
        table.iter().find(|(name, _)| name == place).map(|(_, action)| action.as_str())
    }
}

/// The variable that arms failpoints.
pub const VARIABLE: &str = "WHARF_FAILPOINTS";

/// Arms the failpoints that a plan's environment asks for.
#[cfg(debug_assertions)]
pub(crate) fn arm(env: &[std::ffi::CString]) {
    let prefix = format!("{VARIABLE}=");
    let found = env.iter().find_map(|pair| pair.to_str().ok()?.strip_prefix(&prefix));
    if let Some(text) = found {
        let _ = armed::TABLE.set(armed::parse(text));
    }
}

/// Does what was asked for at this place, if anything was.
#[cfg(debug_assertions)]
pub fn hit(place: &str) {
    use rustix::process::{Signal, getpid, kill_process};
    let signal = match armed::action(place) {
        Some("kill") => Signal::KILL,
        Some("stop") => Signal::STOP,
        _ => return,
    };
    let _ = kill_process(getpid(), signal);
}

/// The error that was asked for at this place, if any.
#[cfg(debug_assertions)]
pub fn error(place: &str) -> Option<std::io::Error> {
    hit(place);
    (armed::action(place) == Some("enospc")).then(|| std::io::Error::from_raw_os_error(libc::ENOSPC))
}

/// The number that was asked for at this place, if any.
#[cfg(debug_assertions)]
pub fn number(place: &str) -> Option<u32> {
    armed::action(place)?.parse().ok()
}

/// Nothing, in a release.
#[cfg(not(debug_assertions))]
pub(crate) fn arm(_env: &[std::ffi::CString]) {}

/// Nothing, in a release.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn hit(_place: &str) {}

/// Nothing, in a release.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn error(_place: &str) -> Option<std::io::Error> {
    None
}

/// Nothing, in a release.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn number(_place: &str) -> Option<u32> {
    None
}
