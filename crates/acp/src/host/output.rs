//! The answer to `terminal/output`: the newest text within a limit, and the end if there is one.
//!
//! The limit is on the text an agent gets: after CRLF has become LF and bytes that are no characters have become U+FFFD. To
//! say exactly whether anything is missing, up to twice as many bytes are looked at: of so many, no text can be shorter than
//! the limit. While nothing is missing, each answer begins with the one before it, so a carriage return at the very end is
//! held back until it is known what follows.

use super::refusal;
use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{TerminalExitStatus, TerminalOutputResponse};
use serde_json::json;
use std::borrow::Cow;
use std::string::FromUtf8Error;
use wharf_core::{Ended, Lost, Newest, Outcome, ReadError, Tail, Terminal, orphans, tail};

pub(super) fn answer(terminal: &Terminal, limit: usize) -> Result<TerminalOutputResponse, ReadError> {
    let newest = terminal.newest(limit.saturating_mul(2).saturating_add(1))?;
    let status = newest.ended.as_ref().map(status);
    let (text, truncated) = text(newest, limit);
    Ok(TerminalOutputResponse::new(text, truncated).exit_status(status))
}

fn text(newest: Newest, limit: usize) -> (String, bool) {
    let is_cut = newest.at > 0;
    let end = if newest.ended.is_some() { Tail::Ended } else { Tail::Open };
    let bytes = match as_it_is(newest.bytes, limit) {
        Ok(text) => return (text, is_cut),
        Err(bytes) => bytes,
    };
    let bytes = if is_cut { &bytes[orphans(&bytes)..] } else { &bytes };
    let (text, cut) = tail(&newlines(bytes, end), limit, end);
    (text, cut || is_cut)
}

/// Most output is all of it, is text and has no carriage returns. It may be megabytes, so it is not copied.
fn as_it_is(bytes: Vec<u8>, limit: usize) -> Result<String, Vec<u8>> {
    if bytes.len() > limit || bytes.contains(&b'\r') {
        return Err(bytes);
    }
    String::from_utf8(bytes).map_err(FromUtf8Error::into_bytes)
}

/// CRLF as LF. A carriage return alone stays; one at the end of what may go on waits.
fn newlines(bytes: &[u8], end: Tail) -> Cow<'_, [u8]> {
    let bytes = match (bytes, end) {
        ([rest @ .., b'\r'], Tail::Open) => rest,
        _ => bytes,
    };
    // Most output has none.
    let Some(first) = find_crlf(bytes) else { return Cow::Borrowed(bytes) };
    let mut out = Vec::with_capacity(bytes.len());
    let (mut rest, mut next) = (bytes, Some(first));
    while let Some(at) = next {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        next = find_crlf(rest);
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

fn find_crlf(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|b| *b == b'\r') {
        if bytes.get(from + at + 1) == Some(&b'\n') {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

/// How it ended, as far as anybody knows.
pub(super) fn status(ended: &Ended) -> TerminalExitStatus {
    let status = TerminalExitStatus::new();
    match ended.outcome {
        Outcome::Code(code) => status.exit_code(u32::try_from(code).unwrap_or(u32::MAX)),
        Outcome::Signal(_) => status.signal(ended.signal()),
        Outcome::Lost(lost) => status.meta(json!({ "wharf": { "lost": why(lost) } }).as_object().cloned()),
    }
}

/// The same for who waits for it. An end that nobody saw is an error here: agents take an empty status for a success.
pub(super) fn known_status(ended: &Ended) -> Result<TerminalExitStatus, Error> {
    match ended.outcome {
        Outcome::Lost(lost) => {
            let what = format!("how the command ended is not known: {}", why(lost));
            Err(refusal::internal(&what).data(json!({ "code": "lost" })))
        }
        Outcome::Code(_) | Outcome::Signal(_) => Ok(status(ended)),
    }
}

fn why(lost: Lost) -> &'static str {
    match lost {
        Lost::HolderDied => "the process that held its terminal was killed",
        Lost::Reboot => "the machine was started anew",
        Lost::StatusTaken => "the program that held its terminal took its status",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(bytes: &[u8], limit: usize, end: Tail) -> (String, bool) {
        let slow = tail(&newlines(bytes, end), limit, end);
        if let Ok(text) = as_it_is(bytes.to_vec(), limit) {
            assert_eq!((text, false), slow, "the short way leads to the same");
        }
        slow
    }

    #[test]
    fn crlf_is_lf_and_nothing_else_changes() {
        for (bytes, expected) in [
            (&b"a\r\nb\r\n"[..], "a\nb\n"),
            (b"a\rb", "a\rb"),
            (b"\r\r\n", "\r\n"),
            (b"a\n\r", "a\n\r"),
            (b"\r\n", "\n"),
            (b"", ""),
        ] {
            assert_eq!(shown(bytes, 100, Tail::Ended).0, expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_carriage_return_at_the_end_waits_for_what_follows() {
        assert_eq!(shown(b"a\r", 100, Tail::Open).0, "a");
        assert_eq!(shown(b"a\r", 100, Tail::Ended).0, "a\r");
    }

    proptest! {
        #[test]
        fn while_nothing_is_missing_each_answer_begins_the_next(
            pieces in proptest::collection::vec(
                proptest::sample::select(vec![&b"\r"[..], b"\n", b"x", "é".as_bytes(), b"\xe2\x82", b"\xff"]),
                0..40,
            ),
        ) {
            let bytes = pieces.concat();
            let mut before = String::new();
            for upto in 0..=bytes.len() {
                let (text, truncated) = shown(&bytes[..upto], 1000, Tail::Open);
                prop_assert!(!truncated && text.starts_with(&before), "{:?} after {:?}", text, before);
                before = text;
            }
            let (text, _) = shown(&bytes, 1000, Tail::Ended);
            prop_assert!(text.starts_with(&before));
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes).replace("\r\n", "\n"));
        }
    }
}
