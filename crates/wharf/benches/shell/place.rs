//! A directory in which one contender lives: its home, its state, its sockets, the place of its shells.

use crate::{Outcome, memory};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// After that, what still runs counts as left.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Place {
    name: &'static str,
    dir: TempDir,
}

impl Place {
    /// Directly below the directory for such things: the path of a tmux socket must be short.
    pub(crate) fn new(name: &'static str) -> Outcome<Self> {
        let place = Self { name, dir: tempfile::Builder::new().prefix("wb").tempdir()? };
        std::fs::create_dir(home(place.path()))?;
        std::fs::create_dir(project(place.path()))?;
        Ok(place)
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Whatever is left here is counted and ended before the directory goes.
impl Drop for Place {
    fn drop(&mut self) {
        let begin = Instant::now();
        while !memory::processes(self.path()).is_empty() && begin.elapsed() < PATIENCE {
            std::thread::yield_now();
        }
        let left = memory::processes(self.path());
        if !left.is_empty() {
            eprintln!("{} has left {} processes", self.name, left.len());
        }
        for pid in left.into_iter().filter_map(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

pub(crate) fn home(dir: &Path) -> PathBuf {
    dir.join("home")
}

/// Where the shells begin.
pub(crate) fn project(dir: &Path) -> PathBuf {
    dir.join("project")
}

/// A program that wharf does not hold, at home in that directory.
#[expect(clippy::disallowed_methods, reason = "the comparison is with programs that wharf does not hold")]
pub(crate) fn program(dir: &Path, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    // No rc files: some of them keep the tmux-based ones from working at all.
    command.current_dir(project(dir)).env("HOME", home(dir)).env("TMUX_TMPDIR", dir).env_remove("TMUX");
    command.env("WHARF_STATE_DIR", dir.join("state"));
    command
}
