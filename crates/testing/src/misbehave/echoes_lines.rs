//! `echoes-lines`: answers every line with it, and says at the end of its input how many there were.

use std::io::BufRead;
use std::process::ExitCode;

pub(super) fn run() -> ExitCode {
    super::say("ready");
    let mut lines = 0;
    for line in std::io::stdin().lock().lines() {
        super::say(&format!("got {}", line.unwrap()));
        lines += 1;
    }
    super::say(&format!("{lines} lines"));
    ExitCode::SUCCESS
}
