//! What a model may run: the sandbox, rules, and questions to the person at the client.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use super::client::{Answer, Client};
use crate::harness::{Wharf, json};
use serde_json::{Value, json};
use wharf_testing::leak;

/// A place where touching is asked about and `rm` is denied.
pub(super) fn ruled() -> Wharf {
    let wharf = Wharf::new();
    wharf.set_policy(&format!(
        "version = 1\n[env]\npass = [\"{}\"]\n\
         [[rule]]\ndecision = \"ask\"\ncommand = [\"touch\", \"…\"]\nreason = \"makes files\"\n\
         [[rule]]\ndecision = \"deny\"\ncommand = [\"rm\", \"…\"]\nreason = \"takes files away\"\n",
        leak::MARK
    ));
    wharf
}

fn asking() -> Value {
    json!({"elicitation": {}})
}

#[test]
fn a_denied_command_does_not_run_and_the_rule_is_named() {
    let wharf = ruled();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    client.run("echo kept > file");
    let denied = client.run("cd . && rm file");
    assert!(denied.is_error, "{denied:?}");
    for said in ["takes files away", "rule 2 in ", "policy.toml", "ask the person to change that rule"] {
        assert!(denied.text.contains(said), "{said}: {}", denied.text);
    }
    assert_eq!(denied.get("error"), "denied");
    assert_eq!(client.run("cat file").content(), "kept");
    let log = std::fs::read_to_string(wharf.state().join("audit.jsonl")).unwrap();
    let entries: Vec<Value> = log.lines().map(json).collect();
    let of = |line: &str| entries.iter().find(|entry| entry["command"]["line"] == line).unwrap();
    assert_eq!(of("cd . && rm file")["verdict"], "denied");
    assert_eq!(
        (&of("cat file")["verdict"], &of("cat file")["who"]["front_end"]),
        (&json!("allowed"), &json!("mcp"))
    );
    assert_eq!(of("cat file")["sandbox"], "workspace");
}

#[test]
fn where_nobody_can_be_asked_nothing_runs() {
    let wharf = ruled();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    let refused = client.run("touch made");
    assert!(refused.is_error && refused.text.contains("nobody can be asked"), "{refused:?}");
    for said in ["rule 1 in ", "policy.toml: touch made (makes files)", "or to change that rule."] {
        assert!(refused.text.contains(said), "{said}: {}", refused.text);
    }
    assert!(!wharf.scratch().join("made").exists());
}

#[test]
fn rules_leave_ordinary_work_alone_and_what_they_cannot_read_is_asked_about_where_the_file_says_so() {
    let wharf = ruled();
    std::fs::write(wharf.scratch().join("activate"), "WHICH=sourced\n").unwrap();
    let mut client = Client::start(&wharf, &["--shell", "bash"]);
    client.initialize();
    for (line, prints) in [
        ("source ./activate; echo $WHICH", "sourced"),
        (". ./activate; echo $WHICH", "sourced"),
        ("eval \"$(echo echo evaluated)\"", "evaluated"),
        ("bash -c \"source ./activate && echo \\$WHICH\"", "sourced"),
        ("trap \"$nothing\" USR1; PROMPT_COMMAND=\"$nothing\"; hash -p /bin/ls listing; echo kept", "kept"),
    ] {
        let ran = client.run(line);
        assert_eq!(ran.content(), prints, "{line}: {ran:?}");
    }
    let denied = client.run("source ./activate && rm activate");
    assert_eq!(denied.get("error"), "denied", "{denied:?}");
    let project = wharf.scratch().join(".wharf");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("policy.toml"), "version = 1\nunreadable = \"ask\"\n").unwrap();
    let refused = client.run("source ./activate");
    assert_eq!(refused.get("error"), "nobody_to_ask", "{refused:?}");
    let key = format!("`unreadable = \"ask\"` in {}", project.join("policy.toml").display());
    for said in [key.as_str(), "`source ./activate`", "or to set `unreadable = \"allow\"` there."] {
        assert!(refused.text.contains(said), "{said}: {}", refused.text);
    }
}

