//! Both eras of the protocol on one program, word by word.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use super::client::{CLASSIC, Client, MODERN};
use crate::harness::Wharf;
use serde_json::{Value, json};

const TOOLS: [&str; 6] = [
    "terminal_execute",
    "terminal_read",
    "terminal_wait",
    "terminal_list",
    "terminal_open",
    "terminal_close",
];

fn names(tools: &Value) -> Vec<&str> {
    tools["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn every_classic_version_gets_a_handshake_in_its_own() {
    for version in ["2025-06-18", CLASSIC] {
        let wharf = Wharf::new();
        let mut client = Client::start(&wharf, &[]);
        let answer = client.initialize_as(version);
        assert_eq!(answer["protocolVersion"], version, "{answer}");
        assert_eq!(answer["serverInfo"]["name"], "wharf");
        assert!(answer["instructions"].as_str().unwrap().len() < 2048);
        assert_eq!(names(&client.request("tools/list", json!({}))), TOOLS);
        let ran = client.run("echo classic; exit_code=7; (exit $exit_code)");
        assert_eq!((ran.content(), ran.get("exit_code")), ("classic", &json!(7)));
        assert_eq!(client.leave().code, Some(0));
    }
}

#[test]
fn the_modern_era_needs_no_handshake() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]).modern();
    let found = client.request("server/discover", json!({}));
    assert!(found["result"]["supportedVersions"].as_array().unwrap().contains(&json!(MODERN)), "{found}");
    assert_eq!(names(&client.request("tools/list", json!({}))), TOOLS);
    let ran = client.run("cd / && echo modern");
    assert_eq!(
        (ran.content(), ran.get("exit_code"), ran.get("working_dir")),
        ("modern", &json!(0), &json!("/"))
    );
    assert_eq!(client.run("pwd").content(), "/");
    assert_eq!(client.leave().code, Some(0));
}

#[test]
fn what_is_listed_is_small_and_the_same_in_both_eras() {
    let wharf = Wharf::new();
    let mut classic = Client::start(&wharf, &[]);
    classic.initialize();
    let mut modern = Client::start(&wharf, &[]).modern();
    let [one, other] = [&mut classic, &mut modern].map(|client| {
        let listed = client.request("tools/list", json!({}));
        listed["result"]["tools"].to_string()
    });
    assert_eq!(one, other);
    // With schemas of the answers, which models are not shown.
    assert!(one.len() < 9 * 1024, "{} bytes", one.len());
}

#[test]
fn what_cannot_be_done_is_said_in_words_and_in_structure() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    let cases = [
        (
            "terminal_execute",
            json!({"cmd": "ls"}),
            "command is missing. ignored: cmd; terminal_execute has command",
        ),
        ("terminal_execute", json!({"command": {}}), "command must be text; it is {}."),
        ("terminal_execute", json!({"command": "ls", "terminal_id": "a\nb"}), "terminal_id must be"),
        ("terminal_execute", json!({"command": "ls", "timeout": "soon"}), "timeout must be a number"),
        ("terminal_execute", json!({"command": "y", "is_input": true}), "nothing is running"),
        ("terminal_execute", json!({"command": "C-d"}), "nothing is running"),
        ("terminal_execute", json!({"command": "if true; then"}), "incomplete or not valid"),
        ("terminal_read", json!({"terminal_id": "nope"}), "There is no terminal \"nope\""),
        ("terminal_wait", json!({"until": "pattern", "pattern": "("}), "regular expression is not valid"),
        ("terminal_open", json!({"terminal_id": "x", "shell": "fish"}), "bash, zsh or sh"),
        ("terminal_open", json!({"terminal_id": "x", "cwd": "nowhere"}), "was not opened"),
        ("terminal_close", json!({"terminal_id": "nope"}), "There is no terminal \"nope\""),
    ];
    for (tool, arguments, words) in cases {
        let answer = client.call(tool, arguments);
        assert!(answer.is_error, "{tool}: {answer:?}");
        assert!(answer.text.contains(words), "{tool}: {}", answer.text);
        assert_eq!(answer.structured["content"], answer.text, "{tool}");
        assert!(answer.structured["error"].is_string(), "{answer:?}");
    }
    let unknown = client.request("tools/call", json!({"name": "terminal", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert!(unknown["error"]["message"].as_str().unwrap().contains("terminal_execute"), "{unknown}");
}

#[test]
fn nulls_for_what_is_left_out_are_forgiven() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    let ran =
        client.call("terminal_execute", json!({"command": "echo a", "terminal_id": null, "timeout": null}));
    assert_eq!((ran.content(), ran.get("terminal_id")), ("a", &json!("default")));
}

#[test]
fn what_clients_add_or_cannot_leave_out_is_not_held_against_a_call() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    let ran = client.call("terminal_execute", json!({"command": "echo a", "wait_for_previous": true}));
    assert_eq!((ran.is_error, ran.content()), (false, "a"), "{ran:?}");
    assert!(!client.call("terminal_list", json!({"wait_for_previous": false})).is_error);
    // As a model says it for which every argument was made a required one, in a language that has one kind of number.
    let read = json!({"last": 1.0, "from_line": 0, "to_line": 0, "search": "", "column": 0, "max_bytes": 0});
    let read = client.call("terminal_read", read);
    assert_eq!((read.is_error, read.content()), (false, "a"), "{read:?}");
    let opened = json!({"terminal_id": "b", "cwd": "", "env": {}, "shell": "", "rows": 0, "cols": 0});
    assert_eq!(client.call("terminal_open", opened).get("size"), "120x40");
}

