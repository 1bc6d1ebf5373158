//! The tools: one file for each.

pub(super) mod close;
pub(super) mod execute;
pub(super) mod list;
pub(super) mod open;
pub(super) mod read;
pub(super) mod wait;

use super::answer::{self, Form};
use super::schema;
use super::teach;
use rmcp::model::{MetaObject, Tool, ToolAnnotations};
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

/// What is offered to a client.
#[derive(Debug)]
pub(super) struct Tools {
    /// As it is listed: always the same, in the same order.
    pub(super) listed: Vec<Tool>,
    /// What each takes, with its ranges.
    inputs: Vec<Arc<Map<String, Value>>>,
}

impl Tools {
    pub(super) fn new(form: Form) -> Self {
        let inputs = Known::ALL.map(Known::input).to_vec();
        let described = Known::ALL.into_iter().zip(&inputs);
        Self { listed: described.map(|(known, input)| known.describe(input, form)).collect(), inputs }
    }

    /// What that tool takes.
    pub(super) fn input(&self, known: Known) -> &Map<String, Value> {
        &self.inputs[known as usize]
    }
}

impl Known {
    /// In the order in which they are listed.
    const ALL: [Self; 6] = [Self::Execute, Self::Read, Self::Wait, Self::List, Self::Open, Self::Close];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Execute => "terminal_execute",
            Self::Read => "terminal_read",
            Self::Wait => "terminal_wait",
            Self::List => "terminal_list",
            Self::Open => "terminal_open",
            Self::Close => "terminal_close",
        }
    }

    /// Whether it matters in which order calls of it come to a terminal.
    pub(super) fn begins_something(self) -> bool {
        matches!(self, Self::Execute | Self::Open | Self::Close)
    }

    /// What it takes, with its ranges.
    pub(super) fn input(self) -> Arc<Map<String, Value>> {
        match self {
            Self::Execute => schema::input::<execute::Args>(),
            Self::Read => schema::input::<read::Args>(),
            Self::Wait => schema::input::<wait::Args>(),
            Self::List => schema::input::<list::Args>(),
            Self::Open => schema::input::<open::Args>(),
            Self::Close => schema::input::<close::Args>(),
        }
    }

    fn output(self) -> Arc<Map<String, Value>> {
        match self {
            Self::Execute | Self::Wait => schema::output::<answer::Executed>(&ALWAYS),
            Self::Read => schema::output::<answer::Read>(&ALWAYS),
            Self::List => schema::output::<answer::Listed>(&[]),
            Self::Open => schema::output::<answer::Entry>(&["terminal_id"]),
            Self::Close => schema::output::<answer::Closed>(&["content", "terminal_id"]),
        }
    }

    fn describe(self, input: &Map<String, Value>, form: Form) -> Tool {
        let text = match self {
            Self::Execute => teach::EXECUTE,
            Self::Read => teach::READ,
            Self::Wait => teach::WAIT,
            Self::List => teach::LIST,
            Self::Open => teach::OPEN,
            Self::Close => teach::CLOSE,
        };
        let mut tool =
            Tool::new(self.name(), text, schema::shown(input)).with_annotations(self.annotations());
        // A client may hold every answer against a schema, so there is one only if there is data to hold against it.
        if form == Form::Structured {
            tool.output_schema = Some(self.output());
        }
        if matches!(self, Self::Execute | Self::Read | Self::Wait) {
            tool.meta = Some(MetaObject(Map::from_iter([(ALWAYS_LOAD.to_owned(), true.into())])));
        }
        tool
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

/// Claude Code shows its model the tools of a server only when it looks for them, unless a tool says this.
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

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

    fn all() -> Vec<Tool> {
        Tools::new(Form::Structured).listed
    }

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
    fn all_tools_together_cost_a_model_less_than_six_kilobytes() {
        for (form, most) in [(Form::Text, 6 * 1024), (Form::Structured, 9 * 1024)] {
            let listed = serde_json::to_string(&json!({"tools": Tools::new(form).listed})).unwrap();
            assert!(listed.len() < most, "{} bytes: {listed}", listed.len());
        }
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
    fn a_schema_of_answers_is_there_only_with_data() {
        assert!(Tools::new(Form::Text).listed.iter().all(|tool| tool.output_schema.is_none()));
        assert!(all().iter().all(|tool| tool.output_schema.is_some()));
    }

    #[test]
    fn defaults_are_in_the_descriptions_because_some_clients_drop_them_from_schemas() {
        for known in Known::ALL {
            let input = known.input();
            let Some(Value::Object(all)) = input.get("properties") else { panic!("{known:?}") };
            for (name, one) in all.iter().filter(|(_, one)| one.get("default").is_some()) {
                let said = one["description"].as_str().unwrap_or_default();
                let value = match &one["default"] {
                    Value::Number(number) => number.as_f64().unwrap().to_string(),
                    value => value.as_str().unwrap().to_owned(),
                };
                assert!(said.contains(&value), "{} {name}: {value} is not in {said:?}", known.name());
            }
        }
    }

    #[test]
    fn the_list_is_the_same_every_time() {
        let list = || serde_json::to_string(&all()).unwrap();
        assert_eq!(list(), list());
    }
}
