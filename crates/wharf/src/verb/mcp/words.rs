//! Answers in words: first what is known, each in a line in brackets, then a blank line and `content`.
//!
//! That comes first because some clients cut the end off a long answer, and because nothing that a program prints can stand
//! before it and pass for it.

use super::answer::{
    Answer, Because, Closed, Entry, Executed, Job, Life, Listed, Noted, Omitted, Read, Screen, Status, View,
};
use super::hint;
use std::fmt::Write;
use wharf_core::policy::is_hidden;

/// What is known, then what was printed.
struct Page {
    head: String,
}

impl Page {
    /// `lines` are all that there are, shown before or now.
    fn new(first: &str, content: &str, view: View, lines: u64) -> Self {
        let nothing = match (content.is_empty(), view, lines) {
            (true, View::Stream, 0) => " · no output",
            (true, View::Stream, _) => " · nothing new",
            (true, View::Screen, _) => " · the screen is empty",
            (false, ..) => "",
        };
        let mut page = Self { head: String::new() };
        page.note(&format!("{first}{nothing}"));
        page
    }

    /// A line in brackets.
    fn note(&mut self, line: &str) {
        if !self.head.is_empty() {
            self.head.push('\n');
        }
        let _ = write!(self.head, "[{}]", plain(line));
    }

    fn notes(&mut self, lines: &[String]) {
        lines.iter().for_each(|line| self.note(line));
    }

    fn finish(mut self, content: &str) -> String {
        if !content.is_empty() {
            self.head.extend(["\n\n", content]);
        }
        self.head
    }
}

/// Names of directories and commands may hold anything. What would do something to a terminal, ends a line elsewhere or
/// cannot be seen is written out.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) { plain.extend(c.escape_default()) } else { plain.push(c) }
    }
    plain
}

pub(super) fn seconds(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
    }
}

fn lines(count: u64) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}

/// A command as one short line.
pub(super) fn short(command: &str) -> String {
    let mut lines = command.trim().lines();
    let first = lines.next().unwrap_or_default();
    let cut = first.floor_char_boundary(120);
    let more = if cut < first.len() || lines.next().is_some() { " …" } else { "" };
    format!("{}{more}", &first[..cut])
}

impl Answer for Executed {
    fn text(&self) -> String {
        let mut page = Page::new(&self.state(), &self.content, self.view, self.total_lines);
        if let Some(why) = &self.stalled {
            page.note(&stalled(why, &self.terminal_id));
        }
        if let Some(found) = &self.matched {
            page.note(&format!("line {} matches: {}", found.line, found.text));
        }
        if let Some(awaiting) = &self.awaiting {
            let prompt =
                if awaiting.prompt.is_empty() { String::new() } else { format!(" at {:?}", awaiting.prompt) };
            page.note(&format!("waits for input ({}){prompt}: {}", awaiting.kind, awaiting.hint));
        }
        omitted(&mut page, self.omitted.as_ref());
        on_screen(&mut page, self.screen.as_ref());
        page.notes(&self.notice);
        page.finish(&self.content)
    }
}

impl Executed {
    fn state(&self) -> String {
        let took = seconds(self.duration_ms);
        let mut state = match (&self.shell_end, self.status) {
            (Some(how), _) => format!("the shell {how} · {took}"),
            (None, Status::Running) => {
                format!("{} after {took}: {}", still(self.returned_because), short(&self.command))
            }
            (None, _) => match self.exit_code {
                Some(code) => format!("exit code {code} · {took}"),
                None if self.command_id > 0 => format!("ended, exit code unknown · {took}"),
                None => "nothing is running".to_owned(),
            },
        };
        let _ = write!(state, " · {}", self.working_dir);
        // Totals only where they say more than the content does.
        if self.omitted.is_some() || self.total_lines > self.content.lines().count() as u64 {
            let _ = write!(state, " · {}, {} bytes in all", lines(self.total_lines), self.total_bytes);
        }
        let is_held = self.returned_because == Because::HeldByHuman;
        let is_told = self.awaiting.is_some() || self.stalled.is_some() || is_held;
        if self.status == Status::Running && !is_told {
            let (wait, end) = (hint::wait(&self.terminal_id), hint::press(&self.terminal_id, "C-c"));
            let _ = write!(state, " · to wait for more: {wait}; to interrupt: {end}");
        }
        state
    }
}

fn still(because: Because) -> &'static str {
    match because {
        Because::HeldByHuman => "a human has taken the terminal; still running",
        Because::AwaitingInput => "running, and waits for input",
        Because::Pattern => "the pattern was found; still running",
        Because::Silence => "nothing was printed for so long; still running",
        Because::ScreenStable => "the screen has not changed for so long; still running",
        Because::Stalled => "stalled",
        Because::Exited | Because::Timeout | Because::ShellExited => "still running",
    }
}

