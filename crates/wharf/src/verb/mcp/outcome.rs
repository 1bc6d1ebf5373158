//! What is answered when waiting has ended: the command, its new output, and what else there is to know.

use super::answer::{self, Because, Executed, Status, View};
use super::call::Call;
use super::hint;
use super::picture;
use super::refusal::{Refusal, since};
use super::teach;
use super::told::{News, Stage, Subject};
use super::words::{in_background, seconds, short};
use crate::show;
use crate::stall;
use serde_json::json;
use std::future::pending;
use std::time::Duration;
use tokio::time::timeout;
use wharf_core::Ended;
use wharf_core::foreground::Awaiting;
use wharf_core::shape::{Budget, Omitted, Shaped};
use wharf_core::shell::{self, Command, Shell, State, Typed};

/// Of the commands that a human ran, so many are named; the others can be read by their numbers.
const MOST_OF_A_HUMAN: usize = 5;

/// How soon is looked again at what a background job is.
const SETTLE: Duration = Duration::from_millis(5);

/// Everything that is known when an answer is made.
pub(super) struct Outcome<'a> {
    pub(super) name: &'a str,
    pub(super) shell: &'a Shell,
    pub(super) because: shell::Because,
    pub(super) budget: Budget,
    /// Said if something is left out.
    pub(super) cut: Option<String>,
    pub(super) notice: Vec<String>,
}

impl Outcome<'_> {
    pub(super) async fn tell(mut self, call: &Call) -> Result<Executed, Refusal> {
        let status = self.shell.status();
        let running = matches!(status.state, State::Running | State::Starting);
        let ended = match (&self.because, &status.state) {
            (shell::Because::Exited(ended), _) | (_, State::Exited(ended)) => Some(ended.clone()),
            _ => None,
        };
        self.humans(call);
        self.notice.extend(call.desk.changed_settings(self.shell.terminal().id()));
        self.notice.extend(call.desk.work().wide.clone());
        let command = status.last;
        let screen = running.then(|| self.shell.picture()).filter(|picture| picture.alternate);
        let background = jobs(self.shell).await;
        let stage = if running { Stage::Running } else { Stage::Over };
        let shown = match (&screen, &command) {
            (Some(picture), _) => Shown { text: picture::text(picture), ..Shown::default() },
            (None, Some(command)) => self.stream(call, command, stage, &background).await?,
            (None, None) => Shown::default(),
        };
        if ended.is_some() {
            self.notice.push("the next command opens a fresh shell under the same terminal_id".to_owned());
        }
        let working_dir = status.cwd.to_string_lossy().into_owned();
        let awaiting = match &self.because {
            shell::Because::Awaiting(waits) if running => Some(awaiting(self.name, self.shell, waits)),
            _ => None,
        };
        let exit_code = command.as_ref().and_then(|command| command.exit_code);
        // Not as the reason, which nobody knows, but as a fact that may be one.
        let note = &self.shell.terminal().meta().sandbox_note;
        if !running
            && exit_code.is_some_and(|code| code != 0)
            && !note.is_empty()
            && !self.notice.contains(note)
        {
            self.notice.push(note.clone());
        }
        Ok(Executed {
            content: shown.text,
            terminal_id: self.name.to_owned(),
            command_id: command.as_ref().map_or(0, |command| command.id),
            status: if running { Status::Running } else { Status::Completed },
            exit_code: if running { None } else { exit_code.or(ended.as_ref().and_then(code)) },
            working_dir,
            returned_because: because(&self.because, running, ended.is_some()),
            duration_ms: command.as_ref().map_or(0, lasted),
            command: command.map(|command| command.text).unwrap_or_default(),
            view: if screen.is_some() { View::Screen } else { View::Stream },
            total_lines: shown.lines,
            total_bytes: shown.bytes,
            awaiting,
            matched: match &self.because {
                shell::Because::Line(line, text) => Some(answer::Match { line: *line, text: text.clone() }),
                _ => None,
            },
            omitted: shown.omitted,
            screen: screen.as_ref().map(picture::screen),
            background,
            shell_end: ended.as_ref().map(how),
            stalled: if running { stall::of(self.shell.terminal()) } else { None },
            notice: self.notice,
        })
    }

    /// What is new in the command's output, cut to what may be shown.
    async fn stream(
        &mut self,
        call: &Call,
        command: &Command,
        stage: Stage,
        jobs: &[answer::Job],
    ) -> Result<Shown, Refusal> {
        let subject = Subject { command: command.id, stage, budget: self.budget, jobs: jobs.to_vec() };
        // The last thing that is asked for: until the answer is handed over, nobody else is told anything.
        let (news, receipt) = call.desk.news(&call.seat, self.name, subject).await?;
        let News { shaped, total, dropped, begun, ended } = news;
        call.then(|| receipt.confirm());
        self.notice.extend(begun.iter().map(in_background));
        let over =
            |job: &answer::Job| format!("background job, ended: {} (pid {})", short(&job.command), job.pid);
        let is_over = |job: &&answer::Job| !self.shell.has_process(job.pid);
        self.notice.extend(ended.iter().filter(is_over).map(over));
        if dropped > 0 {
            self.notice.push(format!(
                "{dropped} bytes of the output are not kept any more, and not counted: totals and line numbers are a lower bound"
            ));
        }
        let Shaped { text, omitted, .. } = shaped;
        let omitted = self::omitted(self.name, command.id, &omitted);
        self.notice.extend(self.cut.take().filter(|_| omitted.is_some()));
        Ok(Shown { text, lines: total.line - 1, bytes: total.bytes, omitted })
    }

    /// What humans did is told once.
    fn humans(&mut self, call: &Call) {
        let author = call.client.author();
        if let Some(Typed { bytes, ago, commands, told }) = self.shell.typed_by_others(&author) {
            let ago = seconds(millis(ago));
            self.notice
                .push(format!("a human has typed {bytes} bytes into this terminal, the last {ago} ago"));
            let newest = commands.len().saturating_sub(MOST_OF_A_HUMAN);
            self.notice.extend(commands[newest..].iter().map(|command| by_human(self.name, command)));
            let shell = self.shell.clone();
            call.then(move || shell.told_typed(&author, told));
        }
        if matches!(self.because, shell::Because::Held) {
            let wait = hint::wait_longer(self.name);
            self.notice.push(format!(
                "a human has taken this terminal; {wait} waits until it is given back; another terminal_id is free"
            ));
        }
    }
}

