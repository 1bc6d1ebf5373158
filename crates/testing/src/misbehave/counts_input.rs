//! `counts-input`: reads to the end of its input and says how many bytes there were, and their sum.

use std::io::Read;
use std::process::ExitCode;

pub(super) fn run() -> ExitCode {
    super::say("ready");
    let mut all = Vec::new();
    std::io::stdin().read_to_end(&mut all).unwrap();
    let sum: u64 = all.iter().map(|b| u64::from(*b)).sum();
    super::say(&format!("{} bytes, sum {sum}", all.len()));
    ExitCode::SUCCESS
}
