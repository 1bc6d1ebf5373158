//! The records of `--json`. Fields are added, never renamed or given another meaning.

use crate::life;
use crate::report::Failure;
use serde::Serialize;
use std::time::Duration;
use wharf_core::{Ended, Look, Outcome, Phase, ReadError, Terminal, TerminalId};

/// Text in a record at most: enough for any log that somebody reads, and no danger to whoever parses it.
const MOST_TEXT: usize = 1 << 20;

/// `wharf run --json`, `wharf wait --json`.
#[derive(Debug, Serialize)]
pub(crate) struct End {
    id: String,
    /// `exited`, `signal` or `lost`.
    outcome: &'static str,
    exit_code: Option<i32>,
    /// Its name, like `SIGTERM`.
    signal: Option<String>,
    /// What brought the end about: `exited`, `killed`, `time_limit`, …
    cause: &'static str,
    /// The sandbox it ran in; `open` if it had none.
    sandbox: String,
    /// Why nobody knows, if it is lost: `holder_died`, `reboot` or `status_taken`.
    reason: Option<&'static str>,
    /// These four are null if it is lost: nobody was there to measure.
    duration_ms: Option<u128>,
    cpu_user_ms: Option<u128>,
    cpu_system_ms: Option<u128>,
    peak_memory_bytes: Option<u64>,
    /// Bytes printed in all.
    bytes: u64,
    /// Of those, bytes no longer kept.
    dropped: u64,
    /// Processes that were still alive when the command ended.
    left: u32,
    /// The newest output as text, at most 1 MiB.
    output: String,
    /// Whether `output` lacks something of the beginning.
    truncated: bool,
}

impl End {
    pub(crate) fn new(terminal: &Terminal, ended: &Ended) -> Result<Self, ReadError> {
        let look = terminal.look()?;
        let (output, truncated) = terminal.text(MOST_TEXT)?;
        let reason = reason(ended);
        let known = |time: Duration| reason.is_none().then_some(time.as_millis());
        Ok(Self {
            id: terminal.id().to_string(),
            outcome: match ended.outcome {
                Outcome::Code(_) => "exited",
                Outcome::Signal(_) => "signal",
                Outcome::Lost(_) => "lost",
            },
            exit_code: ended.exit_code(),
            signal: ended.signal(),
            cause: ended.cause.code(),
            sandbox: ended.sandbox.clone(),
            reason,
            duration_ms: known(ended.lasted),
            cpu_user_ms: known(ended.cpu.0),
            cpu_system_ms: known(ended.cpu.1),
            peak_memory_bytes: reason.is_none().then_some(ended.peak_memory),
            bytes: look.end,
            dropped: look.first,
            left: ended.left,
            output,
            truncated,
        })
    }
}

fn reason(ended: &Ended) -> Option<&'static str> {
    match ended.outcome {
        Outcome::Lost(lost) => Some(lost.code()),
        Outcome::Code(_) | Outcome::Signal(_) => None,
    }
}

/// An entry of `wharf ls --json`.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Entry {
    Readable(Box<Listed>),
    Unreadable(Unreadable),
}

/// One whose files are damaged, or from a later wharf.
#[derive(Debug, Serialize)]
pub(crate) struct Unreadable {
    id: String,
    /// `damaged`, or `unreadable` for other reasons.
    state: &'static str,
    /// Why.
    error: String,
    code: &'static str,
}

impl Unreadable {
    pub(crate) fn new(id: &TerminalId, error: &ReadError) -> Self {
        let state = if matches!(error, ReadError::Damaged(_)) { "damaged" } else { "unreadable" };
        Self { id: id.to_string(), state, error: error.to_string(), code: error.code() }
    }
}

/// One that can be read.
#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    id: String,
    /// `starting`, `running`, `stalled`, `ended` or `not_started`.
    state: &'static str,
    pid: Option<u32>,
    /// The command's own, if it exited.
    exit_code: Option<i32>,
    signal: Option<String>,
    cause: Option<&'static str>,
    /// Why nobody knows, if it is lost.
    reason: Option<&'static str>,
    /// Whether any process of it is alive.
    alive: bool,
    created_ms: u64,
    ended_ms: Option<u64>,
    bytes: u64,
    dropped: u64,
    pty: bool,
    command: Vec<String>,
    shell: bool,
    cwd: String,
    /// Who asked for it: `wharf run`, or an agent.
    origin: String,
    /// The sandbox it runs in; `open` if it has none.
    sandbox: String,
    /// What that sandbox should hold and does not on this machine.
    not_held: Vec<String>,
    /// The agent's session, if it was an agent.
    session: Option<String>,
}

impl Listed {
    pub(crate) fn new(terminal: &Terminal, look: &Look) -> Self {
        let meta = terminal.meta();
        let ended = match &look.phase {
            Phase::Ended(ended) => Some(ended),
            _ => None,
        };
        let (state, pid) = match &look.phase {
            Phase::Starting => ("starting", None),
            Phase::Running { pid, .. } if look.stalled.is_some() => ("stalled", Some(*pid)),
            Phase::Running { pid, .. } => ("running", Some(*pid)),
            Phase::Ended(_) => ("ended", None),
            Phase::NotStarted => ("not_started", None),
        };
        Self {
            id: terminal.id().to_string(),
            state,
            pid,
            exit_code: ended.and_then(Ended::exit_code),
            signal: ended.and_then(Ended::signal),
            cause: ended.map(|ended| ended.cause.code()),
            reason: ended.and_then(reason),
            alive: life::is_alive(look),
            created_ms: meta.created_ms,
            ended_ms: ended.map(|ended| ended.at / 1_000_000),
            bytes: look.end,
            dropped: look.first,
            pty: look.size.is_some(),
            command: meta.command.clone(),
            shell: meta.shell,
            cwd: meta.cwd.to_string_lossy().into_owned(),
            origin: meta.origin.clone(),
            sandbox: meta.sandbox.clone(),
            not_held: meta.not_held.clone(),
            session: meta.session.clone(),
        }
    }
}

/// `wharf run --detach --json`.
#[derive(Debug, Serialize)]
pub(crate) struct Started<'a> {
    pub(crate) id: &'a str,
}

/// One entry of `wharf kill --json`.
#[derive(Debug, Serialize)]
pub(crate) struct Killed {
    pub(crate) id: String,
    /// How many processes were ended; absent if only a signal was sent.
    pub(crate) processes: Option<u32>,
}

/// One entry of `wharf doctor --json`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Capability {
    pub(crate) name: &'static str,
    pub(crate) have: bool,
    /// Whether wharf cannot work without it.
    pub(crate) required: bool,
    pub(crate) detail: String,
    pub(crate) used_for: &'static str,
    pub(crate) without_it: &'static str,
    pub(crate) advice: std::borrow::Cow<'static, str>,
}

/// In place of any of these, if it could not be made.
#[derive(Debug, Serialize)]
pub(crate) struct Failed<'a> {
    error: Fault<'a>,
}

#[derive(Debug, Serialize)]
struct Fault<'a> {
    /// A stable word.
    code: &'a str,
    message: &'a str,
    hint: Option<&'a str>,
}

impl<'a> Failed<'a> {
    pub(crate) fn new(failure: &'a Failure) -> Self {
        let Failure { message, hint, word, .. } = failure;
        Self { error: Fault { code: word, message, hint: hint.as_deref() } }
    }
}
