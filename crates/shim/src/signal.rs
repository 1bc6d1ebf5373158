//! Signals by name.
//!
//! People and protocols say `SIGTERM`; the kernel says 15. Real-time signals are named by their distance
//! from the C library's first free one, as the shells do.

/// Every named signal on Linux for x86-64 and aarch64, which share the numbers.
const NAMES: [(i32, &str); 31] = [
    (libc::SIGHUP, "SIGHUP"),
    (libc::SIGINT, "SIGINT"),
    (libc::SIGQUIT, "SIGQUIT"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGKILL, "SIGKILL"),
    (libc::SIGUSR1, "SIGUSR1"),
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGUSR2, "SIGUSR2"),
    (libc::SIGPIPE, "SIGPIPE"),
    (libc::SIGALRM, "SIGALRM"),
    (libc::SIGTERM, "SIGTERM"),
    (libc::SIGSTKFLT, "SIGSTKFLT"),
    (libc::SIGCHLD, "SIGCHLD"),
    (libc::SIGCONT, "SIGCONT"),
    (libc::SIGSTOP, "SIGSTOP"),
    (libc::SIGTSTP, "SIGTSTP"),
    (libc::SIGTTIN, "SIGTTIN"),
    (libc::SIGTTOU, "SIGTTOU"),
    (libc::SIGURG, "SIGURG"),
    (libc::SIGXCPU, "SIGXCPU"),
    (libc::SIGXFSZ, "SIGXFSZ"),
    (libc::SIGVTALRM, "SIGVTALRM"),
    (libc::SIGPROF, "SIGPROF"),
    (libc::SIGWINCH, "SIGWINCH"),
    (libc::SIGIO, "SIGIO"),
    (libc::SIGPWR, "SIGPWR"),
    (libc::SIGSYS, "SIGSYS"),
];

/// The first real-time signal that programs may use; the C library keeps 32 and 33.
const FIRST_REAL_TIME: i32 = 34;
const LAST_REAL_TIME: i32 = 64;

/// The name of a signal number, always beginning with `SIG`.
#[must_use]
pub fn name(number: i32) -> String {
    match NAMES.iter().find(|(n, _)| *n == number) {
        Some((_, name)) => (*name).to_owned(),
        None if number == FIRST_REAL_TIME => "SIGRTMIN".to_owned(),
        None if (FIRST_REAL_TIME..=LAST_REAL_TIME).contains(&number) => {
            format!("SIGRTMIN+{}", number - FIRST_REAL_TIME)
        }
        None => format!("SIG{number}"),
    }
}

/// The number of a signal: `SIGINT`, `INT`, `int`, `2` and `SIGRTMIN+1` are all understood.
#[must_use]
pub fn number(text: &str) -> Option<i32> {
    let upper = text.trim().to_ascii_uppercase();
    let bare = upper.strip_prefix("SIG").unwrap_or(&upper);
    if let Ok(number) = bare.parse::<i32>() {
        return (1..=LAST_REAL_TIME).contains(&number).then_some(number);
    }
    if let Some(rest) = bare.strip_prefix("RTMIN") {
        let distance = if rest.is_empty() { 0 } else { rest.strip_prefix('+')?.parse::<i32>().ok()? };
        let number = FIRST_REAL_TIME.checked_add(distance)?;
        return (FIRST_REAL_TIME..=LAST_REAL_TIME).contains(&number).then_some(number);
    }
    NAMES.iter().find(|(_, name)| name.strip_prefix("SIG") == Some(bare)).map(|(n, _)| *n)
}

/// Has a limit on file sizes answered by an error, like a full disk, and not by the death of this process. Commands have it
/// as they would without.
pub fn ignore_file_size() {
    // SAFETY: ignoring a signal installs no code.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signal_has_a_name_that_leads_back_to_it() {
        for n in 1..=LAST_REAL_TIME {
            assert_eq!(number(&name(n)), Some(n), "{}", name(n));
        }
    }

    #[test]
    fn people_may_spell_it_as_they_like() {
        for text in ["SIGINT", "sigint", "INT", "int", "2", " INT "] {
            assert_eq!(number(text), Some(2), "{text}");
        }
        for text in ["", "SIG", "NOPE", "0", "65", "-1", "RTMIN+99", "RTMIN-1"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