#[test]
fn the_text_alone_says_what_the_structure_says() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    let ran = client.run("seq 1 20000; false");
    assert!(ran.text.starts_with("[exit code 1 ·"), "{}", ran.text);
    let omitted = ran.get("omitted");
    let read = omitted["read"].as_str().unwrap();
    assert!(ran.text.lines().nth(1).unwrap().ends_with(&format!("{read}]")), "{}", ran.text);
    assert_eq!(ran.get("total_lines"), 20000);
    // The call that is named shows exactly what was left out.
    let arguments = serde_json::from_str(read.strip_prefix("terminal_read ").unwrap()).unwrap();
    let rest = client.call("terminal_read", arguments);
    let first = omitted["from_line"].as_u64().unwrap();
    assert!(rest.content().starts_with(&format!("{first}\n{}\n", first + 1)), "{rest:?}");
    let quiet = client.run("true");
    assert!(
        quiet.text.starts_with("[exit code 0 ·") && quiet.text.ends_with(" · no output]"),
        "{}",
        quiet.text
    );
    assert_eq!((quiet.text.lines().count(), quiet.content()), (1, ""));
    assert!(client.run("printf '[a]\\n\\nb'").text.ends_with("]\n\n[a]\n\nb"));
}

#[test]
fn a_model_gets_the_text_and_nothing_besides() {
    let wharf = Wharf::new();
    let mut client = Client::start_as_it_is(&wharf, &wharf.scratch(), &[]);
    client.initialize();
    let listed = client.request("tools/list", json!({}));
    for tool in listed["result"]["tools"].as_array().unwrap() {
        assert!(tool.get("outputSchema").is_none(), "{tool}");
        let is_needed =
            ["terminal_execute", "terminal_read", "terminal_wait"].iter().any(|name| tool["name"] == *name);
        assert_eq!(tool["_meta"]["anthropic/alwaysLoad"] == true, is_needed, "{tool}");
    }
    for arguments in [json!({"command": "echo hi"}), json!({"command": "if"})] {
        let answer =
            client.request("tools/call", json!({"name": "terminal_execute", "arguments": arguments}));
        assert!(answer["result"].get("structuredContent").is_none(), "{answer}");
        assert_eq!(answer["result"]["content"].as_array().unwrap().len(), 1, "{answer}");
    }
    let answer = client.run("echo hi; false");
    assert!(answer.text.starts_with("[exit code 1 ·") && answer.text.ends_with("]\n\nhi"), "{}", answer.text);
}

