//! The nearest thing to a terminal runtime that every machine has, to compare with.

use crate::Outcome;
use crate::measure::plain;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A tmux server of our own. Ends with this value.
#[derive(Debug)]
pub(crate) struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    /// Starts the server with one session that keeps it alive, and has it say when any other one is gone.
    /// Its socket is in `dir`.
    pub(crate) fn start(dir: &Path) -> Outcome<Self> {
        let tmux = Self { socket: dir.join("tmux") };
        let mut command = tmux.command();
        // Ends with this process however that ends, and the server with its last session.
        let stay = format!("exec tail --pid={} -f /dev/null", std::process::id());
        command.args(["new-session", "-d", "-s", "stay", &stay, ";"]);
        command.args(["set-hook", "-g", "session-closed", "wait-for -S gone"]);
        succeed(&mut command)?;
        Ok(tmux)
    }

    /// A session with that program, from its start until it is gone. One client does both, as a careful script would.
    pub(crate) fn round_trip(&self, program: &str) -> Outcome {
        let mut command = self.command();
        command.args(["new-session", "-d", program, ";", "wait-for", "gone"]);
        succeed(&mut command)
    }

    fn command(&self) -> Command {
        let mut command = plain("tmux");
        // Nobody's configuration, and not inside a session of the person who measures.
        command.arg("-S").arg(&self.socket).args(["-f", "/dev/null"]).env_remove("TMUX");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.command().arg("kill-server").status();
    }
}

fn succeed(command: &mut Command) -> Outcome {
    match command.status()? {
        status if status.success() => Ok(()),
        status => Err(format!("tmux failed ({status})").into()),
    }
}
