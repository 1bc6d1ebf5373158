//! Starting other programs, always in the repository's root.

use crate::{Failure, root};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};

/// A program that is to run in the repository's root.
#[expect(
    clippy::disallowed_methods,
    reason = "starting programs is what xtask is for; this is its one place"
)]
pub(crate) fn program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root());
    command
}

/// The cargo that started this.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = program(option_env!("CARGO").unwrap_or("cargo"));
    command.args(args);
    command
}

/// Says what is run, runs it, and fails with `hint` unless it succeeds.
pub(crate) fn run(mut command: Command, hint: &str) -> Result<(), Failure> {
    announce(&command);
    let status = command.status().map_err(|error| not_started(&command, &error))?;
    judge(&command, status, hint)
}

/// As [`run`], with every line of its standard error given to `hear` instead of the screen.
pub(crate) fn run_and_hear(
    mut command: Command,
    mut hear: impl FnMut(String),
    hint: &str,
) -> Result<(), Failure> {
    announce(&command);
    let mut child = command.stderr(Stdio::piped()).spawn().map_err(|error| not_started(&command, &error))?;
    if let Some(stderr) = child.stderr.take() {
        lines(stderr).for_each(&mut hear);
    }
    let status = child.wait().map_err(|error| not_started(&command, &error))?;
    judge(&command, status, hint)
}

/// A program that goes on while its output is read; what it is called on the screen is said.
pub(crate) fn start(mut command: Command) -> Result<Child, Failure> {
    announce(&command);
    command.spawn().map_err(|error| not_started(&command, &error))
}

/// What is read, line by line, without the carriage returns of a terminal.
pub(crate) fn lines(from: impl Read) -> impl Iterator<Item = String> {
    let text = |line: Vec<u8>| String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned();
    BufReader::new(from).split(b'\n').map_while(Result::ok).map(text)
}

/// Whether a program is there and works, asked without a word on the screen.
pub(crate) fn answers(mut command: Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// What a program writes to its standard output.
pub(crate) fn output_of(mut command: Command) -> Result<String, Failure> {
    let output = command.output().map_err(|error| not_started(&command, &error))?;
    judge(&command, output.status, "it should have answered")?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn announce(command: &Command) {
    eprintln!("\n── {}", line_of(command));
}

fn line_of(command: &Command) -> String {
    let name = command.get_program().to_string_lossy();
    let name = name.rsplit('/').next().unwrap_or_default();
    let args = command.get_args().map(|arg| format!(" {}", arg.to_string_lossy()));
    std::iter::once(name.to_owned()).chain(args).collect()
}

fn not_started(command: &Command, error: &std::io::Error) -> Failure {
    Failure::new(format!("`{}` could not be run: {error}", line_of(command)))
}

fn judge(command: &Command, status: ExitStatus, hint: &str) -> Result<(), Failure> {
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("`{}` failed ({status}): {hint}", line_of(command))))
}
