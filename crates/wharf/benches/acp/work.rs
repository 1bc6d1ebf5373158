//! What is run, and what came of it.

use crate::Outcome;
use std::fmt;
use std::time::Duration;

/// A command, and what it prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// A program and nothing else.
    True,
    /// The same as a command line, for which each host has a shell.
    TrueInShell,
    /// 1.3 MB in 200,000 lines.
    Seq,
}

/// The last number that is printed.
const LAST: u32 = 200_000;

/// Some cycles of one kind, so many of them at the same time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    pub(crate) work: Work,
    pub(crate) count: usize,
    pub(crate) width: usize,
}

/// Everything that is measured.
pub(crate) const TURNS: [Turn; 5] = [
    Turn { work: Work::True, count: 60, width: 1 },
    Turn { work: Work::Seq, count: 12, width: 1 },
    Turn { work: Work::TrueInShell, count: 60, width: 1 },
    Turn { work: Work::True, count: 96, width: 8 },
    Turn { work: Work::Seq, count: 24, width: 8 },
];

/// The time of one cycle, and how many outputs of a turn were not what the command had printed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) each: Duration,
    pub(crate) wrong: usize,
}

impl Work {
    pub(crate) const ALL: [Self; 3] = [Self::True, Self::TrueInShell, Self::Seq];

    pub(crate) fn command(self) -> (&'static str, Vec<String>) {
        match self {
            Self::True => ("/bin/true", Vec::new()),
            Self::TrueInShell => ("true", Vec::new()),
            Self::Seq => ("seq", vec!["1".to_owned(), LAST.to_string()]),
        }
    }

    pub(crate) fn output(self) -> String {
        match self {
            Self::True | Self::TrueInShell => String::new(),
            Self::Seq => (1..=LAST).map(|number| format!("{number}\n")).collect(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::True => "/bin/true",
            Self::TrueInShell => "true, in a shell",
            Self::Seq => "seq 1 200000",
        }
    }

    /// Where it is among all.
    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.width == 1 {
            "one after the other".to_owned()
        } else {
            format!("{} at a time", self.width)
        };
        write!(f, "{}, {how}", self.work.name())
    }
}

impl Turn {
    /// As a line for the agent.
    pub(crate) fn to_line(self) -> String {
        format!("{} {} {}\n", self.work.index(), self.count, self.width)
    }

    pub(crate) fn from_line(line: &str) -> Outcome<Self> {
        let [work, count, width] = numbers(line)?;
        let work = Work::ALL.get(usize::try_from(work)?).copied().ok_or("there is no such work")?;
        Ok(Self { work, count: usize::try_from(count)?, width: usize::try_from(width)? })
    }
}

impl Tally {
    /// As a line from the agent.
    pub(crate) fn to_line(self) -> String {
        format!("{} {}\n", self.each.as_nanos(), self.wrong)
    }

    pub(crate) fn from_line(line: &str) -> Outcome<Self> {
        let [nanoseconds, wrong] = numbers(line)?;
        Ok(Self { each: Duration::from_nanos(nanoseconds), wrong: usize::try_from(wrong)? })
    }
}

fn numbers<const N: usize>(line: &str) -> Outcome<[u64; N]> {
    let numbers = line.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    numbers.try_into().map_err(|_| format!("`{}` is not what was expected", line.trim()).into())
}

pub(crate) fn median(tallies: &[Tally]) -> Duration {
    let mut times: Vec<Duration> = tallies.iter().map(|tally| tally.each).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
