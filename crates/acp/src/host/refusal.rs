//! Errors of wharf as errors of the protocol: the code an agent acts on, a sentence for people, a word for programs.

use agent_client_protocol::v1::schema::{self, SessionId};
use agent_client_protocol::{Error, ErrorCode};
use serde_json::json;
use std::io;
use wharf_core::policy::{AuditError, Denial, Question, TooLong};
use wharf_core::{ControlError, CreateError, ReadError};

/// A command that may not run: free in the range that the protocol leaves to servers, where agents know -32000 (who are
/// you?) and -32002 (no such thing).
const DENIED: ErrorCode = ErrorCode::new(-32003);

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

/// By policy.
pub(super) fn denied(denial: &Denial) -> Error {
    let data = json!({ "code": "denied", "rule": denial.rule, "reason": denial.reason });
    let advice =
        if denial.fix.is_empty() { String::new() } else { format!("; ask the user to {}", denial.fix) };
    Error::new(DENIED, format!("{denial}{advice}")).data(data)
}

/// The policy's limit, not the machine's.
pub(super) fn too_many(most: usize) -> Error {
    let what = format!("{most} terminals are running already, and no more may; release or kill one first");
    Error::new(DENIED, what).data(json!({ "code": "too_many_terminals", "limit": most }))
}

/// By a person.
pub(super) fn refused_by_user(question: &Question) -> Error {
    about(question, "refused_by_user", "the user was asked and does not allow this command".to_owned())
}

/// By nobody: the question was withdrawn.
pub(super) fn withdrawn(question: &Question) -> Error {
    about(
        question,
        "cancelled",
        "this command was not started: nobody answered before the turn ended".to_owned(),
    )
}

pub(super) fn nobody_to_ask(question: &Question, why: &str) -> Error {
    let fix = match question.fix.as_str() {
        "" => "change the policy (`wharf policy show`)",
        fix => fix,
    };
    let what =
        format!("the user would have to allow this command, and {why}; ask them to run it, or to {fix}");
    about(question, "nobody_to_ask", what)
}

pub(super) fn too_long_to_ask(question: &Question, error: TooLong) -> Error {
    about(question, "too_long_to_ask", error.to_string())
}

fn about(question: &Question, code: &str, what: String) -> Error {
    let why = question.why.join("; ");
    let message = if why.is_empty() { what } else { format!("{what} (asked because: {why})") };
    Error::new(DENIED, message).data(json!({ "code": code, "reason": why }))
}

/// What cannot be written down is not started.
pub(super) fn unaudited(error: &AuditError) -> Error {
    internal(&format!("the command was not started: {error}")).data(json!({ "code": error.code() }))
}
