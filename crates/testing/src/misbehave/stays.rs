//! `stays [LINE]`: says the line and does nothing; reads nothing either.

use std::process::ExitCode;

pub(super) fn run(args: &[String]) -> ExitCode {
    if let Some(line) = args.first() {
        super::say(line);
    }
    super::stay();
    ExitCode::SUCCESS
}
