//! `dies-by NUMBER`: is ended by that signal, which it sends to itself; leaves no core file.

use rustix::process::{Resource, Rlimit, setrlimit};
use std::os::unix::process::CommandExt;
use std::process::ExitCode;

pub(super) fn run(args: &[String]) -> ExitCode {
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    // Rust ignores SIGPIPE; a shell executed by it has every signal as it was given.
    let line = format!("kill -{} $$; exit 99", super::number::<i32>(args, 0));
    let _ = super::command("/bin/sh").args(["-c", &line]).exec();
    ExitCode::FAILURE
}
