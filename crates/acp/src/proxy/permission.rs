//! A question as the protocol's `session/request_permission`, and what its answer means.
//!
//! Clients differ in what they show of it: some the title, some the content, some what was put in. So each of the three
//! says what would run, or that it is too long to be said there. They read titles and contents as Markdown, in which a
//! command could hide, so that it stands there as code. The tool call is one of our own and announced before: some
//! clients know no other, and which of the agent's it will be nobody knows yet. Pure.

use agent_client_protocol::ErrorCode;
use agent_client_protocol::v1::schema::{RequestPermissionOutcome, RequestPermissionResponse};
use serde_json::{Value, json};
use wharf_core::policy::{Answer, Question};

/// The method.
pub(crate) const METHOD: &str = "session/request_permission";

const ONCE: &str = "allow_once";
const ALWAYS: &str = "allow_always";
const REJECT: &str = "reject_once";

/// A command of more characters is not in the title, which is for a glance.
const LONGEST_TITLE: usize = 200;

/// A question in the protocol's words.
#[derive(Debug)]
pub(crate) struct Permission {
    session: String,
    call: Value,
}

impl Permission {
    /// Nothing if there is no session to ask in, or too much to show.
    pub(crate) fn of(question: &Question, name: &str) -> Option<Self> {
        let text = question.text().ok()?;
        let command = question.command.one_line();
        let title = if command.chars().count() <= LONGEST_TITLE {
            format!("Run {}", code(&command))
        } else {
            format!("Run a command of {} bytes, shown in full below", question.command.size())
        };
        let call = json!({
            "toolCallId": format!("wharf-permission-{name}"),
            "title": title,
            "kind": "execute",
            "status": "pending",
            "content": [{"type": "content", "content": {"type": "text", "text": block(&text)}}],
            "rawInput": {"command": command, "cwd": question.place()},
        });
        Some(Self { session: question.session.clone()?, call })
    }

    pub(crate) fn session(&self) -> &str {
        &self.session
    }

    /// The parameters of the `session/update` that comes before.
    pub(crate) fn announcement(&self) -> Value {
        let mut update = self.call.clone();
        update["sessionUpdate"] = json!("tool_call");
        json!({"sessionId": self.session, "update": update})
    }

    /// The parameters of the request.
    pub(crate) fn request(&self) -> Value {
        let option = |id: &str, name: &str| json!({"optionId": id, "name": name, "kind": id});
        json!({
            "sessionId": self.session,
            "toolCall": self.call,
            "options": [
                option(ONCE, "Allow once"),
                option(ALWAYS, "Always allow exactly this"),
                option(REJECT, "Reject"),
            ],
        })
    }

    /// The parameters of the `session/update` that comes after: nobody is left with a call that is never over.
    pub(crate) fn conclusion(&self, answer: &Answer) -> Value {
        let status = if matches!(answer, Answer::Once | Answer::Always) { "completed" } else { "failed" };
        let update = json!({
            "sessionUpdate": "tool_call_update",
            "toolCallId": self.call["toolCallId"],
            "status": status,
        });
        json!({"sessionId": self.session, "update": update})
    }
}

/// What the client has said: a result, or the code of an error. Whatever is not clearly a yes is none.
pub(crate) fn answer(result: Result<Value, i64>) -> Answer {
    let code = |code: ErrorCode| i64::from(i32::from(code));
    match result {
        Ok(result) => {
            match serde_json::from_value(result).map(|answer: RequestPermissionResponse| answer.outcome) {
                Ok(RequestPermissionOutcome::Selected(selected)) => match &*selected.option_id.0 {
                    ONCE => Answer::Once,
                    ALWAYS => Answer::Always,
                    _ => Answer::No,
                },
                Ok(RequestPermissionOutcome::Cancelled) => Answer::Cancelled,
                _ => Answer::No,
            }
        }
        Err(error) if error == code(ErrorCode::METHOD_NOT_FOUND) => {
            Answer::Unable { why: format!("the client cannot ask: it does not know {METHOD}") }
        }
        Err(error) if error == code(ErrorCode::REQUEST_CANCELLED) => Answer::Cancelled,
        Err(error) => Answer::Unable { why: format!("the client could not ask (error {error})") },
    }
}

/// Markdown that shows a line as it is.
fn code(line: &str) -> String {
    let fence = "`".repeat(longest_run(line) + 1);
    // One space at each end is taken away again, and without it a backtick there would belong to the fence.
    let pad = if line.starts_with(['`', ' ']) || line.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{pad}{line}{pad}{fence}")
}

/// Markdown that shows a text as it is.
fn block(text: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    format!("{fence}\n{text}\n{fence}")
}

/// The most backticks in a row.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_a_yes() {
        let selected = |id: &str| json!({"outcome": {"outcome": "selected", "optionId": id}});
        for (result, expected) in [
            (Ok(selected("allow_once")), Answer::Once),
            (Ok(selected("allow_always")), Answer::Always),
            (Ok(selected("reject_once")), Answer::No),
            (Ok(selected("allow")), Answer::No),
            (Ok(selected("ALLOW_ONCE")), Answer::No),
            (Ok(selected("")), Answer::No),
            (Ok(json!({"outcome": {"outcome": "cancelled"}})), Answer::Cancelled),
            (Ok(json!({"outcome": {"outcome": "cancelled", "optionId": "allow_once"}})), Answer::Cancelled),
            (Ok(json!({"outcome": {"outcome": "allowed", "optionId": "allow_once"}})), Answer::No),
            (Ok(json!({"outcome": {"outcome": "selected"}})), Answer::No),
            (Ok(json!({"outcome": {"optionId": "allow_once"}})), Answer::No),
            (Ok(json!({"outcome": {"outcome": "selected", "optionId": ["allow_once"]}})), Answer::No),
            (Ok(json!({"optionId": "allow_once"})), Answer::No),
            (Ok(json!({"outcome": "allow_once"})), Answer::No),
            (Ok(json!("allow_once")), Answer::No),
            (Ok(json!(true)), Answer::No),
            (Ok(json!({})), Answer::No),
            (Ok(Value::Null), Answer::No),
            (Err(-32800), Answer::Cancelled),
        ] {
            assert_eq!(answer(result.clone()), expected, "{result:?}");
        }
        for (error, word) in [(-32601, "session/request_permission"), (-32603, "-32603"), (0, "error 0")] {
            assert!(matches!(answer(Err(error)), Answer::Unable { why } if why.contains(word)), "{error}");
        }
    }

    #[test]
    fn nothing_in_a_command_is_markdown() {
        for (line, expected) in [
            ("ls", "`ls`"),
            ("echo `date`", "`` echo `date` ``"),
            ("a```b", "````a```b````"),
            (" x", "`  x `"),
            ("[ls](rm)", "`[ls](rm)`"),
        ] {
            assert_eq!(code(line), expected);
        }
        assert_eq!(block("a\n```\nb"), "````\na\n```\nb\n````");
        assert_eq!(block("a"), "```\na\n```");
    }
}
