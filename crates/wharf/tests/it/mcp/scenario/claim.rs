//! What holds of every answer, whatever was asked: checked beside each row of the table.

use crate::mcp::client::Answer;
use serde_json::Value;

const KINDS: &[&str] = &["text", "confirm", "secret", "pager", "editor", "repl", "keys"];

/// What is wrong with an answer as such.
pub(crate) fn check(tool: &str, arguments: &Value, answer: &Answer) -> Result<(), String> {
    claim(!answer.text.is_empty(), "a text")?;
    claim(is_clean(&answer.text), "no control characters in the text")?;
    if answer.is_error {
        return Ok(());
    }
    claim(answer.structured.is_object(), "structured content")?;
    claim(!has_null(&answer.structured), "no null in the structured content")?;
    if ["terminal_execute", "terminal_wait", "terminal_read"].contains(&tool) {
        let content = answer.structured["content"].as_str().ok_or("no content")?;
        claim(is_clean(content), "no control characters in the content")?;
        // Where something is left out, the text may say more about how to read it.
        let parts = content.split_inclusive('\n').collect::<Vec<_>>();
        let mut parts = parts.split(|line| line.starts_with("[… ")).map(<[&str]>::concat);
        claim(parts.all(|part| answer.text.contains(&part)), "a text that holds the content")?;
        claim(answer.structured["terminal_id"] == arguments["terminal_id"], "the terminal's name")?;
    }
    if ["terminal_execute", "terminal_wait"].contains(&tool) { check_run(arguments, answer) } else { Ok(()) }
}

/// Of what runs or ran.
fn check_run(arguments: &Value, answer: &Answer) -> Result<(), String> {
    let field = |name: &str| &answer.structured[name];
    let code = field("exit_code").as_i64();
    match field("status").as_str() {
        Some("completed") => {
            // Where nothing was ever run there is none.
            let told = code.is_some_and(|code| answer.text.contains(&format!("code {code}")));
            claim(told || field("command_id") == 0, "an exit code when completed, also in the text")?;
            claim(field("awaiting").is_null(), "nothing awaited when completed")?;
        }
        Some("running") => claim(code.is_none(), "no exit code while running")?,
        _ => return Err("claim: a status of the two".to_owned()),
    }
    if field("returned_because") == "awaiting_input" {
        claim(field("awaiting").is_object(), "what is awaited")?;
    }
    if field("awaiting").is_object() {
        claim(
            field("awaiting")["kind"].as_str().is_some_and(|kind| KINDS.contains(&kind)),
            "a kind of awaiting",
        )?;
        claim(field("awaiting")["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "a hint")?;
    }
    let dir = field("working_dir").as_str().ok_or("claim: a working directory")?;
    claim(dir.starts_with('/'), "an absolute working directory")?;
    for number in ["duration_ms", "total_lines", "total_bytes", "command_id"] {
        claim(field(number).is_u64(), number)?;
    }
    let budget = arguments["max_bytes"].as_u64().unwrap_or(16_384);
    let length = field("content").as_str().map_or(0, str::len) as u64;
    // A screen has its size, and one line of notes stands where something was left out.
    claim(field("view") == "screen" || length <= budget + 512, "content within the budget")
}

fn claim(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("claim: {what}")) }
}

/// Nothing that a terminal would take for more than text.
fn is_clean(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t')
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(all) => all.iter().any(has_null),
        Value::Object(all) => all.values().any(has_null),
        _ => false,
    }
}
