//! What is run, and whether the answer is right.

use crate::side::Answer;
use std::collections::HashSet;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Nothing at all.
    True,
    /// A built-in with output, which changes the shell.
    Cd,
    /// How long after its end a command is known to have ended.
    Sleep,
    /// 0.6 MB in 100,000 lines.
    Lines,
    /// 10 MB in 100,000 lines.
    Megabytes,
}

/// What is short enough for many turns.
pub(crate) const QUICK: [Work; 3] = [Work::True, Work::Cd, Work::Sleep];

const LAST: usize = 100_000;

impl Work {
    pub(crate) fn command(self) -> &'static str {
        match self {
            Self::True => "true",
            Self::Cd => "cd /tmp && pwd",
            // The shell says itself when that was.
            Self::Sleep => "sleep 0.2; echo $EPOCHREALTIME",
            Self::Lines => "seq 1 100000",
            Self::Megabytes => "seq -f %099.0f 1 100000",
        }
    }

    /// How many lines it prints.
    pub(crate) fn lines(self) -> usize {
        match self {
            Self::True => 0,
            Self::Cd | Self::Sleep => 1,
            Self::Lines | Self::Megabytes => LAST,
        }
    }

    /// How many of its lines are there.
    pub(crate) fn count_lines(self, output: &str) -> usize {
        let width = if self == Self::Megabytes { 99 } else { 0 };
        let there: HashSet<&str> = output.lines().collect();
        (1..=self.lines()).filter(|number| there.contains(format!("{number:0width$}").as_str())).count()
    }

    /// The time that counts, if the answer is right.
    pub(crate) fn judge(self, answer: &Answer, time: Duration) -> Result<Duration, String> {
        let wrong = || {
            format!(
                "wrong answer: {} {:?}",
                answer.output.chars().take(200).collect::<String>(),
                answer.exit_code
            )
        };
        let first = answer.output.lines().next().unwrap_or_default();
        if answer.exit_code != Some(0) {
            return Err(wrong());
        }
        match self {
            Self::True => Ok(time),
            Self::Cd => (first == "/tmp").then_some(time).ok_or_else(wrong),
            Self::Sleep => since(first).ok_or_else(wrong),
            // What has scrolled off is counted; the end must be there.
            Self::Lines | Self::Megabytes => {
                answer.output.contains(&LAST.to_string()).then_some(time).ok_or_else(wrong)
            }
        }
    }
}

/// How long ago that was, in seconds since 1970 with six decimals.
fn since(moment: &str) -> Option<Duration> {
    let (seconds, micros) = moment.trim().split_once(['.', ','])?;
    let moment = Duration::from_secs(seconds.parse().ok()?) + Duration::from_micros(micros.parse().ok()?);
    SystemTime::now().duration_since(UNIX_EPOCH).ok()?.checked_sub(moment)
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::True => "true",
            Self::Cd => "cd /tmp && pwd",
            Self::Sleep => "sleep 0.2: from its end to the answer",
            Self::Lines => "100,000 lines (0.6 MB)",
            Self::Megabytes => "10 MB (100,000 lines)",
        })
    }
}
