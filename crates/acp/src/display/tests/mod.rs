//! What a client gets for what an agent says, with real commands: the agent's messages as text in, the client's as text
//! out.

mod growth;
mod meta;
mod watch;

use super::*;
use agent_client_protocol::v1::schema::SessionNotification;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use wharf_testing::{Place, guarded};

const UPDATE: &str = "session/update";

/// The terminals of session `s`.
#[derive(Clone, Default)]
struct Shelf(Rc<RefCell<Vec<Terminal>>>);

impl Lookup for Shelf {
    fn terminal(&self, session: &SessionId, id: &str) -> Option<Terminal> {
        let found = self.0.borrow().iter().find(|terminal| terminal.id().as_str() == id).cloned();
        found.filter(|_| session.0.as_ref() == "s")
    }
}

/// A display, its terminals, and a file that commands wait for.
struct Scene {
    place: Place,
    shelf: Shelf,
    display: Display<Shelf>,
    gate: PathBuf,
}

impl Scene {
    async fn new(shows: Shows) -> Self {
        let place = Place::process();
        let shelf = Shelf::default();
        let gate = place.dir().join("gate");
        let made = place.start(place.line(&format!("mkfifo {}", gate.display()))).await;
        assert!(guarded(made.wait()).await.unwrap().success());
        Self { display: Display::new(shelf.clone(), shows), shelf, gate, place }
    }

    async fn start(&self, line: &str) -> Terminal {
        let line = line.replace("GATE", self.gate.to_str().unwrap());
        let terminal = self.place.start(self.place.line(&line).cwd("/")).await;
        self.shelf.0.borrow_mut().push(terminal.clone());
        terminal
    }

    async fn ended(&self, line: &str) -> Terminal {
        let terminal = self.start(line).await;
        guarded(terminal.wait()).await.unwrap();
        terminal
    }

    /// Lets one command that reads the gate go on.
    fn open_gate(&self) {
        fs::write(&self.gate, "\n").unwrap();
    }

    /// The agent says it; what the client gets instead.
    fn say(&mut self, update: &str) -> Option<Translated> {
        self.say_raw(UPDATE, &format!(r#"{{"sessionId":"s","update":{update}}}"#))
    }

    fn say_raw(&mut self, method: &str, params: &str) -> Option<Translated> {
        let params = RawValue::from_string(params.to_owned()).unwrap();
        let translated = self.display.translate(method, &params);
        if let Some(translated) = &translated {
            translated.before.iter().for_each(|one| check(one));
            if method == UPDATE {
                check(&translated.params);
            }
        }
        translated
    }

    fn catch_up(&mut self, terminal: &Terminal) -> Vec<Value> {
        let said = self.display.catch_up(terminal.id());
        said.iter().for_each(|one| check(one));
        values(&said)
    }

    async fn done(self) {
        let Self { place, shelf, display, .. } = self;
        drop(display);
        shelf.0.borrow_mut().clear();
        place.check().await;
    }
}

/// It is what the protocol's own types say, with no member that they do not know.
fn check(params: &RawValue) {
    let typed: SessionNotification = serde_json::from_str(params.get()).unwrap();
    let back = serde_json::to_value(&typed).unwrap();
    let said: Value = serde_json::from_str(params.get()).unwrap();
    for (name, value) in said["update"].as_object().unwrap() {
        let unknown = name.starts_with("x-");
        // What is the default is not written back.
        let default =
            value.is_null() || value == &json!([]) || value == &json!("pending") || value == &json!("other");
        assert!(unknown || default || back["update"].get(name).is_some(), "{name} in {params}");
    }
}

fn values(said: &[Box<RawValue>]) -> Vec<Value> {
    said.iter().map(|one| serde_json::from_str(one.get()).unwrap()).collect()
}

/// The agent's `tool_call` c1 that embeds terminals.
fn embedding(terminals: &[&Terminal]) -> String {
    let items: Vec<_> = terminals.iter().map(|terminal| item(terminal)).collect();
    let items = items.join(",");
    format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"c1","title":"T","content":[{items}]}}"#)
}

