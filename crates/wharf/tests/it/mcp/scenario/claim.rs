//! What holds of every answer, whatever was asked: checked beside each row of the table.

use crate::mcp::client::Answer;
use serde_json::Value;

const KINDS: &[&str] = &["text", "confirm", "secret", "pager", "editor", "repl", "keys"];

/// What is wrong with an answer as such.
pub(crate) fn check(tool: &str, arguments: &Value, answer: &Answer) -> Result<(), String> {
    claim(!answer.text.is_empty(), "a text")?;
    claim(is_clean(&answer.text), "no control characters in the text")?;
    for hint in hints(&answer.text) {
        claim(hint.is_ok(), &format!("a call that can be copied: {hint:?}"))?;
    }
    if answer.is_error {
        return Ok(());
    }
    claim(answer.structured.is_object(), "structured content")?;
    claim(!has_null(&answer.structured), "no null in the structured content")?;
    if ["terminal_execute", "terminal_wait", "terminal_read"].contains(&tool) {
        let content = answer.structured["content"].as_str().ok_or("no content")?;
        claim(is_clean(content), "no control characters in the content")?;
        let last = if content.is_empty() { "]".to_owned() } else { format!("]\n\n{content}") };
        claim(
            answer.text.starts_with('[') && answer.text.ends_with(&last),
            "a text that ends with the content",
        )?;
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
            let how = field("shell_end").as_str().is_some_and(|how| answer.text.contains(how));
            let unknown = code.is_none() && answer.text.contains("exit code unknown");
            claim(
                told || how || unknown || field("command_id") == 0,
                "an exit code when completed, also in the text",
            )?;
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
    let budget = arguments["max_bytes"].as_u64().unwrap_or(16_384).max(1024);
    let length = field("content").as_str().map_or(0, str::len) as u64;
    // A screen has its size, and one line of notes stands where something was left out.
    claim(field("view") == "screen" || length <= budget + 512, "content within the budget")
}

fn claim(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("claim: {what}")) }
}

/// The calls that are named in what stands before the content.
pub(crate) fn hints(text: &str) -> Vec<Result<(String, Value), String>> {
    let head = text.split("\n\n").next().unwrap_or_default();
    let mut found = Vec::new();
    for (at, _) in head.match_indices("terminal_") {
        let rest = &head[at..];
        let end = rest.find(|c: char| c != '_' && !c.is_ascii_lowercase()).unwrap_or(rest.len());
        let Some(json) = rest[end..].strip_prefix(" {").map(|_| &rest[end + 1..]) else { continue };
        let call = serde_json::Deserializer::from_str(json).into_iter().next();
        found.push(match call {
            Some(Ok(arguments)) => Ok((rest[..end].to_owned(), arguments)),
            wrong => Err(format!("{wrong:?} in {rest}")),
        });
    }
    found
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
