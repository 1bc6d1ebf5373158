//! The packages of the peers, in a virtual environment below `target`, made once.

use crate::Outcome;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What OpenHands asks for.
const RECENT: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 12))";
const PYTHONS: [&str; 4] = ["python3", "python3.14", "python3.13", "python3.12"];

/// The interpreter that has them.
pub(crate) fn python(scripts: &Path) -> Outcome<PathBuf> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shell-peers");
    let (python, stamp) = (dir.join("bin/python"), dir.join("installed"));
    let wanted = fs::read_to_string(scripts.join("requirements.txt"))?;
    if fs::read_to_string(&stamp).is_ok_and(|is| is == wanted) && succeeds(program(&python).arg("--version"))
    {
        return Ok(python);
    }
    eprintln!("── installing peers in {}", dir.display());
    let recent = PYTHONS.into_iter().find(|name| succeeds(program(name).args(["-c", RECENT])));
    let recent = recent.ok_or("the peers need Python 3.12 or newer with venv as `python3`")?;
    // A half of an installation is none.
    let _ = fs::remove_file(&stamp);
    run(program(recent).args(["-m", "venv", "--clear"]).arg(&dir))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
    run(program(&python).args(pip).arg(scripts.join("requirements.txt")))?;
    fs::write(&stamp, wanted)?;
    Ok(python)
}

#[expect(clippy::disallowed_methods, reason = "installs what is compared with")]
fn program(name: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(name)
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

fn run(command: &mut Command) -> Outcome {
    match command.status()?.success() {
        true => Ok(()),
        false => Err("the packages of the peers cannot be installed".into()),
    }
}
