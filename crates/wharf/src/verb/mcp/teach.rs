//! What a model is taught: the few rules, once, and the next step where it is needed.

use super::answer;
use wharf_core::foreground::{Awaiting, Kind};

/// For the whole server. Hosts cut at two kilobytes.
pub(super) const INSTRUCTIONS: &str = "\
Shells that remember: directory, variables, functions and jobs stay from one terminal_execute to the next, and so do the \
terminals when you are restarted.
- One call runs a command and answers with its output, exit code and working directory. Several lines, here-documents and \
pipes are fine.
- A timeout kills nothing: the answer says status \"running\". Call terminal_execute with an empty command to wait for more, \
with \"C-c\" to interrupt, or terminal_wait to wait for a pattern.
- While something runs, a new command in the same terminal is refused. Use another terminal_id, which opens a new terminal: \
one for a server, one for your work.
- If `awaiting` is there, the program waits for input: answer with is_input true. Never type passwords; ask the person.
- Keys have tmux names: C-c, C-d, Up, Enter, Escape, Tab, PageDown, F1.
- Long output is cut in the middle and says which lines are left out and the terminal_read call that shows them. Do not pipe \
into head or tail to save space; search with terminal_read instead.";

pub(super) const EXECUTE: &str = "\
Run a command in a persistent shell and return its output, exit code and working directory. Waits up to `timeout` seconds; \
then the answer has status \"running\" and the command goes on. While something runs: an empty command waits for more \
output; a lone key name (C-c, C-d, Up, Enter, Escape…) presses that key; is_input true types the text into the program, \
with Enter unless no_enter. An unknown terminal_id opens a new terminal.";

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

/// What is awaited, and what to do about it.
pub(super) fn awaiting(terminal: &str, waits: &Awaiting) -> answer::Awaiting {
    let input = |text: &str, rest: &str| {
        format!(
            "terminal_execute {{\"command\":{text:?},\"is_input\":true{rest},\"terminal_id\":{terminal:?}}}"
        )
    };
    let hint = match waits.kind {
        Kind::Text => format!("answer with {}", input("…", "")),
        Kind::Confirm => format!("answer with {}", input("y", "")),
        Kind::Secret => format!(
            "do not type secrets; ask the person to type it with `wharf sh {terminal}`, then wait with \
             terminal_wait, or give up with \"C-c\""
        ),
        Kind::Pager => format!("leave it with {}; PAGER=cat avoids it", input("q", ",\"no_enter\":true")),
        Kind::Editor => format!(
            "press keys with {}, or \"Escape\" and then \":q!\" as input",
            input("…", ",\"no_enter\":true")
        ),
        Kind::Repl => format!("give it a line with {}, end it with \"C-d\"", input("…", "")),
        Kind::Keys => format!(
            "press keys (\"Up\", \"Enter\", \"Escape\") or type with {}",
            input("…", ",\"no_enter\":true")
        ),
    };
    answer::Awaiting { kind: waits.kind.code(), prompt: waits.prompt.clone(), hint }
}
