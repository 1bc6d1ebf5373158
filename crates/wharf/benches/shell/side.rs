//! One way to have shells, and how it is asked.

use crate::Outcome;
use crate::memory;
use crate::place::Place;
use crate::work::Work;
use std::time::{Duration, Instant};

/// Shells by their names. Ends what it started when it is dropped.
pub(crate) trait Side {
    /// Opens one for each name, ready for a command.
    fn open(&mut self, names: &[String]) -> Outcome;

    /// Runs the command in each of them at the same time.
    fn run(&mut self, names: &[String], command: &str) -> Outcome<Vec<Answer>>;

    /// Whether it lives in this process, so that this process is weighed with it.
    fn is_here(&self) -> bool {
        false
    }

    /// All that can be got of the last output, in the answer or after it.
    fn rest(&mut self, name: &str) -> Outcome<String>;
}

/// What an agent gets.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) exit_code: Option<i64>,
    pub(crate) output: String,
}

/// One who does the work, and where. The place is left last.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) side: Box<dyn Side>,
    place: Place,
}

impl Contender {
    pub(crate) fn new(name: &'static str, make: fn(&Place) -> Outcome<Box<dyn Side>>) -> Outcome<Self> {
        eprintln!("── {name}");
        let place = Place::new(name)?;
        Ok(Self { name, side: make(&place)?, place })
    }

    /// Does it once, in the first shell.
    pub(crate) fn take(&mut self, work: Work) -> Outcome<Duration> {
        let begin = Instant::now();
        let answers = self.side.run(&["0".to_owned()], work.command())?;
        let time = begin.elapsed();
        let answer = answers.first().ok_or("there is no answer")?;
        work.judge(answer, time).map_err(|error| format!("{}: {work}: {error}", self.name).into())
    }

    /// In KB, of everything that it has started.
    pub(crate) fn memory(&self) -> u64 {
        let own = self.side.is_here().then(|| std::process::id().cast_signed());
        memory::of(self.place.path(), own)
    }
}
