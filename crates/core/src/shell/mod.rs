//! Shells that remember: one PTY, one command after the other, each with its own output, exit code and directory.
//!
//! A [`Shell`] follows its terminal's journal for as long as it lives, answers the queries of programs, and knows from
//! marks with a secret nonce where each command begins and ends. It holds nothing: dropped and joined again, by this program
//! or another, it knows the same.

mod complete;
mod duty;
mod follow;
mod handle;
mod hold;
mod job;
mod mark;
mod mend;
mod output;
mod render;
mod replay;
mod run;
mod spec;
mod start;
mod track;
mod wait;

pub use duty::Duty;
pub use handle::Shell;
pub use hold::Hold;
pub(crate) use spec::Integration;
pub use spec::{PRESETS, spec};

use crate::end::Ended;
use crate::error::{ControlError, CreateError, ReadError};
use crate::foreground::Awaiting;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The seat of shells that a human opens, and the author of what is typed there.
pub const HUMAN: &str = "human";

/// The shells that wharf has an integration for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// GNU bash.
    Bash,
    /// The Z shell.
    Zsh,
    /// Any POSIX shell.
    Sh,
}

impl Kind {
    /// By the name of a program, `/usr/bin/zsh` for example.
    #[must_use]
    pub fn of(program: &Path) -> Option<Self> {
        match program.file_name()?.to_str()?.trim_start_matches('-') {
            "bash" | "rbash" => Some(Self::Bash),
            "zsh" => Some(Self::Zsh),
            "sh" | "dash" | "ash" | "busybox" | "ksh" | "mksh" => Some(Self::Sh),
            _ => None,
        }
    }
}

/// What is kept with the terminal (in its `meta`, which no sandbox can read), so that others can join.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShellMeta {
    /// Which shell.
    pub kind: Kind,
    /// The secret of its marks.
    pub nonce: String,
    /// The name that its users have for it, `default` for instance.
    pub name: String,
    /// Whose it is: unique to an agent in a project; empty if nobody's.
    pub seat: String,
}

/// How a shell stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// What it does.
    pub state: State,
    /// Which shell reads its lines now: not the one it was opened with, once that was replaced (`exec zsh`).
    pub kind: Kind,
    /// Its working directory, as of the last prompt (or of the kernel, while something runs).
    pub cwd: PathBuf,
    /// The newest command; nothing has run yet if there is none.
    pub last: Option<Command>,
    /// Offset up to which its output has been looked at.
    pub seen: u64,
}

/// What a shell does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It has not come to its first prompt.
    Starting,
    /// It is at its prompt.
    Idle,
    /// The newest command runs.
    Running,
    /// The shell is over.
    Exited(Ended),
}

/// One command of a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Command {
    /// Its number, from 1.
    pub id: u64,
    /// What was asked for; the first kilobyte, if it was learned from the journal.
    pub text: String,
    /// Who gave it: the author's name, or `human`.
    pub author: String,
    /// When it began, in milliseconds since 1970.
    pub began_ms: u64,
    /// Its exit code, once it has ended. None if it ended with the shell, or nobody told it.
    pub exit_code: Option<i32>,
    /// How long it took, once it has ended.
    pub lasted: Option<Duration>,
    /// Its output in the journal; open while it runs.
    pub output: (u64, Option<u64>),
    /// Tells whoever gave it that this is it.
    token: String,
}

/// Why a command was not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It is unfinished, or not valid: what the shell said. Nothing ran.
    #[error("{0}")]
    Syntax(String),
    /// Something runs already.
    #[error("a command is running")]
    Busy(Box<Command>),
    /// A human has taken the terminal.
    #[error("a human has taken the terminal")]
    Held,
    /// It has not come to its first prompt.
    #[error("the shell has not come to its first prompt")]
    Starting,
    /// The shell is over.
    #[error("the shell has exited")]
    Exited(Box<Ended>),
    /// It does not take commands any more, and why. Nothing ran.
    #[error("the shell does not take commands any more: {0}")]
    Deaf(String),
    /// It was given the command and has not told what became of it: it may have run, or may yet do so.
    #[error("the shell was given the command and has not told whether it has begun it")]
    Untold,
    /// It cannot be asked.
    #[error(transparent)]
    Control(#[from] ControlError),
}

