//! `cargo xtask bench`: measures a release build, with the static shim that is handed out.

use crate::program::{cargo, run as step};
use crate::{Failure, dist};

pub(crate) fn run(names: &[&str]) -> Result<(), Failure> {
    dist::shim()?;
    let mut bench = cargo(&["bench", "--package", "wharf-core", "--bench", "terminals", "--"]);
    bench.args(names);
    step(bench, "the benchmark says above why")
}
