//! `prints-numbered-lines COUNT CODE`: lines of 64 bytes, then how many bytes that were, then exits.

use std::io::Write;
use std::process::ExitCode;

pub(super) fn run(args: &[String]) -> ExitCode {
    let count: u64 = super::number(args, 0);
    let mut out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout());
    for number in 0..count {
        writeln!(out, "{number:063}").unwrap();
    }
    writeln!(out, "wrote {} bytes", count * 64).unwrap();
    out.flush().unwrap();
    ExitCode::from(super::number::<u8>(args, 1))
}
