//! `cargo xtask bench`: measures a release build, with the static shim that is handed out.

use crate::program::{cargo, run as step};
use crate::{Failure, dist, peers};

const HINT: &str = "the benchmark says above why";

pub(crate) fn run(names: &[&str]) -> Result<(), Failure> {
    dist::shim()?;
    match names {
        ["acp", rest @ ..] => acp(rest),
        ["shell", rest @ ..] => shell(rest),
        // Not the shells: their peers bring two hundred packages along.
        [] => {
            terminals(&[])?;
            acp(&[])
        }
        names => terminals(names),
    }
}

/// The library, against plain processes.
fn terminals(names: &[&str]) -> Result<(), Failure> {
    let mut bench = cargo(&["bench", "--package", "wharf-core", "--bench", "terminals", "--"]);
    bench.args(names);
    step(bench, HINT)
}

/// The program, against a client on another SDK.
fn acp(rest: &[&str]) -> Result<(), Failure> {
    peers::run()?;
    let mut bench = cargo(&["bench", "--package", "wharf", "--bench", "acp", "--"]);
    bench.args(rest);
    step(bench, HINT)
}

/// The program's shells, against the tmux-based way.
fn shell(rest: &[&str]) -> Result<(), Failure> {
    let mut bench = cargo(&["bench", "--package", "wharf", "--bench", "shell", "--"]);
    bench.args(rest);
    step(bench, HINT)
}
