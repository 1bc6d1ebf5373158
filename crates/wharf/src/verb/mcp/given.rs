//! The arguments of a call, as clients and models write them: put into the form that the tools take.
//!
//! It knows names of arguments and nothing of what they do. What surprises: a client that makes every argument a required one
//! leaves its model no way to leave one out, so the model says null, or nothing at all in the form of a zero.

use serde_json::{Map, Number, Value};

/// Gemini CLI tells its model of these beside every tool's own arguments, and passes them on.
const ADDED: [&str; 1] = ["wait_for_previous"];
/// Zero is no value of these.
const FROM_ONE: [&str; 7] = ["from_line", "to_line", "last", "column", "rows", "cols", "max_bytes"];

pub(super) fn settle(mut arguments: Map<String, Value>) -> Map<String, Value> {
    arguments.values_mut().for_each(make_whole);
    arguments.retain(|name, value| {
        let name = name.as_str();
        let left_out = value.is_null() || (*value == 0 && FROM_ONE.contains(&name));
        !left_out && !ADDED.contains(&name)
    });
    arguments
}

/// 5.0 is an integer to JSON Schema, and what languages with one kind of number write.
fn make_whole(value: &mut Value) {
    let Some(number) = value.as_f64().filter(|_| value.is_f64()) else { return };
    // The text of a whole number has no point: of one that is too large for an integer nothing is lost either.
    if let Ok(whole) = format!("{number}").parse::<u64>() {
        *value = Value::Number(Number::from(whole));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_of_real_clients_become_those_of_the_tools() {
        let cases = [
            (json!({"command": "ls", "timeout": null}), json!({"command": "ls"})),
            (json!({"command": "ls", "wait_for_previous": true}), json!({"command": "ls"})),
            (json!({"from_line": 3.0, "to_line": 1e1}), json!({"from_line": 3, "to_line": 10})),
            (
                json!({"last": 5, "from_line": 0, "to_line": 0.0, "search": ""}),
                json!({"last": 5, "search": ""}),
            ),
            (json!({"terminal_id": "a", "rows": 0, "cols": 0}), json!({"terminal_id": "a"})),
        ];
        for (given, settled) in cases {
            assert_eq!(Value::Object(settle(given.as_object().unwrap().clone())), settled, "{given}");
        }
    }

    #[test]
    fn what_means_something_stays() {
        let given = json!({"command": "", "is_input": false, "timeout": 0, "command_id": 0, "context": 0,
            "env": {"A": ""}, "silence_ms": 0.5, "max_bytes": -1, "last": 1e300, "cmd": "ls"});
        assert_eq!(Value::Object(settle(given.as_object().unwrap().clone())), given);
    }
}
