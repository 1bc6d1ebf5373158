//! The language of the table: a scenario is a sentence, the shells it holds for, and steps with what each must answer.
//!
//! It knows nothing of how a step is carried out. `run` expects a quiet success unless it is told otherwise, so that
//! a row says only what is special about it. `@DIR@` stands for the scenario's own directory and `@ID@` for its terminal.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Sh,
}

impl Shell {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Sh => "sh",
        }
    }
}

pub(crate) const EVERY: &[Shell] = &[Shell::Bash, Shell::Zsh, Shell::Sh];
pub(crate) const BASH: &[Shell] = &[Shell::Bash];
pub(crate) const ZSH: &[Shell] = &[Shell::Zsh];
pub(crate) const SH: &[Shell] = &[Shell::Sh];
pub(crate) const BASH_ZSH: &[Shell] = &[Shell::Bash, Shell::Zsh];
pub(crate) const BASH_SH: &[Shell] = &[Shell::Bash, Shell::Sh];

pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) shells: &'static [Shell],
    /// More arguments of the `terminal_open` with which it begins.
    pub(crate) open: Value,
    /// Files of its directory that are there before its terminal is.
    pub(crate) files: Vec<(&'static str, String)>,
    pub(crate) steps: Vec<Step>,
}

pub(crate) fn scenario(
    name: impl Into<String>,
    shells: &'static [Shell],
    steps: impl IntoIterator<Item = Step>,
) -> Scenario {
    let steps = steps.into_iter().collect();
    Scenario { name: name.into(), shells, open: json!({}), files: Vec::new(), steps }
}

impl Scenario {
    pub(crate) fn opened(mut self, arguments: Value) -> Self {
        self.open = arguments;
        self
    }

    pub(crate) fn file(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.files.push((name, text.into()));
        self
    }
}

