//! `ignores-term`: deaf to TERM and HUP.

use std::os::unix::process::CommandExt;
use std::process::ExitCode;

pub(super) fn run() -> ExitCode {
    let _ = super::deaf(&["stays", "ready"]).exec();
    ExitCode::FAILURE
}