fn by_human(name: &str, command: &Command) -> String {
    let read = hint::read(name, command.id, json!({}));
    format!("a human ran `{}`, which {}: {read}", short(&command.text), ended(command))
}

/// The output as it is shown.
#[derive(Default)]
struct Shown {
    text: String,
    lines: u64,
    bytes: u64,
    omitted: Option<answer::Omitted>,
}

/// The first call that shows what is not shown: from the first line that is missing, as far as an answer goes.
pub(super) fn omitted(terminal: &str, command: u64, all: &[Omitted]) -> Option<answer::Omitted> {
    let first = all.first()?;
    let read = |rest: serde_json::Value| hint::read(terminal, command, rest);
    Some(match *first {
        Omitted::Lines { from, to, bytes } => answer::Omitted {
            from_line: from,
            to_line: to,
            bytes,
            read: read(json!({"from_line": from, "to_line": to.min(from + 499)})),
        },
        Omitted::Part { line, column, chars } => answer::Omitted {
            from_line: line,
            to_line: line,
            bytes: chars,
            read: read(json!({"from_line": line, "to_line": line, "column": column})),
        },
    })
}

fn because(because: &shell::Because, running: bool, exited: bool) -> Because {
    match because {
        shell::Because::Exited(_) => Because::ShellExited,
        _ if exited => Because::ShellExited,
        shell::Because::Ended => Because::Exited,
        shell::Because::Line(..) => Because::Pattern,
        // It ended between the last look and this answer.
        _ if !running => Because::Exited,
        shell::Because::Awaiting(_) => Because::AwaitingInput,
        shell::Because::Silence => Because::Silence,
        shell::Because::Stable => Because::ScreenStable,
        shell::Because::Held => Because::HeldByHuman,
        shell::Because::Stalled => Because::Stalled,
        shell::Because::Deadline => Because::Timeout,
    }
}

/// How a command stands, after "which".
pub(super) fn ended(command: &Command) -> String {
    match (command.lasted, command.exit_code) {
        (None, _) => "still runs".to_owned(),
        (Some(_), Some(code)) => format!("has ended with exit code {code}"),
        (Some(_), None) => "has ended without an exit code".to_owned(),
    }
}

/// What is awaited in a shell, with what to do about it.
pub(super) fn awaiting(name: &str, shell: &Shell, waits: &Awaiting) -> answer::Awaiting {
    teach::awaiting(name, shell.terminal().id().short(), waits)
}

/// As shells count: 128 and the number of the signal, where one ended it. None if it was lost.
pub(super) fn code(ended: &Ended) -> Option<i32> {
    match ended.outcome {
        wharf_core::Outcome::Code(code) => Some(code),
        wharf_core::Outcome::Signal(signal) => Some(128 + signal),
        wharf_core::Outcome::Lost(_) => None,
    }
}

/// How a shell ended, after "the shell".
pub(super) fn how(ended: &Ended) -> String {
    match (ended.limit, ended.exit_code(), ended.signal()) {
        (Some(limit), ..) => format!("was ended by its {}", show::limit(limit)),
        (None, Some(code), _) => format!("exited with code {code}"),
        (None, None, Some(signal)) => format!("was ended by {signal}"),
        (None, None, None) => "was lost".to_owned(),
    }
}

pub(super) async fn jobs(shell: &Shell) -> Vec<answer::Job> {
    // A job that was begun a moment ago may not be its program yet. There is no event for that; it takes milliseconds.
    let mut all = shell.background();
    while all.iter().any(|job| job.is_settling) {
        let _ = timeout(SETTLE, pending::<()>()).await;
        all = shell.background();
    }
    let job = |job: shell::Job| answer::Job { pid: job.pid, command: job.command, state: job.state };
    all.into_iter().map(job).collect()
}

pub(super) fn lasted(command: &Command) -> u64 {
    command.lasted.map_or_else(|| since(command.began_ms), millis)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
