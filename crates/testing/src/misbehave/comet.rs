//! `comet COUNT`: starts itself anew and exits, without pause: a process that is never where one looked last.

use std::process::ExitCode;

pub(super) fn run(args: &[String]) -> ExitCode {
    let left: u32 = super::number(args, 0);
    if args.get(1).is_none() {
        super::say("flying");
    }
    if left > 0 {
        let _ = super::again(&["comet", &(left - 1).to_string(), "on"]).spawn();
    }
    ExitCode::SUCCESS
}
