//! Terminals as text that grows, for clients that can show nothing else.
//!
//! Content replaces what was there before. So a growth says all of a tool call's content again, the agent's own items byte
//! for byte as it sent them last, with the newest text in the places of its terminals.

use super::call::{Call, Item, Message, Shown, text_item, update};
use super::journal::{Most, glance, newest};
use super::recent::Recent;
use super::{Change, Display, Found, Kept, Last, Live, Lookup, text};
use crate::raw;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use wharf_core::{Terminal, TerminalId};

/// Text of the terminals of one tool call. At the end there is more, since it is said only once.
const TEXT: Most = Most { running: 32 * 1024, over: 256 * 1024 };
/// A tool call with more content than this is not sent ten times a second, only at the end.
const HEAVY: usize = 1 << 20;

impl<L: Lookup> Display<L> {
    /// What becomes of a message.
    pub(super) fn as_text(&mut self, message: &Message<'_>, terminals: &[Terminal]) -> Change {
        let Some(content) = message.content() else {
            return Change { before: self.conclude(message), ..Change::default() };
        };
        let Found { items, fresh, resumed } = self.find(message, content, terminals);
        self.attach(&message.key, &items);
        if !items.iter().any(|item| matches!(item, Item::Ours { .. } | Item::Gone)) {
            self.calls.remove(&message.key);
            return Change::default();
        }
        let mut call = Call::with(items);
        let mut body = message.body.clone();
        body.set("content", say(&mut call, &self.live, &self.kept));
        let weight = call.weight();
        self.calls.insert(message.key.clone(), call, weight);
        Change { before: Vec::new(), body: Some(body.to_raw()), embedded: [fresh, resumed].concat() }
    }

    /// The whole content of each tool call that has the terminal, if it says more than before.
    pub(super) fn grow(&mut self, id: &TerminalId) -> Vec<Box<RawValue>> {
        let Some(live) = self.live.get(id) else { return Vec::new() };
        let (standing, end) = glance(&live.terminal);
        let keys = live.calls.clone();
        let shown = if standing.is_over() {
            let among = keys.iter().filter_map(|key| self.calls.get(key)).map(Call::terminals).max();
            let last = text::markdown(&newest(&live.terminal, 0, shared(TEXT, among.unwrap_or(1))));
            self.keep(id, Last::Text(last));
            Shown::All
        } else {
            Shown::UpTo(end)
        };
        let mut messages = Vec::new();
        for key in keys {
            let Some(call) = self.calls.get_mut(&key) else { continue };
            let too_much = shown != Shown::All && call.weight() > HEAVY;
            if call.says(id, shown) || too_much {
                continue;
            }
            messages.push(update(&key, "content", say(call, &self.live, &self.kept)));
        }
        messages
    }
}

/// A tool call's content with text in the places of terminals.
fn say(call: &mut Call, live: &BTreeMap<TerminalId, Live>, kept: &Recent<TerminalId, Kept>) -> Box<RawValue> {
    let most = shared(TEXT, call.terminals());
    let mut said = Vec::with_capacity(call.items.len());
    for item in &mut call.items {
        said.push(match item {
            Item::Other(_) | Item::Foreign(_) | Item::Gone => item.written(),
            Item::Ours { id, shown, .. } => match (live.get(id), kept.get(id).map(|kept| &kept.last)) {
                (Some(live), _) => {
                    let newest = newest(&live.terminal, 0, most);
                    let over = newest.standing.is_over();
                    *shown = Some(if over { Shown::All } else { Shown::UpTo(newest.end()) });
                    text_item(&text::markdown(&newest))
                }
                (None, Some(Last::Text(text))) => {
                    *shown = Some(Shown::All);
                    text_item(text)
                }
                (None, _) => text_item(text::GONE),
            },
        });
    }
    raw::array(said.iter().map(AsRef::as_ref))
}

/// The share of one of several terminals in what a message may say.
fn shared(most: Most, among: usize) -> Most {
    let among = among.max(1);
    Most { running: most.running / among, over: most.over / among }
}
