//! The arguments of a call, as clients and models write them: put into the form that the tools take.
//!
//! It goes by the tool's schema and knows nothing of what an argument does. What can only have been meant one way is taken
//! that way (`"30"`, `5` for text, null); what is out of range is brought into it, and what no tool has is left out, both
//! with a word to the model. What surprises: a client that makes every argument a required one leaves its model no way to leave
//! one out, so the model says null, or zero where zero means nothing.

use super::refusal::Refusal;
use super::tool::Known;
use serde_json::{Map, Number, Value};

/// Gemini CLI tells its model of these beside every tool's own arguments, and passes them on.
const ADDED: [&str; 1] = ["wait_for_previous"];

/// What a tool was given.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) arguments: Map<String, Value>,
    /// What was not taken as it stood.
    pub(super) notice: Vec<String>,
}

/// Reads arguments by the schema of the tool that is called.
pub(super) fn read(
    tool: Known,
    schema: &Map<String, Value>,
    arguments: Map<String, Value>,
) -> Result<Given, Refusal> {
    let nothing = Map::new();
    let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
    let mut given = Given { arguments: Map::new(), notice: Vec::new() };
    let mut ignored = Vec::new();
    for (name, value) in arguments {
        match known.get(&name) {
            _ if value.is_null() => {}
            None if ADDED.contains(&name.as_str()) => {}
            None => ignored.push(name),
            Some(Value::Object(kind)) => given.take(name, value, kind)?,
            Some(_) => drop(given.arguments.insert(name, value)),
        }
    }
    if !ignored.is_empty() {
        let names = known.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let has = if names.is_empty() { "no arguments".to_owned() } else { names };
        given.notice.push(format!("ignored: {}; {} has {has}", ignored.join(", "), tool.name()));
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    if let Some(missing) =
        required.filter_map(Value::as_str).find(|name| !given.arguments.contains_key(*name))
    {
        let also = given.notice.join("; ");
        let text = format!("{missing} is missing. {also}");
        return Err(Refusal::new("invalid", text.trim_end()));
    }
    Ok(given)
}

impl Given {
    fn take(&mut self, name: String, value: Value, kind: &Map<String, Value>) -> Result<(), Refusal> {
        let kinds = kind.get("type").and_then(Value::as_str).unwrap_or_default();
        let taken = match kinds {
            "string" => text(&name, &value, kind)?,
            "boolean" => flag(&name, &value)?,
            "integer" | "number" => match self.number(&name, &value, kind)? {
                Some(number) => number,
                None => return Ok(()),
            },
            "object" => object(&name, value)?,
            _ => value,
        };
        self.arguments.insert(name, taken);
        Ok(())
    }

    /// Within its range. None for a zero that means nothing.
    fn number(
        &mut self,
        name: &str,
        value: &Value,
        kind: &Map<String, Value>,
    ) -> Result<Option<Value>, Refusal> {
        let bound = |word: &str| kind.get(word).and_then(Value::as_f64);
        let (least, most) = (bound("minimum").unwrap_or(0.0), bound("maximum").unwrap_or(f64::MAX));
        let written = match value {
            Value::String(text) => text.trim().parse::<f64>().ok().filter(|number| number.is_finite()),
            value => value.as_f64(),
        };
        let Some(number) = written else { return Err(wrong(name, "a number, such as 30", value)) };
        if number == 0.0 && least > 0.0 {
            return Ok(None);
        }
        let kept = number.clamp(least, most);
        if kept != number {
            let range =
                if most == f64::MAX { format!("at least {least}") } else { format!("{least} to {most}") };
            self.notice.push(format!("{name} was taken as {kept}: it must be {range}"));
        }
        let whole = kind.get("type").is_some_and(|kind| kind == "integer");
        Ok(Some(if whole {
            integer(kept)
        } else {
            Number::from_f64(kept).map_or(Value::Null, Value::Number)
        }))
    }
}

/// 5.0 is an integer to JSON Schema, and what languages with one kind of number write. Fractions are dropped, and numbers
/// too large for an integer become the largest.
fn integer(number: f64) -> Value {
    Value::from(number as u64)
}

/// A number or a truth as text is what it reads as: an answer to a program that asks for a number, most likely.
fn text(name: &str, value: &Value, kind: &Map<String, Value>) -> Result<Value, Refusal> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        _ => return Err(wrong(name, "text", value)),
    };
    let Some(words) = kind.get("enum").and_then(Value::as_array) else { return Ok(text.into()) };
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words.iter().find(|word| word.eq_ignore_ascii_case(&text)) {
        Some(word) => Ok((*word).into()),
        None => Err(wrong(name, &format!("one of {}", words.join(", ")), value)),
    }
}

fn flag(name: &str, value: &Value) -> Result<Value, Refusal> {
    let word = match value {
        Value::Bool(_) => return Ok(value.clone()),
        Value::String(text) => text.trim().to_ascii_lowercase(),
        other => other.to_string(),
    };
    match word.as_str() {
        "true" | "1" | "yes" => Ok(true.into()),
        "false" | "0" | "no" | "" => Ok(false.into()),
        _ => Err(wrong(name, "true or false", value)),
    }
}

