//! `cargo xtask fuzz`: every fuzz target for a while, on the stable compiler and without cargo-fuzz.
//!
//! libFuzzer needs the coverage that LLVM's pass inserts, and that pass can be asked for on every compiler. Only the
//! address sanitizer needs a nightly one, and the code under test has no `unsafe` for it to watch.

use crate::program::{answers, cargo, output_of, program, run as step, run_and_hear};
use crate::{Failure, root};
use std::fs;
use std::process::Command;

/// Long enough to reach every branch of small decoders from good seeds.
pub(crate) const DEFAULT_SECONDS: u64 = 20;

/// What cargo-fuzz would set, less what only a nightly compiler takes.
const FLAGS: [&str; 7] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
];

pub(crate) fn parse_seconds(text: &str) -> Result<u64, Failure> {
    text.parse().map_err(|_| Failure::new(format!("`{text}` is not a number of seconds")))
}

pub(crate) fn run(seconds: u64) -> Result<(), Failure> {
    check_compiler()?;
    let host = host()?;
    step(build(&host), "the fuzz targets do not compile")?;
    for target in targets()? {
        let hint = format!(
            "the input is in fuzz/artifacts/{target}; run the program again with that file as its only argument"
        );
        run_and_hear(fuzz(&host, &target, seconds)?, show, &hint)?;
    }
    Ok(())
}

/// All that libFuzzer says, but for the byte strings that it recommends at the end of every run.
fn show(line: String) {
    if !line.starts_with(['"', '#']) {
        eprintln!("{line}");
    }
}

/// libFuzzer is C++ and compiled here.
fn check_compiler() -> Result<(), Failure> {
    let works = ["c++", "g++", "clang++"].into_iter().any(|name| {
        let mut command = program(name);
        command.arg("--version");
        answers(command)
    });
    if works {
        return Ok(());
    }
    Err(Failure::new("fuzzing needs a C++ compiler: `sudo apt-get install g++` or the like"))
}

/// With a target named, the flags reach the code under test and not the build scripts.
pub(crate) fn host() -> Result<String, Failure> {
    let mut rustc = program("rustc");
    rustc.arg("-vV");
    let version = output_of(rustc)?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Failure::new("`rustc -vV` does not name its host"))
}

fn build(host: &str) -> Command {
    let mut command = cargo(&["build", "--release", "--manifest-path", "fuzz/Cargo.toml"]);
    command.args(["--target-dir", "fuzz/target", "--bins", "--target", host]);
    command.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1f"));
    command
}

/// Every file in `fuzz/fuzz_targets` is one.
fn targets() -> Result<Vec<String>, Failure> {
    let dir = root().join("fuzz/fuzz_targets");
    let files = fs::read_dir(&dir).map_err(|error| Failure::new(format!("{}: {error}", dir.display())))?;
    let name = |path: std::path::PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
    let mut names: Vec<String> = files.flatten().filter_map(|file| name(file.path())).collect();
    names.sort();
    Ok(names)
}

/// The targets plant their own seeds into the corpus when they start.
fn fuzz(host: &str, target: &str, seconds: u64) -> Result<Command, Failure> {
    let (corpus, artifacts) = (format!("fuzz/corpus/{target}"), format!("fuzz/artifacts/{target}/"));
    for dir in [&corpus, &artifacts] {
        fs::create_dir_all(root().join(dir)).map_err(|error| Failure::new(format!("{dir}: {error}")))?;
    }
    let mut command = program(&format!("fuzz/target/{host}/release/{target}"));
    command.arg(corpus).arg(format!("-artifact_prefix={artifacts}"));
    command.arg(format!("-max_total_time={seconds}"));
    command.args([
        "-max_len=4096",
        "-rss_limit_mb=1024",
        "-timeout=5",
        "-verbosity=0",
        "-print_final_stats=1",
    ]);
    Ok(command)
}
