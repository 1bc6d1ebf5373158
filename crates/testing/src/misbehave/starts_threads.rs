//! `starts-threads COUNT MILLISECONDS`: that many threads at the same time, for that long.

use std::process::ExitCode;
use std::time::Duration;

pub(super) fn run(args: &[String]) -> ExitCode {
    let time = Duration::from_millis(super::number(args, 1));
    let threads: Vec<_> =
        (0..super::number::<usize>(args, 0)).map(|_| std::thread::spawn(move || super::wait(time))).collect();
    super::say("threads");
    for thread in threads {
        let _ = thread.join();
    }
    ExitCode::SUCCESS
}