/// Why a shell could not be opened or joined.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    /// The terminal could not be made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It is no shell of wharf's.
    #[error("the terminal is not a shell")]
    NotAShell,
    /// It ended before its first prompt.
    #[error("the shell ended before its first prompt")]
    Exited(Box<Ended>),
}

/// What to wait for. Whatever it is, waiting ends too when the command ends, the shell ends, somebody waits for input, a human
/// takes the terminal, or the deadline passes. Nothing is ever killed.
#[derive(Clone)]
pub enum Until {
    /// The command's end.
    End,
    /// The same, however long somebody takes to type a secret that is asked for: that is a human's to do.
    Answered,
    /// A line that is new since the call, or has changed since, of which this is true.
    Line(Arc<dyn Fn(&str) -> bool + Send + Sync>),
    /// The same of the lines of that command from that one on, whether they were there before the call or not.
    LineFrom(u64, u64, Arc<dyn Fn(&str) -> bool + Send + Sync>),
    /// No output for that long.
    Silence(Duration),
    /// The screen has not changed for that long.
    Stable(Duration),
}

/// Why waiting ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Because {
    /// Nothing runs (any more).
    Ended,
    /// The shell is over.
    Exited(Ended),
    /// Somebody waits for input.
    Awaiting(Awaiting),
    /// The line that was waited for, with its number.
    Line(u64, String),
    /// Nothing was printed for so long.
    Silence,
    /// The screen did not change for so long.
    Stable,
    /// A human has taken the terminal.
    Held,
    /// Nothing that is printed can be written down, because the disk is full most likely, so the command waits.
    Stalled,
    /// Time is over.
    Deadline,
}

/// One line of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its number, from 1.
    pub number: u64,
    /// What it says.
    pub text: &'a str,
    /// Whether it cannot change any more.
    pub is_finished: bool,
}

/// Some of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// That line, so many times in a row; its number is that of the first.
    Lines(Line<'a>, u64),
    /// Lines that are not held, and their bytes with newlines.
    Gap {
        /// How many.
        lines: u64,
        /// How much.
        bytes: u64,
    },
}

/// A place between two lines of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The number of the next line.
    pub line: u64,
    /// The bytes of all lines before it, with newlines.
    pub bytes: u64,
}

impl Place {
    /// Before the first line.
    pub const START: Self = Self { line: 1, bytes: 0 };

    /// Moves past a line that stands there so many times.
    pub fn pass(&mut self, text: &str, times: u64) {
        self.line += times;
        self.bytes += times * (text.len() as u64 + 1);
    }
}

impl Default for Place {
    fn default() -> Self {
        Self::START
    }
}

/// What going over lines has come to.
#[derive(Debug)]
pub struct Passed<S> {
    /// What was made of them.
    pub state: S,
    /// Bytes of the output that are gone, so that it is not whole.
    pub dropped: u64,
}

/// Lines of one command's output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lines {
    /// The number of the first of them.
    pub first: u64,
    /// The lines that cannot change any more, then those that may.
    pub lines: Vec<String>,
    /// How many of them are final.
    pub finished: usize,
    /// Bytes at the front of the journal that are gone, so that the output is not whole.
    pub dropped: u64,
}

/// What humans have done in a shell since an agent was told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// Bytes that were typed.
    pub bytes: u64,
    /// How long ago the last was.
    pub ago: Duration,
    /// Commands that were run, oldest first; the last may still run.
    pub commands: Vec<Command>,
    /// What the agent knows once it is told of this.
    pub told: ToldTyped,
}

/// How much of what humans did an agent was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToldTyped {
    bytes: u64,
    /// The number of the newest command.
    command: u64,
}

/// Whether Enter is pressed after a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enter {
    /// Yes.
    Press,
    /// No.
    Leave,
}

/// A background job.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Job {
    /// The process that leads it.
    pub pid: i32,
    /// Its command line.
    pub command: String,
    /// `running` or `stopped`.
    pub state: &'static str,
    /// It was begun within the last tenth of a second and has not executed its program yet, or never will: its command
    /// line is the shell's own.
    pub is_settling: bool,
}
