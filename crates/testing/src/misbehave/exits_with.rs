//! `exits-with CODE`.

use std::process::ExitCode;

pub(super) fn run(args: &[String]) -> ExitCode {
    ExitCode::from(super::number::<u8>(args, 0))
}
