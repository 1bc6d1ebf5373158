//! What is done to this repository, one verb a file: `cargo xtask VERB`.
//!
//! Only the standard library, so that it builds in a second. It starts cargo and never becomes part of the product.

#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

mod agents;
mod bench;
mod debian;
mod dist;
mod elsewhere;
mod fuzz;
mod peers;
mod program;
mod test;
mod tidy;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

const HELP: &str = "\
cargo xtask VERB

  test [--quick]    everything that must be true of a commit, in the order in which it fails fastest;
                    installs the tools it needs; --quick leaves out documentation, fuzzing and long tests
  tidy              the rules that no compiler knows
  peers             installs the programs that the tests talk to, in target/peers: on other people's SDKs, and agents
  dist              wharf and a statically linked wharf-shim, in target/dist
  bench [NAME ...]  measures a release build: roundtrip, throughput, wakeup, idle [TERMINALS], acp [ROUNDS],
                    shell [ROUNDS] [CONTENDER ...]; all but shell without a name
  kernel [--kernel VERSION] [--without landlock|namespaces] [-- FILTER ...]
                    runs tests on Debian's own kernel (6.1 if not said) in an emulated machine; as root, on Debian
  container [-- FILTER ...]
                    runs tests in a container of Docker's, as root and as an ordinary user; as root, on Debian
                    FILTER is what `cargo nextest run` takes: words, or -E EXPRESSION; else a minute's worth is run
  fuzz [SECONDS]    runs every fuzz target for that long (20 if not said)
  help              this
";

/// Why a verb stopped: one sentence that says what to do.
#[derive(Debug)]
struct Failure(String);

impl Failure {
    fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["test"] => test::run(test::Scope::Whole),
        ["test", "--quick"] => test::run(test::Scope::Quick),
        ["tidy"] => tidy::run(),
        ["peers"] => peers::run().and_then(|()| agents::run()),
        ["dist"] => dist::run(),
        ["bench", names @ ..] => bench::run(names),
        ["kernel", args @ ..] => elsewhere::kernel::run(args),
        ["container", args @ ..] => elsewhere::container::run(args),
        ["fuzz"] => fuzz::run(fuzz::DEFAULT_SECONDS),
        ["fuzz", seconds] => fuzz::parse_seconds(seconds).and_then(fuzz::run),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        other => Err(Failure::new(format!("there is no `{}`; see `cargo xtask help`", other.join(" ")))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("\nerror: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// The repository.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
