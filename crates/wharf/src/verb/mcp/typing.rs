//! What is typed into a terminal: who would read it, and what may be typed if that is a shell.
//!
//! Input of a program that runs is the program's, and free. But a shell runs what it reads, and it reads what nobody else
//! does: what is typed while a program runs that does not read is waiting for it when the program has ended. So where
//! commands could be asked about or denied, text for a shell, or for nobody who reads now, is judged as a line. What only
//! together with other pieces is a line cannot be judged, and is refused: text without Enter, and keys that edit.
//!
//! What surprises: this is one look. A program that reads now may end before it has read everything, and what it leaves
//! is the shell's. The sandbox is the boundary.

use super::call::Call;
use super::permit::{Given, Manner};
use super::program;
use super::refusal::{Refusal, Stop};
use std::path::{Path, PathBuf};
use wharf_core::foreground::{Doing, Foreground, Member};
use wharf_core::key::Key;
use wharf_core::shell::{Enter, Kind, Shell};
use wharf_core::view::Modes;

/// What is typed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Typing<'a> {
    Text(&'a str, Enter),
    /// With its name.
    Key(&'a Key, &'a str),
}

/// Who would read it.
#[derive(Debug, PartialEq, Eq)]
enum Reader<'a> {
    Program,
    /// A shell of that name.
    Shell(&'a str),
    /// Nobody now; later perhaps the shell of the terminal.
    Nobody,
}

/// Shells whose lines are not read by the rules, besides those that wharf knows.
const FOREIGN: [&str; 9] = ["fish", "csh", "tcsh", "nu", "elvish", "pwsh", "yash", "oksh", "xonsh"];

/// Keys that begin, change and recall nothing: C-c, C-d, C-l, Enter, C-u, C-z, C-\.
const HARMLESS: &[u8] = b"\x03\x04\x0c\r\x15\x1a\x1c";

/// Whether that may be typed now. A person may have to be asked.
pub(super) async fn permit(call: &Call, shell: &Shell, typing: Typing<'_>) -> Result<(), Stop> {
    if !call.permit.restricts(&call.desk) {
        return Ok(());
    }
    let foreground = shell.terminal().foreground().await.ok();
    let own = program::word(shell.status().kind);
    let name = match foreground.as_ref().map_or(Reader::Nobody, reader) {
        Reader::Program => return Ok(()),
        Reader::Shell(name) => name,
        Reader::Nobody => own,
    };
    let text = match typing {
        Typing::Key(key, name) => return Ok(pressed(key, name)?),
        Typing::Text(text, Enter::Press) => text,
        Typing::Text(..) => return Err(piece("text without Enter").into()),
    };
    if text.chars().any(|c| c.is_control() && c != '\n') {
        return Err(piece("text with control characters").into());
    }
    if is_joined(text) {
        return Err(piece("a line that ends with a backslash").into());
    }
    let hides = foreground.as_ref().is_some_and(|foreground| foreground.canonical && !foreground.echo);
    let manner = if hides { Manner::Hidden } else { Manner::Typed };
    let (status, meta) = (shell.status(), shell.terminal().meta());
    let program = file(call, name);
    let given = Given {
        line: text,
        program: &program,
        cwd: &status.cwd,
        sandbox: &meta.sandbox,
        terminal: Some(shell.terminal().id()),
        manner,
    };
    call.permit.line(&call.desk, &call.seat, &call.client, given).await
}

/// Who reads: children come after their parents and are the more exact answer. Into whom we cannot look, and who asks for
/// the terminal among other things, may read.
fn reader(foreground: &Foreground) -> Reader<'_> {
    let reads = |member: &&Member| matches!(member.doing, Doing::Reading | Doing::Polling | Doing::Unknown);
    let exact = |member: &&Member| member.doing == Doing::Reading;
    let members = &foreground.members;
    let found = members.iter().rfind(exact).or_else(|| members.iter().rfind(reads));
    match found.map(|member| member.name.as_str()) {
        Some(name) if Kind::of(Path::new(name)).is_some() || FOREIGN.contains(&name) => Reader::Shell(name),
        Some(_) => Reader::Program,
        None => Reader::Nobody,
    }
}

/// The file of a shell, as far as the rules look at it.
fn file(call: &Call, name: &str) -> PathBuf {
    let known = Kind::of(Path::new(name)).and_then(|kind| call.programs.named(program::word(kind)).ok());
    known.map_or_else(|| Path::new("/bin").join(name), |(_, file)| file)
}

fn pressed(key: &Key, name: &str) -> Result<(), Refusal> {
    match key.bytes(Modes::default()).as_slice() {
        [byte] if HARMLESS.contains(byte) => Ok(()),
        _ => Err(piece(&format!("the key {name}"))),
    }
}

/// Whether what is typed next belongs to the same line.
fn is_joined(text: &str) -> bool {
    let line = text.trim_end_matches('\n');
    (line.len() - line.trim_end_matches('\\').len()) % 2 == 1
}

fn piece(what: &str) -> Refusal {
    let text = format!(
        "Not sent: a shell could read this and run it, and {what} cannot be judged. Type whole lines with is_input and \
         Enter; C-c, C-d and C-z can always be sent. To run a command, call terminal_execute without is_input once nothing \
         runs, or with another terminal_id."
    );
    Refusal::new("piece", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_that_interrupt_or_end_may_be_pressed_for_a_shell() {
        for (name, may) in [
            ("C-c", true),
            ("C-d", true),
            ("C-z", true),
            ("Enter", true),
            ("Up", false),
            ("Tab", false),
            ("C-r", false),
            ("C-y", false),
            ("M-.", false),
            ("Space", false),
            ("Escape", false),
        ] {
            assert_eq!(pressed(&Key::parse(name).unwrap(), name).is_ok(), may, "{name}");
        }
    }

    #[test]
    fn a_line_that_goes_on_is_known() {
        for (text, joined) in [("ls", false), ("r\\", true), ("r\\\\", false), ("r\\\n", true), ("", false)] {
            assert_eq!(is_joined(text), joined, "{text:?}");
        }
    }
}
