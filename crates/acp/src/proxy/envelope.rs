//! What a line is, as far as one must know to pass it on: its kind, its id, its method, and where its parts are.
//!
//! Everything is borrowed from the line and stays the text it was; numbers of any length and strings with any escapes
//! are ids like others. Whatever is not clearly a single JSON-RPC message is [`Envelope::read`]'s `None`: a batch,
//! noise, invalid UTF-8, members that are named twice. Such lines are nobody's business.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

/// A message, seen from outside.
#[derive(Debug)]
pub(crate) enum Envelope<'a> {
    /// Wants an answer.
    Request { id: Id<'a>, method: Cow<'a, str>, params: Option<&'a RawValue> },
    /// Wants none.
    Notification { method: Cow<'a, str>, params: Option<&'a RawValue> },
    /// An answer: its result, or nothing if it is an error.
    Response { id: Id<'a>, result: Option<&'a RawValue> },
}

/// An id as it was written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Id<'a>(&'a RawValue);

/// An id as others may write it back: the same number or text, however spelled.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key(Box<str>);

#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// A member that is there is there, also if it is null.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> Envelope<'a> {
    /// Looks at a line.
    pub(crate) fn read(line: &'a [u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?;
        let Members { id, method, params, result, error } = serde_json::from_str(line).ok()?;
        // Some write every member there is: a null method is none, and so is a null beside the member that counts.
        let there = |value: &&RawValue| value.get() != "null";
        let (method, error) = (method.filter(there), error.filter(|value| there(value) || result.is_none()));
        let result = result.filter(|value| there(value) || error.is_none());
        let id = id.map(Id);
        match (method, id) {
            (Some(method), Some(id)) => Some(Self::Request { id, method: string(method)?, params }),
            (Some(method), None) => Some(Self::Notification { method: string(method)?, params }),
            (None, Some(id)) if result.is_some() != error.is_some() => Some(Self::Response { id, result }),
            (None, _) => None,
        }
    }
}

impl<'a> Id<'a> {
    /// The text of it.
    pub(crate) fn text(self) -> &'a str {
        self.0.get()
    }

    pub(crate) fn key(self) -> Key {
        Key::of(self.0)
    }
}

impl Key {
    /// As it may be written.
    pub(crate) fn as_json(&self) -> &str {
        &self.0
    }

    /// The key of an id that is a value somewhere.
    pub(crate) fn of(id: &RawValue) -> Self {
        let text = id.get();
        // A string is known by its quote, so that no string is ever taken for a number.
        let plain = match string(id) {
            Some(unescaped) if text.contains('\\') => serde_json::to_string(&unescaped).ok(),
            _ => None,
        };
        Self(plain.map_or_else(|| text.into(), String::into_boxed_str))
    }
}

/// A JSON string; nothing if it is anything else. Copied only if there are escapes in it.
pub(crate) fn string(value: &RawValue) -> Option<Cow<'_, str>> {
    let inner = value.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        return serde_json::from_str(value.get()).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}

/// Where in a line a part of it is that was borrowed from it.
pub(crate) fn place(line: &[u8], part: &RawValue) -> Option<Range<usize>> {
    let start = part.get().as_ptr().addr().checked_sub(line.as_ptr().addr())?;
    let end = start.checked_add(part.get().len())?;
    (end <= line.len()).then_some(start..end)
}

/// A line with a part of it replaced and every other byte as it was.
pub(crate) fn splice(line: &[u8], at: Range<usize>, new: &str) -> Vec<u8> {
    let mut spliced = Vec::with_capacity(line.len() - at.len() + new.len());
    spliced.extend_from_slice(&line[..at.start]);
    spliced.extend_from_slice(new.as_bytes());
    spliced.extend_from_slice(&line[at.end..]);
    spliced
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kind(line: &str) -> String {
        match Envelope::read(line.as_bytes()) {
            Some(Envelope::Request { id, method, params }) => {
                format!("request {} {method} {}", id.text(), params.map_or("-", RawValue::get))
            }
            Some(Envelope::Notification { method, .. }) => format!("notification {method}"),
            Some(Envelope::Response { id, result }) => {
                format!("response {} {}", id.text(), result.map_or("error", RawValue::get))
            }
            None => "other".to_owned(),
        }
    }

    #[test]
    fn messages_are_told_apart_and_ids_are_what_was_written() {
        let long = "123456789012345678901234567890";
        for (line, expected) in [
            (r#"{"id":1,"method":"a/b","params":{ "x" : 1 }}"#, r#"request 1 a/b { "x" : 1 }"#.to_owned()),
            (r#" {"method":"m","id":null} "#, "request null m -".to_owned()),
            (r#"{"method":"m","id":1.50}"#, "request 1.50 m -".to_owned()),
            (&format!(r#"{{"id":{long},"result":null}}"#), format!("response {long} null")),
            (r#"{"id":"a\u0062","error":{"code":1}}"#, r#"response "a\u0062" error"#.to_owned()),
            (r#"{"id":1,"result":{},"error":null,"method":null}"#, "response 1 {}".to_owned()),
            (r#"{"id":1,"result":null,"error":{}}"#, "response 1 error".to_owned()),
            (r#"{"id":1,"result":null,"error":null}"#, "response 1 null".to_owned()),
            (r#"{"method":"m\u002fn"}"#, "notification m/n".to_owned()),
            ("{\"method\":\"m\"}\r\n", "notification m".to_owned()),
        ] {
            assert_eq!(kind(line), expected, "{line}");
        }
    }

    #[test]
    fn what_is_not_clearly_one_message_is_nothing() {
        for line in [
            "",
            "\n",
            "noise",
            "[]",
            r#"[{"id":1,"method":"m"}]"#,
            "{}",
            r#"{"id":1}"#,
            r#"{"id":1,"method":7}"#,
            r#"{"id":1,"result":1,"error":2}"#,
            r#"{"id":1,"id":2,"method":"m"}"#,
            r#"{"method":"m"} x"#,
        ] {
            assert_eq!(kind(line), "other", "{line}");
        }
        assert!(Envelope::read(b"{\"method\":\"\xff\"}").is_none());
    }

    #[test]
    fn ids_are_the_same_however_they_are_spelled() {
        let key = |text: &str| Key::of(&RawValue::from_string(text.to_owned()).unwrap());
        assert_eq!(key(r#""a\u0062""#), key(r#""ab""#));
        assert_ne!(key(r#""1""#), key("1"));
        assert_ne!(key("null"), key(r#""null""#));
    }

    proptest! {
        #[test]
        fn a_part_is_found_where_it_is_and_spliced_back(before in "[ \t]{0,5}", inner in "[a-z \\\\\"]{0,9}") {
            let value = serde_json::to_string(&inner).unwrap();
            let line = format!("{{{before}\"params\":{before}{value}{before},\"method\":\"m\"}}\n");
            let Some(Envelope::Notification { params: Some(params), .. }) = Envelope::read(line.as_bytes()) else {
                panic!("{line}");
            };
            let at = place(line.as_bytes(), params).unwrap();
            prop_assert_eq!(&line[at.clone()], &value);
            prop_assert_eq!(splice(line.as_bytes(), at, &value), line.into_bytes());
        }
    }
}
