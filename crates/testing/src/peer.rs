//! Finding the programs on other people's SDKs, and the agents, that `cargo xtask peers` has installed.
//!
//! They run from the target directory, beside the packages they import; what runs there must be what is in the repository.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The directory they are installed in, with their scripts as they are in the repository.
///
/// # Panics
/// If they are not installed, or a script has been changed since.
#[must_use]
pub fn peers() -> &'static Path {
    static FOUND: LazyLock<PathBuf> = LazyLock::new(|| {
        let found = find();
        check_scripts(&source(), &found);
        found
    });
    &FOUND
}

/// The directory of the agents that real users have.
///
/// # Errors
/// The reason why they could not be installed on this machine. A test says it and does nothing.
///
/// # Panics
/// If nobody tried, or a script has been changed since.
pub fn agents() -> Result<PathBuf, String> {
    let dir = peers().join("agents");
    check_scripts(&source().join("agents"), &dir);
    if dir.join("installed").is_file() {
        return Ok(dir);
    }
    match std::fs::read_to_string(dir.join("skipped")) {
        Ok(reason) => Err(reason),
        Err(_) => panic!("the agents are not installed: run `cargo xtask peers`"),
    }
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers")
}

/// Tests are in `target/<profile>/deps`, and with a named platform one deeper.
fn find() -> PathBuf {
    let own = std::env::current_exe().expect("a test knows its own program");
    let places = own.ancestors().map(|place| place.join("peers"));
    // The repository has a directory of that name too, but never this file in it.
    let installed = places.into_iter().find(|place| place.join("installed").is_file());
    installed.unwrap_or_else(|| panic!("the peers are not installed: run `cargo xtask peers`"))
}

fn check_scripts(source: &Path, installed: &Path) {
    let scripts = std::fs::read_dir(source).expect("the peers are in the repository").flatten();
    for script in scripts.map(|entry| entry.path()).filter(|path| is_script(path)) {
        let copy = installed.join(script.file_name().expect("a file has a name"));
        let is_same = std::fs::read(&copy).ok() == Some(std::fs::read(&script).expect("a script is a file"));
        assert!(is_same, "{} is not as in the repository: run `cargo xtask peers`", copy.display());
    }
}

fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "mjs" || extension == "py")
}
