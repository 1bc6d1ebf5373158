//! `initialize` on its way to the agent: what the client can, and what the agent is told.
//!
//! The agent is to see `terminal: true`. That is put into the line as it is; not a space of the rest changes. Only
//! version 1 of the protocol has terminals in clients, so that any other is left alone.

use super::Hosting;
use super::envelope::{place, splice};
use crate::display::Shows;
use crate::raw::RawObject;
use serde_json::value::RawValue;

/// Whether terminals are ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Everything passes.
    Pass,
    /// They are, and the client is shown them like this.
    Host(Shows),
}

/// The mode for a connection that begins with this request, and the line in its place if it must be changed.
pub(crate) fn offer(line: &[u8], params: Option<&RawValue>, terminals: Hosting) -> (Mode, Option<Vec<u8>>) {
    let Some((params, object)) = params.and_then(|params| Some((params, RawObject::of(params)?))) else {
        return (Mode::Pass, None);
    };
    if object.get("protocolVersion").is_some_and(|version| version.get() != "1") {
        return (Mode::Pass, None);
    }
    let given = object.get("clientCapabilities");
    let capabilities = given.and_then(RawObject::of);
    let can = capabilities.as_ref().and_then(|can| can.get("terminal"));
    let has_terminals = can.is_some_and(|can| can.get() == "true");
    if has_terminals && terminals == Hosting::Missing {
        return (Mode::Pass, None);
    }
    let mode = Mode::Host(Shows::of(given));
    let edited = match (can, given, &capabilities) {
        _ if has_terminals => None,
        (Some(can), ..) => place(line, can).map(|at| splice(line, at, "true")),
        (None, Some(given), Some(_)) => insert(line, given, r#""terminal":true"#),
        (None, Some(given), None) => place(line, given).map(|at| splice(line, at, r#"{"terminal":true}"#)),
        (None, None, _) => insert(line, params, r#""clientCapabilities":{"terminal":true}"#),
    };
    (mode, edited)
}

/// Puts a member at the beginning of an object.
fn insert(line: &[u8], object: &RawValue, member: &str) -> Option<Vec<u8>> {
    let at = place(line, object)?.start + 1;
    let is_empty = object.get()[1..].trim_start().starts_with('}');
    let comma = if is_empty { "" } else { "," };
    Some(splice(line, at..at, &format!("{member}{comma}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::envelope::Envelope;

    fn offered(params: &str, terminals: Hosting) -> (Mode, String) {
        let line = format!("{{ \"id\":1e1,\"method\":\"initialize\" ,\"params\": {params} ,\"x\":[ ]}}\r\n");
        let Some(Envelope::Request { params, .. }) = Envelope::read(line.as_bytes()) else {
            panic!("{line}")
        };
        let (mode, edited) = offer(line.as_bytes(), params, terminals);
        let line = edited.map_or(line.clone(), |edited| String::from_utf8(edited).unwrap());
        let line = line.strip_prefix("{ \"id\":1e1,\"method\":\"initialize\" ,\"params\": ").unwrap();
        (mode, line.strip_suffix(" ,\"x\":[ ]}\r\n").unwrap().to_owned())
    }

    #[test]
    fn terminals_are_offered_and_nothing_else_changes() {
        for (params, expected) in [
            (
                r#"{ "protocolVersion" : 1 }"#,
                r#"{"clientCapabilities":{"terminal":true}, "protocolVersion" : 1 }"#,
            ),
            ("{ }", r#"{"clientCapabilities":{"terminal":true} }"#),
            (r#"{"clientCapabilities":{ }}"#, r#"{"clientCapabilities":{"terminal":true }}"#),
            (r#"{"clientCapabilities": null}"#, r#"{"clientCapabilities": {"terminal":true}}"#),
            (
                r#"{"clientCapabilities":{ "fs": {"x" :1e3} , "terminal" : false } ,"protocolVersion":1}"#,
                r#"{"clientCapabilities":{ "fs": {"x" :1e3} , "terminal" : true } ,"protocolVersion":1}"#,
            ),
            (
                r#"{"clientCapabilities":{"f\u0073":1, "terminal":true}}"#,
                r#"{"clientCapabilities":{"f\u0073":1, "terminal":true}}"#,
            ),
        ] {
            assert_eq!(
                offered(params, Hosting::Always),
                (Mode::Host(Shows::Text), expected.to_owned()),
                "{params}"
            );
        }
    }

    #[test]
    fn another_version_of_the_protocol_is_left_alone() {
        for version in ["2", "0", "\"1\"", "null"] {
            let params = format!(r#"{{"protocolVersion":{version},"clientCapabilities":{{}}}}"#);
            assert_eq!(offered(&params, Hosting::Always), (Mode::Pass, params.clone()));
        }
    }

    #[test]
    fn missing_terminals_are_hosted_only_where_the_client_has_none() {
        let has = r#"{"clientCapabilities":{"terminal":true}}"#;
        assert_eq!(offered(has, Hosting::Missing).0, Mode::Pass);
        assert_eq!(offered(has, Hosting::Always).0, Mode::Host(Shows::Text));
        assert_eq!(offered("{}", Hosting::Missing).0, Mode::Host(Shows::Text));
    }

    #[test]
    fn a_client_that_knows_the_convention_is_shown_terminals_by_it() {
        for (meta, shows) in [("true", Shows::Meta), ("false", Shows::Text), ("1", Shows::Text)] {
            let params = format!(r#"{{"clientCapabilities":{{"_meta":{{"terminal_output":{meta}}}}}}}"#);
            assert_eq!(offered(&params, Hosting::Always).0, Mode::Host(shows));
        }
    }
}
