//! A shell whose integration does not tell any more: asked by a key of its own, and integrated anew if it does not answer.
//!
//! That happens when a command has taken the prompt's hooks away and was interrupted before the end that comes with each
//! command, or when the shell was replaced by another (`exec bash`). Nothing is typed unless the kernel says that the shell
//! itself reads keys: a program that waits for an answer must not get ours.

use super::follow::{Core, arguments};
use super::run::escape;
use super::spec::script;
use super::track::Seen;
use super::{Kind, Shell, ShellMeta, State};
use crate::foreground::{Doing, Foreground};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::time::timeout_at;

/// At this key bash and zsh say that they are there.
const KEY: &[u8] = b"\x1b[7708~";
/// Takes back what was typed on the line before.
const CLEAR: &[u8] = b"\x15";
/// Reads lines up to a dot, in any of the shells, and runs them. Not shown: people watch, and there is a secret in them.
const READ: &[u8] = b" __wharf_s=$(stty -g) && stty -echo; __wharf_r=; \
    while IFS= read -r __wharf_l && [ \"$__wharf_l\" != . ]; do __wharf_r=$__wharf_r$__wharf_l; done; \
    stty \"$__wharf_s\"; eval \"$(printf %b \"$__wharf_r\")\"\r";
const LINE: usize = 1000;
/// How long an answer may take.
const ANSWERING: Duration = Duration::from_millis(500);
/// How long an integration may take.
const INTEGRATING: Duration = Duration::from_secs(5);
/// How often one looks whether the shell has begun to read.
const LOOKS: usize = 20;

/// Whether the shell itself waits for keys, as at a prompt.
pub(super) fn is_at_prompt(core: &Core, foreground: &Foreground) -> bool {
    let reads = |doing| matches!(doing, Doing::Reading | Doing::Polling);
    let itself = foreground.group == core.pid
        && foreground.unread == 0
        && foreground.members.iter().any(|member| member.pid == core.pid && reads(member.doing));
    // A line editor reads keys, tells Enter from a newline or exchanges them, and says that it wants to know what is pasted.
    // `read` in a command does none of the latter, and a command may have said the last.
    let keys = !foreground.canonical && !foreground.echo && (!foreground.newline || foreground.exchanged);
    let edits = keys && core.view().display.modes().bracketed_paste;
    itself && (edits || is_replaced(core))
}

/// Whether the shell's process has replaced itself since it told of itself.
fn is_replaced(core: &Core) -> bool {
    let known = core.view().words.clone();
    known.is_some() && arguments(core.pid).is_some_and(|now| Some(now) != known)
}

/// True if the shell is at its prompt and tells again.
pub(super) async fn mend(shell: &Shell) -> bool {
    let core = &shell.follower.core;
    match core.terminal.foreground().await {
        Ok(foreground) if is_at_prompt(core, &foreground) => {}
        _ => return false,
    }
    let (mut answers, before) = {
        let view = core.view();
        (view.track.answers(), view.seen)
    };
    let prompt = prompt_begins(core);
    let Ok(mut input) = core.terminal.input("wharf") else { return false };
    let kind = core.view().track.kind().unwrap_or(core.meta.kind);
    // One that has never told of itself has not been given our keys: its user's files took our hooks before the first prompt.
    let is_deaf = is_replaced(core) || core.state() == State::Starting;
    if kind != Kind::Sh && !is_deaf {
        if input.send(KEY).await.is_err() {
            return false;
        }
        let answered = happens(core, ANSWERING, |core| core.view().track.answers() > answers).await;
        if answered && (core.state() != State::Running || is_within(core)) {
            return core.state() != State::Running;
        }
        // Not a shell that has lost its functions, which says so, but a command that reads keys. It must not get ours.
        if !answered && !says_lost(core, before) {
            return false;
        }
    }
    answers = answers.max(core.view().track.answers());
    let Some(kind) = program(core) else { return false };
    end_unseen(core, prompt);
    core.tell();
    let lines = lines(core, kind);
    if input.send(&[CLEAR, READ].concat()).await.is_err() {
        return false;
    }
    begins_to_read(core).await;
    let sent = input.send(&lines).await;
    sent.is_ok() && happens(core, INTEGRATING, |core| core.view().track.answers() > answers).await
}

