//! A shell whose integration does not tell any more: asked by a key of its own, and integrated anew if it does not answer.
//!
//! That happens when a command has taken away what the integration needs (a key, a builtin), or when the shell was replaced
//! by another (`exec bash`). Nothing is typed unless the kernel says that the shell itself reads keys: a program that waits
//! for an answer must not get ours. What cannot be mended is said, with what is known of why.

use super::follow::{Core, arguments};
use super::run::escape;
use super::spec::script;
use super::track::Seen;
use super::{Kind, Shell, ShellMeta, State};
use crate::foreground::{Doing, Foreground};
use crate::terminal::Input;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::time::timeout_at;

/// At this key bash and zsh say that they are there.
const KEY: &[u8] = b"\x1b[7708~";
/// Takes back what was typed on the line before.
const CLEAR: &[u8] = b"\x15";
const INTERRUPT: &[u8] = b"\x03";
/// Gives bash its line editor back. One that was switched off within an `eval` reads on in there until it is interrupted.
const EDIT: &[u8] = b"\x03 set -o emacs\n";
/// Reads lines up to a dot, in any of the shells, and runs them. Not shown: people watch, and there is a secret in them.
const READ: &str = "__wharf_s=$(stty -g) && stty -echo; __wharf_r=; \
    while IFS= read -r __wharf_l && [ \"$__wharf_l\" != . ]; do __wharf_r=$__wharf_r$__wharf_l; done; \
    stty \"$__wharf_s\"; \\eval \"$(printf %b \"$__wharf_r\")\" 2>/dev/null";
/// What bash needs for that may have been disabled, or be shadowed by functions. In its POSIX mode, which an assignment
/// switches on, none shadows `unset`.
const UNCOVER_BASH: &str = "[[ $SHELLOPTS == *posix* ]] && __wharf_p=1; POSIXLY_CORRECT=; \
    \\unset -f unset enable builtin local set declare return eval read printf stty; \
    [[ -n ${__wharf_p-} ]] || \\unset POSIXLY_CORRECT; \\unset __wharf_p; \
    \\enable builtin local set declare return eval read printf shopt unset history; ";
const UNCOVER_ZSH: &str = "\\unset -f builtin eval read printf print stty zle setopt emulate 2>/dev/null; \
    \\enable builtin eval read printf print zle setopt emulate 2>/dev/null; ";
/// `unset` is shadowed by nothing there.
const UNCOVER_SH: &str = "\\unset -f read printf stty; ";
const LINE: usize = 1000;
/// How long an answer may take.
const ANSWERING: Duration = Duration::from_millis(500);
/// How long an integration may take.
const INTEGRATING: Duration = Duration::from_secs(5);
/// How often one looks whether the shell has begun to read.
const LOOKS: usize = 20;

/// Where a shell is thought to be that does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// In a command, which may be what reads keys.
    Running,
    /// At its prompt.
    AtPrompt,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mended {
    /// The shell is at its prompt and tells again.
    Tells,
    /// A command reads keys as the shell does.
    Within,
    /// It cannot be asked now.
    Unsure,
    /// It is at its prompt, and will not tell any more: why.
    Never(String),
}

/// Whether the shell itself waits for keys, as at a prompt.
pub(super) fn is_at_prompt(core: &Core, foreground: &Foreground) -> bool {
    // A line editor reads keys, tells Enter from a newline or exchanges them, and says that it wants to know what is pasted.
    // `read` in a command does none of the latter, and a command may have said the last.
    let keys = !foreground.canonical && !foreground.echo && (!foreground.newline || foreground.exchanged);
    let edits = keys && core.view().display.modes().bracketed_paste;
    is_reading(core, foreground) && (edits || is_replaced(core))
}

/// Whether the shell itself reads, and nothing is left to be read.
fn is_reading(core: &Core, foreground: &Foreground) -> bool {
    let reads = |doing| matches!(doing, Doing::Reading | Doing::Polling);
    foreground.group == core.pid
        && foreground.unread == 0
        && foreground.members.iter().any(|member| member.pid == core.pid && reads(member.doing))
}

/// The same, asked now.
pub(super) async fn reads_all(core: &Core) -> bool {
    core.terminal.foreground().await.is_ok_and(|foreground| is_reading(core, &foreground))
}

/// Whether the shell's process has replaced itself since it told of itself.
fn is_replaced(core: &Core) -> bool {
    let known = core.view().words.clone();
    known.is_some() && arguments(core.pid).is_some_and(|now| Some(now) != known)
}

/// Makes a shell tell again.
pub(super) async fn mend(shell: &Shell, doubt: Doubt) -> Mended {
    let core = &shell.follower.core;
    let Ok(mut foreground) = core.terminal.foreground().await else { return Mended::Unsure };
    let is_there = match doubt {
        Doubt::Running => is_at_prompt(core, &foreground),
        Doubt::AtPrompt => is_reading(core, &foreground),
    };
    if !is_there {
        return Mended::Unsure;
    }
    let prompt = prompt_begins(core);
    if few_files(core).is_some() {
        end_unseen(core, None, prompt);
        core.tell();
        return Mended::Never(why(core));
    }
    let Ok(mut input) = core.terminal.input("wharf") else { return Mended::Unsure };
    let kind = core.view().track.kind().unwrap_or(core.meta.kind);
    if doubt == Doubt::AtPrompt && program(core) == Some(Kind::Bash) && foreground.canonical {
        let _ = input.send(EDIT).await;
        if let Some(now) = becomes(core, |now| !now.canonical).await {
            foreground = now;
        }
    }
    // One that has never told of itself has not been given our keys: its user's files took our hooks before the first prompt.
    let is_replaced = is_replaced(core);
    let is_deaf = is_replaced || core.state() == State::Starting || foreground.canonical;
    if kind != Kind::Sh && !is_deaf {
        match ask(core, &mut input, doubt).await {
            Some(mended) => return mended,
            None => core.tell(),
        }
    }
    let answers = core.view().track.answers();
    let Some(kind) = program(core) else { return Mended::Unsure };
    end_unseen(core, is_replaced.then_some(0), prompt);
    core.tell();
    if integrate(core, &mut input, kind, (is_replaced, &foreground)).await && tells(core, answers).await {
        return Mended::Tells;
    }
    Mended::Never(why(core))
}

