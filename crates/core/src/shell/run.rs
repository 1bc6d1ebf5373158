//! Giving a shell a command.
//!
//! At the prompt a private key makes the shell read the command from its terminal, whole and unseen, check it if there is
//! doubt that it is whole, and run it. A mark says that it has begun, or what the shell says against it. Control
//! characters are escaped on the way, since the terminal's driver would act on some of them.

use super::follow::Core;
use super::hold::Hold;
use super::mark::Order;
use super::mend::{self, Doubt, Mended};
use super::track::Prompt;
use super::{Command, Kind, RunError, Shell, State, complete};
use crate::error::ControlError;
use crate::foreground::Doing;
use crate::id::TerminalId;
use std::borrow::Cow;
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
/// How long it is quiet before one looks whether it has missed the command. A key is noticed within a millisecond.
const NOTICING: Duration = Duration::from_millis(150);
/// What the terminal's driver takes at once, so that a shell which reads on has been given all of it.
const AT_ONCE: usize = 4000;
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
const LINES: &[u8] = b"\\__wharf_take;\\eval \"$__wharf_cmd\";{ \\eval \"$__wharf_over\"; } 2>/dev/null\n";
/// A line that a terminal's driver surely takes as one, for shells that have no editor.
const LINE: usize = 3000;

impl Shell {
    /// Gives it a command. Returns when the shell has begun it. Dropped on the way, it is given all the same: half of it
    /// would be in the way of the next.
    pub async fn run(&self, text: &str, author: &str) -> Result<Command, RunError> {
        let (shell, text, author) = (self.clone(), text.to_owned(), author.to_owned());
        let given = tokio::spawn(async move { shell.give(&text, &author).await }).await;
        given.unwrap_or_else(|error| Err(ControlError::Unreachable(std::io::Error::other(error)).into()))
    }

    async fn give(&self, text: &str, author: &str) -> Result<Command, RunError> {
        let core = &self.follower.core;
        if text.contains('\0') {
            return Err(RunError::Syntax("a command cannot hold a NUL byte".into()));
        }
        if let Some(operator) = complete::dangling(text) {
            return Err(RunError::Syntax(format!("nothing follows the last `{operator}`")));
        }
        let mut turn = core.turn.lock().await;
        for attempt in 0.. {
            check_hold(core)?;
            recover(self).await?;
            ready(self).await?;
            let token = TerminalId::random().map_err(ControlError::from)?.to_string();
            let order = Order { token, author: author.to_owned(), text: head(text, TOLD).to_owned() };
            // One that was used before is connected; one whose sending was cut short is not used again.
            let mut input = match turn.take() {
                Some((who, input)) if who == author => input,
                _ => core.terminal.input(author).map_err(ControlError::from)?,
            };
            // Not the one that was begun, if that has replaced itself.
            let (bytes, taken) = {
                let mut view = core.view();
                let kind = view.track.kind().unwrap_or(core.meta.kind);
                let last = view.track.last().map_or(0, |last| last.id);
                view.track.expect(&order.token);
                (typed(kind, text, last, &order), view.track.taken())
            };
            input.send(&bytes).await?;
            *turn = Some((author.to_owned(), input));
            match core.terminal.keep_awake(begun(core, &order.token, bytes.len(), taken)).await? {
                Beginning::Begun(command) => return Ok(command),
                // Given again, it might run twice.
                Beginning::Taken => {
                    mend::mend(self, Doubt::AtPrompt).await;
                    return Err(RunError::Untold);
                }
                // Its integration may be gone: a shell that was replaced by another of its kind, or lost what it needs.
                Beginning::Missed if attempt == 0 => match mend::mend(self, Doubt::AtPrompt).await {
                    Mended::Tells => {}
                    Mended::Within | Mended::Unsure => return Err(RunError::Untold),
                    Mended::Never(why) => return Err(RunError::Deaf(why)),
                },
                Beginning::Missed => return Err(RunError::Deaf(mend::why(core))),
            }
        }
        Err(RunError::Untold)
    }
}

/// What became of a command that was given.
enum Beginning {
    Begun(Command),
    /// The shell has taken it, and told nothing more.
    Taken,
    /// The shell has not taken it.
    Missed,
}

pub(super) fn check_hold(core: &Core) -> Result<(), RunError> {
    match Hold::is_taken(&core.terminal) {
        Ok(false) => Ok(()),
        Ok(true) => Err(RunError::Held),
        Err(error) => Err(RunError::Control(error.into())),
    }
}

/// A shell that did not tell the end of its last command, or was begun by an earlier version, is integrated anew before it
/// is given another.
async fn recover(shell: &Shell) -> Result<(), RunError> {
    let core = &shell.follower.core;
    if !core.view().track.is_in_doubt() {
        return Ok(());
    }
    match mend::mend(shell, Doubt::AtPrompt).await {
        Mended::Never(why) => Err(RunError::Deaf(why)),
        _ => Ok(()),
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

/// Waits until the command with that token, typed as so many bytes, has begun, or surely does not. `before` is how many the
/// shell had taken by then.
async fn begun(core: &Core, token: &str, length: usize, before: u64) -> Result<Beginning, RunError> {
    let limit = BEGINNING + EACH_BYTE * u32::try_from(length).unwrap_or(u32::MAX);
    let mut changes = core.changes();
    let deadline = Instant::now() + limit;
    let mut idle = None;
    loop {
        changes.borrow_and_update();
        let (taken, seen) = {
            let view = core.view();
            if let Some(command) = view.track.find(token) {
                return Ok(Beginning::Begun(command.clone()));
            }
            if let Some(words) = view.track.refused(token) {
                return Err(RunError::Syntax(words.to_owned()));
            }
            if let State::Exited(ended) = view.track.state() {
                return Err(RunError::Exited(Box::new(ended)));
            }
            (view.track.taken() > before, view.seen)
        };
        let look = (Instant::now() + NOTICING).min(deadline);
        if timeout_at(look, changes.changed()).await.is_ok() {
            continue;
        }
        if Instant::now() >= deadline {
            return Ok(if taken { Beginning::Taken } else { Beginning::Missed });
        }
        // It reads on with nothing left to read, and has printed nothing since the look before.
        let at = (length <= AT_ONCE && mend::reads_all(core).await).then_some(seen);
        if at.is_some() && at == idle {
            return Ok(if taken { Beginning::Taken } else { Beginning::Missed });
        }
        idle = at;
    }
}

/// What is typed to give a command.
fn typed(kind: Kind, text: &str, last: u64, order: &Order) -> Vec<u8> {
    let check = if complete::is_complete(text) { '0' } else { '1' };
    let body = escape(&literal(text));
    let order = order.encode();
    match kind {
        Kind::Bash | Kind::Zsh => {
            let head = format!("{check};{};{last};{order};{}", body.len(), shown(text));
            [KEY, head.as_bytes(), &[STOP], &body, &[STOP]].concat()
        }
        Kind::Sh => {
            let mut lines = [CLEAR, LINES, format!("#{check};{last};{order}\n").as_bytes()].concat();
            for line in pieces(&body) {
                lines.push(b'#');
                lines.extend_from_slice(line);
                lines.push(b'\n');
            }
            lines.extend_from_slice(b"#.\n");
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
