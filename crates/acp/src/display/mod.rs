//! How a client that does not know our terminals is shown them.
//!
//! An agent embeds a terminal in a tool call by an id that the client has never heard of. So the agent's messages are
//! translated on their way: either by the `_meta` convention, for clients that announced it, or to text that grows. What
//! is not ours passes byte for byte. Who carries messages is not known here, and nothing waits: the owner of a
//! [`Display`] calls [`Display::catch_up`] when a [`watch()`]er says so.
//!
//! Text content replaces what was there, so each growth says the tool call's whole content again; with `_meta` output is
//! appended. Either way a command that prints without end costs a bounded amount for each message.

mod call;
mod growth;
mod journal;
mod meta;
mod recent;
mod text;
mod watch;

#[cfg(test)]
mod tests;

pub(crate) use watch::{Wake, watch};

use crate::host::Host;
use crate::raw::RawObject;
use agent_client_protocol::v1::schema::SessionId;
use call::{Call, Item, Key, Message};
use meta::Stream;
use recent::Recent;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use wharf_core::{Terminal, TerminalId};

/// Tool calls that are remembered, and their bytes.
const CALLS: (usize, usize) = (4096, 16 << 20);
/// Terminals that are remembered after their end, and the bytes of their last text.
const KEPT: (usize, usize) = (65_536, 16 << 20);
/// Terminals in one tool call that are shown, and tool calls in which one terminal grows: more is not for people.
const MOST_TERMINALS: usize = 64;
const MOST_CALLS: usize = 16;
/// How a client shows terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shows {
    /// By the `_meta` convention.
    Meta,
    /// As text.
    Text,
}

impl Shows {
    /// What a client's `clientCapabilities` announce.
    pub(crate) fn of(capabilities: Option<&RawValue>) -> Self {
        let announced = || RawObject::of(capabilities?)?.object("_meta")?.read::<bool>("terminal_output");
        if announced() == Some(true) { Self::Meta } else { Self::Text }
    }
}

/// Where terminals are found: those of a session that the agent has not released.
pub(crate) trait Lookup {
    /// One of them.
    fn terminal(&self, session: &SessionId, id: &str) -> Option<Terminal>;
}

impl Lookup for Host {
    fn terminal(&self, session: &SessionId, id: &str) -> Option<Terminal> {
        Self::terminal(self, session, id)
    }
}

/// The terminals that a message embeds. A terminal that is released in the next message is only found if this is asked
/// before that one is dealt with.
pub(crate) fn gather(lookup: &impl Lookup, method: &str, params: &RawValue) -> Vec<Terminal> {
    let gathered = || {
        let params = RawObject::of(params)?;
        let message = Message::of(method, &params)?;
        let ids = message.content()?.into_iter().filter_map(call::embedded).take(MOST_TERMINALS);
        Some(ids.filter_map(|id| lookup.terminal(&message.key.session, &id)).collect())
    };
    gathered().unwrap_or_default()
}

/// A message for the client in the place of the agent's.
#[derive(Debug)]
pub(crate) struct Translated {
    /// The parameters of `session/update` messages to be sent first.
    pub(crate) before: Vec<Box<RawValue>>,
    /// The parameters of the message itself.
    pub(crate) params: Box<RawValue>,
    /// Terminals that are shown from now on: each needs a watcher.
    pub(crate) embedded: Vec<Terminal>,
}

/// What a client has been shown. One task owns it.
#[derive(Debug)]
pub(crate) struct Display<L = Host> {
    lookup: L,
    shows: Shows,
    calls: Recent<Key, Call>,
    live: BTreeMap<TerminalId, Live>,
    kept: Recent<TerminalId, Kept>,
}

/// A terminal whose end has not been shown.
#[derive(Debug)]
struct Live {
    session: SessionId,
    terminal: Terminal,
    /// The tool calls whose content has it now, the latest last.
    calls: Vec<Key>,
    stream: Stream,
}

/// What is remembered of a terminal without its files.
#[derive(Debug)]
struct Kept {
    session: SessionId,
    last: Last,
}

#[derive(Debug)]
enum Last {
    /// Its end as text.
    Text(String),
    /// The client has all of it.
    Complete,
    /// It ended while no tool call had it; the client knows it and has its output up to an offset.
    Broken(u64),
    /// It is not ours: the agent shows it by itself.
    Foreign,
}

/// What becomes of a message: sent as it is if there is no new body.
#[derive(Default)]
struct Change {
    before: Vec<Box<RawValue>>,
    body: Option<Box<RawValue>>,
    embedded: Vec<Terminal>,
}

/// A message's content with our terminals in it found.
struct Found {
    items: Vec<Item>,
    /// Those that the client has never heard of.
    fresh: Vec<Terminal>,
    /// Those that it knows, and whose output goes on.
    resumed: Vec<Terminal>,
}

impl<L: Lookup> Display<L> {
    /// Whether a terminal is shown whose end has not been.
    pub(crate) fn is_live(&self) -> bool {
        !self.live.is_empty()
    }

    /// For a client that shows terminals in that way and has been shown none.
    pub(crate) fn new(lookup: L, shows: Shows) -> Self {
        Self {
            lookup,
            shows,
            calls: Recent::new(CALLS.0, CALLS.1),
            live: BTreeMap::new(),
            kept: Recent::new(KEPT.0, KEPT.1),
        }
    }

    /// What the client is sent instead of an agent's message; `None` if that passes as it is.
    pub(crate) fn translate(&mut self, method: &str, params: &RawValue) -> Option<Translated> {
        let terminals = gather(&self.lookup, method, params);
        self.translate_with(method, params, terminals)
    }

