//! `cargo xtask test`: everything that must be true of a commit. Also the whole of CI.
//!
//! Cheap checks come first, and the first failure ends it. The test runner's summary is repeated as the last thing on
//! the screen, because that is where people and machines look.

use crate::program::{answers, cargo, output_of, program, run as step, run_and_hear};
use crate::{Failure, fuzz, peers, tidy};
use std::path::Path;
use std::process::Command;

/// How much is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All of it.
    Whole,
    /// What is worth waiting for between two edits.
    Quick,
}

pub(crate) fn run(scope: Scope) -> Result<(), Failure> {
    install_nextest()?;
    install_tmux()?;
    peers::run()?;
    step(cargo(&["fmt", "--all", "--check"]), "run `cargo fmt --all`")?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    step(cargo(&clippy), "clippy says above what to change")?;
    tidy::run()?;
    // The tests start these programs from where cargo puts them.
    step(cargo(&["build", "--workspace", "--bins"]), "it does not compile")?;
    let summary = run_tests(scope)?;
    if scope == Scope::Whole {
        step(cargo(&["test", "--workspace", "--doc"]), "an example in the documentation is wrong")?;
        step(documentation(), "a link or a code block in the documentation is wrong")?;
        fuzz::run(fuzz::DEFAULT_SECONDS)?;
    }
    eprintln!("\n── all is well");
    summary.iter().for_each(|line| eprintln!("{line}"));
    Ok(())
}

/// Runs the tests and gives back the lines from the summary on.
fn run_tests(scope: Scope) -> Result<Vec<String>, Failure> {
    let mut summary: Vec<String> = Vec::new();
    let hear = |line: String| {
        eprintln!("{line}");
        if !summary.is_empty() || line.contains("Summary [") {
            summary.push(line);
        }
    };
    run_and_hear(nextest(scope), hear, "the failed tests are listed above")?;
    Ok(summary)
}

fn nextest(scope: Scope) -> Command {
    let mut command = cargo(&["nextest", "run", "--workspace"]);
    if scope == Scope::Quick {
        command.args(["-E", "not test(campaign)"]);
    }
    command
}

fn documentation() -> Command {
    let mut command = cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    command
}

/// The test runner: every test in a process of its own, which tests that count processes and descriptors rely on.
fn install_nextest() -> Result<(), Failure> {
    if answers(cargo(&["nextest", "--version"])) {
        return Ok(());
    }
    step(
        cargo(&["install", "cargo-nextest", "--locked"]),
        "install the test runner by hand: https://nexte.st/docs/installation",
    )
}

/// A real terminal emulator without a window, for the tests that attach to a terminal.
fn install_tmux() -> Result<(), Failure> {
    let tmux = || {
        let mut command = program("tmux");
        command.arg("-V");
        command
    };
    if answers(tmux()) {
        return Ok(());
    }
    if Path::new("/etc/debian_version").exists() && is_root() {
        let mut update = program("apt-get");
        update.args(["update", "--quiet"]);
        step(update, "the package lists cannot be fetched; install tmux by hand")?;
        let mut install = program("apt-get");
        install.args(["install", "--yes", "--quiet", "--no-install-recommends", "tmux"]);
        return step(install, "install tmux by hand");
    }
    Err(Failure::new(
        "tmux is not installed, and the tests need it: `sudo apt-get install tmux`, `sudo dnf install tmux` or the like",
    ))
}

fn is_root() -> bool {
    let mut id = program("id");
    id.arg("-u");
    output_of(id).is_ok_and(|uid| uid.trim() == "0")
}
