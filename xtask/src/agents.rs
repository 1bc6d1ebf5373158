//! The agents that real users have, installed in `target/peers/agents` for the tests of `wharf mcp`.
//!
//! They are more than a gigabyte, so only the whole of the tests has them, and where they cannot be had it goes on without:
//! the reason is printed here, and written down for the tests, which repeat it.

use crate::peers::{copy_scripts, failed, place, quietly, with};
use crate::program::answers;
use crate::{Failure, root};
use std::fs;
use std::path::Path;

/// Holds what the lock file said; written last.
const STAMP: &str = "installed";
/// Holds the reason why they are not there.
const SKIPPED: &str = "skipped";

pub(crate) fn run() -> Result<(), Failure> {
    let (source, dir) = (root().join("peers/agents"), place()?.join("agents"));
    copy_scripts(&source, &dir)?;
    let lock = source.join("package-lock.json");
    let lock = fs::read_to_string(&lock).map_err(|error| failed(&lock, &error))?;
    let (stamp, skipped) = (dir.join(STAMP), dir.join(SKIPPED));
    let _ = fs::remove_file(&skipped);
    if fs::read_to_string(&stamp).is_ok_and(|stamp| stamp == lock) && dir.join("node_modules").is_dir() {
        return Ok(());
    }
    let _ = fs::remove_file(&stamp);
    if let Some(reason) = obstacle(&dir) {
        eprintln!("\n── skipped: agents for the tests: {reason}");
        return fs::write(&skipped, reason).map_err(|error| failed(&skipped, &error));
    }
    eprintln!("\n── installing agents for the tests in {}", dir.display());
    let npm = with("npm", &["ci", "--no-audit", "--no-fund", "--ignore-scripts"]);
    quietly(npm, &dir, "the packages of peers/agents/package-lock.json cannot be installed")?;
    fs::write(&stamp, lock).map_err(|error| failed(&stamp, &error))
}

/// Why they cannot be had on this machine.
fn obstacle(dir: &Path) -> Option<&'static str> {
    if !cfg!(target_arch = "x86_64") {
        return Some("the lock file names programs for x86_64 only");
    }
    let asked = ["view", "opencode-linux-x64", "version", "--fetch-retries=0", "--fetch-timeout=20000"];
    let mut asked = with("npm", &asked);
    asked.current_dir(dir);
    (!answers(asked)).then_some("the npm registry cannot be reached")
}
