//! Tool calls as the client knows them: what the agent has said of each so far.
//!
//! A message about a tool call is read here and nowhere else. It comes in three forms that say the same: `tool_call`,
//! `tool_call_update`, and the tool call in a permission request, which is an update too.

use super::text::GONE;
use crate::raw::{self, RawObject};
use agent_client_protocol::v1::schema::SessionId;
use serde_json::value::RawValue;
use wharf_core::TerminalId;

/// A tool call's name: ids are the agent's, one set for each session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) session: SessionId,
    pub(super) call: String,
}

/// Whether a message tells of the whole tool call or of changes to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Whole,
    Change,
}

/// What an agent says of a tool call.
#[derive(Debug)]
pub(super) struct Message<'a> {
    pub(super) key: Key,
    pub(super) kind: Kind,
    /// The member of `params` that holds it.
    pub(super) member: &'static str,
    pub(super) body: RawObject<'a>,
}

impl<'a> Message<'a> {
    /// `None` if the message is about something else.
    pub(super) fn of(method: &str, params: &'a RawObject<'_>) -> Option<Self> {
        let member = match method {
            "session/update" => "update",
            "session/request_permission" => "toolCall",
            _ => return None,
        };
        let body = params.object(member)?;
        let kind = match (member, body.read::<String>("sessionUpdate").as_deref()) {
            ("toolCall", _) | (_, Some("tool_call_update")) => Kind::Change,
            (_, Some("tool_call")) => Kind::Whole,
            _ => return None,
        };
        let key = Key { session: params.read("sessionId")?, call: body.read("toolCallId")? };
        Some(Self { key, kind, member, body })
    }

    /// The content that the tool call has from now on; `None` if it stays what it was.
    pub(super) fn content(&self) -> Option<Vec<&RawValue>> {
        match (self.body.get("content").and_then(raw::items), self.kind) {
            (None, Kind::Whole) => Some(Vec::new()),
            (content, _) => content,
        }
    }

    /// Whether the agent says that the tool call is done.
    pub(super) fn is_final(&self) -> bool {
        let status: Option<String> = self.body.read("status");
        matches!(status.as_deref(), Some("completed" | "failed"))
    }

    /// The id of a terminal that the agent shows by itself, by the same convention as we do.
    pub(super) fn announced(&self) -> Option<String> {
        let meta = self.body.object("_meta")?;
        meta.object("terminal_info")?.read("terminal_id")
    }
}

/// The id in a content item, if it is a terminal.
pub(super) fn embedded(item: &RawValue) -> Option<String> {
    let item = RawObject::of(item)?;
    let is_terminal = item.read::<String>("type")? == "terminal";
    is_terminal.then(|| item.read("terminalId"))?
}

/// One item of a tool call's content.
#[derive(Debug, Clone)]
pub(super) enum Item {
    /// Something else, as the agent wrote it.
    Other(Box<RawValue>),
    /// A terminal that is not ours.
    Foreign(Box<RawValue>),
    /// A terminal of ours, as the agent wrote it, and how much of it the client has been shown as text.
    Ours { id: TerminalId, written: Box<RawValue>, shown: Option<Shown> },
    /// A terminal of ours that nothing is known of any more.
    Gone,
}

/// How much of a terminal a text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// Everything up to this offset.
    UpTo(u64),
    /// The end.
    All,
}

impl Item {
    /// The terminal, if it is one of ours.
    pub(super) fn ours(&self) -> Option<&TerminalId> {
        match self {
            Self::Ours { id, .. } => Some(id),
            Self::Other(_) | Self::Foreign(_) | Self::Gone => None,
        }
    }

    /// As the agent wrote it, if it can stay so.
    pub(super) fn written(&self) -> Box<RawValue> {
        match self {
            Self::Other(raw) | Self::Foreign(raw) | Self::Ours { written: raw, .. } => raw.clone(),
            Self::Gone => text_item(GONE),
        }
    }

    fn weight(&self) -> usize {
        match self {
            Self::Other(raw) | Self::Foreign(raw) | Self::Ours { written: raw, .. } => raw.get().len() + 64,
            Self::Gone => 64,
        }
    }
}

/// Text as an item of content.
pub(super) fn text_item(text: &str) -> Box<RawValue> {
    let content = raw::object([("type", raw::raw("text")), ("text", raw::raw(text))]);
    raw::object([("type", raw::raw("content")), ("content", content)])
}

/// The parameters of a `session/update` that changes a tool call.
pub(super) fn update(key: &Key, member: &str, value: Box<RawValue>) -> Box<RawValue> {
    let update = raw::object([
        ("sessionUpdate", raw::raw("tool_call_update")),
        ("toolCallId", raw::raw(&key.call)),
        (member, value),
    ]);
    notification(key, update)
}

/// The parameters of a `session/update`.
pub(super) fn notification(key: &Key, update: Box<RawValue>) -> Box<RawValue> {
    raw::object([("sessionId", raw::raw(&key.session)), ("update", update)])
}

/// What is known of one tool call.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// Its members but for the content, each as it was written last.
    known: RawObject<'static>,
    /// Its content.
    pub(super) items: Vec<Item>,
}

/// What a tool call consists of beside its id and its content.
const MEMBERS: [&str; 7] = ["title", "name", "kind", "status", "locations", "rawInput", "rawOutput"];

impl Call {
    /// One of which nothing but the content matters.
    pub(super) fn with(items: Vec<Item>) -> Self {
        Self { known: RawObject::default(), items }
    }

    /// Takes in what a message says, but for the content.
    pub(super) fn learn(&mut self, message: &Message<'_>) {
        for name in MEMBERS {
            // In an update, null means that nothing changes.
            if let Some(value) = message.body.get(name).filter(|value| value.get() != "null") {
                self.known.set(name, value.to_owned());
            }
        }
        if let (Kind::Whole, Some(mut meta)) = (message.kind, message.body.object("_meta")) {
            // Said again, these would be done again.
            for done in ["terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit"] {
                meta.remove(done);
            }
            self.known.set("_meta", meta.to_raw());
        }
    }

    /// What is known but for the content.
    pub(super) fn known(&self) -> &RawObject<'static> {
        &self.known
    }

    /// How many of our terminals its content has.
    pub(super) fn terminals(&self) -> usize {
        self.items.iter().filter_map(Item::ours).count()
    }

    /// Whether the client has been shown just this much of a terminal in it.
    pub(super) fn says(&self, terminal: &TerminalId, much: Shown) -> bool {
        let says = |item: &Item| match item {
            Item::Ours { id, shown, .. } => id == terminal && *shown == Some(much),
            Item::Other(_) | Item::Foreign(_) | Item::Gone => false,
        };
        self.items.iter().any(says)
    }

    /// About how much memory it takes.
    pub(super) fn weight(&self) -> usize {
        let known: usize = self.known.members().map(|(_, value)| value.get().len()).sum();
        known + self.items.iter().map(Item::weight).sum::<usize>() + 256
    }
}
