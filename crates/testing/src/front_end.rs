//! Front ends in processes of their own, to be killed.

use crate::program;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A `wharf-misbehave` that plays a front end.
pub struct FrontEnd {
    child: Child,
    output: BufReader<ChildStdout>,
}

/// A command that starts `wharf-misbehave` with these arguments.
#[must_use]
pub fn misbehave(args: &[&str]) -> Command {
    #[expect(clippy::disallowed_methods, reason = "a test's own program, not a command in a terminal")]
    let mut command = Command::new(program("wharf-misbehave"));
    command.args(args);
    command
}

/// The same command with SIGCHLD ignored, which is inherited through exec.
#[must_use]
pub fn deaf_to_children(command: &Command) -> Command {
    // Not every shell hands this signal on as it was told to.
    behind("env", &["--ignore-signal=CHLD"], command)
}

/// The same command where no cgroup can be seen, in a mount namespace of its own. Says nothing and ends at once if the
/// test may not make one.
#[must_use]
pub fn without_cgroups(command: &Command) -> Command {
    let hidden = r#"umount -l -a -t cgroup2 && exec "$0" "$@""#;
    behind("unshare", &["--mount", "/bin/sh", "-c", hidden], command)
}

fn behind(program: &str, args: &[&str], command: &Command) -> Command {
    #[expect(clippy::disallowed_methods, reason = "a test's own program, not a command in a terminal")]
    let mut outer = Command::new(program);
    outer.args(args).arg(command.get_program()).args(command.get_args());
    outer.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    outer
}

impl FrontEnd {
    /// Starts it on a store.
    #[must_use]
    pub fn start(behaviour: &str, state: &Path, args: &[&str]) -> Self {
        let mut all = vec![behaviour, state.to_str().unwrap()];
        all.extend_from_slice(args);
        Self::run(misbehave(&all))
    }

    /// Starts a prepared command.
    #[must_use]
    pub fn run(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// What it says next, without the end of the line; empty if it has said its last.
    #[must_use]
    pub fn hear(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// All it says until it ends by itself.
    #[must_use]
    pub fn finish(mut self) -> String {
        let mut all = String::new();
        self.output.read_to_string(&mut all).unwrap();
        self.child.wait().unwrap();
        all
    }

    /// SIGKILL.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}
