//! `writes-every-byte`: 0 to 255, once each.

use std::io::Write;
use std::process::ExitCode;

pub(super) fn run() -> ExitCode {
    let all: Vec<u8> = (0..=255).collect();
    std::io::stdout().write_all(&all).unwrap();
    ExitCode::SUCCESS
}
