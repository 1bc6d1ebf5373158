//! What can go wrong between an agent and its terminals.
//!
//! How a command ended is never an error: a failed build is a result.

use agent_client_protocol::v1::schema::SessionId;
use agent_client_protocol::{Error, ErrorCode, is_connection_terminated, is_incoming_transport_closed};
use serde_json::json;

/// Why there is no answer about a terminal.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum TerminalError {
    /// The client did not announce the `terminal` capability, so it was not asked.
    #[error("the client has no terminals (it did not announce the `terminal` capability)")]
    Unsupported,
    /// A command was to run locally, but [`Terminals::open_session`](super::Terminals::open_session) never said where.
    #[error("the session {0} was not opened for local commands")]
    NoSession(SessionId),
    /// The command cannot be started as it was asked for.
    #[error("the command was refused: {}", said(.0))]
    Invalid(Error),
    /// There is no such terminal, or no such session, at the client.
    #[error("the client does not know it: {}", said(.0))]
    NotFound(Error),
    /// The question was taken back before it was answered.
    #[error("the request was cancelled")]
    Cancelled,
    /// The connection has ended. So have the client's terminals.
    #[error("the connection to the client has ended")]
    Disconnected,
    /// The client could not do it.
    #[error("the client failed: {}", said(.0))]
    Failed(Error),
}

impl TerminalError {
    /// A word for programs; it does not change.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unsupported => "unsupported",
            Self::NoSession(_) => "no_session",
            Self::Invalid(_) => "invalid",
            Self::NotFound(_) => "not_found",
            Self::Cancelled => "cancelled",
            Self::Disconnected => "disconnected",
            Self::Failed(_) => "failed",
        }
    }
}

/// What a client says, with its reason: the TypeScript SDK's message is always "Internal error", and the reason is beside it.
fn said(error: &Error) -> String {
    let data = error.data.as_ref();
    let reason = data.and_then(|data| data.as_str().or_else(|| data.get("details")?.as_str()));
    match reason {
        Some(reason) if !error.message.contains(reason) => format!("{}: {reason}", error.message),
        _ => error.message.clone(),
    }
}

impl From<Error> for TerminalError {
    fn from(error: Error) -> Self {
        if is_incoming_transport_closed(&error) || is_connection_terminated(&error) {
            return Self::Disconnected;
        }
        match error.code {
            ErrorCode::INVALID_PARAMS => Self::Invalid(error),
            ErrorCode::RESOURCE_NOT_FOUND => Self::NotFound(error),
            ErrorCode::REQUEST_CANCELLED => Self::Cancelled,
            _ => Self::Failed(error),
        }
    }
}

/// For `?` in an agent's own handlers. The client's codes are not handed back to it: what it refused to us says nothing
/// about what it asked of us.
impl From<TerminalError> for Error {
    fn from(error: TerminalError) -> Self {
        let code = match error {
            TerminalError::Cancelled => ErrorCode::REQUEST_CANCELLED,
            _ => ErrorCode::INTERNAL_ERROR,
        };
        Self::new(code, error.to_string()).data(json!({ "code": error.code() }))
    }
}
