//! `cargo xtask peers`: programs on other people's ACP and MCP SDKs, installed where the tests find them.
//!
//! They run from `target/peers`, beside the packages they import, so that the repository stays clean. The packages are
//! fetched again only when a lock file has changed; the scripts are copied every time.

use crate::program::{answers, output_of, program};
use crate::{Failure, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What says exactly which packages are installed.
const LOCKS: [&str; 3] = ["package.json", "package-lock.json", "requirements.txt"];
/// Holds what the lock files said; written last.
const STAMP: &str = "installed";

pub(crate) fn run() -> Result<(), Failure> {
    let dir = place()?;
    copy_scripts(&root().join("peers"), &dir)?;
    let locks = locks()?;
    if fs::read_to_string(dir.join(STAMP)).is_ok_and(|stamp| stamp == locks) && works(&dir) {
        return Ok(());
    }
    eprintln!("\n── installing peers for the tests in {}", dir.display());
    check_tools()?;
    // A half of an installation is none.
    let _ = fs::remove_file(dir.join(STAMP));
    install(&dir)?;
    fs::write(dir.join(STAMP), locks).map_err(|error| failed(&dir.join(STAMP), &error))
}

/// Beside the profiles' directories, wherever cargo has them: `target/debug/xtask` runs this.
pub(crate) fn place() -> Result<PathBuf, Failure> {
    let own = std::env::current_exe().map_err(|error| failed(Path::new("xtask"), &error))?;
    let target = own.ancestors().nth(2).unwrap_or(root());
    Ok(target.join("peers"))
}

pub(crate) fn copy_scripts(source: &Path, dir: &Path) -> Result<(), Failure> {
    fs::create_dir_all(dir).map_err(|error| failed(dir, &error))?;
    for entry in fs::read_dir(source).map_err(|error| failed(source, &error))?.flatten() {
        let (from, to) = (entry.path(), dir.join(entry.file_name()));
        // A program may be running from it: only what is different is written.
        if from.is_file() && fs::read(&from).ok() != fs::read(&to).ok() {
            fs::copy(&from, &to).map_err(|error| failed(&to, &error))?;
        }
    }
    Ok(())
}

fn locks() -> Result<String, Failure> {
    let read = |name: &str| {
        let path = root().join("peers").join(name);
        fs::read_to_string(&path).map_err(|error| failed(&path, &error))
    };
    LOCKS.into_iter().map(read).collect()
}

/// Whether what the stamp says is there, and the Python that it was made with still is.
fn works(dir: &Path) -> bool {
    dir.join("node_modules").is_dir() && answers(with(&python(dir), &["--version"]))
}

fn python(dir: &Path) -> String {
    dir.join("venv/bin/python").to_string_lossy().into_owned()
}

fn check_tools() -> Result<(), Failure> {
    let missing =
        |what: &str| Failure::new(format!("{what} is needed for the tests against other people's programs"));
    let node =
        output_of(with("node", &["--version"])).map_err(|_| missing("Node.js 20 or newer (`node`)"))?;
    let major = node.trim().trim_start_matches('v').split('.').next().and_then(|major| major.parse().ok());
    if major.is_none_or(|major: u32| major < 20) {
        return Err(missing(&format!("Node.js 20 or newer (`node` is {})", node.trim())));
    }
    if !answers(with("npm", &["--version"])) {
        return Err(missing("npm"));
    }
    let recent = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";
    if !answers(with("python3", &["-c", recent])) {
        return Err(missing("Python 3.10 or newer with venv (`python3`, on Debian also `python3-venv`)"));
    }
    Ok(())
}

fn install(dir: &Path) -> Result<(), Failure> {
    let npm = with("npm", &["ci", "--no-audit", "--no-fund", "--ignore-scripts"]);
    quietly(npm, dir, "the packages of peers/package-lock.json cannot be installed")?;
    let venv = with("python3", &["-m", "venv", "--clear", "venv"]);
    quietly(venv, dir, "a virtual environment for Python cannot be made")?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"];
    quietly(with(&python(dir), &pip), dir, "the packages of peers/requirements.txt cannot be installed")
}

pub(crate) fn with(name: &str, args: &[&str]) -> Command {
    let mut command = program(name);
    command.args(args);
    command
}

/// Runs it there; what it says is shown only if it fails.
pub(crate) fn quietly(mut command: Command, dir: &Path, hint: &str) -> Result<(), Failure> {
    let output =
        command.current_dir(dir).output().map_err(|error| Failure::new(format!("{hint}: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    for text in [output.stdout, output.stderr] {
        eprint!("{}", String::from_utf8_lossy(&text));
    }
    Err(Failure::new(hint))
}

pub(crate) fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{}: {error}", path.display()))
}
