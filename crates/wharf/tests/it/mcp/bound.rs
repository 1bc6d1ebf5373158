//! Limits of `wharf mcp` that hold for calls at the same time.

use super::client::Client;
use crate::harness::Wharf;
use serde_json::json;

#[test]
fn calls_that_are_sent_at_once_begin_in_the_order_in_which_they_came() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    client.run("cat > typed");
    let typed = |n: u32| json!({"command": format!("l{n}"), "is_input": true, "timeout": 0});
    let sent: Vec<u64> = (0..30).map(|n| client.send_call("terminal_execute", typed(n))).collect();
    assert!(sent.into_iter().all(|id| !client.answer(id).is_error));
    client.run("C-d");
    let lines: String = (0..30).map(|n| format!("l{n}\n")).collect();
    assert_eq!(client.run("cat typed").content(), lines.trim_end());
    for n in 0..10 {
        // The first runs, and the second is refused while it does.
        let sent = ["first", "second"].map(|word| {
            let command = format!("echo {word} {n}; read x < /dev/tty");
            client.send_call("terminal_execute", json!({"command": command, "terminal_id": format!("t{n}")}))
        });
        let [first, second] = sent.map(|id| client.answer(id));
        assert_eq!(first.content(), format!("first {n}"), "{first:?}");
        assert_eq!(second.get("error"), "busy", "{second:?}");
        client.call("terminal_close", json!({"terminal_id": format!("t{n}")}));
    }
}

#[test]
fn no_more_terminals_are_open_than_may_be_however_many_are_asked_for_at_once() {
    let wharf = Wharf::new();
    wharf.set_policy("version = 1\n[limits]\nterminals = 4\n");
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    let name = |n: u32| format!("t{n}");
    let asked: Vec<u64> =
        (0..16).map(|n| client.send_call("terminal_open", json!({"terminal_id": name(n)}))).collect();
    let answers: Vec<_> = asked.into_iter().map(|id| client.answer(id)).collect();
    let (refused, opened): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.is_error);
    assert_eq!(opened.len(), 4, "{answers:?}");
    assert!(refused.iter().all(|answer| *answer.get("error") == "too_many"), "{refused:?}");
    assert_eq!(client.call("terminal_list", json!({})).get("terminals").as_array().map(Vec::len), Some(4));
    // A place that is free again can be taken.
    let first = opened[0].get("terminal_id").clone();
    client.call("terminal_close", json!({"terminal_id": first}));
    assert!(!client.call("terminal_open", json!({"terminal_id": "new"})).is_error);
    assert!(client.call("terminal_execute", json!({"command": "true", "terminal_id": "x"})).is_error);
}

#[test]
fn what_nobody_sees_is_named_to_a_model_in_both_views_and_ordinary_text_is_as_it_was() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    let text = "ok\u{202e}txt \u{e0069}\u{e0067} \u{645}\u{6cc}\u{200c}\u{62e}\n";
    std::fs::write(wharf.scratch().join("text"), text).unwrap();
    let ran = client.run("cat text");
    let shown = "ok⟨U+202E⟩txt ⟨U+E0069⟩⟨U+E0067⟩ \u{645}\u{6cc}\u{200c}\u{62e}";
    assert_eq!(ran.content(), shown, "{ran:?}");
    let screen = client.call("terminal_read", json!({"view": "screen"}));
    assert!(screen.content().contains(shown), "{screen:?}");
}
