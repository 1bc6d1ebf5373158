//! `cargo xtask test`: everything that must be true of a commit. Also the whole of CI.
//!
//! Cheap checks come first, and the first failure ends it. The test runner's summary is repeated as the last thing on
//! the screen, because that is where people and machines look.

use crate::debian::{self, Wanted};
use crate::program::{answers, cargo, run as step, run_and_hear};
use crate::{Failure, agents, elsewhere, fuzz, peers, tidy};
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
    debian::install(&WANTED)?;
    peers::run()?;
    if scope == Scope::Whole {
        agents::run()?;
    }
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
        elsewhere::container::run(&[])?;
        elsewhere::kernel::run(&[])?;
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

/// What the quick scope leaves out, by names: together these take almost half of the time.
const LONG: [&str; 8] = [
    // Many rounds for their own sake.
    "test(/campaign|thousands_of/)",
    // The scenarios of `wharf mcp` in bash are enough between two edits: most rows are the same in all three shells.
    "test(/::holds_in_(zsh|sh)$/)",
    // Programs on other people's SDKs, agents, and package managers.
    "test(/(^|::)peers?::|^mcp::agent::/)",
    "test(/^sandbox::work::.*::(pip|npm)_/)",
    // The same without a sandbox, which shows that a test can fail.
    "test(/in_the_open/)",
    // Floods, and those who do not leave.
    "test(/^(robust|mcp::long)::/)",
    "test(/^demo::/)",
    // The same on machines that have less.
    "test(/^sandbox::week::(with|in_a)/)",
];

fn nextest(scope: Scope) -> Command {
    let mut command = cargo(&["nextest", "run", "--workspace"]);
    if scope == Scope::Quick {
        command.args(["-E", &format!("not ({})", LONG.join(" | "))]);
        command.args(["--test-threads", &threads().to_string()]);
    }
    command
}

/// Half as many again as there are processors: most tests wait for a good part of their time.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, |processors| processors.get() * 3 / 2)
}

fn documentation() -> Command {
    let mut command = cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    command
}

/// The test runner: every test in a process of its own, which tests that count processes and descriptors rely on.
pub(crate) fn install_nextest() -> Result<(), Failure> {
    if answers(cargo(&["nextest", "--version"])) {
        return Ok(());
    }
    step(
        cargo(&["install", "cargo-nextest", "--locked"]),
        "install the test runner by hand: https://nexte.st/docs/installation",
    )
}

/// Programs that the tests run and that are not everywhere: tmux is a real terminal emulator without a window; the
/// others are what people run in shells and terminals.
const WANTED: [Wanted; 6] = [
    Wanted { program: "tmux", asked: "-V", package: "tmux" },
    Wanted { program: "zsh", asked: "--version", package: "zsh" },
    Wanted { program: "vim", asked: "--version", package: "vim" },
    Wanted { program: "less", asked: "--version", package: "less" },
    Wanted { program: "top", asked: "-v", package: "procps" },
    Wanted { program: "htop", asked: "--version", package: "htop" },
];
