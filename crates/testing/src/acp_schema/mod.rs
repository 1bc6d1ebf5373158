//! Whether messages are what the protocol's official JSON Schema says.
//!
//! The schema's root accepts nearly everything, because it allows extensions. So a message is held against the one
//! definition that its method names, and an answer against the one of the request it answers. On what wharf itself
//! writes, the check is stricter: no key that the schema does not list, for nothing in it forbids one.

mod definition;
mod key;

use definition::{Definition, Kind};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt;

/// Where a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the client, or from whoever stands in for it.
    ToAgent,
    /// From the agent, or from whoever stands in for it.
    ToClient,
}

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// Every key must be one that the schema lists.
    Wharf,
    /// May extend the protocol.
    Peer,
}

/// What is wrong with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The method, as far as it is known; of the request, if the message is an answer.
    pub method: Option<String>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.method.as_deref().unwrap_or("message"), self.what)
    }
}

/// A conversation so far: which requests are open in which direction.
#[derive(Debug, Default)]
pub struct Transcript {
    /// By direction and the text of the id.
    open: HashMap<(Direction, String), String>,
}

/// The members of an envelope.
const ENVELOPE: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

impl Transcript {
    /// Of a connection on which nothing was said yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What is wrong with the next message.
    pub fn message(&mut self, to: Direction, line: &str, author: Author) -> Vec<Problem> {
        match serde_json::from_str(line) {
            Ok(message) => self.value(to, &message, author),
            Err(error) => vec![Problem { method: None, what: format!("not JSON: {error}") }],
        }
    }

    /// As [`Transcript::message`], of a message that has been parsed.
    pub fn value(&mut self, to: Direction, message: &Value, author: Author) -> Vec<Problem> {
        let Some(message) = message.as_object() else {
            return vec![Problem { method: None, what: "not an object".into() }];
        };
        let mut found = envelope(message, author);
        let method = message.get("method").and_then(Value::as_str);
        let (method, problems) = match method {
            Some(method) => (Some(method.to_owned()), self.call(to, method, message, author)),
            None => self.answer(to, message, author),
        };
        found.extend(problems);
        found.into_iter().map(|what| Problem { method: method.clone(), what }).collect()
    }

    /// The methods of the requests that were sent there and have no answer yet.
    #[must_use]
    pub fn unanswered(&self, to: Direction) -> Vec<&str> {
        self.open.iter().filter(|((there, _), _)| *there == to).map(|(_, method)| method.as_str()).collect()
    }

    /// A request or a notification.
    fn call(
        &mut self,
        to: Direction,
        method: &str,
        message: &Map<String, Value>,
        author: Author,
    ) -> Vec<String> {
        let id = message.get("id");
        let mut found = Vec::new();
        if let Some(id) = id {
            let before = self.open.insert((to, id.to_string()), method.to_owned());
            found.extend(before.map(|before| format!("its id {id} is that of a {before} still open")));
        }
        let kind = if id.is_some() { Kind::Request } else { Kind::Notification };
        let Some(definition) = definition::of(method, to, kind) else {
            // Names with an underscore are free for everybody.
            if author == Author::Wharf && !method.starts_with('_') {
                found.push(format!("the schema knows no such {kind:?} to that side"));
            }
            return found;
        };
        found.extend(check(definition, message.get("params").unwrap_or(&Value::Null), author));
        found
    }

    /// The answer to a request that went the other way; and that request's method.
    fn answer(
        &mut self,
        to: Direction,
        message: &Map<String, Value>,
        author: Author,
    ) -> (Option<String>, Vec<String>) {
        let from = match to {
            Direction::ToAgent => Direction::ToClient,
            Direction::ToClient => Direction::ToAgent,
        };
        let id = message.get("id").unwrap_or(&Value::Null);
        let Some(method) = self.open.remove(&(from, id.to_string())) else {
            return (None, vec![format!("an answer to {id}, which nobody asked")]);
        };
        let definition = match message.get("result") {
            // Whoever is asked answers, so the definition is of the side that the request went to.
            Some(_) => definition::of(&method, from, Kind::Response),
            None => Some(definition::error()),
        };
        let value = message.get("result").or_else(|| message.get("error")).unwrap_or(&Value::Null);
        let found = definition.map(|definition| check(definition, value, author)).unwrap_or_default();
        (Some(method), found)
    }
}

fn check(definition: &Definition, value: &Value, author: Author) -> Vec<String> {
    let found = definition.problems(value);
    // Which alternative is meant is only known of what is valid.
    match author {
        Author::Wharf if found.is_empty() => key::unknown(definition, value),
        Author::Wharf | Author::Peer => found,
    }
}

fn envelope(message: &Map<String, Value>, author: Author) -> Vec<String> {
    let mut found = Vec::new();
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        found.push("jsonrpc is not \"2.0\"".into());
    }
    if let Some(id) = message.get("id")
        && !(id.is_string() || id.is_i64() || id.is_u64() || id.is_null())
    {
        found.push(format!("{id} is not an id"));
    }
    let bodies = ["result", "error"].iter().filter(|key| message.contains_key(**key)).count();
    match (message.get("method"), bodies) {
        (Some(Value::String(_)), 0) | (None, 1) => {}
        (Some(_), _) => found.push("the method is not text, or an answer has one".into()),
        (None, _) => found.push("neither a call nor an answer with either result or error".into()),
    }
    if author == Author::Wharf {
        let unknown = message.keys().filter(|key| !ENVELOPE.contains(&key.as_str()));
        found.extend(unknown.map(|key| format!("unknown key {key} in the envelope")));
    }
    found
}

#[cfg(test)]
mod tests;
