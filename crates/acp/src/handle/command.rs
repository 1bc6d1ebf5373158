//! A command as an agent asks for it, until it is started.

use super::address::DEFAULT_LIMIT;
use super::{TerminalError, TerminalHandle, Terminals, ToolCallCommand};
use agent_client_protocol::v1::schema::{CreateTerminalRequest, EnvVariable, SessionId, ToolCallId};
use std::path::PathBuf;

/// A command to be started. Made by [`Terminals::command`].
#[derive(Debug, Clone)]
#[must_use = "a command does nothing until it is started"]
pub struct Command {
    pub(super) terminals: Terminals,
    pub(super) request: CreateTerminalRequest,
}

impl Command {
    pub(super) fn new(terminals: Terminals, session: SessionId, command: String) -> Self {
        let request = CreateTerminalRequest::new(session, command).output_byte_limit(DEFAULT_LIMIT);
        Self { terminals, request }
    }

    /// One more argument.
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.request.args.push(arg.into());
        self
    }

    /// More arguments.
    pub fn args<A: Into<String>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.request.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// A variable on top of what the client gives its commands.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.request.env.push(EnvVariable::new(name, value));
        self
    }

    /// More variables.
    pub fn envs<N: Into<String>, V: Into<String>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.request.env.extend(variables.into_iter().map(|(name, value)| EnvVariable::new(name, value)));
        self
    }

    /// Where it starts, as an absolute path; the session's directory if this is not said.
    pub fn cwd(mut self, path: impl Into<PathBuf>) -> Self {
        self.request.cwd = Some(path.into());
        self
    }

    /// How much output the client keeps; older output is dropped first. One mebibyte if this is not said, so that no answer
    /// is larger than an agent has room for.
    pub fn output_byte_limit(mut self, bytes: u64) -> Self {
        self.request.output_byte_limit = Some(bytes);
        self
    }

    /// Starts it. If the future is dropped before it is done, nothing keeps running. Like everything that waits for the
    /// client, not to be awaited in a handler of the same connection.
    pub async fn start(self) -> Result<TerminalHandle, TerminalError> {
        self.terminals.create(self.request).await
    }

    /// To be shown to the user as a new tool call of that id, from start to end.
    pub fn tool_call(self, id: impl Into<ToolCallId>) -> ToolCallCommand {
        ToolCallCommand::announced(self, id.into())
    }

    /// The same for a tool call that the client knows already, because its permission was asked for example: it is updated.
    pub fn tool_call_update(self, id: impl Into<ToolCallId>) -> ToolCallCommand {
        ToolCallCommand::known(self, id.into())
    }

    /// On one line, for people.
    pub(super) fn line(&self) -> String {
        let args = self.request.args.iter().map(String::as_str);
        std::iter::once(self.request.command.as_str()).chain(args).collect::<Vec<_>>().join(" ")
    }
}
