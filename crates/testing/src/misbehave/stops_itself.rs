//! `stops-itself`: says so and stops, as a job that was suspended.

use rustix::process::{Signal, getpid, kill_process};
use std::process::ExitCode;

pub(super) fn run() -> ExitCode {
    super::say("stopping");
    kill_process(getpid(), Signal::STOP).unwrap();
    super::stay();
    ExitCode::SUCCESS
}
