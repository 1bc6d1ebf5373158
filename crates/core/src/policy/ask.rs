//! Questions to people: what is asked, how it reads, and what an answer allows.
//!
//! Pure: who is asked and by which way is the front end's business. A question shows the whole command or is not asked at
//! all, and no answer is not a yes. What was always allowed is exactly what was shown.

use super::visible::{Newline, visible};
use crate::grant::Grant;
use crate::spec::{Command, Spec};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fmt::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

/// Text of a question at most. Nobody reads more, and what is not read is not allowed.
const LONGEST: usize = 32 << 10;
/// Approvals remembered; the oldest is forgotten then, which only means to be asked again.
const MOST: usize = 1024;

/// A command as it would run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shown {
    /// A program and its arguments, which no shell reads.
    Argv(Vec<OsString>),
    /// A line, and the shell that reads it.
    Line {
        /// The shell.
        shell: OsString,
        /// The line.
        line: OsString,
    },
}

impl Shown {
    /// What a spec asks for.
    #[must_use]
    pub fn of(spec: &Spec) -> Self {
        match &spec.command {
            Command::Argv { program, args } => {
                Self::Argv(std::iter::once(program).chain(args).cloned().collect())
            }
            Command::ShellLine { shell, line } => Self::Line { shell: shell.clone(), line: line.clone() },
        }
    }

    /// On one line, with everything visible and each argument of an argv quoted where it has to be.
    #[must_use]
    pub fn one_line(&self) -> String {
        self.text(Newline::Named)
    }

    fn text(&self, newline: Newline) -> String {
        match self {
            Self::Argv(argv) => argv.iter().map(|word| quoted(word, newline)).collect::<Vec<_>>().join(" "),
            Self::Line { line, .. } => visible(line.as_bytes(), newline),
        }
    }

    fn parts(&self) -> impl Iterator<Item = &OsString> {
        let (argv, line) = match self {
            Self::Argv(argv) => (argv.as_slice(), None),
            Self::Line { shell, line } => (&[][..], Some([shell, line])),
        };
        argv.iter().chain(line.into_iter().flatten())
    }

    /// Its length in bytes, without what is between the arguments.
    #[must_use]
    pub fn size(&self) -> usize {
        self.parts().map(|part| part.len()).sum()
    }
}

/// A word as a shell would have to be given it.
fn quoted(word: &OsStr, newline: Newline) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_./:=@%+,-".contains(byte);
    if !word.is_empty() && word.as_bytes().iter().all(plain) {
        return visible(word.as_bytes(), newline);
    }
    // What is made visible adds no quotes.
    format!("'{}'", visible(word.as_bytes(), newline).replace('\'', r"'\''"))
}

/// As text where it is text, else in hexadecimal.
impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "snake_case")]
        enum Part<'a> {
            Hex(String),
            #[serde(untagged)]
            Text(&'a str),
        }
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Parts<'a> {
            Argv { argv: Vec<Part<'a>> },
            Line { line: Part<'a>, shell: Part<'a> },
        }
        fn part(text: &OsString) -> Part<'_> {
            let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            text.to_str().map_or_else(|| Part::Hex(hex(text.as_bytes())), Part::Text)
        }
        let parts = match self {
            Self::Argv(argv) => Parts::Argv { argv: argv.iter().map(part).collect() },
            Self::Line { shell, line } => Parts::Line { line: part(line), shell: part(shell) },
        };
        parts.serialize(serializer)
    }
}

/// The values of the variables that a request sets. They are compared and never shown or printed: they may be secrets.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Values(BTreeMap<OsString, OsString>);

impl Values {
    /// Of several for one name the last counts, as it does for the command.
    #[must_use]
    pub fn of(env: &[(OsString, OsString)]) -> Self {
        Self(env.iter().cloned().collect())
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} values", self.0.len())
    }
}

/// Whether somebody lets a command run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The command, whole.
    pub command: Shown,
    /// The file that would be executed.
    pub program: PathBuf,
    /// Where it would start.
    pub cwd: PathBuf,
    /// The root that this is in.
    pub root: PathBuf,
    /// The names of the variables that the request itself sets.
    pub env_names: Vec<String>,
    /// Their values.
    pub env_values: Values,
    /// Why it is asked, a sentence each.
    pub why: Vec<String>,
    /// What a person can do to the policy so that it is not asked any more, as words behind "to"; empty if that is not
    /// known.
    pub fix: String,
    /// The sandbox it would run in.
    pub sandbox: String,
    /// Who wants it.
    pub origin: String,
    /// The conversation it belongs to, by the asking protocol's name.
    pub session: Option<String>,
}

/// A question that nobody would read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "to ask about this command would take {bytes} bytes of text; more than {limit} are not shown to anybody"
)]
pub struct TooLong {
    /// What it would take.
    pub bytes: usize,
    /// What there is.
    pub limit: usize,
}

