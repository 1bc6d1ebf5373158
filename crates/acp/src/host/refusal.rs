//! Errors of wharf as errors of the protocol: the code an agent acts on, a sentence for people, a word for programs.

use agent_client_protocol::v1::schema::{self, SessionId};
use agent_client_protocol::{Error, ErrorCode};
use serde_json::json;
use std::io;
use wharf_core::{ControlError, CreateError, ReadError};

/// A command that cannot be started as it was asked for.
pub(super) fn of_create(error: CreateError) -> Error {
    let code = match (&error, error.code()) {
        (CreateError::Spec(_), _) => ErrorCode::INVALID_PARAMS,
        // Only the kernel could say so, but it says that the request is wrong, not that we are.
        (_, "not_found" | "not_executable" | "bad_cwd" | "too_large") => ErrorCode::INVALID_PARAMS,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    Error::new(code, error.to_string()).data(json!({ "code": error.code() }))
}

pub(super) fn of_control(error: ControlError) -> Error {
    match error {
        ControlError::Read(error) => of_read(error),
        error => internal(&error.to_string()).data(json!({ "code": error.code() })),
    }
}

pub(super) fn of_read(error: ReadError) -> Error {
    let code = match error {
        // Removed by somebody else, `wharf rm` for example.
        ReadError::NotFound => ErrorCode::RESOURCE_NOT_FOUND,
        ReadError::Damaged(_) | ReadError::Io(_) => ErrorCode::INTERNAL_ERROR,
    };
    Error::new(code, error.to_string()).data(json!({ "code": error.code() }))
}

pub(super) fn of_io(error: io::Error) -> Error {
    internal(&error.to_string())
}

pub(super) fn internal(why: &str) -> Error {
    Error::new(ErrorCode::INTERNAL_ERROR, why)
}

pub(super) fn invalid(why: &str) -> Error {
    Error::new(ErrorCode::INVALID_PARAMS, why)
}

/// Never issued, somebody else's or released: an agent is not told which.
pub(super) fn unknown_terminal(id: &str) -> Error {
    let what = "there is no such terminal in this session";
    Error::new(ErrorCode::RESOURCE_NOT_FOUND, what).data(json!({ "terminalId": id }))
}

pub(super) fn unknown_session(id: &SessionId) -> Error {
    let mut error: Error = schema::Error::session_not_found(id.clone()).into();
    error.message = "there is no such session".to_owned();
    error
}
