//! A command as a tool call, from its start to its end.
//!
//! Whatever happens, the tool call does not stay `in_progress`: also a refused start, a client that fails and a future that
//! is dropped half-way are reported. The terminal is embedded before it is released, so that it stays visible.

use super::{Command, Finished, TerminalError, TerminalHandle, Terminals};
use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, SessionId, SessionUpdate, ToolCall, ToolCallContent, ToolCallId, ToolCallStatus,
    ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use serde_json::{Value, json};
use std::time::Duration;

/// A command that is shown to the user as a tool call. Made by [`Command::tool_call`] or [`Command::tool_call_update`].
#[derive(Debug, Clone)]
#[must_use = "a command does nothing until it is run"]
pub struct ToolCallCommand {
    command: Command,
    id: ToolCallId,
    title: Option<String>,
    known: Known,
}

/// Whether the client has heard of the tool call.
#[derive(Debug, Clone, Copy)]
enum Known {
    NotYet,
    Already,
}

impl ToolCallCommand {
    pub(super) fn announced(command: Command, id: ToolCallId) -> Self {
        Self { command, id, title: None, known: Known::NotYet }
    }

    pub(super) fn known(command: Command, id: ToolCallId) -> Self {
        Self { command, id, title: None, known: Known::Already }
    }

    /// What the user reads; the command line if this is not said.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Runs it, at most for `limit`, then kills it; reports it as `in_progress` with its terminal, and then as `completed` or
    /// `failed` with its exit code or signal and its output.
    pub async fn run(self, limit: Duration) -> Result<Finished, TerminalError> {
        let terminals = self.command.terminals.clone();
        let session = self.command.request.session_id.clone();
        let open =
            |unfinished| Open { terminals: &terminals, session: &session, id: self.id.clone(), unfinished };
        // A tool call that the client knows has to be ended also if it never begins.
        let mut asked = open(matches!(self.known, Known::Already));
        let started = self.command.clone().start().await;
        asked.unfinished = false;
        let terminal = match started {
            Ok(terminal) => terminal,
            Err(error) => {
                self.refuse(&error).await;
                return Err(error);
            }
        };
        // Declared after the terminal and therefore dropped before it: the tool call ends while the client has the terminal.
        let mut open = open(true);
        let begun = self.begun(ToolCallStatus::InProgress, vec![terminal.content()]);
        terminals.update(&session, begun).await?;
        let finished = open.watch(&terminal, limit).await?;
        drop(open);
        let _ = terminal.release().await;
        Ok(finished)
    }

    /// A command that cannot be started is shown too. A client that has no terminals at all hears nothing: whoever asked
    /// will do it another way.
    async fn refuse(&self, error: &TerminalError) {
        if matches!((error, self.known), (TerminalError::Unsupported, Known::NotYet)) {
            return;
        }
        let update = self.begun(ToolCallStatus::Failed, vec![error.to_string().into()]);
        let _ = self.command.terminals.update(&self.command.request.session_id, update).await;
    }

    fn begun(&self, status: ToolCallStatus, content: Vec<ToolCallContent>) -> SessionUpdate {
        let title = self.title.clone().unwrap_or_else(|| self.command.line());
        let input = raw_input(&self.command.request);
        match self.known {
            Known::NotYet => SessionUpdate::ToolCall(
                ToolCall::new(self.id.clone(), title)
                    .kind(ToolKind::Execute)
                    .status(status)
                    .content(content)
                    .raw_input(input),
            ),
            Known::Already => SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(
                self.id.clone(),
                ToolCallUpdateFields::new()
                    .title(self.title.clone())
                    .status(status)
                    .content(content)
                    .raw_input(input),
            )),
        }
    }
}

/// A tool call that has to be brought to an end.
struct Open<'a> {
    terminals: &'a Terminals,
    session: &'a SessionId,
    id: ToolCallId,
    unfinished: bool,
}

impl Open<'_> {
    async fn watch(&mut self, terminal: &TerminalHandle, limit: Duration) -> Result<Finished, TerminalError> {
        let settled = terminal.settle(limit).await;
        let (status, output) = match &settled {
            Ok(finished) if finished.success() => (ToolCallStatus::Completed, raw_output(finished)),
            Ok(finished) => (ToolCallStatus::Failed, raw_output(finished)),
            Err(error) => (ToolCallStatus::Failed, json!({ "error": error.to_string() })),
        };
        // What came of the command counts, also for an agent whose client is no longer there to be shown it.
        let _ = self.terminals.update(self.session, self.ended(status, output)).await;
        self.unfinished = false;
        settled
    }

    fn ended(&self, status: ToolCallStatus, output: Value) -> SessionUpdate {
        let fields = ToolCallUpdateFields::new().status(status).raw_output(output);
        SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(self.id.clone(), fields))
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if self.unfinished {
            let update = self.ended(ToolCallStatus::Failed, json!({ "cancelled": true }));
            self.terminals.update_soon(self.session, update);
        }
    }
}

/// Without the environment: it may hold secrets, and clients show this.
fn raw_input(request: &CreateTerminalRequest) -> Value {
    let mut input = json!({ "command": request.command, "args": request.args });
    if let Some(cwd) = &request.cwd {
        input["cwd"] = json!(cwd);
    }
    input
}

fn raw_output(finished: &Finished) -> Value {
    json!({
        "exitCode": finished.exit.code(),
        "signal": finished.exit.signal(),
        "truncated": finished.truncated,
        "timedOut": finished.timed_out,
        "output": finished.output,
    })
}