#[test]
fn clients_that_show_errors_as_json_get_refusals_as_text() {
    for (name, is_error) in
        [("claude-code", true), ("gemini-cli-mcp-client", false), ("qwen-cli-mcp-client-wharf", false)]
    {
        let wharf = Wharf::new();
        let mut client = Client::start_as_it_is(&wharf, &wharf.scratch(), &[]).named(name);
        client.initialize();
        let refused = client.run("if true; then");
        assert_eq!(refused.is_error, is_error, "{name}");
        assert!(refused.text.starts_with("Not run: "), "{}", refused.text);
        assert_eq!(client.call("terminal_execute", json!({"command": []})).is_error, is_error, "{name}");
    }
}

#[test]
fn an_answer_stays_within_what_its_client_passes_on_whole() {
    for (name, most) in [("codex-mcp-client", 12_000), ("qwen-cli-mcp-client-x", 28_000), ("other", 28_000)] {
        let wharf = Wharf::new();
        let mut client = Client::start_as_it_is(&wharf, &wharf.scratch(), &[]).named(name);
        client.initialize();
        for line in ["seq 1 20000", "yes 0123456789012345678901234567890123456789 | nl | head -n 9000"] {
            let ran = client.call("terminal_execute", json!({"command": line, "max_bytes": 45_000}));
            assert!(ran.text.len() < most && ran.text.len() > 8_000, "{name}: {}", ran.text.len());
            assert!(ran.text.lines().count() < 1_550, "{name}: {}", ran.text.lines().count());
            assert!(ran.text.starts_with("[exit code 0 ·"), "{}", ran.text);
            assert!(ran.text[..1_500].contains("terminal_read {"), "{}", &ran.text[..1_500]);
            assert!(
                ran.text[..1_500].contains("bytes are shown to this client at once"),
                "{}",
                &ran.text[..1_500]
            );
        }
        let read = json!({"from_line": 1, "max_bytes": 45_000});
        assert!(client.call("terminal_read", read).text.len() < most, "{name}");
    }
}

#[test]
fn arguments_are_read_kindly_and_what_is_not_taken_is_said() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    let arguments = json!({"command": "echo ok", "description": "says ok", "timeout": "30", "max_bytes": 1});
    let ran = client.call("terminal_execute", arguments);
    assert_eq!((ran.is_error, ran.content()), (false, "ok"), "{ran:?}");
    assert!(ran.text.contains("[ignored: description; terminal_execute has command, "), "{}", ran.text);
    assert!(ran.text.contains("[max_bytes was taken as 1024: it must be 1024 to 100000]"), "{}", ran.text);
    let notices = ran.get("notice").as_array().unwrap().iter().map(|notice| notice.as_str().unwrap());
    let of_arguments = |notice: &&str| notice.starts_with("ignored") || notice.contains("was taken as");
    assert_eq!(notices.filter(of_arguments).count(), 2, "{ran:?}");
    assert!(client.call("terminal_list", json!({"all": true})).text.contains("[ignored: all;"));
    client.call("terminal_execute", json!({"command": "read n; echo $((n + 1))"}));
    assert_eq!(client.call("terminal_execute", json!({"command": 5, "is_input": true})).content(), "5\n6");
}

#[test]
fn nothing_that_has_a_name_can_look_like_a_line_of_the_answer() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    let ran = client.run(r"mkdir $'b\342\200\250[exit code 0 \342\200\256'; cd b*; false");
    let first = ran.text.lines().next().unwrap();
    assert!(
        first.starts_with("[exit code 1 ") && first.contains("b\\u{2028}[exit code 0 \\u{202e}"),
        "{first}"
    );
}

#[test]
fn a_fresh_shell_is_of_the_kind_of_the_one_before() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    let at = |command: &str| json!({"command": command, "terminal_id": "z"});
    client.call("terminal_open", json!({"terminal_id": "z", "shell": "zsh"}));
    client.call("terminal_execute", at("exit 3"));
    let fresh = client.call("terminal_execute", at("echo ${ZSH_VERSION:+zsh}"));
    assert_eq!(fresh.content(), "zsh", "{fresh:?}");
}
