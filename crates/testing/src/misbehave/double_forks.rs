//! `double-forks COUNT exits|stays`: makes daemons as they are made: a middle process with a session of its own, which
//! leaves; then a daemon that ignores TERM and HUP and has no descriptor of its terminal.

use std::io::{Read, Write};
use std::process::{ExitCode, Stdio};

pub(super) fn run(args: &[String]) -> ExitCode {
    let count: usize = super::number(args, 0);
    for _ in 0..count {
        let mut middle = super::again(&["double-forks-middle"]).stdout(Stdio::piped()).spawn().unwrap();
        // The daemon says one byte as it cuts its last tie.
        middle.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
        middle.wait().unwrap();
    }
    super::say(&format!("{count} daemons"));
    if args.get(1).is_some_and(|then| then == "stays") {
        super::stay();
    }
    ExitCode::SUCCESS
}

pub(super) fn middle() -> ExitCode {
    rustix::process::setsid().unwrap();
    let _ = super::deaf(&["double-forks-daemon"]).spawn();
    ExitCode::SUCCESS
}

pub(super) fn daemon() -> ExitCode {
    let mut last_tie = std::fs::File::from(rustix::io::fcntl_dupfd_cloexec(std::io::stdout(), 3).unwrap());
    super::close_standard();
    last_tie.write_all(b".").unwrap();
    drop(last_tie);
    super::stay();
    ExitCode::SUCCESS
}
