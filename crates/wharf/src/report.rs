//! Failures in words: `error:`, `hint:`, and the exit code that goes with each.
//!
//! A command that fails, is killed or runs out of time is no failure of wharf and does not come here.

use crate::exit_code::{self, Code};
use crate::json;
use anstyle::{AnsiColor, Style};
use std::fmt::Write;
use std::io;
use std::path::Path;
use wharf_core::policy::AuditError;
use wharf_core::{ControlError, CreateError, GuardError, OpenError, ReadError, Refusal, SpecError};

/// Why something could not be done, and what to do next.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// A stable word for programs.
    pub(crate) word: &'static str,
    pub(crate) code: Code,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, word: "failed", code: exit_code::FAILED }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { word: "usage", code: exit_code::USAGE, ..Self::new(message) }
    }

    pub(crate) fn no_such_terminal(message: impl Into<String>) -> Self {
        Self { word: "no_such_terminal", code: exit_code::NO_SUCH_TERMINAL, ..Self::new(message) }
    }

    /// The directory of journals takes nothing.
    pub(crate) fn cannot_write(state: &Path, error: &io::Error) -> Self {
        let message = format!("cannot write in {}: {error}", state.display());
        let (word, hint) = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ("disk_full", FULL),
            _ => ("store", WRITABLE),
        };
        Self { word, ..Self::new(message) }.hint(hint)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn maybe_hint(mut self, hint: Option<&str>) -> Self {
        self.hint = hint.map(str::to_owned);
        self
    }
}

const FULL: &str =
    "free some space, or inodes (df -i); `wharf rm --ended` gives back what ended terminals use";
const WRITABLE: &str = "set WHARF_STATE_DIR to a directory that you may write";

/// Says what went wrong, and returns the code to exit with.
pub(crate) fn failed(failure: &Failure, json: bool) -> Code {
    // Nobody reads us any more: then nobody wants to be told so.
    if failure.code == exit_code::BROKEN_PIPE {
        return failure.code;
    }
    if json {
        let _ = crate::show::print_json(&json::Failed::new(failure));
    }
    let red = AnsiColor::Red.on_default().bold();
    let cyan = AnsiColor::Cyan.on_default().bold();
    let mut text = format!("{red}error:{red:#} {}\n", failure.message);
    if let Some(hint) = &failure.hint {
        let _ = writeln!(text, " {cyan}hint:{cyan:#} {hint}");
    }
    crate::show::eprint(&text);
    failure.code
}

/// One line about what happened, on standard error, so that it never mixes with a command's output.
pub(crate) fn say(line: &str) {
    let dim = Style::new().dimmed();
    crate::show::eprint(&format!("{dim}wharf: {line}{dim:#}\n"));
}

/// As [`say`], below whatever is on the cursor's line.
pub(crate) fn say_below(line: &str) {
    crate::show::eprint("\r\n");
    say(line);
}

/// As [`say_below`], on a terminal in raw mode, where a new line alone does not begin at the left.
pub(crate) fn say_raw(line: &str) {
    crate::show::eprint(&format!("\r\nwharf: {line}\r\n"));
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let code = match error.kind() {
            io::ErrorKind::BrokenPipe => exit_code::BROKEN_PIPE,
            _ => exit_code::FAILED,
        };
        Self { word: "io", code, ..Self::new(error.to_string()) }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let hint = match &error {
            OpenError::Unsafe { path, .. } => format!("if it is yours: chmod 700 {}", path.display()),
            OpenError::Io { .. } => WRITABLE.to_owned(),
        };
        Self { word: "store", ..Self::new(error.to_string()) }.hint(hint)
    }
}

impl From<SpecError> for Failure {
    fn from(error: SpecError) -> Self {
        CreateError::from(error).into()
    }
}

impl From<CreateError> for Failure {
    fn from(error: CreateError) -> Self {
        let word = error.code();
        let (code, hint) = match word {
            "not_found" => (
                exit_code::NOT_FOUND,
                Some("a shell line or a shell's own command needs -c: wharf run -c 'LINE'"),
            ),
            "not_executable" => {
                (exit_code::NOT_EXECUTABLE, Some("a script needs chmod +x and a first line like #!/bin/sh"))
            }
            "limit" => (
                exit_code::FAILED,
                Some("a limit of this system is reached; `wharf doctor` shows some of them"),
            ),
            "no_pty_left" => {
                (exit_code::FAILED, Some("`wharf ls` shows who has them; a command without --pty needs none"))
            }
            "disk_full" => (exit_code::FAILED, Some(FULL)),
            "no_shim" | "shim_silent" | "shim_version" => {
                (exit_code::FAILED, Some("`wharf doctor` shows which shim is used"))
            }
            "no_sockets" => (
                exit_code::FAILED,
                Some("set WHARF_STATE_DIR to a directory on a local file system, such as ext4 or tmpfs"),
            ),
            "sandbox" => {
                (exit_code::FAILED, Some("`wharf doctor` says what this machine offers for a sandbox"))
            }
            _ => (exit_code::FAILED, None),
        };
        Self { word, code, ..Self::new(error.to_string()) }.maybe_hint(hint)
    }
}

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Self {
        let hint = "nothing is run for an agent that cannot be written down";
        Self { word: error.code(), ..Self::new(error.to_string()) }.hint(hint)
    }
}

impl From<GuardError> for Failure {
    fn from(error: GuardError) -> Self {
        let word = error.code();
        let (code, hint) = match word {
            "not_found" => {
                (exit_code::NOT_FOUND, Some("is it installed, and in PATH for whoever starts wharf?"))
            }
            "not_executable" => (exit_code::NOT_EXECUTABLE, None),
            "no_shim" | "shim_silent" | "shim_version" => {
                (exit_code::FAILED, Some("`wharf doctor` shows which shim is used"))
            }
            _ => (exit_code::FAILED, None),
        };
        Self { word, code, ..Self::new(error.to_string()) }.maybe_hint(hint)
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::NotFound => {
                Self::no_such_terminal(error.to_string()).hint("`wharf ls -a` shows all there are")
            }
            _ => Self { word: error.code(), ..Self::new(error.to_string()) },
        }
    }
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Self {
        let word = error.code();
        match error {
            ControlError::Read(error) => error.into(),
            ControlError::Refused(refusal) => {
                let hint = match refusal {
                    Refusal::NoInput => Some("start it with `wharf run --stdin` or `--pty` to type into it"),
                    Refusal::Stalled => Some("the disk is full; the command waits and nothing is lost"),
                    _ => None,
                };
                Self { word, code: exit_code::REFUSED, ..Self::new(refusal.to_string()) }.maybe_hint(hint)
            }
            ControlError::Survivors => Self {
                word,
                code: exit_code::REFUSED,
                ..Self::new(error.to_string())
            }
            .hint(
                "`ps` shows them: they carry WHARF_TERMINAL in their environment, or belong to another user",
            ),
            ControlError::Unrecorded(_) => Self { word, ..Self::new(error.to_string()) }.hint(
                "the disk is full; `wharf rm` forgets a terminal, `wharf rm --ended` all that have ended",
            ),
            ControlError::Kept(_) => {
                Self { word, ..Self::new(error.to_string()) }.hint("is its file system mounted read-only?")
            }
            ControlError::Unreachable(_) => Self { word, ..Self::new(error.to_string()) },
        }
    }
}
