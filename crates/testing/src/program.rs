//! Finding the programs that the tests start.

use std::path::PathBuf;

/// The path of one of the workspace's own programs, built with the same profile as the running test.
///
/// # Panics
/// If it has not been built.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a test knows its own program");
    let near = own.parent().expect("a program is in a directory");
    // Tests are in `target/<profile>/deps`, programs one above.
    let place = if near.ends_with("deps") { near.parent().expect("deps is in a directory") } else { near };
    let path = place.join(name);
    assert!(path.is_file(), "{} is missing: run `cargo build --workspace --bins`", path.display());
    path
}
