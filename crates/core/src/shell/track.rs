//! The commands of a shell, from its marks. Pure: marks with their places go in, and who asks is told how it stands.
//!
//! What surprises: ends can come twice, or for a command whose beginning is no longer kept, and a prompt is printed anew
//! whenever somebody redraws it.

use super::mark::{Mark, Order};
use super::{Command, Kind, State};
use crate::end::Ended;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Commands that are known by number; older ones are forgotten.
pub(super) const MOST: usize = 10_000;
/// Stretches of output between commands that are known.
const MOST_LOOSE: usize = 10_000;

/// When a mark was seen.
#[derive(Debug, Clone, Copy)]
pub(super) enum Seen {
    /// As it was printed.
    Now(Instant),
    /// In the journal, some time later.
    Later,
}

/// What is known of a shell.
#[derive(Debug)]
pub(super) struct Track {
    doing: Doing,
    cwd: PathBuf,
    commands: VecDeque<Command>,
    /// When the newest command began, if that was seen.
    began: Option<Instant>,
    /// By the shell's clock.
    began_at: Option<u64>,
    /// The token of a command that is being given, and since when.
    sent: Option<(String, Instant)>,
    /// Output that belongs to no command, oldest first; the last may be open.
    loose: VecDeque<(u64, Option<u64>)>,
    /// The newest command that the shell would not run.
    refused: Option<(Order, String)>,
    /// Which shell it is now, once it has said so.
    kind: Option<Kind>,
    /// How often the integration has said that it is there.
    answers: u64,
    /// Whether it said so from within a command.
    within: bool,
    /// How often it has begun to take a command.
    taken: u64,
    /// It did not tell the end of its last command, or tells as earlier versions did: it needs an integration.
    in_doubt: bool,
}

/// What the shell does.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Doing {
    Starting,
    Idle(Prompt),
    Running,
    Exited(Ended),
}

/// How far a shell that does nothing has come with its prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prompt {
    /// What runs before a prompt may still run.
    Coming,
    /// It is being printed.
    Printing,
    /// Keys are read.
    Ready,
    /// A command is being taken.
    Taking,
}

impl Track {
    pub(super) fn new(cwd: PathBuf) -> Self {
        Self {
            doing: Doing::Starting,
            cwd,
            commands: VecDeque::new(),
            began: None,
            began_at: None,
            sent: None,
            loose: VecDeque::new(),
            refused: None,
            kind: None,
            answers: 0,
            within: false,
            taken: 0,
            in_doubt: false,
        }
    }

    pub(super) fn state(&self) -> State {
        match &self.doing {
            Doing::Starting => State::Starting,
            Doing::Idle(_) => State::Idle,
            Doing::Running => State::Running,
            Doing::Exited(ended) => State::Exited(ended.clone()),
        }
    }

    /// How far the prompt is, if nothing runs.
    pub(super) fn prompt(&self) -> Option<Prompt> {
        match self.doing {
            Doing::Idle(prompt) => Some(prompt),
            _ => None,
        }
    }

    pub(super) fn cwd(&self) -> &PathBuf {
        &self.cwd
    }

    pub(super) fn last(&self) -> Option<&Command> {
        self.commands.back()
    }

    pub(super) fn commands(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter()
    }

