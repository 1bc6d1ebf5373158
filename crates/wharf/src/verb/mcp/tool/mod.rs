//! The tools: one file for each.

pub(super) mod close;
pub(super) mod execute;
pub(super) mod list;
pub(super) mod open;
pub(super) mod read;
pub(super) mod wait;

use super::answer;
use super::schema;
use super::teach;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Execute,
    Read,
    Wait,
    List,
    Open,
    Close,
}

impl Known {
    /// In the order in which they are listed.
    const ALL: [Self; 6] = [Self::Execute, Self::Read, Self::Wait, Self::List, Self::Open, Self::Close];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Execute => "terminal_execute",
            Self::Read => "terminal_read",
            Self::Wait => "terminal_wait",
            Self::List => "terminal_list",
            Self::Open => "terminal_open",
            Self::Close => "terminal_close",
        }
    }

    fn describe(self) -> Tool {
        let described =
            |text, input, output| Tool::new(self.name(), text, input).with_raw_output_schema(output);
        let tool = match self {
            Self::Execute => described(teach::EXECUTE, schema::input::<execute::Args>(), executed()),
            Self::Read => {
                described(teach::READ, schema::input::<read::Args>(), schema::output::<answer::Read>(&ALWAYS))
            }
            Self::Wait => described(teach::WAIT, schema::input::<wait::Args>(), executed()),
            Self::List => {
                described(teach::LIST, schema::input::<list::Args>(), schema::output::<answer::Listed>(&[]))
            }
            Self::Open => described(
                teach::OPEN,
                schema::input::<open::Args>(),
                schema::output::<answer::Entry>(&["terminal_id"]),
            ),
            Self::Close => described(
                teach::CLOSE,
                schema::input::<close::Args>(),
                schema::output::<answer::Closed>(&["content", "terminal_id"]),
            ),
        };
        tool.with_annotations(self.annotations())
    }

    fn annotations(self) -> ToolAnnotations {
        let titled = |title| ToolAnnotations::with_title(title);
        match self {
            Self::Execute => {
                titled("Run a command").read_only(false).destructive(true).idempotent(false).open_world(true)
            }
            Self::Read => titled("Read output").read_only(true).open_world(false),
            Self::Wait => titled("Wait for a command").read_only(true).open_world(false),
            Self::List => titled("List terminals").read_only(true).open_world(false),
            Self::Open => titled("Open a terminal")
                .read_only(false)
                .destructive(false)
                .idempotent(false)
                .open_world(false),
            Self::Close => titled("Close a terminal")
                .read_only(false)
                .destructive(true)
                .idempotent(false)
                .open_world(false),
        }
    }
}

/// What is in answers and refusals both.
const ALWAYS: [&str; 3] = ["content", "terminal_id", "status"];

fn executed() -> Arc<Map<String, Value>> {
    schema::output::<answer::Executed>(&ALWAYS)
}

/// All of them, always the same and in the same order.
pub(super) fn all() -> Vec<Tool> {
    Known::ALL.into_iter().map(Known::describe).collect()
}

/// The terminal that is meant if none is named.
fn usual() -> String {
    "default".to_owned()
}

fn half_a_minute() -> f64 {
    30.0
}

fn sixteen_kilobytes() -> u64 {
    16 * 1024
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Every object in it.
    fn walk(value: &Value, see: &mut dyn FnMut(&Map<String, Value>)) {
        match value {
            Value::Object(map) => {
                see(map);
                map.values().for_each(|value| walk(value, see));
            }
            Value::Array(all) => all.iter().for_each(|value| walk(value, see)),
            _ => {}
        }
    }

    #[test]
    fn all_tools_together_cost_less_than_eight_kilobytes() {
        let listed = serde_json::to_string(&json!({"tools": all()})).unwrap();
        assert!(listed.len() < 8 * 1024, "{} bytes: {listed}", listed.len());
        assert!(teach::INSTRUCTIONS.len() < 2048, "{}", teach::INSTRUCTIONS.len());
        for tool in all() {
            let text = tool.description.unwrap();
            assert!(text.len() < 1024, "{} {}", tool.name, text.len());
        }
    }

    #[test]
    fn schemas_have_nothing_that_a_client_could_stumble_over() {
        for tool in all() {
            let tool = serde_json::to_value(tool).unwrap();
            walk(&tool, &mut |map| {
                for word in ["format", "$ref", "$defs", "anyOf", "oneOf", "allOf", "$schema"] {
                    assert!(!map.contains_key(word), "{word} in {}", tool["name"]);
                }
                assert!(map.get("type").is_none_or(Value::is_string), "{map:?}");
                assert!(!map.values().any(Value::is_null), "{map:?}");
                assert!(map.get("additionalProperties").is_none_or(Value::is_object), "{map:?}");
            });
        }
    }

    #[test]
    fn the_list_is_the_same_every_time() {
        let list = || serde_json::to_string(&all()).unwrap();
        assert_eq!(list(), list());
    }
}
