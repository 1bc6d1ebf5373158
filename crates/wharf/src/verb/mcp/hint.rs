//! The calls that answers name: what a model can copy as it stands.
//!
//! Every call that is put into words is made here, so that none names an argument that no tool has.

use serde_json::{Value, json};

/// A call of `terminal_execute` in that terminal.
fn execute(terminal: &str, rest: Value) -> String {
    with_terminal("terminal_execute", terminal, rest)
}

fn with_terminal(tool: &str, terminal: &str, mut arguments: Value) -> String {
    arguments["terminal_id"] = terminal.into();
    format!("{tool} {arguments}")
}

/// Waits for what runs.
pub(super) fn wait(terminal: &str) -> String {
    execute(terminal, json!({"command": ""}))
}

/// Waits for more than an end: for a human to leave, or a pattern.
pub(super) fn wait_longer(terminal: &str) -> String {
    with_terminal("terminal_wait", terminal, json!({}))
}

/// Presses a key.
pub(super) fn press(terminal: &str, key: &str) -> String {
    execute(terminal, json!({"command": key}))
}

/// Types a line. `…` stands for what only the model knows.
pub(super) fn answer(terminal: &str, text: &str) -> String {
    execute(terminal, json!({"command": text, "is_input": true}))
}

/// Types text and no Enter.
pub(super) fn keys(terminal: &str, text: &str) -> String {
    execute(terminal, json!({"command": text, "is_input": true, "no_enter": true}))
}

/// Types the name of a key as a word.
pub(super) fn word(terminal: &str, text: &str) -> String {
    execute(terminal, json!({"command": text, "is_input": true, "literal": true}))
}

/// Reads what a command printed, or a part of it.
pub(super) fn read(terminal: &str, command: u64, rest: Value) -> String {
    let mut arguments = json!({"command_id": command});
    if let (Some(arguments), Value::Object(rest)) = (arguments.as_object_mut(), rest) {
        arguments.extend(rest);
    }
    with_terminal("terminal_read", terminal, arguments)
}

/// Shows the screen as it is.
pub(super) fn screen(terminal: &str) -> String {
    with_terminal("terminal_read", terminal, json!({"view": "screen"}))
}

/// Opens one with a shell that reads no start-up files of bash or zsh.
pub(super) fn open_plain(terminal: &str) -> String {
    with_terminal("terminal_open", terminal, json!({"shell": "sh"}))
}

pub(super) fn close(terminal: &str) -> String {
    with_terminal("terminal_close", terminal, json!({}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verb::mcp::given;
    use crate::verb::mcp::tool::Known;

    #[test]
    fn every_call_that_is_named_is_one_that_a_tool_takes_as_it_stands() {
        let name = "it's \"quoted\"\u{200b}ü";
        for call in [
            wait(name),
            wait_longer(name),
            press(name, "C-c"),
            answer(name, "…"),
            keys(name, "q"),
            word(name, "End"),
            read(name, 3, json!({"from_line": 1, "to_line": 2, "column": 3})),
            read(name, 3, json!({"search": "a|\"b\"", "context": 0, "from_line": 9})),
            screen(name),
            open_plain(name),
            close(name),
        ] {
            let (tool, arguments) = call.split_once(' ').unwrap();
            let known = Known::named(tool).unwrap_or_else(|| panic!("{call}"));
            let Value::Object(arguments) = serde_json::from_str(arguments).unwrap() else { panic!("{call}") };
            let taken = given::read(known, &known.input(), arguments.clone()).unwrap();
            assert_eq!(
                (taken.arguments["terminal_id"].as_str(), taken.notice),
                (Some(name), vec![]),
                "{call}"
            );
            assert!(arguments.iter().all(|(name, value)| taken.arguments.get(name) == Some(value)), "{call}");
        }
    }
}
