//! `holds-output BYTES CODE`: prints that many bytes and exits while a child keeps its output open.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::ExitCode;

pub(super) fn run(args: &[String]) -> ExitCode {
    // In a group of its own, since a PTY hangs up on the foreground group when its session ends.
    let _ = super::again(&["stays"]).process_group(0).spawn();
    let bytes = vec![b'x'; super::number(args, 0)];
    std::io::stdout().write_all(&bytes).unwrap();
    ExitCode::from(super::number::<u8>(args, 1))
}