    /// As [`Display::translate`], with what [`gather`] found in the message when it came.
    pub(crate) fn translate_with(
        &mut self,
        method: &str,
        params: &RawValue,
        terminals: Vec<Terminal>,
    ) -> Option<Translated> {
        let mut object = RawObject::of(params)?;
        let message = Message::of(method, &object)?;
        let Change { before, body, embedded } = match self.shows {
            Shows::Meta => self.by_convention(&message, &terminals),
            Shows::Text => self.as_text(&message, &terminals),
        };
        let member = message.member;
        let params = match body {
            Some(body) => {
                object.set(member, body);
                object.to_raw()
            }
            None if before.is_empty() && embedded.is_empty() => return None,
            None => params.to_owned(),
        };
        Some(Translated { before, params, embedded })
    }

    /// What a terminal has printed since the last time, as the parameters of `session/update` messages.
    pub(crate) fn catch_up(&mut self, terminal: &TerminalId) -> Vec<Box<RawValue>> {
        match self.shows {
            Shows::Meta => self.stream(terminal),
            Shows::Text => self.grow(terminal),
        }
    }

    /// The same for all terminals of a session.
    pub(crate) fn flush(&mut self, session: &SessionId) -> Vec<Box<RawValue>> {
        self.catch_up_all(|live| live.session == *session)
    }

    fn catch_up_all(&mut self, which: impl Fn(&Live) -> bool) -> Vec<Box<RawValue>> {
        let some = self.live.iter().filter(|(_, live)| which(live));
        let ids: Vec<TerminalId> = some.map(|(id, _)| id.clone()).collect();
        ids.iter().flat_map(|id| self.catch_up(id)).collect()
    }

    /// Catches up before an agent says that a tool call is done.
    fn conclude(&mut self, message: &Message<'_>) -> Vec<Box<RawValue>> {
        if !message.is_final() {
            return Vec::new();
        }
        self.catch_up_all(|live| live.calls.contains(&message.key))
    }

    /// Sorts a content's items, and begins with the terminals that are new in it.
    fn find(&mut self, message: &Message<'_>, content: Vec<&RawValue>, terminals: &[Terminal]) -> Found {
        self.note_announced(message, terminals);
        let mut found = Found { items: Vec::new(), fresh: Vec::new(), resumed: Vec::new() };
        let mut shown = 0;
        for value in content {
            let item = match call::embedded(value) {
                None => Item::Other(value.to_owned()),
                Some(id) => match TerminalId::parse(&id) {
                    None => Item::Foreign(value.to_owned()),
                    Some(_) if shown == MOST_TERMINALS => Item::Gone,
                    Some(id) => self.find_terminal(&message.key.session, id, value, terminals, &mut found),
                },
            };
            shown += usize::from(item.ours().is_some());
            found.items.push(item);
        }
        found
    }

    fn find_terminal(
        &mut self,
        session: &SessionId,
        id: TerminalId,
        value: &RawValue,
        terminals: &[Terminal],
        found: &mut Found,
    ) -> Item {
        let ours = Item::Ours { id: id.clone(), written: value.to_owned(), shown: None };
        if self.live.get(&id).is_some_and(|live| live.session == *session) {
            return ours;
        }
        let kept = self.kept.get(&id).filter(|kept| kept.session == *session);
        let stream = match kept.map(|kept| &kept.last) {
            Some(Last::Foreign) => return Item::Foreign(value.to_owned()),
            Some(Last::Text(_) | Last::Complete) => return ours,
            Some(Last::Broken(at)) => Some(Stream::from(*at)),
            None => None,
        };
        match (terminals.iter().find(|terminal| *terminal.id() == id), stream) {
            (Some(terminal), stream) => {
                let side = if stream.is_some() { &mut found.resumed } else { &mut found.fresh };
                side.push(terminal.clone());
                let (session, terminal) = (session.clone(), terminal.clone());
                let live = Live { session, terminal, calls: Vec::new(), stream: stream.unwrap_or_default() };
                self.live.insert(id, live);
                ours
            }
            // The client knows it, though not all of it.
            (None, Some(_)) => ours,
            (None, None) => Item::Gone,
        }
    }

    /// Remembers a terminal that the agent shows by itself. As text nothing can be shown by itself but what is not ours.
    fn note_announced(&mut self, message: &Message<'_>, terminals: &[Terminal]) {
        let Some(id) = message.announced().as_deref().and_then(TerminalId::parse) else { return };
        let ours = terminals.iter().any(|terminal| *terminal.id() == id) && self.shows == Shows::Text;
        if !ours && !self.live.contains_key(&id) && self.kept.get(&id).is_none() {
            let session = message.key.session.clone();
            self.kept.insert(id, Kept { session, last: Last::Foreign }, 0);
        }
    }

    /// From now on a tool call has these terminals and no others.
    fn attach(&mut self, key: &Key, items: &[Item]) {
        for (id, live) in &mut self.live {
            live.calls.retain(|call| call != key);
            if items.iter().any(|item| item.ours() == Some(id)) {
                live.calls.push(key.clone());
                let surplus = live.calls.len().saturating_sub(MOST_CALLS);
                live.calls.drain(..surplus);
            }
        }
    }

    /// Lets go of a terminal that is over.
    fn keep(&mut self, id: &TerminalId, last: Last) {
        let Some(live) = self.live.remove(id) else { return };
        let weight = if let Last::Text(text) = &last { text.len() } else { 0 };
        self.kept.insert(id.clone(), Kept { session: live.session, last }, weight + 128);
    }
}
