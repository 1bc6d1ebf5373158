//! The verdict: whether somebody waits for input, and of what kind.

use super::choice::is_choice;
use super::program::{self, Family};
use super::{Doing, Foreground, Member};
use crate::view::Picture;

/// Somebody waits for input.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Awaiting {
    /// What kind.
    pub kind: Kind,
    /// What is written where the cursor is: a description only.
    pub prompt: String,
    /// The program that waits.
    pub program: String,
}

/// What is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A line of text.
    Text,
    /// Yes or no.
    Confirm,
    /// Something that is not echoed: a password.
    Secret,
    /// Keys of a pager.
    Pager,
    /// Keys of an editor.
    Editor,
    /// A line for an interpreter with a line editor of its own.
    Repl,
    /// Keys of some other program.
    Keys,
}

impl Kind {
    /// A stable word for programs.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Confirm => "confirm",
            Self::Secret => "secret",
            Self::Pager => "pager",
            Self::Editor => "editor",
            Self::Repl => "repl",
            Self::Keys => "keys",
        }
    }
}

impl Awaiting {
    /// What whoever drives the terminal of that name can do, in one line.
    #[must_use]
    pub fn hint(&self, terminal: &str) -> String {
        match self.kind {
            Kind::Text => "answer with a line; C-d ends the input, C-c interrupts".to_owned(),
            Kind::Confirm => "answer with a line, y or n for instance; C-c interrupts".to_owned(),
            Kind::Secret => {
                format!(
                    "what is typed is not shown: let a human type it with `wharf sh {terminal}`; C-c gives up"
                )
            }
            Kind::Pager => "q leaves, Space shows the next page, / searches".to_owned(),
            Kind::Editor => program::how_to_leave(&self.program).to_owned(),
            Kind::Repl => "send a line; C-d at an empty line leaves, C-c interrupts".to_owned(),
            Kind::Keys => {
                "send keys by name (Up, Down, Enter, Tab, q), without Enter; C-c interrupts".to_owned()
            }
        }
    }
}

impl Foreground {
    /// Whether somebody waits for input, by this look and an earlier one between which nothing was printed. Both must
    /// show the same, so nobody has begun, ended or used processor time in between; nobody runs, and nothing typed is
    /// left to be read.
    #[must_use]
    pub fn awaiting(&self, earlier: &Self, picture: &Picture) -> Option<Awaiting> {
        let runs = self.members.iter().any(|member| member.doing == Doing::Running);
        if self != earlier || runs || self.unread > 0 {
            return None;
        }
        let reader = self.reader(picture)?;
        let kind = self.kind(reader, picture);
        Some(Awaiting { kind, prompt: prompt(kind, picture), program: reader.name.clone() })
    }

    /// Who waits. Children come after their parents and are the more exact answer.
    fn reader(&self, picture: &Picture) -> Option<&Member> {
        let last = |doing| self.members.iter().rfind(|member| member.doing == doing);
        last(Doing::Reading)
            // Among other things the terminal: of lines that is what servers and relays do, and may go on for ever. Who
            // asked for single keys wants them.
            .or_else(|| last(Doing::Polling).filter(|_| !self.canonical))
            .or_else(|| last(Doing::Unknown).filter(|member| self.hides(member, picture)))
    }

    /// Whether somebody into whom we cannot look is as good as seen waiting, by what it has told the terminal driver. A
    /// program that switches the echo off and keeps the lines does that to ask for a secret; some of those who ask show
    /// stars instead, key by key, but leave C-c a signal, unlike a relay. Whoever has the whole screen takes keys.
    fn hides(&self, member: &Member, picture: &Picture) -> bool {
        let asks = !self.echo && (self.canonical || self.signals && program::is_gate(&member.name));
        asks || !self.canonical && picture.alternate
    }

    fn kind(&self, reader: &Member, picture: &Picture) -> Kind {
        if self.canonical && !self.echo {
            return Kind::Secret;
        }
        if self.canonical {
            return if is_choice(&prompt(Kind::Text, picture)) { Kind::Confirm } else { Kind::Text };
        }
        match program::family(&reader.name, picture) {
            Some(Family::Pager) => Kind::Pager,
            Some(Family::Editor) => Kind::Editor,
            // Without the whole screen nobody else gets here that cannot be looked into.
            _ if reader.doing == Doing::Unknown && !picture.alternate => Kind::Secret,
            _ if picture.alternate || self.echo => Kind::Keys,
            // The shell's own `read -n 1` leaves Enter as it is; its line editor does not.
            Some(Family::Shell) if self.newline => Kind::Keys,
            Some(Family::Shell | Family::Repl) => Kind::Repl,
            None if !picture.cursor_visible => Kind::Keys,
            None if has_prompt_sign(picture) => Kind::Repl,
            None => line_or_keys(&prompt(Kind::Text, picture)),
        }
    }
}

/// A description longer than this describes nothing.
const LONGEST_PROMPT: usize = 200;

/// What is written where the cursor is; if that is nothing, the line above. Full-screen programs say how they are in
/// their last line.
fn prompt(kind: Kind, picture: &Picture) -> String {
    let row = |at: usize| picture.rows.get(at).map_or("", |row| row.trim());
    let at = usize::from(picture.cursor.0);
    let text = match kind {
        Kind::Pager | Kind::Editor => picture.rows.last().map_or("", |row| row.trim()),
        Kind::Keys if picture.alternate => row(at),
        _ if row(at).is_empty() => at.checked_sub(1).map_or("", row),
        _ => row(at),
    };
    // The end of a long line is what stands before the cursor.
    let skipped = text.chars().count().saturating_sub(LONGEST_PROMPT);
    text.chars().skip(skipped).collect()
}

/// A question in front of a visible cursor is answered by a line, whoever edits it.
fn line_or_keys(prompt: &str) -> Kind {
    match prompt.ends_with([':', '?']) {
        _ if is_choice(prompt) => Kind::Confirm,
        true => Kind::Text,
        false => Kind::Keys,
    }
}

/// Whether the cursor stands behind something that interpreters ask with.
fn has_prompt_sign(picture: &Picture) -> bool {
    let row = picture.rows.get(usize::from(picture.cursor.0)).map_or("", |row| row.trim_end());
    let debugger = row.starts_with('(') && row.ends_with(')');
    row.ends_with(['>', '$', '#', '%', '»', '❯', 'λ']) || row.ends_with("...") || debugger
}

#[cfg(test)]
mod tests;
