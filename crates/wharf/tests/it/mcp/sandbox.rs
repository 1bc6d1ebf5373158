//! The sandbox as an agent meets it in a shell that stays: what is said of it, what stays hidden, and where work is.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use super::client::Client;
use crate::harness::{Wharf, json};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The home of the place.
fn home(wharf: &Wharf) -> PathBuf {
    wharf.scratch().parent().unwrap().to_owned()
}

fn settings(wharf: &Wharf) -> Vec<Value> {
    let log = std::fs::read_to_string(wharf.state().join("audit.jsonl")).unwrap();
    log.lines().map(json).filter(|entry| entry["what"] == "settings").collect()
}

#[test]
fn what_is_in_force_is_said_first_and_with_every_failure() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]);
    let hello = client.initialize();
    let instructions = hello["instructions"].as_str().unwrap();
    assert!(instructions.contains("sandbox `workspace`") && instructions.len() < 2048, "{instructions}");
    let note = format!(
        "[sandbox workspace: writes only in {}, /tmp and tool caches; keys, credentials and sockets of other programs are hidden]",
        wharf.scratch().display()
    );
    assert!(client.run("true").text.contains(&note));
    // The caches of tools that are there were made before: from inside they could not be.
    let npm =
        ["/usr/bin/npm", "/usr/local/bin/npm"].into_iter().any(|npm| std::path::Path::new(npm).exists());
    assert!(!npm || home(&wharf).join(".npm").is_dir());
    assert!(!client.run("true").text.contains("sandbox"));
    let failed = client.run("touch /usr/x");
    assert!(failed.text.contains(&note), "{}", failed.text);
    let opened = client.call("terminal_open", json!({"terminal_id": "second"}));
    assert!(opened.text.contains(&note), "{}", opened.text);
    client.leave();
    // Without one there is nothing to say.
    let mut client = Client::start(&wharf, &["--sandbox", "open", "--as", "other"]);
    let hello = client.initialize();
    assert!(!hello["instructions"].as_str().unwrap().contains("sandbox"));
    assert!(!client.run("false").text.contains("sandbox"));
    client.leave();
}

#[test]
fn what_makes_other_programs_run_something_is_told_once_and_written_down() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    client.run("git init -q . && git config core.hooksPath .git/hooks");
    // A repository that was not there when the shell was opened has its hooks told.
    let hook = client.run("echo x > .git/hooks/pre-push");
    assert!(hook.text.contains("pre-push was created meanwhile: git runs it"), "{}", hook.text);
    let made = client.run("mkdir .vscode && echo '{}' > .vscode/tasks.json && rm -rf .git/hooks && mkdir .git/hooks && touch .git/hooks/pre-commit");
    assert_eq!(made.get("exit_code"), 0, "{made:?}");
    let task = wharf.scratch().join(".vscode/tasks.json");
    let told = format!("[{} was created meanwhile: tasks run when the folder is opened", task.display());
    assert!(made.text.contains(&told), "{}", made.text);
    assert!(!client.run("true").text.contains("tasks.json"));
    assert!(client.run("echo '{ }' > .vscode/tasks.json").text.contains("tasks.json was changed meanwhile"));
    let written = settings(&wharf);
    let of_task: Vec<_> = written
        .iter()
        .filter(|entry| entry["path"] == task.to_str().unwrap())
        .map(|entry| &entry["change"])
        .collect();
    assert_eq!(of_task, ["created", "changed"], "{written:?}");
    client.leave();
}

/// What credential helpers write, and where only the directory above was there.
const LATER: [&str; 8] = [
    ".ssh/id_rsa",
    ".aws/credentials",
    ".pgpass",
    ".config/gh/hosts.yml",
    ".docker/config.json",
    ".local/share/keyrings/login",
    ".cache/huggingface/token",
    ".cargo/credentials.toml",
];