/// What is done.
pub(crate) enum Act {
    Call {
        tool: &'static str,
        arguments: Map<String, Value>,
    },
    /// Lets go what reads this named pipe.
    Release(&'static str),
    /// Reads every line of the last command in as many calls as it takes. Line n must be what the function says.
    ReadAll {
        lines: u64,
        line: fn(u64) -> String,
    },
}

/// What must hold of the answer besides its fields.
pub(crate) enum Check {
    Holds(String),
    Lacks(String),
    Like(&'static str),
    /// The whole answer for a reader of text.
    Text(String),
    Notice(String),
    OneOf(&'static str, &'static [&'static str]),
    Has(&'static str),
    HasNot(&'static str),
    File(&'static str, String),
    NoFile(&'static str),
    That(&'static str, fn(&Value, &Path) -> bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Answer,
    /// An error, by the tool or by the protocol.
    Error,
}

pub(crate) struct Step {
    pub(crate) act: Act,
    /// Added to the scenario's terminal id.
    pub(crate) at: &'static str,
    pub(crate) outcome: Outcome,
    /// Exact values by JSON pointer.
    pub(crate) fields: BTreeMap<&'static str, Value>,
    /// Where one shell differs.
    pub(crate) differs: BTreeMap<(Shell, &'static str), Value>,
    pub(crate) checks: Vec<Check>,
    /// Asked again until it holds: for what happens beside the conversation.
    pub(crate) eventually: bool,
}

fn step(act: Act) -> Step {
    Step {
        act,
        at: "",
        outcome: Outcome::Answer,
        fields: BTreeMap::new(),
        differs: BTreeMap::new(),
        checks: Vec::new(),
        eventually: false,
    }
}

pub(crate) fn call(tool: &'static str, arguments: Value) -> Step {
    let Value::Object(arguments) = arguments else { panic!("arguments of {tool} are an object") };
    step(Act::Call { tool, arguments })
}

/// A command that succeeds and says nothing.
pub(crate) fn run(command: impl Into<String>) -> Step {
    let arguments = json!({"command": command.into()});
    let step = call("terminal_execute", arguments).exits(0).says("");
    step.field("/status", "completed").field("/returned_because", "exited")
}

/// Text and Enter for what is running.
pub(crate) fn input(text: &str) -> Step {
    run(text).with("is_input", true)
}

/// Text without Enter for what is running.
pub(crate) fn typed(text: &str) -> Step {
    input(text).with("no_enter", true)
}

/// A key for what is running.
pub(crate) fn key(name: &str) -> Step {
    run(name)
}

/// The empty command: waits for what is running.
pub(crate) fn collect() -> Step {
    run("")
}

pub(crate) fn read(arguments: Value) -> Step {
    call("terminal_read", arguments)
}

pub(crate) fn wait(arguments: Value) -> Step {
    call("terminal_wait", arguments)
}

pub(crate) fn list() -> Step {
    call("terminal_list", json!({}))
}

pub(crate) fn open(arguments: Value) -> Step {
    call("terminal_open", arguments)
}

pub(crate) fn close() -> Step {
    call("terminal_close", json!({}))
}

pub(crate) fn release(gate: &'static str) -> Step {
    step(Act::Release(gate))
}

pub(crate) fn read_all(lines: u64, line: fn(u64) -> String) -> Step {
    step(Act::ReadAll { lines, line })
}

impl Step {
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        if let Act::Call { arguments, .. } = &mut self.act {
            arguments.insert(name.to_owned(), value.into());
        }
        self
    }

    /// In another terminal.
    pub(crate) fn at(mut self, suffix: &'static str) -> Self {
        self.at = suffix;
        self
    }

    pub(crate) fn field(mut self, pointer: &'static str, value: impl Into<Value>) -> Self {
        self.fields.insert(pointer, value.into());
        self
    }

    pub(crate) fn check(mut self, check: Check) -> Self {
        self.checks.push(check);
        self
    }

    /// The content, exactly.
    pub(crate) fn says(self, content: impl Into<String>) -> Self {
        self.field("/content", content.into())
    }

    pub(crate) fn says_in(mut self, shell: Shell, content: impl Into<String>) -> Self {
        self.differs.insert((shell, "/content"), content.into().into());
        self
    }

    /// The content may be anything.
    pub(crate) fn whatever(self) -> Self {
        self.any("/content")
    }

    /// This field may be anything.
    pub(crate) fn any(mut self, pointer: &'static str) -> Self {
        self.fields.remove(pointer);
        self
    }

    pub(crate) fn holds(self, text: impl Into<String>) -> Self {
        self.whatever().check(Check::Holds(text.into()))
    }

    pub(crate) fn lacks(self, text: impl Into<String>) -> Self {
        self.whatever().check(Check::Lacks(text.into()))
    }

    /// The content matches from its beginning to its end.
    pub(crate) fn like(self, pattern: &'static str) -> Self {
        self.whatever().check(Check::Like(pattern))
    }

    pub(crate) fn text(self, text: impl Into<String>) -> Self {
        self.check(Check::Text(text.into()))
    }

    pub(crate) fn notice(self, text: impl Into<String>) -> Self {
        self.check(Check::Notice(text.into()))
    }

    pub(crate) fn that(self, what: &'static str, holds: fn(&Value, &Path) -> bool) -> Self {
        self.check(Check::That(what, holds))
    }

    pub(crate) fn exits(self, code: i32) -> Self {
        self.field("/exit_code", code)
    }

    pub(crate) fn exits_in(mut self, shell: Shell, code: i32) -> Self {
        self.differs.insert((shell, "/exit_code"), code.into());
        self
    }

    pub(crate) fn in_dir(self, path: &str) -> Self {
        self.field("/working_dir", path)
    }

    pub(crate) fn ends_shell(self, code: i32) -> Self {
        self.exits(code).field("/returned_because", "shell_exited")
    }

    fn running(mut self, because: &'static str) -> Self {
        self.fields.remove("/exit_code");
        self.field("/status", "running")
            .field("/returned_because", because)
            .check(Check::HasNot("/exit_code"))
    }

    /// Nothing more after this many seconds.
    pub(crate) fn times_out(self, seconds: f64) -> Self {
        self.with("timeout", seconds).running("timeout").check(Check::HasNot("/awaiting"))
    }

    pub(crate) fn awaits(self, kind: &'static str) -> Self {
        self.running("awaiting_input").field("/awaiting/kind", kind)
    }

    pub(crate) fn awaits_one_of(self, kinds: &'static [&'static str]) -> Self {
        self.running("awaiting_input").check(Check::OneOf("/awaiting/kind", kinds))
    }

    /// It has not ended; whether it waits is not asked.
    pub(crate) fn goes_on(mut self) -> Self {
        self.fields.remove("/returned_because");
        self.fields.remove("/exit_code");
        self.field("/status", "running")
    }

    /// An error whose text holds these.
    pub(crate) fn refused(mut self, texts: &[&str]) -> Self {
        self.outcome = Outcome::Error;
        self.fields.clear();
        self.checks.extend(texts.iter().map(|text| Check::Text((*text).to_owned())));
        self
    }

    pub(crate) fn leaves(self, file: &'static str, text: impl Into<String>) -> Self {
        self.check(Check::File(file, text.into()))
    }

    pub(crate) fn leaves_no(self, file: &'static str) -> Self {
        self.check(Check::NoFile(file))
    }

    pub(crate) fn eventually(mut self) -> Self {
        self.eventually = true;
        self
    }
}