fn item(terminal: &Terminal) -> String {
    format!(r#"{{"type":"terminal","terminalId":"{}"}}"#, terminal.id())
}

fn text(text: &str) -> String {
    raw_text(&json!(text))
}

fn raw_text(text: &Value) -> String {
    format!(r#"{{"type":"content","content":{{"type":"text","text":{text}}}}}"#)
}

fn in_session(update: Value) -> Value {
    json!({ "sessionId": "s", "update": update })
}

fn output(terminal: &Terminal, data: &str) -> Value {
    let output = json!({ "terminal_output": { "terminal_id": terminal.id().as_str(), "data": data } });
    in_session(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c1", "_meta": output }))
}

fn exit(terminal: &Terminal, code: Value, signal: Value) -> Value {
    let exit = json!({ "terminal_id": terminal.id().as_str(), "exit_code": code, "signal": signal });
    let meta = json!({ "terminal_exit": exit });
    in_session(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c1", "_meta": meta }))
}

fn content(said: &str) -> Value {
    let item: Value = serde_json::from_str(&text(said)).unwrap();
    in_session(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c1", "content": [item] }))
}

#[test]
fn a_client_shows_by_convention_only_if_it_says_so() {
    for (capabilities, shows) in [
        (r#"{"_meta":{"terminal_output":true,"terminal-auth":true}}"#, Shows::Meta),
        (r#"{"terminal":true,"_meta":{"terminal_output":false}}"#, Shows::Text),
        (r#"{"_meta":{"terminal_output":"true"}}"#, Shows::Text),
        (r#"{"_meta":null}"#, Shows::Text),
        ("{}", Shows::Text),
        ("null", Shows::Text),
    ] {
        let capabilities = RawValue::from_string(capabilities.to_owned()).unwrap();
        assert_eq!(Shows::of(Some(&capabilities)), shows, "{capabilities}");
    }
    assert_eq!(Shows::of(None), Shows::Text);
}

#[tokio::test]
async fn what_does_not_embed_our_terminals_passes_untouched() {
    for shows in [Shows::Meta, Shows::Text] {
        let mut scene = Scene::new(shows).await;
        for (method, params) in [
            (
                UPDATE,
                r#"{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}"#,
            ),
            (
                UPDATE,
                r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t"}}"#,
            ),
            (
                UPDATE,
                r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}}"#,
            ),
            (
                UPDATE,
                r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","content":[{"type":"terminal","terminalId":"call_1"}]}}"#,
            ),
            (
                UPDATE,
                r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","content":"wrong"}}"#,
            ),
            (UPDATE, r#"{"sessionId":7,"update":{"sessionUpdate":"tool_call"}}"#),
            (UPDATE, "[]"),
            ("session/request_permission", r#"{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}"#),
            (
                "session/prompt",
                r#"{"sessionId":"s","prompt":[{"type":"terminal","terminalId":"00000000000000000000000000"}]}"#,
            ),
        ] {
            assert!(scene.say_raw(method, params).is_none(), "{shows:?} {params}");
        }
        scene.done().await;
    }
}

#[tokio::test]
async fn an_agent_that_shows_its_own_terminals_by_convention_is_left_alone() {
    for shows in [Shows::Meta, Shows::Text] {
        let mut scene = Scene::new(shows).await;
        // Spelt like one of ours, and not ours.
        let id = TerminalId::random().unwrap();
        let embeds = format!(r#""content":[{{"type":"terminal","terminalId":"{id}"}}]"#);
        let first = format!(
            r#"{{"sessionUpdate":"tool_call","toolCallId":"c1","title":"t",{embeds},"_meta":{{"terminal_info":{{"terminal_id":"{id}"}}}}}}"#
        );
        assert!(scene.say(&first).is_none());
        let later = format!(r#"{{"sessionUpdate":"tool_call_update","toolCallId":"c1",{embeds}}}"#);
        assert!(scene.say(&later).is_none());
        scene.done().await;
    }
}

#[tokio::test]
async fn a_terminal_that_is_not_known_any_more_is_said_to_be_so() {
    for shows in [Shows::Meta, Shows::Text] {
        let mut scene = Scene::new(shows).await;
        let id = TerminalId::random().unwrap();
        let message = format!(
            r#"{{"sessionUpdate":"tool_call_update","toolCallId":"c1","content":[{{"type":"terminal","terminalId":"{id}"}}]}}"#
        );
        let said = scene.say(&message).unwrap();
        assert!(said.before.is_empty() && said.embedded.is_empty());
        assert_eq!(values(&[said.params]), [content("[output no longer available]")]);
        scene.done().await;
    }
}

#[tokio::test]
async fn another_sessions_terminal_is_not_shown() {
    for shows in [Shows::Meta, Shows::Text] {
        let mut scene = Scene::new(shows).await;
        let secret = scene.ended("echo secret").await;
        assert!(scene.say(&embedding(&[&secret])).is_some());
        let stolen = format!(r#"{{"sessionId":"other","update":{}}}"#, embedding(&[&secret]));
        let said = scene.say_raw(UPDATE, &stolen).unwrap();
        assert!(said.params.get().contains("[output no longer available]"), "{}", said.params);
        scene.done().await;
    }
}

#[tokio::test]
async fn an_agent_that_shows_one_of_our_terminals_by_itself_is_believed_only_where_that_is_seen() {
    for shows in [Shows::Meta, Shows::Text] {
        let mut scene = Scene::new(shows).await;
        let terminal = scene.ended("echo ours").await;
        let info = format!(r#","_meta":{{"terminal_info":{{"terminal_id":"{}"}}}}}}"#, terminal.id());
        let message = format!("{}{info}", embedding(&[&terminal]).strip_suffix('}').unwrap());
        let said = scene.say(&message);
        match shows {
            Shows::Meta => assert!(said.is_none(), "{said:?}"),
            Shows::Text => assert!(said.unwrap().params.get().contains("ours"), "{message}"),
        }
        scene.done().await;
    }
}
