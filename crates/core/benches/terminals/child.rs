//! The commands whose output is measured: this program itself, started with other arguments.

use crate::Outcome;
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::Duration;

/// The first argument of a run that is such a command.
pub(crate) const WORD: &str = "be-child";
/// Writes that many bytes in large blocks, as fast as they are taken.
pub(crate) const FLOOD: &str = "flood";
/// Writes the time that many times, a little apart.
pub(crate) const TICK: &str = "tick";

/// Longer than a reader needs to fall asleep again, so that every tick wakes it.
const BETWEEN_TICKS: Duration = Duration::from_millis(3);

/// What a pipe holds.
const BLOCK: usize = 64 * 1024;
/// Lines of a usual length, whose number of bytes divides a block.
const LINE: &[u8; 64] = b"the quick brown fox jumps over the lazy dog 0123456789 and more\n";

/// This program.
pub(crate) fn program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// Its arguments for one of the commands.
pub(crate) fn args(command: &str, number: u64) -> [String; 3] {
    [WORD.to_owned(), command.to_owned(), number.to_string()]
}

pub(crate) fn run(args: &[&str]) -> Outcome {
    // Past the buffer of the standard library, which cuts at lines.
    let mut out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    match args {
        [FLOOD, bytes] => flood(&mut out, bytes.parse()?)?,
        [TICK, times] => tick(&mut out, times.parse()?)?,
        _ => return Err("no such command".into()),
    }
    Ok(())
}

fn flood(out: &mut File, bytes: u64) -> io::Result<()> {
    let block = LINE.repeat(BLOCK / LINE.len());
    let mut left = bytes;
    while left > 0 {
        let len = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
        out.write_all(&block[..len])?;
        left -= len as u64;
    }
    Ok(())
}

fn tick(out: &mut File, times: u64) -> io::Result<()> {
    for _ in 0..times {
        #[expect(clippy::disallowed_methods, reason = "the pace of the load, not a wait for anything")]
        std::thread::sleep(BETWEEN_TICKS);
        out.write_all(format!("{}\n", now().as_nanos()).as_bytes())?;
    }
    Ok(())
}

/// The clock that all processes share and nobody sets.
pub(crate) fn now() -> Duration {
    let time = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}
