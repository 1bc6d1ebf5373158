//! What a model is taught: the few rules, once, and the next step where it is needed.

use super::answer;
use super::hint;
use wharf_core::foreground::{Awaiting, Kind};
use wharf_core::policy::Outlook;

/// For the whole server. Hosts cut at two kilobytes.
pub(super) const INSTRUCTIONS: &str = "\
Shells that remember: directory, variables, functions and jobs stay from one terminal_execute to the next, and so do the \
terminals when you are restarted.
- One call runs a command. The answer begins with what is known in brackets: exit code, time, working directory. The output \
follows. Several lines, here-documents and pipes are fine.
- A timeout kills nothing: the answer says \"still running\". Call terminal_execute with an empty command to wait for more, \
with \"C-c\" to interrupt, or terminal_wait to wait for a pattern.
- While something runs, a new command in the same terminal is refused. Use another terminal_id, which opens a new terminal: \
one for a server, one for your work.
- If the answer says that the program waits for input, answer with is_input true. Never type passwords; ask the person.
- Keys have tmux names: C-c, C-d, Up, Enter, Escape, Tab, PageDown, F1. While something runs, a command that is such a name \
is that key; literal true types it as a word.
- Long output is cut in the middle and says which lines are left out and the terminal_read call that shows them. Do not pipe \
into head or tail to save space; search with terminal_read instead.";

/// With what holds for commands here.
pub(super) fn instructions(outlook: &Outlook) -> String {
    let sandbox = match &outlook.held {
        Ok(None) => return INSTRUCTIONS.to_owned(),
        Ok(Some(_)) => format!(
            "Commands run in the sandbox `{}`: they write only in the project, in temporary files and in tool caches; keys and \
             credentials are hidden.",
            outlook.sandbox
        ),
        Err(_) => "This machine cannot hold the sandbox that commands should run in: ask the person to run `wharf doctor`."
            .to_owned(),
    };
    format!("{INSTRUCTIONS}\n- {sandbox}")
}

pub(super) const EXECUTE: &str = "\
Execute a command in a persistent shell (your bash, zsh or sh) and return its exit code, working directory and output. \
Waits up to `timeout` seconds; then the answer says \"still running\" and the command goes on. While something runs: an empty command waits for more \
output; a lone key name (C-c, C-d, Up, Enter, Escape…) presses that key, and literal true types its name as a word; \
is_input true types the text into the program, with Enter unless no_enter. An unknown terminal_id opens a new terminal.";

pub(super) const READ: &str = "\
Read output of a terminal again, running or ended: a range of lines, the last n, lines that match a regular expression \
(`search`), or the screen as it is now (view \"screen\"). Lines are numbered from 1 in each command. command_id 0 is what \
background jobs printed between commands.";

pub(super) const WAIT: &str = "\
Wait for what runs in a terminal: until it exits, prints a line that matches `pattern`, prints nothing for silence_ms, or \
its screen stops changing. Also ends when input is needed. Returns the new output, like terminal_execute. Kills nothing.";

pub(super) const LIST: &str =
    "List your terminals: what each runs or how it ended, its directory, shell and sandbox.";

pub(super) const OPEN: &str = "\
Open a terminal with a directory, variables, shell or size of its own. Not needed otherwise: terminal_execute opens \
terminals by itself.";

pub(super) const CLOSE: &str = "End everything that runs in a terminal and forget it with all its output.";

/// What is awaited, and what to do about it. `id` is wharf's own name for the terminal, which a person can use anywhere.
pub(super) fn awaiting(terminal: &str, id: &str, waits: &Awaiting) -> answer::Awaiting {
    let end = || hint::press(terminal, "C-c");
    let hint = match waits.kind {
        Kind::Text => format!("answer with {}", hint::answer(terminal, "…")),
        Kind::Confirm => format!("answer with {}", hint::answer(terminal, "y")),
        Kind::Secret => format!(
            "do not type secrets; ask the person to type it with `wharf sh {id}`, then wait with {}, or give up with {}",
            hint::wait_longer(terminal),
            end(),
        ),
        Kind::Pager => format!("leave it with {}", hint::keys(terminal, "q")),
        Kind::Editor => format!(
            "press keys with {}; to leave vi: {}, then {}",
            hint::keys(terminal, "…"),
            hint::press(terminal, "Escape"),
            hint::answer(terminal, ":q!"),
        ),
        Kind::Repl => format!(
            "give it a line with {}, end it with {}",
            hint::answer(terminal, "…"),
            hint::press(terminal, "C-d"),
        ),
        Kind::Keys => format!(
            "press keys, for example {}, type with {}, interrupt it with {}",
            hint::press(terminal, "Down"),
            hint::keys(terminal, "…"),
            end(),
        ),
    };
    answer::Awaiting { kind: waits.kind.code(), prompt: waits.prompt.clone(), hint }
}
