//! Giving a shell a command.
//!
//! At the prompt a private key makes the shell read the command from its terminal, whole and unseen, check it if there is
//! doubt that it is whole, and run it. A mark says that it has begun, or what the shell says against it. Control
//! characters are escaped on the way, since the terminal's driver would act on some of them.

use super::follow::Core;
use super::hold::Hold;
use super::mark::Order;
use super::track::Prompt;
use super::{Command, Kind, RunError, Shell, State, complete};
use crate::error::ControlError;
use crate::foreground::Doing;
use crate::id::TerminalId;
use std::borrow::Cow;
use std::io;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long the first prompt is waited for.
const STARTING: Duration = Duration::from_secs(10);
/// How long whatever the user has put before the prompt is waited for.
const COMING: Duration = Duration::from_secs(5);
/// How long a prompt takes to print. One that goes elsewhere (`exec 2>file`) never arrives.
const PRINTING: Duration = Duration::from_millis(50);
/// How long the shell may take to begin.
const BEGINNING: Duration = Duration::from_secs(5);
/// And how much longer for each byte: a shell that reads single bytes from a busy machine's terminal is slow.
const EACH_BYTE: Duration = Duration::from_micros(30);

/// What of a command is told with its marks.
const TOLD: usize = 1024;
/// What of a command is shown to people who watch.
const SHOWN: usize = 200;

/// The key at which bash and zsh take a command.
const KEY: &[u8] = b"\x1b[7707~";
/// Ends each part of what follows.
const STOP: u8 = 0x1d;
/// Takes back what somebody may have typed on the line.
const CLEAR: &[u8] = b"\x15";
/// What other shells are typed instead; the command follows it in lines.
const LINES: &[u8] = b"__wharf_take;\\eval \"$__wharf_cmd\";{ __wharf_end; } 2>/dev/null\n";
/// A line that a terminal's driver surely takes as one, for shells that have no editor.
const LINE: usize = 3000;

impl Shell {
    /// Gives it a command. Returns when the shell has begun it.
    pub async fn run(&self, text: &str, author: &str) -> Result<Command, RunError> {
        let core = &self.follower.core;
        if text.contains('\0') {
            return Err(RunError::Syntax("a command cannot hold a NUL byte".into()));
        }
        if let Some(operator) = complete::dangling(text) {
            return Err(RunError::Syntax(format!("nothing follows the last `{operator}`")));
        }
        let _turn = core.turn.lock().await;
        for attempt in 0.. {
            check_hold(core)?;
            ready(self).await?;
            let token = TerminalId::random().map_err(ControlError::from)?.to_string();
            let order = Order { token, author: author.to_owned(), text: head(text, TOLD).to_owned() };
            let mut input = core.terminal.input(author).map_err(ControlError::from)?;
            // Not the one that was begun, if that has replaced itself.
            let kind = core.view().track.kind().unwrap_or(core.meta.kind);
            let bytes = typed(kind, text, &order);
            core.view().track.expect(&order.token);
            input.send(&bytes).await?;
            let limit = BEGINNING + EACH_BYTE * u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            match begun(core, &order.token, limit).await? {
                Some(command) => return Ok(command),
                // Its integration may be gone: a shell that was replaced by another of its kind.
                None if attempt == 0 && super::mend::mend(self).await => {}
                None => return Err(silent()),
            }
        }
        Err(silent())
    }
}

fn silent() -> RunError {
    let what = "the shell was given the command and has not begun it; it may yet do so";
    RunError::Control(ControlError::Unreachable(io::Error::other(what)))
}

pub(super) fn check_hold(core: &Core) -> Result<(), RunError> {
    match Hold::is_taken(&core.terminal) {
        Ok(false) => Ok(()),
        Ok(true) => Err(RunError::Held),
        Err(error) => Err(RunError::Control(error.into())),
    }
}

/// Returns when the shell is at its prompt.
async fn ready(shell: &Shell) -> Result<(), RunError> {
    let core = &shell.follower.core;
    let mut changes = core.changes();
    let since = Instant::now();
    loop {
        changes.borrow_and_update();
        let (state, prompt, last) = {
            let view = core.view();
            (view.track.state(), view.track.prompt(), view.track.last().cloned())
        };
        let patience = match (state, prompt) {
            (State::Exited(ended), _) => return Err(RunError::Exited(Box::new(ended))),
            (State::Running, _) => match last {
                Some(last) => return Err(RunError::Busy(Box::new(last))),
                None => return Err(RunError::Starting),
            },
            (State::Starting, _) => STARTING,
            (State::Idle, Some(Prompt::Ready)) => return Ok(()),
            (State::Idle, Some(Prompt::Printing)) => PRINTING,
            (State::Idle, _) => COMING,
        };
        if timeout_at(since + patience, changes.changed()).await.is_err() {
            // Whatever runs before the prompt is not done. What was typed now would be run at some time, unasked for.
            let reads = prompt == Some(Prompt::Printing) || reads_itself(core).await;
            return if core.state() == State::Starting || !reads { Err(RunError::Starting) } else { Ok(()) };
        }
    }
}

