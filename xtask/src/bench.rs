//! `cargo xtask bench`: measures a release build, with the release shim that users run.

use crate::Failure;
use crate::program::{cargo, run as step};

pub(crate) fn run(names: &[&str]) -> Result<(), Failure> {
    step(cargo(&["build", "--release", "--package", "wharf-shim"]), "it does not compile")?;
    let mut bench = cargo(&["bench", "--package", "wharf-core", "--bench", "terminals", "--"]);
    bench.args(names);
    step(bench, "the benchmark says above why")
}
