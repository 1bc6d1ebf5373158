//! Keys that the schema does not list.
//!
//! Nothing in the schema forbids them, so a validator is silent about a misspelt one. `_meta` and values that the schema
//! leaves open are not looked into. Works on values that are valid: of several alternatives those are meant that fit.

use super::definition::{Definition, referred};
use serde_json::{Value, json};

/// The keys in a valid value of that definition that are not in the schema, with the way to each.
pub(super) fn unknown(definition: &Definition, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let reference = json!({ "$ref": definition.reference() });
    walk(&[&reference], value, "", &mut found);
    found
}

fn walk(schemas: &[&Value], value: &Value, path: &str, found: &mut Vec<String>) {
    let mut meant = Vec::new();
    schemas.iter().for_each(|schema| gather(schema, value, &mut meant));
    match value {
        Value::Object(members) => {
            let lists = |schema: &&Value| schema.get("properties").is_some();
            let is_open = |schema: &Value| {
                !matches!(schema.get("additionalProperties"), None | Some(Value::Bool(false)))
            };
            if !meant.iter().any(lists) || meant.iter().any(|schema| is_open(schema)) {
                return;
            }
            for (key, member) in members {
                let path = format!("{path}/{key}");
                let below: Vec<&Value> =
                    meant.iter().filter_map(|schema| schema["properties"].get(key)).collect();
                if below.is_empty() {
                    found.push(format!("unknown key {path}"));
                } else {
                    walk(&below, member, &path, found);
                }
            }
        }
        Value::Array(items) => {
            let below: Vec<&Value> = meant.iter().filter_map(|schema| schema.get("items")).collect();
            for (index, item) in items.iter().enumerate() {
                walk(&below, item, &format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// Every schema that has a say about a value, without references and alternatives.
fn gather<'a>(schema: &'a Value, value: &Value, meant: &mut Vec<&'a Value>) {
    meant.push(schema);
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        gather(referred(reference), value, meant);
    }
    parts(schema, "allOf").for_each(|part| gather(part, value, meant));
    let alternatives = parts(schema, "anyOf").chain(parts(schema, "oneOf"));
    alternatives.filter(|part| fits(part, value)).for_each(|part| gather(part, value, meant));
}

fn parts<'a>(schema: &'a Value, keyword: &str) -> impl Iterator<Item = &'a Value> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

/// Whether an alternative can be the one that is meant, as far as its kind, its marks and its required keys tell.
fn fits(schema: &Value, value: &Value) -> bool {
    let refers = schema.get("$ref").and_then(Value::as_str);
    let is_kind = schema.get("type").is_none_or(|kind| has_kind(kind, value));
    let is_marked = schema.get("const").is_none_or(|mark| mark == value);
    let has_keys = parts(schema, "required").all(|key| value.get(key.as_str().unwrap_or_default()).is_some());
    let members = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let has_marks = members
        .filter_map(|(key, member)| Some((value.get(key)?, member.get("const")?)))
        .all(|(member, mark)| member == mark);
    let alternatives = |keyword| {
        parts(schema, keyword).next().is_none() || parts(schema, keyword).any(|part| fits(part, value))
    };
    let excludes = schema.get("not").is_some_and(|not| fits(not, value));
    is_kind
        && is_marked
        && has_keys
        && has_marks
        && !excludes
        && refers.is_none_or(|reference| fits(referred(reference), value))
        && parts(schema, "allOf").all(|part| fits(part, value))
        && alternatives("anyOf")
        && alternatives("oneOf")
}

fn has_kind(kind: &Value, value: &Value) -> bool {
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => value.is_number(),
    };
    match kind {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).any(is),
        kind => kind.as_str().is_some_and(is),
    }
}
