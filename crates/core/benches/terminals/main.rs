//! What a terminal costs, measured against what it could not cost less than: `cargo xtask bench [NAME]`.
//!
//! Every benchmark runs its contenders in turns within one run and prints medians and ratios, so that a slow or busy
//! machine slows all of them. None of them judges: numbers are for people, and a test that asserts on time fails on
//! somebody else's machine.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

mod child;
mod idle;
mod measure;
mod roundtrip;
mod sandbox;
mod throughput;
mod tmux;
mod wakeup;

use std::error::Error;
use std::process::ExitCode;

/// What a benchmark comes back with: it has printed what it found, or could not be run.
type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// Terminals of the `idle` benchmark, if not said.
const IDLE: usize = 1000;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[&str]) -> Outcome {
    match args {
        [child::WORD, rest @ ..] => child::run(rest),
        [] => {
            roundtrip::run()?;
            sandbox::run()?;
            throughput::run()?;
            wakeup::run()?;
            idle::run(IDLE)
        }
        ["roundtrip"] => roundtrip::run(),
        ["sandbox"] => sandbox::run(),
        ["judge", sandbox, rounds] => sandbox::judge(sandbox, rounds.parse()?),
        ["throughput"] => throughput::run(),
        ["wakeup"] => wakeup::run(),
        ["idle"] => idle::run(IDLE),
        ["idle", terminals] => idle::run(terminals.parse()?),
        other => Err(format!("there is no benchmark `{}`", other.join(" ")).into()),
    }
}
