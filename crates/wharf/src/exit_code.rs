//! What the program exits with. These numbers are documented in `wharf --help` and do not change.

use wharf_core::{Cause, Ended, Outcome};

/// An exit code.
pub(crate) type Code = u8;

pub(crate) const DONE: Code = 0;
/// Asked, understood, refused; or this machine cannot run wharf.
pub(crate) const REFUSED: Code = 1;
/// Wrong usage; clap's own number.
pub(crate) const USAGE: Code = 2;
/// No such terminal.
pub(crate) const NO_SUCH_TERMINAL: Code = 3;
/// As `timeout` of the GNU coreutils.
pub(crate) const TIME_LIMIT: Code = 124;
/// Wharf failed, not the command. This and the next two as `env`, `timeout` and the shells.
pub(crate) const FAILED: Code = 125;
pub(crate) const NOT_EXECUTABLE: Code = 126;
pub(crate) const NOT_FOUND: Code = 127;
/// Nobody reads our output any more: what a shell says of a program ended by SIGPIPE.
pub(crate) const BROKEN_PIPE: Code = 141;

/// The code that tells of an end.
pub(crate) fn of(ended: &Ended) -> Code {
    match (ended.cause, ended.outcome) {
        (Cause::TimeLimit | Cause::IdleLimit, _) => TIME_LIMIT,
        (_, Outcome::Code(code)) => Code::try_from(code & 0xff).unwrap_or(FAILED),
        (_, Outcome::Signal(number)) => of_signal(number),
        (_, Outcome::Lost(_)) => FAILED,
    }
}

/// As the shells have it.
pub(crate) fn of_signal(number: i32) -> Code {
    Code::try_from(128 + number).unwrap_or(FAILED)
}