/// Whether the shell itself reads its terminal.
async fn reads_itself(core: &Core) -> bool {
    let Ok(foreground) = core.terminal.foreground().await else { return false };
    let reads = |doing| matches!(doing, Doing::Reading | Doing::Polling | Doing::Unknown);
    foreground.members.iter().any(|member| member.pid == core.pid && reads(member.doing))
}

/// Waits until the command with that token has begun; nothing if it does not.
async fn begun(core: &Core, token: &str, limit: Duration) -> Result<Option<Command>, RunError> {
    let mut changes = core.changes();
    let deadline = Instant::now() + limit;
    loop {
        changes.borrow_and_update();
        {
            let view = core.view();
            if let Some(command) = view.track.find(token) {
                return Ok(Some(command.clone()));
            }
            if let Some(words) = view.track.refused(token) {
                return Err(RunError::Syntax(words.to_owned()));
            }
            if let State::Exited(ended) = view.track.state() {
                return Err(RunError::Exited(Box::new(ended)));
            }
        }
        if timeout_at(deadline, changes.changed()).await.is_err() {
            return Ok(None);
        }
    }
}

/// What is typed to give a command.
fn typed(kind: Kind, text: &str, order: &Order) -> Vec<u8> {
    let check = if complete::is_complete(text) { '0' } else { '1' };
    let body = escape(&literal(text));
    let order = order.encode();
    match kind {
        Kind::Bash | Kind::Zsh => {
            let head = format!("{check};{};{order};{}", body.len(), shown(text));
            [KEY, head.as_bytes(), &[STOP], &body, &[STOP]].concat()
        }
        Kind::Sh => {
            let mut lines = [CLEAR, LINES, format!("{check};{order}\n").as_bytes()].concat();
            for line in pieces(&body) {
                lines.push(b':');
                lines.extend_from_slice(line);
                lines.push(b'\n');
            }
            lines.extend_from_slice(b".\n");
            lines
        }
    }
}

/// A backslash at the very end means itself, as it does to `sh -c`. It must not reach beyond the command.
fn literal(text: &str) -> Cow<'_, str> {
    let backslashes = text.len() - text.trim_end_matches('\\').len();
    if backslashes % 2 == 1 { Cow::Owned(format!("{text}\\")) } else { Cow::Borrowed(text) }
}

/// As `printf %b` reads it: no byte below blank is left, and nothing that means something to it.
pub(super) fn escape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() + text.len() / 8);
    for byte in text.bytes() {
        match byte {
            b'\n' => bytes.extend_from_slice(b"\\n"),
            b'\t' => bytes.extend_from_slice(b"\\t"),
            b'\\' => bytes.extend_from_slice(b"\\\\"),
            0..=0x1f | 0x7f => bytes.extend_from_slice(format!("\\0{byte:03o}").as_bytes()),
            _ => bytes.push(byte),
        }
    }
    bytes
}

/// Lines that never end within an escape.
fn pieces(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = body;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut at = rest.len().min(LINE);
        // Neither within an escape nor within a character.
        while at < rest.len() && at > LINE / 2 && (is_escaping(&rest[..at]) || rest[at] & 0xc0 == 0x80) {
            at -= 1;
        }
        let (line, after) = rest.split_at(at);
        rest = after;
        Some(line)
    })
}

/// Whether bytes end with a part of an escape, the longest of which has five.
fn is_escaping(bytes: &[u8]) -> bool {
    bytes.iter().rev().take(5).any(|byte| *byte == b'\\')
}

/// The beginning of a text, in whole characters.
fn head(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The first line of a command for people, without anything that a terminal would act on.
fn shown(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let more = if line.len() < text.trim_end().len() || line.len() > SHOWN { " …" } else { "" };
    let clean: String = head(line, SHOWN).chars().filter(|c| !c.is_control()).collect();
    clean + more
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(escape("a\tb\n\\c\x03é"), "a\\tb\\n\\\\c\\0003é".as_bytes());
    }

    #[test]
    fn people_see_one_clean_line() {
        for (text, line) in [("ls", "ls"), ("a\nb", "a …"), ("a\x1b[2Jb", "a[2Jb"), ("", ""), ("x\n", "x")]
        {
            assert_eq!(shown(text), line);
        }
        assert!(shown(&"x".repeat(5000)).len() < 300);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn lines_are_short_whole_and_lose_nothing(text in "[a-zé\\\\\n\x01.]{0,4000}") {
            let body = escape(&text);
            let lines: Vec<&[u8]> = pieces(&body).collect();
            prop_assert_eq!(lines.concat(), body.clone());
            for line in &lines {
                prop_assert!(line.len() <= LINE && std::str::from_utf8(line).is_ok());
            }
        }
    }
}
