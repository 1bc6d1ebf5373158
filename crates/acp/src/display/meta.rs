//! The `_meta` convention: how an agent has a client show a terminal that the client did not make.
//!
//! `terminal_info` on a `tool_call` makes it known, `terminal_output` on updates appends text to it, `terminal_exit` ends
//! it. Clients read the first on `tool_call` only, and start a terminal anew if it is said twice; so a terminal that comes
//! in later is made known by a `tool_call` of ours that repeats what the agent has said so far.

use super::call::{Call, Item, Key, Kind, Message, notification, update};
use super::journal::{Most, Standing, glance, newest};
use super::text::status;
use super::{Change, Display, Last, Lookup};
use crate::raw::{self, RawObject};
use serde::Serialize;
use serde_json::value::RawValue;
use wharf_core::{Decoder, Terminal, TerminalId};

/// The largest piece of output in one message, in bytes of text.
const PIECE: usize = 64 * 1024;
/// While a command runs, one piece at a time, the newest; at its end some more, since nothing will follow.
const MOST: Most = Most { running: PIECE, over: 4 * PIECE };

#[derive(Serialize)]
struct Info<'a> {
    terminal_id: &'a str,
    cwd: &'a str,
}

#[derive(Serialize)]
struct Output<'a> {
    terminal_id: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
struct Exit<'a> {
    terminal_id: &'a str,
    exit_code: Option<i32>,
    signal: Option<String>,
}

impl<L: Lookup> Display<L> {
    /// What becomes of a message.
    pub(super) fn by_convention(&mut self, message: &Message<'_>, terminals: &[Terminal]) -> Change {
        let key = &message.key;
        let before = self.conclude(message);
        let known = self.calls.remove(key).filter(|_| message.kind == Kind::Change);
        let mut call = known.unwrap_or_default();
        call.learn(message);
        let change = match message.content() {
            Some(content) => {
                let found = self.find(message, content, terminals);
                self.attach(key, &found.items);
                call.items = found.items;
                self.make_known(message, &call, before, found.fresh, found.resumed)
            }
            None => Change { before, ..Change::default() },
        };
        let weight = call.weight();
        self.calls.insert(key.clone(), call, weight);
        change
    }

    /// Makes fresh terminals known, and edits the agent's own message only where it must.
    fn make_known(
        &mut self,
        message: &Message<'_>,
        call: &Call,
        mut before: Vec<Box<RawValue>>,
        mut fresh: Vec<Terminal>,
        resumed: Vec<Terminal>,
    ) -> Change {
        let embedded = [fresh.as_slice(), &resumed].concat();
        let (mut body, mut edited) = (message.body.clone(), false);
        if call.items.iter().any(|item| matches!(item, Item::Gone)) {
            let written: Vec<_> = call.items.iter().map(Item::written).collect();
            body.set("content", raw::array(written.iter().map(AsRef::as_ref)));
            edited = true;
        }
        // One terminal can be made known by the agent's own message, if that is of the right kind and free.
        let free = message.kind == Kind::Whole && message.announced().is_none();
        let last = if free { fresh.pop() } else { None };
        self.introduce(message, call, &fresh, last.as_ref(), &mut before);
        if let Some(terminal) = last {
            body.set("_meta", introduce(message.body.get("_meta"), &terminal));
            edited = true;
        }
        Change { before, body: edited.then(|| body.to_raw()), embedded }
    }

    /// Makes terminals known, one message for each, all but the one that the agent's own message makes known.
    fn introduce(
        &mut self,
        message: &Message<'_>,
        call: &Call,
        fresh: &[Terminal],
        last: Option<&Terminal>,
        before: &mut Vec<Box<RawValue>>,
    ) {
        for (index, terminal) in fresh.iter().enumerate() {
            let not_yet: Vec<_> = fresh[index + 1..].iter().chain(last).map(Terminal::id).collect();
            before.push(introduction(&message.key, call, terminal, &not_yet));
            if message.is_final() {
                before.extend(self.stream(terminal.id()));
            }
        }
    }

    /// What is new, for the tool call that has the terminal.
    pub(super) fn stream(&mut self, id: &TerminalId) -> Vec<Box<RawValue>> {
        let Some(live) = self.live.get_mut(id) else { return Vec::new() };
        let Some(key) = live.calls.first() else {
            if glance(&live.terminal).0.is_over() {
                let at = live.stream.offset();
                self.keep(id, Last::Broken(at));
            }
            return Vec::new();
        };
        let (messages, standing) = live.stream.catch_up(key, &live.terminal);
        if standing.is_over() {
            self.keep(id, Last::Complete);
        }
        messages
    }
}