/// Names with texts; also written as JSON in a text.
fn object(name: &str, value: Value) -> Result<Value, Refusal> {
    let parsed = match &value {
        Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    };
    let Value::Object(mut object) = parsed.unwrap_or(value.clone()) else {
        return Err(wrong(name, "an object of names and texts, such as {\"PORT\":\"8080\"}", &value));
    };
    for (inner, value) in &mut object {
        *value = text(&format!("{name}.{inner}"), value, &Map::new())?;
    }
    Ok(Value::Object(object))
}

fn wrong(name: &str, wanted: &str, value: &Value) -> Refusal {
    let value = value.to_string();
    let value = &value[..value.floor_char_boundary(80)];
    Refusal::new("invalid", format!("{name} must be {wanted}; it is {value}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn given(tool: Known, arguments: &Value) -> Result<Given, Refusal> {
        read(tool, &tool.input(), arguments.as_object().unwrap().clone())
    }

    #[test]
    fn arguments_of_real_clients_become_those_of_the_tools() {
        let cases = [
            (Known::Execute, json!({"command": "ls", "timeout": null}), json!({"command": "ls"})),
            (Known::Execute, json!({"command": "ls", "wait_for_previous": true}), json!({"command": "ls"})),
            (
                Known::Execute,
                json!({"command": 5, "timeout": "30"}),
                json!({"command": "5", "timeout": 30.0}),
            ),
            (Known::Execute, json!({"command": true}), json!({"command": "true"})),
            (
                Known::Execute,
                json!({"command": "", "is_input": "True", "no_enter": 0}),
                json!({"command": "", "is_input": true, "no_enter": false}),
            ),
            (Known::Read, json!({"from_line": 3.0, "to_line": 1e1}), json!({"from_line": 3, "to_line": 10})),
            (
                Known::Read,
                json!({"last": "5", "from_line": 0, "to_line": 0.0, "search": "", "view": "Screen"}),
                json!({"last": 5, "search": "", "view": "screen"}),
            ),
            (Known::Open, json!({"terminal_id": "a", "rows": 0, "cols": 0}), json!({"terminal_id": "a"})),
            (
                Known::Open,
                json!({"terminal_id": "a", "env": "{\"PORT\": 80}"}),
                json!({"terminal_id": "a", "env": {"PORT": "80"}}),
            ),
        ];
        for (tool, arguments, taken) in cases {
            let read = given(tool, &arguments).unwrap();
            assert_eq!(Value::Object(read.arguments), taken, "{arguments}");
            assert!(read.notice.is_empty(), "{arguments}: {:?}", read.notice);
        }
    }

    #[test]
    fn what_means_something_stays() {
        let arguments = json!({"command": "", "is_input": false, "timeout": 0.0, "no_enter": true});
        assert_eq!(Value::Object(given(Known::Execute, &arguments).unwrap().arguments), arguments);
        let arguments = json!({"command_id": 0, "context": 0});
        assert_eq!(Value::Object(given(Known::Read, &arguments).unwrap().arguments), arguments);
    }

    #[test]
    fn what_is_not_taken_as_it_stands_is_said() {
        for (tool, arguments, said) in [
            (
                Known::Execute,
                json!({"command": "ls", "description": "x", "cwd": "/"}),
                "ignored: description, cwd; terminal_execute has command",
            ),
            (
                Known::Execute,
                json!({"command": "ls", "max_bytes": 5}),
                "max_bytes was taken as 1024: it must be 1024 to ",
            ),
            (
                Known::Execute,
                json!({"command": "ls", "timeout": -1}),
                "timeout was taken as 0: it must be at least 0",
            ),
            (
                Known::Open,
                json!({"terminal_id": "a", "rows": 9999}),
                "rows was taken as 500: it must be 2 to 500",
            ),
            (Known::List, json!({"x": 1}), "ignored: x; terminal_list has no arguments"),
        ] {
            let read = given(tool, &arguments).unwrap();
            assert!(read.notice.len() == 1 && read.notice[0].starts_with(said), "{:?}", read.notice);
        }
    }

    #[test]
    fn an_error_names_the_argument() {
        for (tool, arguments, said) in [
            (Known::Execute, json!({"command": ["ls"]}), "command must be text; it is [\"ls\"]."),
            (
                Known::Execute,
                json!({"cmd": "ls"}),
                "command is missing. ignored: cmd; terminal_execute has command",
            ),
            (
                Known::Execute,
                json!({"command": "ls", "timeout": "soon"}),
                "timeout must be a number, such as 30; it is \"soon\".",
            ),
            (
                Known::Execute,
                json!({"command": "ls", "is_input": "maybe"}),
                "is_input must be true or false; it is \"maybe\".",
            ),
            (
                Known::Wait,
                json!({"until": "end"}),
                "until must be one of exit, pattern, silence, screen_stable; it is \"end\".",
            ),
            (Known::Open, json!({"terminal_id": "a", "env": {"A": []}}), "env.A must be text; it is []."),
            (
                Known::Open,
                json!({"terminal_id": "a", "env": "A=b"}),
                "env must be an object of names and texts",
            ),
        ] {
            let refusal = given(tool, &arguments).unwrap_err().answer("default");
            assert!(refusal.content.starts_with(said), "{}", refusal.content);
        }
    }
}
