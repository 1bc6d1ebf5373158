//! `takes-statuses ARGS…`: as `embeds-terminal`, in a program that waits for every child it has, whoever started it.

use rustix::process::{WaitOptions, wait};
use std::process::ExitCode;

pub(super) fn run(args: &[String]) -> ExitCode {
    std::thread::spawn(|| {
        loop {
            // Without children there is nothing to wait for; that is looked at again and again.
            if wait(WaitOptions::empty()).is_err() {
                std::thread::yield_now();
            }
        }
    });
    super::embeds_terminal::run(args)
}
