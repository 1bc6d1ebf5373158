//! What the integration in a shell tells, as values.
//!
//! A body is a letter and fields between semicolons; whatever is text in it has its bytes as `%xx` where they are not
//! plain. The first field is the number of the process that tells: a shell in a shell that has inherited something is not
//! the one that is followed.

use super::Kind;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// One thing told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    /// It takes a command now.
    Taken,
    /// A command begins.
    Began {
        id: u64,
        /// Microseconds since 1970, if the shell has such a clock.
        at: Option<u64>,
        order: Order,
    },
    /// A command has ended.
    Ended { id: u64, code: i32, at: Option<u64>, cwd: PathBuf },
    /// The prompt of such a shell is about to be printed.
    Prompt {
        kind: Kind,
        cwd: PathBuf,
        /// The shell has just taken another's place.
        is_new: bool,
        /// By an integration that takes commands as they are given now. One of an earlier version may go on for days.
        is_current: bool,
    },
    /// The prompt is there and keys are read.
    Ready,
    /// A command was not run: what the shell said of it.
    Refused { order: Order, words: String },
    /// The answer to the question whether the integration is there.
    Here,
    /// The same, from within a command that reads keys as the shell does.
    Within,
}

/// What is said of a command with it: who gave it, and how it began.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Order {
    /// Tells one's own commands from others'.
    pub(super) token: String,
    pub(super) author: String,
    pub(super) text: String,
}

impl Order {
    /// As it is sent.
    pub(super) fn encode(&self) -> String {
        [&self.token, &self.author, &self.text].map(|part| escape(part)).join(",")
    }

    fn decode(text: &str) -> Self {
        let mut parts = text.splitn(3, ',').map(|part| String::from_utf8_lossy(&unescape(part)).into_owned());
        let mut next = || parts.next().unwrap_or_default();
        Self { token: next(), author: next(), text: next() }
    }
}

impl Mark {
    /// What a body says, if it is that process's and makes sense.
    pub(super) fn parse(body: &str, pid: i32) -> Option<Self> {
        let mut fields = body.split(';');
        let letter = fields.next()?;
        if fields.next()?.parse() != Ok(pid) {
            return None;
        }
        let mut next = || fields.next();
        Some(match letter {
            "T" => Self::Taken,
            "B" => Self::Ready,
            "P" => Self::Here,
            "N" => Self::Within,
            "C" => Self::Began { id: number(next()?)?, at: clock(next()?), order: Order::decode(next()?) },
            "D" => Self::Ended {
                id: number(next()?)?,
                code: next()?.parse().ok()?,
                at: clock(next()?),
                cwd: path(next()?),
            },
            "A" => {
                let (kind, cwd, new) = (Kind::of(Path::new(next()?))?, path(next()?), next());
                Self::Prompt { kind, cwd, is_new: new == Some("new"), is_current: new.is_some() }
            }
            "E" => {
                let order = Order::decode(next()?);
                let words = String::from_utf8_lossy(&unescape(next()?)).into_owned();
                Self::Refused { order, words }
            }
            _ => return None,
        })
    }
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// Seconds with a fraction, after whatever the locale puts before fractions.
fn clock(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    let micros: String = fraction.chars().chain("000000".chars()).take(6).collect();
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(micros.parse().ok()?)
}

fn path(text: &str) -> PathBuf {
    OsString::from_vec(unescape(text)).into()
}

/// Plain letters stay; the scripts have the same list.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"/._~@:+=-".contains(&byte)
}

fn escape(text: &str) -> String {
    let each = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") };
    text.bytes().map(each).collect()
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = (*first == b'%').then(|| after.get(..2)).flatten();
        let code = code.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bodies_are_read() {
        let order = Order { token: "t".into(), author: "me, you".into(), text: "echo;\n".into() };
        let body = format!("C;7;3;12.5;{}", order.encode());
        assert_eq!(
            Mark::parse(&body, 7),
            Some(Mark::Began { id: 3, at: Some(12_500_000), order: order.clone() })
        );
        let ended = Mark::Ended { id: 3, code: 130, at: Some(13_000_001), cwd: "/a b\n".into() };
        assert_eq!(Mark::parse("D;7;3;130;13,000001;/a%20b%0a", 7), Some(ended));
        for (body, is_new, is_current) in
            [("A;7;zsh;/x", false, false), ("A;7;zsh;/x;", false, true), ("A;7;zsh;/x;new", true, true)]
        {
            let prompt = Mark::Prompt { kind: Kind::Zsh, cwd: "/x".into(), is_new, is_current };
            assert_eq!(Mark::parse(body, 7), Some(prompt));
        }
        assert_eq!(Mark::parse("B;7", 7), Some(Mark::Ready));
        let refused = Mark::Refused { order: order.clone(), words: "no; 100%".into() };
        assert_eq!(Mark::parse(&format!("E;7;{};no%3b 100%", order.encode()), 7), Some(refused));
    }

    #[test]
    fn what_another_process_says_or_makes_no_sense_is_nothing() {
        for body in ["B;8", "B", "", "D;7;3;x;1;/", "C;7;;;", "Z;7", "D;7", "B;7x", "A;7;-1;/"] {
            assert_eq!(Mark::parse(body, 7), None, "{body}");
        }
    }

    proptest! {
        #[test]
        fn every_text_survives(text in ".*") {
            prop_assert_eq!(unescape(&escape(&text)), text.as_bytes());
        }

        #[test]
        fn no_body_panics(body in ".{0,60}") {
            let _ = Mark::parse(&body, 7);
        }
    }
}
