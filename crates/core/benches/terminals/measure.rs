//! Contenders in turns, percentiles, and the ground that all benchmarks stand on.

use crate::Outcome;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use wharf_core::{Dirs, Holder, Spares, Store};

/// One way to do a thing, and how long it took each time.
pub(crate) struct Contender<'a> {
    pub(crate) name: &'static str,
    once: Box<dyn FnMut() -> Outcome + 'a>,
    pub(crate) times: Times,
}

impl<'a> Contender<'a> {
    pub(crate) fn new(name: &'static str, once: impl FnMut() -> Outcome + 'a) -> Self {
        Self { name, once: Box::new(once), times: Times::default() }
    }
}

/// Runs all contenders `rounds` times in turns, each round beginning with another one.
pub(crate) fn in_turns(contenders: &mut [Contender<'_>], rounds: usize) -> Outcome {
    let count = contenders.len();
    for round in 0..rounds {
        for turn in 0..count {
            let contender = &mut contenders[(round + turn) % count];
            let begin = Instant::now();
            (contender.once)()?;
            contender.times.add(begin.elapsed());
        }
    }
    Ok(())
}

/// Durations of one kind.
#[derive(Debug, Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn median(&self) -> Duration {
        self.percentile(50)
    }

    /// The time that so many in a hundred do not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(at).copied().unwrap_or_default()
    }
}

/// In milliseconds with three decimals.
pub(crate) fn ms(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

/// How many times as long.
pub(crate) fn ratio(time: Duration, to: Duration) -> f64 {
    time.as_secs_f64() / to.as_secs_f64()
}

/// A directory on the disk that holds the build, which vanishes with the benchmark. Not `/tmp`, which may be memory.
pub(crate) fn scratch() -> io::Result<TempDir> {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))
}

/// A store below `dir`.
pub(crate) fn store(dir: &TempDir, name: &str, holder: Holder, spares: Spares) -> Outcome<Store> {
    Ok(Store::open_with(Dirs::under(dir.path().join(name)), holder, spares)?)
}

/// The shim of the same build.
pub(crate) fn shim() -> Outcome<Holder> {
    let exe = std::env::current_exe()?;
    let shim = exe.parent().and_then(|deps| deps.parent()).map(|dir| dir.join("wharf-shim"));
    let is_there = |path: &PathBuf| path.is_file();
    let shim = shim.filter(is_there).ok_or("build the shim first: cargo build --release -p wharf-shim")?;
    Ok(Holder::Process(shim))
}

pub(crate) fn one_thread() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

pub(crate) fn many_threads() -> io::Result<Runtime> {
    Builder::new_multi_thread().enable_all().build()
}

/// A program started without wharf, to compare with.
#[expect(clippy::disallowed_methods, reason = "the comparison is with programs that wharf does not hold")]
pub(crate) fn plain(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}
