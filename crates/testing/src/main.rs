//! `wharf-misbehave BEHAVIOUR ARGS…`: one program for everything that a command or a front end may do wrong.
//!
//! Every behaviour ends by itself after a while, so that a test which fails leaves nothing for ever.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a misbehaving program may fail loudly")]

mod misbehave;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, args)) = args.split_first() else { return misbehave::unknown("") };
    misbehave::run(name, args)
}