impl Question {
    /// About starting what was granted, which is held back for it; why is for the one who asks to say.
    #[must_use]
    pub fn about(grant: &Grant, root: impl Into<PathBuf>) -> Self {
        let spec = &grant.spec;
        let name = |(name, _): &(OsString, OsString)| visible(name.as_bytes(), Newline::Named);
        Self {
            command: Shown::of(spec),
            program: OsStr::from_bytes(grant.program.as_bytes()).into(),
            cwd: spec.cwd.clone(),
            root: root.into(),
            env_names: spec.env.iter().map(name).collect(),
            env_values: Values::of(&spec.env),
            why: Vec::new(),
            fix: String::new(),
            sandbox: grant.facts().sandbox.clone(),
            origin: spec.origin.clone(),
            session: spec.session.clone(),
        }
    }

    /// The question for people, complete, in plain text without anything invisible in it. Not Markdown: whoever shows it
    /// where that is understood must keep it from being read as such.
    pub fn text(&self) -> Result<String, TooLong> {
        // Before anything is made of it, which may be several times as long.
        self.fits(self.command.size())?;
        let mut text = format!("{} wants to run", visible(self.origin.as_bytes(), Newline::Named));
        text.push_str(match self.command {
            Shown::Argv(_) => ":\n",
            Shown::Line { .. } => ", as a line for a shell:\n",
        });
        for line in self.command.text(Newline::Broken).lines() {
            let _ = write!(text, "\n    {line}");
        }
        text.push('\n');
        let path = |path: &Path| visible(path.as_os_str().as_bytes(), Newline::Named);
        let _ = write!(text, "\nprogram: {}\nin:      {}", path(&self.program), path(&self.cwd));
        if self.root != self.cwd {
            let _ = write!(text, "\nroot:    {}", path(&self.root));
        }
        if !self.env_names.is_empty() {
            let names = self.env_names.iter().map(|name| visible(name.as_bytes(), Newline::Named));
            let _ = write!(text, "\nsets:    {}", names.collect::<Vec<_>>().join(" "));
        }
        let _ = write!(text, "\nsandbox: {}", visible(self.sandbox.as_bytes(), Newline::Named));
        for why in &self.why {
            let _ = write!(text, "\nwhy:     {}", visible(why.as_bytes(), Newline::Named));
        }
        self.fits(text.len())?;
        Ok(text)
    }

    /// Where it would start, on one line and with everything visible.
    #[must_use]
    pub fn place(&self) -> String {
        visible(self.cwd.as_os_str().as_bytes(), Newline::Named)
    }

    fn fits(&self, bytes: usize) -> Result<(), TooLong> {
        if bytes > LONGEST { Err(TooLong { bytes, limit: LONGEST }) } else { Ok(()) }
    }
}

/// What somebody said to it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// This time.
    Once,
    /// This time, and whenever exactly the same is asked again, with the same values of variables.
    Always,
    /// No.
    No,
    /// It was withdrawn before anybody had answered.
    Cancelled,
    /// Nobody could be asked.
    Unable {
        /// Why, as a sentence without its full stop.
        why: String,
    },
}

/// An answer that is awaited. Whoever drops it withdraws the question.
pub type Asking = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// How a front end asks. Called for each question; the answers may come in any order.
pub type Asker = Arc<dyn Fn(Question) -> Asking + Send + Sync>;

/// What was always allowed, for as long as this lives.
#[derive(Debug, Default)]
pub struct Approvals {
    known: VecDeque<Approved>,
}

/// All that was shown of it and decides what happens, and what the variables were. All of it must be the same.
#[derive(Debug, PartialEq, Eq)]
struct Approved {
    command: Shown,
    program: PathBuf,
    root: PathBuf,
    env_names: Vec<String>,
    env_values: Values,
    sandbox: String,
}

impl Approved {
    fn of(question: &Question) -> Self {
        let mut env_names = question.env_names.clone();
        env_names.sort_unstable();
        env_names.dedup();
        Self {
            command: question.command.clone(),
            program: question.program.clone(),
            root: question.root.clone(),
            env_names,
            env_values: question.env_values.clone(),
            sandbox: question.sandbox.clone(),
        }
    }
}

impl Approvals {
    /// Remembers what this question showed.
    pub fn add(&mut self, question: &Question) {
        let approved = Approved::of(question);
        if self.known.contains(&approved) {
            return;
        }
        if self.known.len() == MOST {
            self.known.pop_front();
        }
        self.known.push_back(approved);
    }

    /// Whether exactly this was always allowed.
    #[must_use]
    pub fn cover(&self, question: &Question) -> bool {
        self.known.contains(&Approved::of(question))
    }
}

#[cfg(test)]
mod tests;