fn stalled(why: &str, terminal: &str) -> String {
    let (interrupt, close) = (hint::press(terminal, "C-c"), hint::close(terminal));
    format!(
        "stalled: {why}; the command waits for room and nothing is lost. To interrupt it: {interrupt}, which is answered \
         once there is room; to end all of it now: {close}"
    )
}

pub(super) fn in_background(job: &Job) -> String {
    format!("background job, {}: {} (pid {})", job.state, short(&job.command), job.pid)
}

/// The call that shows what is left out.
fn omitted(page: &mut Page, omitted: Option<&Omitted>) {
    let Some(left) = omitted else { return };
    let what = match (left.from_line, left.to_line) {
        (from, to) if from == to => format!("more of line {from}"),
        (from, to) => format!("lines {from}–{to} are not shown ({} bytes)", left.bytes),
    };
    page.note(&format!("{what}: {}", left.read));
}

fn on_screen(page: &mut Page, screen: Option<&Screen>) {
    let Some(screen) = screen else { return };
    let (cursor, rows, cols) = (screen.cursor, screen.rows, screen.cols);
    page.note(&format!(
        "screen of {rows} rows × {cols} columns, cursor in row {}, column {}",
        cursor.row, cursor.col
    ));
    for mark in &screen.highlights {
        page.note(&format!("highlighted in row {}: {}", mark.row, mark.text));
    }
}

impl Answer for Read {
    fn text(&self) -> String {
        let state = match (self.status, self.exit_code) {
            (Status::Running, _) => "still running".to_owned(),
            (_, Some(code)) => format!("exit code {code}"),
            (_, None) => "ended".to_owned(),
        };
        let mut line = match self.shown {
            Some(shown) => format!("lines {}–{} of {}", shown.from_line, shown.to_line, self.total_lines),
            None => format!("{} in all", lines(self.total_lines)),
        };
        if let Some(matches) = self.matches {
            let _ = write!(line, " · matches: {matches}");
        }
        let of = match self.command_id {
            0 => "printed outside of commands".to_owned(),
            id => format!("command {id}: {} · {state}", short(&self.command)),
        };
        let mut page = Page::new(&format!("{line} · {of}"), &self.content, self.view, 0);
        omitted(&mut page, self.omitted.as_ref());
        on_screen(&mut page, self.screen.as_ref());
        page.notes(&self.notice);
        page.finish(&self.content)
    }
}

impl Answer for Entry {
    fn text(&self) -> String {
        let mut text = format!("{}: ", self.terminal_id);
        text.push_str(&match (&self.shell_end, self.status) {
            (Some(how), _) => format!("the shell {how}; the next command opens a fresh one"),
            (None, Life::Running) => {
                let command = self.command.as_deref().map(short).unwrap_or_default();
                format!("running {command} for {}", seconds(self.running_ms.unwrap_or_default()))
            }
            (None, Life::Idle | Life::Exited) => match self.exit_code {
                Some(code) => format!("idle, last exit code {code}"),
                None => "idle".to_owned(),
            },
        });
        if self.held_by_human {
            text.push_str(" · held by a human");
        }
        let _ = write!(
            text,
            " · {} · {} · sandbox {} · {}",
            self.working_dir, self.shell, self.sandbox, self.size
        );
        let _ = write!(text, " · wharf id {}", self.id);
        let mut notes = Vec::new();
        if let Some(why) = &self.stalled {
            notes.push(stalled(why, &self.terminal_id));
        }
        if let Some(awaiting) = &self.awaiting {
            notes.push(format!("waits for input ({}): {}", awaiting.kind, awaiting.hint));
        }
        notes.extend(self.background.iter().map(in_background));
        with_notes(plain(&text), notes.iter().chain(&self.notice))
    }
}

/// Lines in brackets below, for answers that are short.
fn with_notes<'a>(mut text: String, notes: impl IntoIterator<Item = &'a String>) -> String {
    for note in notes {
        let _ = write!(text, "\n[{}]", plain(note));
    }
    text
}

impl Answer for Listed {
    fn text(&self) -> String {
        let all = match self.terminals.as_slice() {
            [] => "There is no terminal yet. terminal_execute opens one by itself.".to_owned(),
            all => all.iter().map(Answer::text).collect::<Vec<_>>().join("\n"),
        };
        with_notes(all, &self.notice)
    }
}

impl Answer for Closed {
    fn text(&self) -> String {
        with_notes(self.content.clone(), &self.notice)
    }
}

/// All of these have a list for it.
macro_rules! noted {
    ($($answer:ty),*) => {$(
        impl Noted for $answer {
            fn add(&mut self, notice: Vec<String>) {
                self.notice.extend(notice);
            }
        }
    )*};
}

noted!(Executed, Read, Entry, Listed, Closed);
