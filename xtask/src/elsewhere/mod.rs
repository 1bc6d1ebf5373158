//! Tests run where this machine is not: on another kernel, in a container. Both see this machine's files, read-only,
//! so that the compiled tests and all they start are there without being installed again.

pub(crate) mod container;
mod initramfs;
pub(crate) mod kernel;
mod linux;
mod suite;

use crate::{Failure, root};
use std::fs;
use std::path::{Path, PathBuf};

/// Where everything is that these verbs make, below the repository's root.
const PLACE: &str = "target/elsewhere";

/// A directory for one run, empty at first and gone with it. Two runs at a time would be one too many for the machine,
/// so the second waits.
struct Scratch {
    path: PathBuf,
    /// Held as long as it is open.
    _turn: fs::File,
}

impl Scratch {
    fn new() -> Result<Self, Failure> {
        let (place, path) = (root().join(PLACE), root().join(PLACE).join("run"));
        let failed = |error| Failure::new(format!("{}: {error}", path.display()));
        fs::create_dir_all(&place).map_err(failed)?;
        let turn = fs::File::create(place.join("turn")).map_err(failed)?;
        turn.lock().map_err(failed)?;
        // Of a run that was killed.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).map_err(failed)?;
        Ok(Self { path, _turn: turn })
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.path.join(name);
        fs::write(&path, text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Says why nothing is run, which is no failure: not every machine can.
fn skip(verb: &str, why: &str) -> Result<(), Failure> {
    eprintln!("\n── {verb}: skipped, nothing was tested: {why}");
    Ok(())
}

/// What stands before `--`, and which tests stand after it.
fn split<'a, 'b>(args: &'a [&'b str]) -> (&'a [&'b str], &'a [&'b str]) {
    let at = args.iter().position(|&arg| arg == "--");
    at.map_or((args, &[]), |at| (&args[..at], &args[at + 1..]))
}
