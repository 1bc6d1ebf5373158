//! Answers in words: `content`, then what else there is to know in lines in brackets.

use super::answer::{
    Answer, Because, Closed, Entry, Executed, Job, Life, Listed, Omitted, Read, Screen, Status, View,
};
use std::fmt::Write;

/// `(no output)` is said here and nowhere else: the structured half has an empty string.
fn body(content: &str, view: View) -> String {
    match (content.is_empty(), view) {
        (true, View::Stream) => "(no output)".to_owned(),
        (true, View::Screen) => "(the screen is empty)".to_owned(),
        (false, _) => content.to_owned(),
    }
}

/// A line in brackets, below.
fn note(text: &mut String, line: &str) {
    let _ = write!(text, "\n[{}]", plain(line));
}

/// Names of directories and commands may hold anything. What would do something to a terminal is written out.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { plain.extend(c.escape_default()) } else { plain.push(c) }
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
        let mut text = body(&self.content, self.view);
        omitted(&mut text, self.omitted.as_ref());
        if let Some(screen) = &self.screen {
            on_screen(&mut text, screen);
        }
        note(&mut text, &self.state());
        if let Some(found) = &self.matched {
            note(&mut text, &format!("line {} matches: {}", found.line, found.text));
        }
        if let Some(awaiting) = &self.awaiting {
            let prompt =
                if awaiting.prompt.is_empty() { String::new() } else { format!(" at {:?}", awaiting.prompt) };
            note(&mut text, &format!("waits for input ({}){prompt}: {}", awaiting.kind, awaiting.hint));
        }
        for job in &self.background {
            note(&mut text, &in_background(job));
        }
        self.notice.iter().for_each(|line| note(&mut text, line));
        text
    }
}

impl Executed {
    fn state(&self) -> String {
        let took = seconds(self.duration_ms);
        let mut state = match (self.status, self.returned_because) {
            (_, Because::ShellExited) => match self.exit_code {
                Some(code) => format!("the shell exited with code {code} · {took}"),
                None => format!("the shell was ended · {took}"),
            },
            (Status::Running, because) => {
                format!("{} after {took}: {}", self.still(because), short(&self.command))
            }
            (_, _) => match self.exit_code {
                Some(code) => format!("exit code {code} · {took}"),
                None => "nothing is running".to_owned(),
            },
        };
        let _ = write!(state, " · {}", self.working_dir);
        // Totals only where they say more than the content does.
        if self.omitted.is_some() || self.total_lines > self.content.lines().count() as u64 {
            let _ = write!(state, " · {}, {} bytes in all", lines(self.total_lines), self.total_bytes);
        }
        if self.status == Status::Running && self.awaiting.is_none() {
            let name = &self.terminal_id;
            let _ = write!(
                state,
                " · call terminal_execute {{\"command\":\"\",\"terminal_id\":{name:?}}} to wait for more, with \"C-c\" to interrupt"
            );
        }
        state
    }

    fn still(&self, because: Because) -> &'static str {
        match because {
            Because::HeldByHuman => "a human has taken the terminal; still running",
            Because::AwaitingInput => "running, and waits for input",
            Because::Pattern => "the pattern was found; still running",
            Because::Silence => "nothing was printed for so long; still running",
            Because::ScreenStable => "the screen has not changed for so long; still running",
            Because::Exited | Because::Timeout | Because::ShellExited => "still running",
        }
    }
}

fn in_background(job: &Job) -> String {
    format!("background job, {}: {} (pid {})", job.state, short(&job.command), job.pid)
}

/// The call that shows what is left out, where that is said; else below.
fn omitted(text: &mut String, omitted: Option<&Omitted>) {
    let Some(left) = omitted else { return };
    let said = format!("… lines {}–{} omitted ({} bytes)", left.from_line, left.to_line, left.bytes);
    let (gap, with_call) = (format!("[{said}]"), format!("{said}: {}", left.read));
    match text.find(&gap) {
        Some(at) => text.replace_range(at + 1..at + gap.len() - 1, &with_call),
        None if left.from_line == left.to_line => {
            note(text, &format!("… more of line {}: {}", left.from_line, left.read))
        }
        None => note(text, &with_call),
    }
}

fn on_screen(text: &mut String, screen: &Screen) {
    let (cursor, rows, cols) = (screen.cursor, screen.rows, screen.cols);
    note(
        text,
        &format!(
            "screen of {rows} rows × {cols} columns, cursor in row {}, column {}",
            cursor.row, cursor.col
        ),
    );
    for mark in &screen.highlights {
        note(text, &format!("highlighted in row {}: {}", mark.row, mark.text));
    }
}

impl Answer for Read {
    fn text(&self) -> String {
        let mut text = body(&self.content, self.view);
        omitted(&mut text, self.omitted.as_ref());
        if let Some(screen) = &self.screen {
            on_screen(&mut text, screen);
        }
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
        note(&mut text, &format!("{line} · {of}"));
        self.notice.iter().for_each(|line| note(&mut text, line));
        text
    }
}

impl Answer for Entry {
    fn text(&self) -> String {
        let mut text = format!("{}: ", self.terminal_id);
        text.push_str(&match self.status {
            Life::Idle => match self.exit_code {
                Some(code) => format!("idle, last exit code {code}"),
                None => "idle".to_owned(),
            },
            Life::Running => {
                let command = self.command.as_deref().map(short).unwrap_or_default();
                format!("running {command} for {}", seconds(self.running_ms.unwrap_or_default()))
            }
            Life::Exited => match self.exit_code {
                Some(code) => {
                    format!("the shell exited with code {code}; the next command opens a fresh one")
                }
                None => "the shell was ended; the next command opens a fresh one".to_owned(),
            },
        });
        let _ = write!(
            text,
            " · {} · {} · sandbox {} · {}",
            self.working_dir, self.shell, self.sandbox, self.size
        );
        let _ = write!(text, " · wharf id {}", self.id);
        let mut text = plain(&text);
        if let Some(awaiting) = &self.awaiting {
            note(&mut text, &format!("waits for input ({}): {}", awaiting.kind, awaiting.hint));
        }
        for job in &self.background {
            note(&mut text, &in_background(job));
        }
        self.notice.iter().for_each(|line| note(&mut text, line));
        text
    }
}

impl Answer for Listed {
    fn text(&self) -> String {
        if self.terminals.is_empty() {
            return "There is no terminal yet. terminal_execute opens one by itself.".to_owned();
        }
        self.terminals.iter().map(Answer::text).collect::<Vec<_>>().join("\n")
    }
}

impl Answer for Closed {
    fn text(&self) -> String {
        self.content.clone()
    }
}
