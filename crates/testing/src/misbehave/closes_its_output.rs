//! `closes-its-output CODE`: closes all standard descriptors, lives on for a while, then exits.

use std::process::ExitCode;
use std::time::Duration;

/// Long enough that an end taken from the closing would be seen before the real one.
const LIVES_ON: Duration = Duration::from_millis(400);

pub(super) fn run(args: &[String]) -> ExitCode {
    super::say("closing");
    super::close_standard();
    super::wait(LIVES_ON);
    ExitCode::from(super::number::<u8>(args, 0))
}