/// Whether a shell has complained since then that there is no such function as the key calls.
fn says_lost(core: &Core, since: u64) -> bool {
    const NAME: &[u8] = b"__wharf_answer";
    let said = core.terminal.read(since, 4096);
    said.is_ok_and(|said| said.bytes.windows(NAME.len()).any(|window| window == NAME))
}

/// Which shell the process is now.
fn program(core: &Core) -> Option<Kind> {
    let file: PathBuf = fs::read_link(format!("/proc/{}/exe", core.pid)).ok()?;
    Kind::of(&file)
}

/// Where the prompt that is on the screen was begun.
fn prompt_begins(core: &Core) -> u64 {
    /// What zsh prints before a prompt (its mark for an unfinished line, or attributes), and bash.
    const BEGINS: [&[u8]; 3] = [b"\x1b[1m\x1b[7m", b"\r\x1b[0m\x1b[27m\x1b[24m\x1b[J", b"\x1b[?2004h"];
    const FAR: u64 = 2048;
    let end = core.view().seen;
    let tail = core.terminal.read(end.saturating_sub(FAR), usize::try_from(FAR).unwrap_or_default());
    let prompt = tail.ok().map(|tail| {
        let find = |begin: &&[u8]| tail.bytes.windows(begin.len()).rposition(|window| window == *begin);
        // A shell without an editor has nothing but a line that is not ended.
        let line = || tail.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        tail.at + BEGINS.iter().find_map(find).unwrap_or_else(line) as u64
    });
    prompt.unwrap_or(end)
}

/// Whether what answered was a command that reads keys as the shell does.
fn is_within(core: &Core) -> bool {
    core.view().track.is_within()
}

/// The command that replaced the shell, or took its functions, is over.
fn end_unseen(core: &Core, at: u64) {
    let mut view = core.view();
    let began = view.track.last().map_or(0, |last| last.output.0);
    view.track.end_unseen(Some(0), at.max(began), Seen::Now(Instant::now()));
    // What was rendered of it has the prompt in it.
    view.render = None;
}

/// The integration, for a shell that reads it as lines.
fn lines(core: &Core, kind: Kind) -> Vec<u8> {
    let last = core.view().track.last().map_or(0, |last| last.id);
    let meta = ShellMeta { kind, ..core.meta.clone() };
    let text = format!(
        "unset __wharf_r __wharf_l __wharf_s\n__wharf_plain=typed\n__wharf_n={last}\n{}__wharf_answer\n",
        script(&meta)
    );
    let mut lines = Vec::new();
    let body = escape(&text);
    let mut rest = body.as_slice();
    while !rest.is_empty() {
        let mut at = rest.len().min(LINE);
        while at < rest.len() && rest[at.saturating_sub(5)..at].contains(&b'\\') {
            at -= 1;
        }
        lines.extend_from_slice(&rest[..at]);
        lines.push(b'\n');
        rest = &rest[at..];
    }
    lines.extend_from_slice(b".\n");
    lines
}

/// Returns when the shell reads lines and does not show them, or has had time enough to.
async fn begins_to_read(core: &Core) {
    let mut changes = core.changes();
    for _ in 0..LOOKS {
        let reads = |foreground: Foreground| foreground.canonical && !foreground.echo;
        if core.terminal.foreground().await.is_ok_and(reads) {
            return;
        }
        changes.borrow_and_update();
        let _ = timeout_at((Instant::now() + ANSWERING / 20).into(), changes.changed()).await;
    }
}

async fn happens(core: &Core, limit: Duration, is_so: impl Fn(&Core) -> bool) -> bool {
    let mut changes = core.changes();
    let deadline = Instant::now() + limit;
    loop {
        changes.borrow_and_update();
        if is_so(core) {
            return true;
        }
        if timeout_at(deadline.into(), changes.changed()).await.is_err() {
            return false;
        }
    }
}
