//! What is in the audit log. Names of variables are, their values never.

use crate::end::{Ended, Outcome};
use crate::id::TerminalId;
use crate::policy::ask::Shown;
use crate::policy::settings::Change;
use crate::policy::verdict::Facts;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// A command that is longer is written without its middle.
const LONGEST_COMMAND: usize = 64 << 10;
/// What stays of it at each end.
const KEPT: usize = 16 << 10;
/// Anything else that an agent may choose.
const LONGEST_TEXT: usize = 4 << 10;
/// Names of variables that are written.
const MOST_NAMES: usize = 256;

/// One line of the log.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Entry {
    /// What became of a request.
    Decision(Decision),
    /// How a terminal ended.
    End {
        /// Which.
        terminal: TerminalId,
        /// How.
        ended: Ended,
    },
    /// A command was allowed and could not be started.
    NotStarted {
        /// The terminal it would have had.
        terminal: TerminalId,
        /// Why, as a word for programs.
        code: String,
    },
    /// A file that makes programs outside run something was made or changed while commands ran.
    Settings {
        /// The terminal that ran then.
        terminal: TerminalId,
        /// Which file, and how.
        change: Change,
    },
}

/// What became of a request.
#[derive(Debug, Clone)]
pub struct Decision {
    /// Who asked.
    pub who: Who,
    /// The terminal that it gets, if it is allowed.
    pub terminal: Option<TerminalId>,
    /// What was asked for.
    pub command: Shown,
    /// Where.
    pub cwd: PathBuf,
    /// The names of the variables that the request sets.
    pub env_names: Vec<String>,
    /// What was decided.
    pub ruling: Ruling,
    /// By what.
    pub facts: Facts,
}

/// Who asked for a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Who {
    /// By which way: `acp`, `mcp`, `run`.
    pub front_end: String,
    /// The agent's name; empty if it is none.
    pub agent: String,
    /// The conversation, by the protocol's name.
    pub session: Option<String>,
}

/// What was decided, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ruling {
    /// By policy.
    Allowed,
    /// By policy.
    Denied,
    /// Somebody was asked and allowed it this time.
    AllowedOnce,
    /// Somebody was asked and allowed it whenever it is asked for again.
    AllowedAlways,
    /// Somebody had allowed it for always.
    AllowedBefore,
    /// Somebody was asked and said no.
    RefusedByUser,
    /// It was withdrawn while somebody was asked.
    Cancelled,
    /// Nobody could be asked.
    NobodyAsked,
    /// It makes no sense, or cannot be had here.
    Invalid,
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        map.serialize_entry("time_ms", &now.as_millis())?;
        match self {
            Self::Decision(decision) => {
                map.serialize_entry("what", "decision")?;
                decision.write(&mut map)?;
            }
            Self::End { terminal, ended } => {
                map.serialize_entry("what", "end")?;
                map.serialize_entry("terminal", terminal.as_str())?;
                write_end(ended, &mut map)?;
            }
            Self::NotStarted { terminal, code } => {
                map.serialize_entry("what", "not_started")?;
                map.serialize_entry("terminal", terminal.as_str())?;
                map.serialize_entry("code", code)?;
            }
            Self::Settings { terminal, change } => {
                map.serialize_entry("what", "settings")?;
                map.serialize_entry("terminal", terminal.as_str())?;
                map.serialize_entry("path", &bounded(&change.path.to_string_lossy()))?;
                map.serialize_entry("change", change.kind.word())?;
                map.serialize_entry("why", change.why)?;
            }
        }
        map.end()
    }
}

impl Decision {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        #[derive(Serialize)]
        struct Asker<'a> {
            front_end: &'a str,
            agent: String,
            session: Option<String>,
        }
        let who = Asker {
            front_end: &self.who.front_end,
            agent: bounded(&self.who.agent),
            session: self.who.session.as_deref().map(bounded),
        };
        map.serialize_entry("who", &who)?;
        map.serialize_entry("terminal", &self.terminal.as_ref().map(TerminalId::as_str))?;
        if self.command.size() > LONGEST_COMMAND {
            map.serialize_entry("command", &Cut::of(&self.command))?;
        } else {
            map.serialize_entry("command", &self.command)?;
        }
        map.serialize_entry("cwd", &bounded(&OsString::from(&self.cwd).to_string_lossy()))?;
        let names: Vec<_> = self.env_names.iter().take(MOST_NAMES).map(|name| bounded(name)).collect();
        map.serialize_entry("env_names", &names)?;
        map.serialize_entry("env_names_left_out", &self.env_names.len().saturating_sub(MOST_NAMES))?;
        map.serialize_entry("verdict", &self.ruling)?;
        map.serialize_entry("rules", &self.facts.rules)?;
        map.serialize_entry("sandbox", &self.facts.sandbox)?;
        map.serialize_entry("not_held", &self.facts.missing)?;
        map.serialize_entry("limits", &self.facts.limits)
    }
}

/// What is left of a command that is too long: it is whole in its terminal's journal, if it was allowed.
#[derive(Serialize)]
struct Cut {
    cut: bool,
    bytes: usize,
    start: String,
    end: String,
}

impl Cut {
    fn of(command: &Shown) -> Self {
        let text = command.one_line();
        let end = text.ceil_char_boundary(text.len().saturating_sub(KEPT));
        Self {
            cut: true,
            bytes: command.size(),
            start: start(&text, KEPT).to_owned(),
            end: text[end..].to_owned(),
        }
    }
}

fn start(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// A text that somebody else has chosen, with its length if that is absurd.
fn bounded(text: &str) -> String {
    if text.len() <= LONGEST_TEXT {
        return text.to_owned();
    }
    format!("{}… ({} bytes)", start(text, LONGEST_TEXT), text.len())
}

fn write_end<M: SerializeMap>(ended: &Ended, map: &mut M) -> Result<(), M::Error> {
    let (outcome, lost) = match ended.outcome {
        Outcome::Code(_) => ("exited", None),
        Outcome::Signal(_) => ("signal", None),
        Outcome::Lost(lost) => ("lost", Some(lost.code())),
    };
    map.serialize_entry("outcome", outcome)?;
    map.serialize_entry("exit_code", &ended.exit_code())?;
    map.serialize_entry("signal", &ended.signal())?;
    map.serialize_entry("cause", ended.cause.code())?;
    map.serialize_entry("author", &bounded(&ended.author))?;
    map.serialize_entry("reason", &lost)?;
    // Nobody knows how long something ran that was lost.
    map.serialize_entry("duration_ms", &lost.is_none().then_some(ended.lasted.as_millis()))
}