    pub(super) fn loose(&self) -> impl Iterator<Item = (u64, Option<u64>)> + '_ {
        self.loose.iter().copied()
    }

    pub(super) fn kind(&self) -> Option<Kind> {
        self.kind
    }

    pub(super) fn answers(&self) -> u64 {
        self.answers
    }

    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    pub(super) fn is_in_doubt(&self) -> bool {
        self.in_doubt
    }

    pub(super) fn is_within(&self) -> bool {
        self.within
    }

    /// What the shell said of the command with that token, if it would not run it.
    pub(super) fn refused(&self, token: &str) -> Option<&str> {
        self.refused.as_ref().filter(|(order, _)| order.token == token).map(|(_, words)| words.as_str())
    }

    /// The newest command with that token.
    pub(super) fn find(&self, token: &str) -> Option<&Command> {
        self.commands.iter().rev().find(|command| command.token == token)
    }

    /// A command is being given.
    pub(super) fn expect(&mut self, token: &str) {
        self.sent = Some((token.to_owned(), Instant::now()));
    }

    /// A mark, from `start` to before `end`.
    pub(super) fn mark(&mut self, mark: Mark, start: u64, end: u64, seen: Seen) {
        match mark {
            Mark::Taken => {
                self.taken += 1;
                self.close_loose(start);
                self.idle(Prompt::Taking);
            }
            Mark::Began { id, at, order } => self.begin(id, at, order, (start, end), seen),
            Mark::Ended { id, code, at, cwd } => self.finish(id, code, at, cwd, (start, end), seen),
            Mark::Prompt { kind, cwd, is_new, is_current } => {
                // What replaces a shell has begun well; of anything else nobody knows how it ended.
                let code = is_new.then_some(0);
                self.prompted((kind, cwd), code, start, seen);
                self.in_doubt |= !is_current;
            }
            Mark::Ready => self.ready(end),
            Mark::Refused { order, words } => {
                self.refused = Some((order, words));
                self.idle(Prompt::Coming);
            }
            Mark::Here | Mark::Within => {
                self.answers += 1;
                self.in_doubt = false;
                self.within = mark == Mark::Within;
            }
        }
    }

    fn idle(&mut self, prompt: Prompt) {
        if matches!(self.doing, Doing::Idle(_)) {
            self.doing = Doing::Idle(prompt);
        }
    }

    fn begin(&mut self, id: u64, at: Option<u64>, order: Order, place: (u64, u64), seen: Seen) {
        if matches!(self.doing, Doing::Exited(_)) || self.last().is_some_and(|last| last.id >= id) {
            return;
        }
        self.close_loose(place.0);
        // What is typed is echoed, and the echo is nobody's output.
        if order.token == "-" {
            self.loose.pop_back();
        }
        // Whoever reads late would measure too little.
        let sent = self.sent.take().filter(|(token, _)| *token == order.token);
        self.began = match seen {
            Seen::Now(now) => Some(sent.map_or(now, |(_, sent)| sent)),
            Seen::Later => None,
        };
        self.began_at = at;
        self.push(Command {
            id,
            text: order.text,
            author: order.author,
            began_ms: at.map_or_else(now_ms, |micros| micros / 1000),
            exit_code: None,
            lasted: None,
            output: (place.1, None),
            token: order.token,
        });
        self.doing = Doing::Running;
    }

    fn push(&mut self, command: Command) {
        self.commands.push_back(command);
        if self.commands.len() > MOST {
            self.commands.pop_front();
        }
    }

    fn finish(
        &mut self,
        id: u64,
        code: i32,
        at: Option<u64>,
        cwd: PathBuf,
        (start, end): (u64, u64),
        seen: Seen,
    ) {
        let lasted = self.lasted(at, seen);
        // A shell whose variables were all unset does not know the number.
        let id = if id == 0 { self.last().map_or(0, |last| last.id) } else { id };
        match self.commands.back_mut() {
            Some(last) if last.id == id && last.output.1.is_none() => {
                last.exit_code = Some(code);
                last.lasted = Some(lasted);
                last.output.1 = Some(start);
            }
            // An end that was told before.
            Some(last) if last.id >= id => return,
            // Its beginning is not kept any more.
            _ => self.push(Command {
                id,
                text: String::new(),
                author: String::new(),
                began_ms: at.map_or_else(now_ms, |micros| micros / 1000),
                exit_code: Some(code),
                lasted: Some(Duration::ZERO),
                output: (0, Some(start)),
                token: String::new(),
            }),
        }
        self.move_to(cwd);
        self.doing = Doing::Idle(Prompt::Coming);
        self.open_loose(end);
    }

    /// It is there now, if it knows where.
    fn move_to(&mut self, cwd: PathBuf) {
        if !cwd.as_os_str().is_empty() {
            self.cwd = cwd;
        }
    }

    fn lasted(&self, at: Option<u64>, seen: Seen) -> Duration {
        let by_shell = || Some(Duration::from_micros(at?.saturating_sub(self.began_at?)));
        let seen = || match (self.began, seen) {
            (Some(began), Seen::Now(now)) => Some(now.saturating_duration_since(began)),
            _ => None,
        };
        by_shell().or_else(seen).unwrap_or_default()
    }

    /// A prompt is printed. If a command is thought to run, the shell was replaced by another, which told nothing of it.
    fn prompted(&mut self, (kind, cwd): (Kind, PathBuf), code: Option<i32>, start: u64, seen: Seen) {
        if matches!(self.doing, Doing::Exited(_)) {
            return;
        }
        if self.doing == Doing::Running {
            self.end_unseen(code, start, seen);
        }
        self.kind = Some(kind);
        self.close_loose(start);
        self.move_to(cwd);
        self.doing = Doing::Idle(Prompt::Printing);
    }

    fn ready(&mut self, end: u64) {
        match self.doing {
            Doing::Idle(Prompt::Printing | Prompt::Coming) => {
                self.doing = Doing::Idle(Prompt::Ready);
                self.open_loose(end);
            }
            // Printed anew, around what was typed so far or before what is taken.
            Doing::Idle(Prompt::Ready | Prompt::Taking) => {}
            Doing::Starting | Doing::Running | Doing::Exited(_) => {}
        }
    }

    /// The newest command is over, although nobody told how.
    pub(super) fn end_unseen(&mut self, code: Option<i32>, at: u64, seen: Seen) {
        let lasted = self.lasted(None, seen);
        if let Some(last) = self.commands.back_mut().filter(|last| last.output.1.is_none()) {
            last.exit_code = code;
            last.lasted = Some(lasted);
            last.output.1 = Some(at);
        }
        if self.doing == Doing::Running {
            self.doing = Doing::Idle(Prompt::Coming);
            self.in_doubt = code.is_none();
        }
    }

    /// The shell is over.
    pub(super) fn exit(&mut self, ended: Ended, seen: Seen) {
        self.end_unseen(None, ended.bytes, seen);
        self.close_loose(ended.bytes);
        self.doing = Doing::Exited(ended.clone());
        self.open_loose(ended.bytes);
    }

    fn open_loose(&mut self, at: u64) {
        self.close_loose(at);
        self.loose.push_back((at, None));
        if self.loose.len() > MOST_LOOSE {
            self.loose.pop_front();
        }
    }

    fn close_loose(&mut self, at: u64) {
        let Some(last) = self.loose.back_mut().filter(|last| last.1.is_none()) else { return };
        if last.0 >= at {
            self.loose.pop_back();
        } else {
            last.1 = Some(at);
        }
    }
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