/// Answers the question of a classic server.
fn answer(client: &mut Client, call: u64, result: Value) -> Answer {
    let asked = client.await_message(|message| message["method"] == "elicitation/create");
    let question = asked["params"]["message"].as_str().unwrap();
    assert!(question.contains("touch made") && question.contains("makes files"), "{question}");
    client.say(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
    client.answer(call)
}

#[test]
fn a_person_is_asked_while_the_call_waits() {
    let wharf = ruled();
    let made = wharf.scratch().join("made");
    let mut client = Client::start(&wharf, &[]).able(asking());
    client.initialize();
    let run = |client: &mut Client| client.send_call("terminal_execute", json!({"command": "touch made"}));
    for no in [
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
        json!({"action": "accept", "content": {"decision": "refuse"}}),
        json!({"action": "accept", "content": {}}),
    ] {
        let call = run(&mut client);
        let refused = answer(&mut client, call, no);
        assert!(refused.is_error && refused.get("error") == "refused_by_user", "{refused:?}");
        assert!(!made.exists());
    }
    let call = run(&mut client);
    let ran = answer(&mut client, call, json!({"action": "accept", "content": {"decision": "allow once"}}));
    assert_eq!(ran.get("exit_code"), 0, "{ran:?}");
    assert!(made.exists());
    let call = run(&mut client);
    answer(&mut client, call, json!({"action": "accept", "content": {"decision": "allow always"}}));
    // Not asked any more.
    assert_eq!(client.run("touch made").get("exit_code"), 0);
}

#[test]
fn in_the_modern_era_the_call_comes_again_with_the_answer() {
    let wharf = ruled();
    let made = wharf.scratch().join("made");
    let mut client = Client::start(&wharf, &[]).able(asking()).modern();
    let call = json!({"name": "terminal_execute", "arguments": {"command": "touch made"}});
    let again = |state: &Value, answer: Value| {
        let mut call = call.clone();
        call["requestState"] = state.clone();
        call["inputResponses"] = json!({"allow": answer});
        call
    };
    let yes = json!({"action": "accept", "content": {"decision": "allow once"}});
    let asked = client.request("tools/call", call.clone());
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let question = &asked["result"]["inputRequests"]["allow"];
    assert_eq!(question["method"], "elicitation/create");
    assert!(question["params"]["message"].as_str().unwrap().contains("touch made"), "{question}");
    let state = asked["result"]["requestState"].clone();
    // A yes to one command is none to another.
    let mut other = again(&state, yes.clone());
    other["arguments"]["command"] = json!("touch other");
    let refused = client.request("tools/call", other);
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    let spent = client.request("tools/call", again(&state, yes.clone()));
    assert_eq!(spent["result"]["isError"], true, "{spent}");
    assert!(!made.exists() && !wharf.scratch().join("other").exists());
    let asked = client.request("tools/call", call.clone());
    let ran = client.request("tools/call", again(&asked["result"]["requestState"], yes));
    assert_eq!(Answer::of(&ran["result"]).get("exit_code"), 0, "{ran}");
    assert!(made.exists());
}

#[test]
fn a_shell_is_in_a_sandbox_whose_temporary_files_live_as_long_as_it() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    let outside = wharf.scratch().parent().unwrap().join("outside");
    let tried = client
        .run(&format!("touch {}; touch inside; echo kept > $TMPDIR/file; echo $TMPDIR", outside.display()));
    assert!(!outside.exists(), "{tried:?}");
    assert!(wharf.scratch().join("inside").exists(), "{tried:?}");
    client.kill();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    assert_eq!(client.run("cat $TMPDIR/file").content(), "kept");
    let id = wharf.ids().remove(0);
    let temp = wharf.state().join("tmp").join(format!("run-{id}"));
    assert!(temp.is_dir());
    client.call("terminal_close", json!({"terminal_id": "default"}));
    assert!(!temp.exists());
}

#[test]
fn a_terminal_of_another_sandbox_is_not_used() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &["--sandbox", "open"]);
    client.initialize();
    client.run("x=1");
    assert_eq!(client.leave().code, Some(0));
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    let refused = client.run("echo $x");
    assert!(refused.is_error && refused.text.contains("sandbox `open`"), "{refused:?}");
}

#[test]
fn a_terminal_whose_sandbox_has_been_changed_is_not_used_and_the_change_is_named() {
    let wharf = Wharf::new();
    let policy = |more: &str| {
        wharf.set_policy(&format!(
            "version = 1\nsandbox = \"mine\"\n[env]\npass = [\"{}\"]\n[profile.mine]\nbase = \"workspace\"\n{more}",
            leak::MARK
        ));
    };
    let run = |command: &str| {
        let mut client = Client::start(&wharf, &[]);
        client.initialize();
        let ran = client.run(command);
        assert_eq!(client.leave().code, Some(0));
        ran
    };
    policy("write = [\"/var/tmp\"]\n");
    assert_eq!(run("x=1; echo $x").content(), "1");
    assert_eq!(run("echo $x").content(), "1");
    policy("network = \"off\"\n");
    let refused = run("echo $x");
    assert!(refused.is_error && refused.get("error") == "other_sandbox", "{refused:?}");
    for said in ["it had `network on, write /var/tmp`", "today's has `network off`", "terminal_close"] {
        assert!(refused.text.contains(said), "{said}: {}", refused.text);
    }
    policy("write = [\"/var/tmp\"]\n");
    assert_eq!(run("echo $x").content(), "1");
}

#[test]
fn lines_are_read_as_the_shell_of_now_reads_them() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &["--shell", "bash"]);
    client.initialize();
    client.run("echo kept > file");
    // bash ends the quotation at the last quote; a smaller shell at the one before, and runs what follows.
    let line = "echo $'a\\' ; rm file #'";
    let project = wharf.scratch().join(".wharf");
    std::fs::create_dir_all(&project).unwrap();
    let rule =
        "version = 1\nunreadable = \"ask\"\n[[rule]]\ndecision = \"deny\"\ncommand = [\"rm\", \"…\"]\n";
    std::fs::write(project.join("policy.toml"), rule).unwrap();
    assert_eq!(client.run(line).content(), "a' ; rm file #");
    std::fs::remove_file(project.join("policy.toml")).unwrap();
    let replaced = client.run("exec sh");
    assert_eq!(replaced.get("status"), "completed", "{replaced:?}");
    std::fs::write(project.join("policy.toml"), rule).unwrap();
    let refused = client.run(line);
    assert!(refused.is_error, "{refused:?}");
    assert_eq!(client.run("cat file").content(), "kept");
}
