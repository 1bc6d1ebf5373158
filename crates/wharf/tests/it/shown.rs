//! A tool call as a client would show it, from the updates that reached it: later ones replace what earlier ones said,
//! except for output by the `_meta` convention, which is appended.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use serde_json::Value;

#[derive(Debug, Default)]
pub(crate) struct Shown {
    pub(crate) status: String,
    /// The content items as they are now.
    pub(crate) content: Vec<Value>,
    /// All text that was there at any time, one state after the other.
    pub(crate) texts: Vec<String>,
    /// The terminals that `terminal_info` introduced.
    pub(crate) infos: Vec<String>,
    /// What `terminal_output` brought.
    pub(crate) output: String,
    /// What `terminal_exit` said, in order.
    pub(crate) exits: Vec<Value>,
}

impl Shown {
    /// The tool call `id` at the end of a scenario.
    pub(crate) fn of(scene: &Value, id: &str) -> Self {
        let mut shown = Self::default();
        let updates = scene["updates"].as_array().unwrap().iter().map(|update| &update["update"]);
        updates.filter(|update| update["toolCallId"] == id).for_each(|update| shown.take(update));
        shown
    }

    fn take(&mut self, update: &Value) {
        if let Some(status) = update["status"].as_str() {
            status.clone_into(&mut self.status);
        }
        if let Some(content) = update["content"].as_array() {
            self.content.clone_from(content);
            self.texts.push(self.text());
        }
        let meta = &update["_meta"];
        if let Some(id) = meta["terminal_info"]["terminal_id"].as_str() {
            assert_eq!(update["sessionUpdate"], "tool_call", "clients read it nowhere else");
            self.infos.push(id.to_owned());
        }
        if let Some(data) = meta["terminal_output"]["data"].as_str() {
            assert!(self.exits.is_empty(), "output after the end: {data:?}");
            assert_eq!(
                self.infos.last().map(String::as_str),
                meta["terminal_output"]["terminal_id"].as_str()
            );
            self.output.push_str(data);
        }
        if let Some(exit) = meta.get("terminal_exit") {
            self.exits.push(exit.clone());
        }
    }

    /// All text of the content.
    pub(crate) fn text(&self) -> String {
        self.content.iter().filter_map(|item| item["content"]["text"].as_str()).collect()
    }

    /// The terminals that the content refers to.
    pub(crate) fn references(&self) -> Vec<&str> {
        self.content.iter().filter_map(|item| item["terminalId"].as_str()).collect()
    }
}
