//! What tools answer: one value for each, from which both the structured half and the text are made.
//!
//! Agents' clients show their model one half, the other as escaped JSON, or both one after the other. So the text alone is
//! answered, which every client passes on as it is, unless a program asked for data. A field that has nothing to say is left
//! out: there are no nulls.

use super::fit::Errors;
use rmcp::model::{CallToolResult, ContentBlock};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What answers are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Text, for models.
    Text,
    /// The same as data too, for programs.
    Structured,
}

/// A value that is answered, and reads as text.
pub(super) trait Answer: Serialize {
    /// All of it in words.
    fn text(&self) -> String;
}

/// One that can say more than what it is about.
pub(super) trait Noted: Answer {
    /// Adds what is to be said besides.
    fn add(&mut self, notice: Vec<String>);
}

pub(super) fn result(answer: &impl Answer, form: Form) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(answer.text())]);
    if form == Form::Structured {
        result.structured_content = serde_json::to_value(answer).ok();
    }
    result
}

/// The same for what was not done.
pub(super) fn refused(answer: &impl Answer, form: Form, errors: Errors) -> CallToolResult {
    let mut result = result(answer, form);
    result.is_error = (errors == Errors::Flagged).then_some(true);
    result
}

/// How a command stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    /// It has ended, or nothing runs.
    Completed,
    /// It runs.
    Running,
    /// Nothing was done.
    Refused,
}

/// Why the answer came when it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Because {
    Exited,
    Timeout,
    AwaitingInput,
    ShellExited,
    HeldByHuman,
    Pattern,
    Silence,
    ScreenStable,
    Stalled,
}

/// Which of the two views `content` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum View {
    Stream,
    Screen,
}

/// Of `terminal_execute` and `terminal_wait`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Executed {
    pub(super) content: String,
    pub(super) command: String,
    pub(super) terminal_id: String,
    pub(super) command_id: u64,
    pub(super) status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit_code: Option<i32>,
    pub(super) working_dir: String,
    pub(super) returned_because: Because,
    pub(super) duration_ms: u64,
    pub(super) view: View,
    pub(super) total_lines: u64,
    pub(super) total_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) awaiting: Option<Awaiting>,
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub(super) matched: Option<Match>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) omitted: Option<Omitted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) screen: Option<Screen>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) background: Vec<Job>,
    /// How the shell ended, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shell_end: Option<String>,
    /// Why nothing more can be printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stalled: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notice: Vec<String>,
}

/// Somebody waits for input.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Awaiting {
    pub(super) kind: &'static str,
    pub(super) prompt: String,
    pub(super) hint: String,
}

/// The line that was waited for.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Match {
    pub(super) line: u64,
    pub(super) text: String,
}

/// What `content` does not show, and the call that does.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Omitted {
    pub(super) from_line: u64,
    pub(super) to_line: u64,
    pub(super) bytes: u64,
    /// A call, as JSON.
    pub(super) read: String,
}

/// Where things are on a screen that `content` shows.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Screen {
    pub(super) rows: u16,
    pub(super) cols: u16,
    pub(super) cursor: Cursor,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) highlights: Vec<Highlight>,
}

/// From 1, as lines are.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(super) struct Cursor {
    pub(super) row: u16,
    pub(super) col: u16,
}

/// Shown inverted; rows and columns from 1, both included.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Highlight {
    pub(super) row: u16,
    pub(super) from: u16,
    pub(super) to: u16,
    pub(super) text: String,
}

/// A background job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Job {
    pub(super) pid: i32,
    pub(super) command: String,
    pub(super) state: &'static str,
}

/// Of `terminal_read`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Read {
    pub(super) content: String,
    pub(super) terminal_id: String,
    pub(super) command_id: u64,
    pub(super) command: String,
    pub(super) status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit_code: Option<i32>,
    pub(super) view: View,
    pub(super) total_lines: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shown: Option<Shown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) matches: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) omitted: Option<Omitted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) screen: Option<Screen>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notice: Vec<String>,
}

/// The first and the last line of `content`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Shown {
    pub(super) from_line: u64,
    pub(super) to_line: u64,
}

/// Of `terminal_list`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Listed {
    pub(super) terminals: Vec<Entry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notice: Vec<String>,
}

/// How a terminal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Life {
    Idle,
    Running,
    Exited,
}

/// One terminal; also the answer of `terminal_open`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Entry {
    pub(super) terminal_id: String,
    pub(super) status: Life,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) running_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit_code: Option<i32>,
    /// How the shell ended, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shell_end: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) held_by_human: bool,
    /// Why nothing more can be printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stalled: Option<String>,
    pub(super) working_dir: String,
    pub(super) shell: String,
    pub(super) sandbox: String,
    pub(super) size: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) awaiting: Option<Awaiting>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) background: Vec<Job>,
    /// wharf's own name for it, for people.
    pub(super) id: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notice: Vec<String>,
}

/// Of `terminal_close`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Closed {
    pub(super) content: String,
    pub(super) terminal_id: String,
    pub(super) ended_processes: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notice: Vec<String>,
}

/// Nothing was done, or not all of it: what is wrong, and which call comes next. Fits every tool's output schema, because
/// some clients hold errors against it too.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Refused {
    /// Everything, in words.
    pub(super) content: String,
    pub(super) terminal_id: String,
    pub(super) status: Status,
    /// A stable word for programs.
    pub(super) error: &'static str,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(super) running: Value,
}

impl Answer for Refused {
    fn text(&self) -> String {
        self.content.clone()
    }
}
