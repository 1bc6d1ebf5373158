//! `floods`: writes numbered lines as fast as they are taken.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

pub(super) fn run() -> ExitCode {
    let until = Instant::now() + super::LONGEST;
    let mut out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout());
    for number in 0u64.. {
        if writeln!(out, "{number:063}").is_err() || (number % 4096 == 0 && Instant::now() > until) {
            break;
        }
    }
    ExitCode::SUCCESS
}
