//! The official schema, taken from the installed TypeScript SDK, by method.
//!
//! Compiling all of it takes seconds, and a test runs in a process of its own: so each definition is compiled when the
//! first message needs it.

use super::Direction;
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

/// What a definition is the body of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Request,
    Notification,
    Response,
}

/// One entry of `$defs`.
#[derive(Debug)]
pub(super) struct Definition {
    name: String,
    validator: OnceLock<Validator>,
}

/// Who handles a method: the schema's `x-side`.
type Side = String;

#[derive(Debug)]
struct Schema {
    whole: Value,
    by_method: HashMap<(String, Side, Kind), Definition>,
    error: Definition,
}

static SCHEMA: LazyLock<Schema> = LazyLock::new(Schema::load);

/// The definition of what a method carries to that side.
pub(super) fn of(method: &str, to: Direction, kind: Kind) -> Option<&'static Definition> {
    let side = match to {
        Direction::ToAgent => "agent",
        Direction::ToClient => "client",
    };
    let find = |side: &str| SCHEMA.by_method.get(&(method.to_owned(), side.to_owned(), kind));
    // What is said about the conversation itself goes both ways.
    find(side).or_else(|| find("protocol"))
}

/// The definition of the error in an answer.
pub(super) fn error() -> &'static Definition {
    &SCHEMA.error
}

/// An entry of `$defs`, as it is written.
pub(super) fn referred(reference: &str) -> &'static Value {
    let pointer = reference.strip_prefix('#').expect("the schema is in one file");
    SCHEMA.whole.pointer(pointer).expect("the schema is complete")
}

impl Schema {
    fn load() -> Self {
        let path = crate::peers().join("node_modules/acp-sdk-2/schema/v1/schema.json");
        let text = std::fs::read(&path).expect("the TypeScript SDK ships the schema");
        let whole: Value = serde_json::from_slice(&text).expect("the schema is JSON");
        let entries = whole["$defs"].as_object().expect("the schema has definitions");
        let by_method = entries.iter().filter_map(|(name, entry)| {
            let method = entry.get("x-method")?.as_str()?.to_owned();
            let side = entry.get("x-side")?.as_str()?.to_owned();
            Some(((method, side, kind_of(name)), Definition::new(name)))
        });
        let by_method: HashMap<_, _> = by_method.collect();
        assert!(by_method.len() > 40, "the schema no longer says which definition belongs to which method");
        Self { by_method, error: Definition::new("Error"), whole }
    }
}

fn kind_of(name: &str) -> Kind {
    match name {
        name if name.ends_with("Response") => Kind::Response,
        name if name.ends_with("Notification") => Kind::Notification,
        _ => Kind::Request,
    }
}

impl Definition {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), validator: OnceLock::new() }
    }

    /// A schema that refers to this definition.
    pub(super) fn reference(&self) -> String {
        format!("#/$defs/{}", self.name)
    }

    /// What is wrong with a value.
    pub(super) fn problems(&self, value: &Value) -> Vec<String> {
        let validator = self.validator.get_or_init(|| {
            let whole = &SCHEMA.whole;
            let schema = json!({
                "$schema": whole["$schema"], "$ref": self.reference(), "$defs": whole["$defs"],
            });
            jsonschema::validator_for(&schema).expect("the official schema is a schema")
        });
        let errors = validator.iter_errors(value);
        errors.map(|error| format!("{} {error}", error.instance_path())).collect()
    }
}