/// Somebody's `_meta` and in it a terminal that the client is to know from now on.
fn introduce(meta: Option<&RawValue>, terminal: &Terminal) -> Box<RawValue> {
    let mut meta = meta.and_then(RawObject::of).unwrap_or_default();
    let cwd = terminal.meta().cwd.to_string_lossy();
    meta.set("terminal_info", raw::raw(&Info { terminal_id: terminal.id().as_str(), cwd: &cwd }));
    meta.to_raw()
}

/// A `tool_call` that says what is known of it already, and makes a terminal known. Terminals that the client does not
/// know yet are left out of its content: some clients refuse the whole message for one of them.
fn introduction(key: &Key, call: &Call, terminal: &Terminal, not_yet: &[&TerminalId]) -> Box<RawValue> {
    let mut body = RawObject::default();
    body.set("sessionUpdate", raw::raw("tool_call"));
    body.set("toolCallId", raw::raw(&key.call));
    // A title there must be.
    body.set("title", raw::raw(&terminal.meta().command_line()));
    for (name, value) in call.known().members() {
        body.set(name, value.to_owned());
    }
    let known = |item: &&Item| match item {
        Item::Foreign(_) => false,
        Item::Ours { id, .. } => !not_yet.contains(&id),
        Item::Other(_) | Item::Gone => true,
    };
    let content: Vec<_> = call.items.iter().filter(known).map(Item::written).collect();
    body.set("content", raw::array(content.iter().map(AsRef::as_ref)));
    body.set("_meta", introduce(call.known().get("_meta"), terminal));
    notification(key, body.to_raw())
}

/// How far a terminal's output has been sent.
#[derive(Debug, Default)]
pub(super) struct Stream {
    at: u64,
    decoder: Decoder,
}

impl Stream {
    /// One that goes on from an offset.
    pub(super) fn from(at: u64) -> Self {
        Self { at, decoder: Decoder::new() }
    }

    /// From where it can go on: a character that is not complete was not sent.
    pub(super) fn offset(&self) -> u64 {
        self.at - self.decoder.held() as u64
    }

    /// What is new, as messages about a tool call, and how the terminal stands: with its end, that is said too.
    pub(super) fn catch_up(&mut self, key: &Key, terminal: &Terminal) -> (Vec<Box<RawValue>>, Standing) {
        let id = terminal.id().as_str();
        let (text, standing) = self.read(terminal);
        let said = |name, value| update(key, "_meta", raw::object([(name, value)]));
        let mut messages: Vec<_> = pieces(&text, PIECE)
            .map(|data| said("terminal_output", raw::raw(&Output { terminal_id: id, data })))
            .collect();
        if standing.is_over() {
            let (exit_code, signal) = match &standing {
                Standing::Ended(ended) => (ended.exit_code(), ended.signal()),
                Standing::Running | Standing::NeverRan | Standing::Unreadable => (None, None),
            };
            messages.push(said("terminal_exit", raw::raw(&Exit { terminal_id: id, exit_code, signal })));
        }
        (messages, standing)
    }

    fn read(&mut self, terminal: &Terminal) -> (String, Standing) {
        let new = newest(terminal, self.at, MOST);
        let mut text = String::new();
        if new.at > self.at {
            let newline = if self.at > 0 { "\n" } else { "" };
            text = format!("{newline}[{} bytes not shown]\n", new.at - self.offset());
            self.decoder = Decoder::new();
        }
        text += &self.decoder.push(&new.bytes);
        self.at = new.end();
        if new.standing.is_over() {
            text += &self.decoder.finish();
            // A code or a signal has its own place; for an end without either there is none but this.
            let is_plain =
                |ended: &wharf_core::Ended| ended.exit_code().is_some() || ended.signal().is_some();
            if !matches!(&new.standing, Standing::Ended(ended) if is_plain(ended)) {
                text += &format!("\n[{}]\n", status(&new.standing).trim_matches(['[', ']']));
            }
        }
        (text, new.standing)
    }
}

/// Text in pieces of at most so many bytes, cut between characters.
fn pieces(text: &str, most: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let cut = rest.floor_char_boundary(most);
        let (piece, after) = rest.split_at(cut);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn pieces_are_cut_between_characters_and_are_all_of_it() {
        for (text, cut) in [
            ("", vec![]),
            ("abcd", vec!["abcd"]),
            ("abcde", vec!["abcd", "e"]),
            ("abc€€", vec!["abc", "€", "€"]),
        ] {
            assert_eq!(pieces(text, 4).collect::<Vec<_>>(), cut, "{text}");
        }
    }
}
