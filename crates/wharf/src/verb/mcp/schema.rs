//! JSON Schemas that every client can read: made from the types, then cleaned.
//!
//! Some hosts refuse a whole conversation for one `format` that they do not know, or for a type that may be null. What a
//! model needs not to read is left out too, since all of it is in front of the model all the time.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use std::sync::Arc;

/// What a tool takes, as it is shown. Ranges are in words only: a client that holds a call against them refuses what
/// would be brought into them here.
pub(super) fn shown(input: &Map<String, Value>) -> Arc<Map<String, Value>> {
    let mut schema = input.clone();
    each(&mut schema, &mut |argument| {
        argument.remove("minimum");
        argument.remove("maximum");
    });
    Arc::new(schema)
}

/// For what a tool is given. It does not say that nothing else is taken: Google's library for Python fails on an
/// `additionalProperties` that is no schema.
pub(super) fn input<T: JsonSchema>() -> Arc<Map<String, Value>> {
    let mut schema = of::<T>();
    schema.remove("description");
    schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    schema.remove("additionalProperties");
    Arc::new(schema)
}

/// For what a tool answers. Nothing is required but what is in errors too, because some clients hold those against it.
pub(super) fn output<T: JsonSchema>(required: &[&str]) -> Arc<Map<String, Value>> {
    let mut schema = of::<T>();
    forget_words(&mut schema);
    each(&mut schema, &mut |inner| forget_insides(inner));
    let required = required.iter().map(|name| Value::from(*name)).collect::<Vec<_>>();
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    Arc::new(schema)
}

fn of<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let Value::Object(mut schema) = schema.to_value() else { return Map::new() };
    clean(&mut schema);
    schema
}

/// Takes away what is not portable, everywhere.
fn clean(schema: &mut Map<String, Value>) {
    for word in ["format", "title", "$schema"] {
        schema.remove(word);
    }
    // What is said by leaving it out needs no saying.
    let empty = |value: &Value| value.is_null() || *value == 0 || *value == "" || *value == false;
    for word in ["default", "minimum"] {
        if schema.get(word).is_some_and(|value| empty(value) || value.as_object().is_some_and(Map::is_empty))
        {
            schema.remove(word);
        }
    }
    // `T or null` is only ever an optional field, which is then left out instead.
    if let Some(Value::Array(types)) = schema.get("type") {
        let kept: Vec<_> = types.iter().filter(|name| *name != "null").cloned().collect();
        if let [only] = kept.as_slice() {
            schema.insert("type".to_owned(), only.clone());
        }
    }
    if let Some(Value::Array(all)) = schema.remove("anyOf") {
        let null = |part: &Value| part.get("type").is_some_and(|name| name == "null");
        match all.into_iter().filter(|part| !null(part)).collect::<Vec<_>>().as_slice() {
            [Value::Object(only)] => schema.extend(only.clone()),
            several => drop(schema.insert("anyOf".to_owned(), several.into())),
        }
    }
    // An enum of described words comes as one schema for each of them.
    if let Some(Value::Array(all)) = schema.get("oneOf") {
        let words = |part: &Value| match (part.get("const"), part.get("enum")) {
            (Some(word), _) => Some(vec![word.clone()]),
            (None, Some(Value::Array(words))) => Some(words.clone()),
            _ => None,
        };
        if let Some(words) = all.iter().map(words).collect::<Option<Vec<_>>>() {
            schema.remove("oneOf");
            schema.insert("type".to_owned(), "string".into());
            schema.insert("enum".to_owned(), words.concat().into());
        }
    }
    each(schema, &mut clean);
}

/// What answers mean is told by their names.
fn forget_words(schema: &mut Map<String, Value>) {
    for word in ["description", "minimum", "maximum", "default", "required"] {
        schema.remove(word);
    }
    each(schema, &mut forget_words);
}

/// Of what is in an answer's parts only the kind is declared: all of it is in front of the model all the time.
fn forget_insides(schema: &mut Map<String, Value>) {
    schema.remove("properties");
    each(schema, &mut forget_insides);
}

/// Every schema directly in this one.
fn each(schema: &mut Map<String, Value>, what: &mut dyn FnMut(&mut Map<String, Value>)) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().filter_map(Value::as_object_mut).for_each(&mut *what);
    }
    for word in ["items", "additionalProperties"] {
        if let Some(Value::Object(inner)) = schema.get_mut(word) {
            what(inner);
        }
    }
}