/// Whether the integration says that it is there, as soon as it does; not, once the shell reads on without a word.
async fn tells(core: &Core, before: u64) -> bool {
    let deadline = Instant::now() + INTEGRATING;
    while Instant::now() < deadline {
        if happens(core, ANSWERING, |core| core.view().track.answers() > before).await {
            return true;
        }
        if reads_all(core).await {
            return core.view().track.answers() > before;
        }
    }
    false
}

/// Asks the integration by its key. Nothing if there is none that could answer.
async fn ask(core: &Core, input: &mut Input, doubt: Doubt) -> Option<Mended> {
    let (answers, before) = {
        let view = core.view();
        (view.track.answers(), view.seen)
    };
    if input.send(KEY).await.is_err() {
        return Some(Mended::Unsure);
    }
    if happens(core, ANSWERING, |core| core.view().track.answers() > answers).await {
        // A command that reads keys with the shell's editor says so.
        return match (core.state(), core.view().track.is_within()) {
            (State::Running, true) => Some(Mended::Within),
            // It answers, and still thinks that the command runs.
            (State::Running, false) => None,
            // It answers, and did not take what it was given.
            _ if doubt == Doubt::AtPrompt => None,
            _ => Some(Mended::Tells),
        };
    }
    // The key was read by a shell that has nothing to say to it, or is yet to be read.
    if says_lost(core, before) || reads_all(core).await { None } else { Some(Mended::Unsure) }
}

/// Types the integration in. False if nobody reads it unseen.
async fn integrate(
    core: &Core,
    input: &mut Input,
    kind: Kind,
    (is_replaced, foreground): (bool, &Foreground),
) -> bool {
    let uncover = match kind {
        Kind::Bash => UNCOVER_BASH,
        Kind::Zsh => UNCOVER_ZSH,
        Kind::Sh => UNCOVER_SH,
    };
    // In a terminal that takes no lines, a shell without an editor takes that key as a part of one.
    let clear: &[u8] = if kind == Kind::Sh && !foreground.canonical { b"\n stty sane\n" } else { CLEAR };
    // Which is also Enter to it.
    let enter = if kind == Kind::Sh { '\n' } else { '\r' };
    let typed = format!(" {uncover}{READ}{enter}");
    if input.send(&[clear, typed.as_bytes()].concat()).await.is_err() {
        return false;
    }
    // It must read lines and not show them.
    if becomes(core, |now| now.canonical && !now.echo).await.is_none() {
        let _ = input.send(INTERRUPT).await;
        return false;
    }
    input.send(&lines(core, kind, is_replaced)).await.is_ok()
}

/// How many files it may have open, if that is too few: while a shell redirects, it keeps what was there at 10 and above.
fn few_files(core: &Core) -> Option<u64> {
    const ENOUGH: u64 = 16;
    let limits = fs::read_to_string(format!("/proc/{}/limits", core.pid)).ok()?;
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let files = files.split_ascii_whitespace().next()?.parse().ok()?;
    (files < ENOUGH).then_some(files)
}

/// What is known of why a shell does not tell.
pub(super) fn why(core: &Core) -> String {
    if let Some(files) = few_files(core) {
        return format!("it may have only {files} files open (ulimit -n), too few to redirect anything");
    }
    "a command has changed what wharf needs there (keys, builtins, read-only variables, a trap)".to_owned()
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

/// The command that replaced the shell, or took its functions, is over.
fn end_unseen(core: &Core, code: Option<i32>, at: u64) {
    let mut view = core.view();
    if view.track.state() != State::Running {
        return;
    }
    let began = view.track.last().map_or(0, |last| last.output.0);
    view.track.end_unseen(code, at.max(began), Seen::Now(Instant::now()));
    // What was rendered of it has the prompt in it.
    view.render = None;
}

/// The integration, for a shell that reads it as lines.
fn lines(core: &Core, kind: Kind, is_replaced: bool) -> Vec<u8> {
    let last = core.view().track.last().map_or(0, |last| last.id);
    let meta = ShellMeta { kind, ..core.meta.clone() };
    let new = if is_replaced { "new" } else { "" };
    let text = format!(
        "unset __wharf_r __wharf_l __wharf_s\n__wharf_plain=typed\n__wharf_n={last} __wharf_new={new}\n{}__wharf_answer \"$?\"\n",
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

/// What the kernel says of the terminal once that is so.
async fn becomes(core: &Core, is_so: impl Fn(&Foreground) -> bool) -> Option<Foreground> {
    let mut changes = core.changes();
    for _ in 0..LOOKS {
        if let Some(now) = core.terminal.foreground().await.ok().filter(&is_so) {
            return Some(now);
        }
        changes.borrow_and_update();
        let _ = timeout_at((Instant::now() + ANSWERING / 20).into(), changes.changed()).await;
    }
    None
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