/// A mount over a file goes when the file is replaced; credential helpers replace files. And a directory in which nothing is
/// hidden yet may hold a secret a moment later.
#[test]
fn what_is_hidden_stays_so_while_a_shell_lives_whatever_happens_to_it_outside() {
    for machine in ["", "landlock=4", "landlock=0", "namespaces=0", "namespaces=0,landlock=2"] {
        let wharf = Wharf::new();
        let home = home(&wharf);
        for dir in [".ssh", ".config/other", ".docker", ".local", ".cache/other", ".cargo"] {
            std::fs::create_dir_all(home.join(dir)).unwrap();
        }
        std::fs::write(home.join(".ssh/id_rsa"), "KEY ONE").unwrap();
        std::fs::write(home.join(".netrc"), "password ONE").unwrap();
        std::fs::write(home.join("notes"), "shown").unwrap();
        let mut client = Client::start_where(&wharf, &wharf.scratch(), &["--structured"], machine);
        client.initialize();
        let files = LATER.map(|name| format!("~/{name}")).join(" ");
        let look = format!("cat ~/.netrc {files} 2>&1; cat ~/notes; ls -A ~ ~/.config ~/.local");
        let before = client.run(&look);
        assert!(
            before.content().contains("shown") && !before.content().contains("ONE"),
            "{machine}: {before:?}"
        );
        std::fs::write(home.join("new"), "password TWO").unwrap();
        std::fs::rename(home.join("new"), home.join(".netrc")).unwrap();
        std::fs::rename(home.join(".ssh"), home.join("old")).unwrap();
        for name in LATER {
            std::fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
            std::fs::write(home.join(name), "KEY TWO").unwrap();
        }
        let after = client.run(&look);
        assert!(!after.content().contains("ONE") && !after.content().contains("TWO"), "{machine}: {after:?}");
        assert!(after.content().contains("shown"), "{machine}: {after:?}");
        client.leave();
    }
}

#[test]
fn in_a_home_every_answer_says_how_to_name_a_project() {
    let wharf = Wharf::new();
    let mut client = Client::start_in(&wharf, &home(&wharf), &[]);
    client.initialize();
    for command in ["echo x > file; cat /etc/hostname > /dev/null", "touch /tmp/x && ls /tmp/x"] {
        let answer = client.run(command);
        assert_eq!(answer.get("exit_code"), 0, "{answer:?}");
        assert!(answer.text.contains("wharf mcp --cwd DIR"), "{}", answer.text);
    }
    assert!(!home(&wharf).join("file").exists());
    assert!(
        client
            .call("terminal_open", json!({"terminal_id": "temporary", "cwd": "/tmp"}))
            .text
            .contains("/tmp")
    );
    client.leave();
}

#[test]
fn the_roots_of_a_client_are_where_its_agent_works() {
    let wharf = Wharf::new();
    let (first, second) = (wharf.scratch().join("first one"), wharf.scratch().join("second"));
    [&first, &second].into_iter().for_each(|dir| std::fs::create_dir(dir).unwrap());
    let mut client =
        Client::start_in(&wharf, &home(&wharf), &[]).able(json!({"roots": {"listChanged": true}}));
    client.initialize();
    let uri = |path: &PathBuf| format!("file://{}", path.display().to_string().replace(' ', "%20"));
    let name = |client: &mut Client, roots: &[&PathBuf]| {
        let asked = client.await_message(|message| message["method"] == "roots/list");
        let roots: Vec<Value> = roots.iter().map(|root| json!({"uri": uri(root)})).collect();
        client.say(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": roots}}));
    };
    let call = client.send_call("terminal_execute", json!({"command": "pwd; echo x > file"}));
    name(&mut client, &[&first]);
    let answer = client.answer(call);
    assert_eq!(
        (answer.content(), answer.get("exit_code")),
        (first.to_str().unwrap(), &json!(0)),
        "{answer:?}"
    );
    let write = format!("echo x > {}/file", second.display());
    assert_eq!(client.run(&write).get("exit_code"), 1);
    // What is named later holds for terminals that are opened later.
    client.notify("notifications/roots/list_changed", json!({}));
    name(&mut client, &[&first, &second]);
    let call = json!({"command": write, "terminal_id": "later"});
    assert_eq!(client.call("terminal_execute", call).get("exit_code"), 0);
    client.leave();
}

#[test]
fn wharf_says_that_it_is_inside() {
    let wharf = Wharf::new();
    let mut client = Client::start(&wharf, &[]);
    client.initialize();
    let line = format!("WHARF_STATE_DIR={} {} ls", wharf.state().display(), wharf.program().display());
    let answer = client.run(&line);
    assert!(answer.content().contains("inside a sandbox of wharf"), "{answer:?}");
    client.leave();
}

#[test]
fn a_strict_policy_refuses_what_cannot_be_held_and_says_what_that_is() {
    let wharf = Wharf::new();
    wharf.set_policy("version = 1\nstrict = true\n");
    let mut command = wharf.command(["run", "--sandbox", "workspace", "--", "true"]);
    command.current_dir(wharf.scratch()).env("WHARF_FAILPOINTS", "landlock=4");
    let done = crate::harness::finish(
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap(),
    );
    assert_eq!(done.code, Some(125), "{done:?}");
    assert!(done.err.contains("strict") && done.err.contains("signalled"), "{done:?}");
}
