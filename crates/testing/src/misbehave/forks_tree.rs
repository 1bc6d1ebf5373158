//! `forks-tree COUNT`: that many children, each in a process group of its own, each saying a line; then stays.

use std::os::unix::process::CommandExt;
use std::process::ExitCode;

pub(super) fn run(args: &[String]) -> ExitCode {
    for _ in 0..super::number::<usize>(args, 0) {
        let _ = super::again(&["stays", "child"]).process_group(0).spawn();
    }
    super::say("parent");
    super::stay();
    ExitCode::SUCCESS
}
