//! The policy from outside: what the file may say, what `wharf policy` answers, and what agents get.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::acp::Client;
use crate::harness::{Wharf, json};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

const RULES: &str = r#"
version = 1
[[rule]]
name = "no force"
decision = "deny"
command = ["git", "push", "…", ["--force", "-f"], "…"]
reason = "rewrites what others have"
match = ["git push --force origin main"]
not_match = ["git push origin main"]
[[rule]]
decision = "ask"
command = ["touch", "…"]
"#;

/// `wharf policy` in a directory that may be one to work in.
fn policy(wharf: &Wharf, args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = wharf.command(["policy"].into_iter().chain(args.iter().copied()));
    command.current_dir(wharf.scratch()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let done = crate::harness::finish(command.spawn().unwrap());
    (done.code, done.out, done.err)
}

#[test]
fn the_file_that_init_prints_says_what_holds_without_one() {
    let wharf = Wharf::new();
    std::fs::remove_file(wharf.policy()).unwrap();
    let (_, built_in, _) = policy(&wharf, &["show"]);
    assert!(built_in.contains("from      what is built in\n"), "{built_in}");
    let (code, init, _) = policy(&wharf, &["init"]);
    assert_eq!(code, Some(0));
    wharf.set_policy(&init);
    let (_, from_file, err) = policy(&wharf, &["show"]);
    let rest = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(rest(&from_file), rest(&built_in), "{err}");
    assert!(rest(&built_in).contains("sandbox   workspace\n"), "{built_in}");
}

#[test]
fn every_example_in_the_file_that_init_prints_can_be_used() {
    let wharf = Wharf::new();
    let (_, init, _) = policy(&wharf, &["init"]);
    let is_example = |line: &str| line.starts_with('#') && !line.starts_with("# ") && line.len() > 1;
    let mut keys = Vec::new();
    let mut used = String::new();
    for line in init.lines() {
        let line = if is_example(line) { &line[1..] } else { line };
        // An example takes the place of what stands above it.
        let key = line.split(" = ").next().unwrap().to_owned();
        if line.contains(" = ") && ["add", "pass", "allow"].contains(&key.as_str()) {
            used = used.replace(&format!("{key} = []\n"), "");
        }
        keys.push(key);
        used += &format!("{line}\n");
    }
    wharf.set_policy(&used);
    let (code, shown, err) = policy(&wharf, &["show"]);
    assert_eq!(code, Some(0), "{err}\n{used}");
    for part in ["profile   web\n", "time 7200s", "ask git push …", "deny git push … [--force|-f] …"] {
        assert!(shown.contains(part), "{part:?} is missing:\n{shown}");
    }
}

#[test]
fn check_says_the_verdict_and_every_rule_that_had_a_say() {
    let wharf = Wharf::new();
    wharf.set_policy(RULES);
    let cases: &[(&[&str], &str, &str)] = &[
        (&["--", "git", "push", "origin"], "allow\n", "program   /usr/bin/git\n"),
        (&["--", "git", "push", "-f"], "deny\n", "no force"),
        (&["--", "env", "A=1", "git", "push", "--force"], "deny\n", "rewrites what others have"),
        (&["-c", "make && git push --force; true"], "deny\n", "no force"),
        (&["-c", "g=git; $g push -f"], "allow\n", "cannot be known"),
        (&["-c", "source x"], "allow\n", "note: `source x` reads commands from a file"),
        (&["--", "touch", "x"], "ask\n", "ask: rule 2 in "),
        (&["--", "git", "-C", ".", "push", "-f"], "deny\n", "deny: the rule \"no force\" in "),
        (&["-c", "touch x && git push -f"], "deny\n", "rule 2"),
        (&["--", "grep", "a|b;c$(touch x)"], "allow\n", "sandbox   workspace\n"),
        (&["--cwd", "/usr", "--", "true"], "deny\n", "outside the directories to work in"),
        (&["--sandbox", "locked", "--", "true"], "allow\n", "sandbox   locked\n"),
    ];
    for (args, verdict, part) in cases {
        let args = [&["check"], *args].concat();
        let (code, out, err) = policy(&wharf, &args);
        assert!(out.starts_with(verdict) && out.contains(part), "{args:?}: {out}{err}");
        assert_eq!(code, Some(if *verdict == "allow\n" { 0 } else { 1 }), "{args:?}");
    }
}

#[test]
fn a_file_with_a_mistake_is_refused_as_a_whole_with_the_line_and_what_to_write() {
    let wharf = Wharf::new();
    let witness = wharf.scratch().join("ran");
    for (text, line, part, fix) in [
        ("version = 1\nsandbix = \"open\"\n", ":2:", "sandbix", "policy init"),
        ("version = 1\n\nsandbox = \"mine\"\n", ":3:", "no sandbox named `mine`", "open, workspace, locked"),
        ("version = 9\n", ":1:", "version is 9", "version = 1"),
        ("version = 1\n[limits]\ntime = \"soon\"\n", ":3:", "amount", "30s"),
        ("version = 1\n[roots]\nadd = [\"here\"]\n", ":3:", "absolute", "begin it with /"),
        ("version = 1\n[env]\npass = [\"*\"]\n", ":3:", "*", ""),
        (
            "version = 1\n[[rule]]\ndecision = \"deny\"\ncommand = []\n",
            ":2:",
            "empty",
            "begin it with a program",
        ),
        (
            "version = 1\n[[rule]]\ndecision = \"deny\"\ncommand = [\"rm\", \"-rf\"]\nmatch = [\"rm x\"]\n",
            ":2:",
            "does not match its example",
            "not_match",
        ),
        ("version = 1\n[profile.open]\n", ":2:", "cannot be the name", "letters"),
        (
            "version = 1\n[profile.p]\nnamespaces = \"never\"\nprotect = [\"x\"]\n",
            ":3:",
            "protected",
            "protect = []",
        ),
    ] {
        wharf.set_policy(text);
        for args in [&["policy", "show"][..], &["acp", "--", "touch", witness.to_str().unwrap()]] {
            let done = wharf.call(args.iter().copied());
            assert_eq!(done.code, Some(125), "{args:?} {text}: {done:?}");
            let place = format!("policy.toml{line}");
            assert!(done.err.contains(&place) && done.err.contains(part), "{text}: {}", done.err);
            assert!(done.err.contains("hint:") && done.err.contains(fix), "{text}: {}", done.err);
        }
        assert!(!witness.exists(), "something ran under {text}");
    }
}

#[test]
fn a_file_that_others_can_write_is_not_believed() {
    let wharf = Wharf::new();
    std::fs::set_permissions(wharf.policy(), std::fs::Permissions::from_mode(0o666)).unwrap();
    let (code, _, err) = policy(&wharf, &["show"]);
    assert_eq!(code, Some(125));
    assert!(err.contains("somebody else") && err.contains("chmod"), "{err}");
}

#[test]
fn a_project_can_forbid_more_and_allow_nothing() {
    let wharf = Wharf::new();
    let file = wharf.scratch().join(".wharf/policy.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let check = |text: &str, args: &[&str]| {
        std::fs::write(&file, text).unwrap();
        policy(&wharf, &[&["check"], args].concat())
    };
    let (_, out, _) =
        check("version = 1\n[[rule]]\ndecision = \"deny\"\ncommand = [\"true\"]\n", &["--", "true"]);
    assert!(out.starts_with("deny\n"), "{out}");
    let (_, out, _) = check("version = 1\nunreadable = \"ask\"\n", &["-c", "source x"]);
    assert!(
        out.starts_with("ask\n  ask: `unreadable = \"ask\"` in ") && out.contains(".wharf/policy.toml"),
        "{out}"
    );
    let (_, out, _) = check("version = 1\nsandbox = \"locked\"\n[limits]\nterminals = 3\n", &["--", "true"]);
    assert!(out.contains("sandbox   locked\n") && out.contains("terminals 3"), "{out}");
    let (_, out, _) = check("version = 1\n[limits]\nterminals = 3000\n", &["--", "true"]);
    assert!(out.contains("terminals 128") || !out.contains("terminals 3000"), "{out}");
    for (text, part) in [
        ("version = 1\nsandbox = \"open\"\n", "cannot choose"),
        ("version = 1\n[roots]\nadd = [\"/opt\"]\n", "cannot add roots"),
        ("version = 1\n[env]\nallow = [\"LD_PRELOAD\"]\n", "cannot add variables"),
        ("version = 1\n[profile.p]\n", "cannot add profiles"),
        ("version = 1\n[[rule]]\ndecision = \"allow\"\ncommand = [\"true\"]\n", "cannot allow"),
        ("nonsense", "expected"),
    ] {
        let (code, out, err) = check(text, &["--", "true"]);
        assert_eq!(code, Some(125), "{text}: {out}");
        assert!(err.contains(part), "{text}: {err}");
    }
}

/// An agent that runs one command, notes the answers and leaves.
fn agent(command: &Value, notes: &str) -> String {
    let command = command.to_string();
    let inner = &command[1..command.len() - 1];
    format!(
        "ask create '{inner}'; echo \"$answer\" > {notes}; case $answer in *error*) exit;; esac
         id; ask wait_for_exit \"\\\"terminalId\\\":\\\"$terminal\\\"\"; ask output \"\\\"terminalId\\\":\\\"$terminal\\\"\"
         echo \"$answer\" >> {notes}"
    )
}

fn notes(wharf: &Wharf) -> (std::path::PathBuf, impl Fn() -> Vec<Value>) {
    let path = wharf.scratch().join("notes");
    let read = path.clone();
    (path, move || std::fs::read_to_string(&read).unwrap().lines().map(json).collect())
}

#[test]
fn a_command_of_an_agent_is_told_its_sandbox_and_gets_no_secrets() {
    let wharf = Wharf::new();
    let (path, read) = notes(&wharf);
    let script =
        agent(&json!({"command": "env; touch inside; touch ~/outside; exit 0"}), path.to_str().unwrap());
    let client = Client::start_with(&wharf, &[], &script, &[("MY_API_TOKEN", "hush"), ("LANG", "C.UTF-8")]);
    client.finish();
    let heard = read();
    assert_eq!(heard[0]["result"]["_meta"]["wharf"]["sandbox"], "workspace", "{heard:?}");
    let output = heard[1]["result"]["output"].as_str().unwrap();
    assert!(!output.contains("hush") && output.contains("LANG=C.UTF-8"), "{output}");
    assert!(output.contains("outside"), "what is refused is said: {output}");
    assert!(wharf.scratch().join("inside").exists());
    assert!(!wharf.scratch().parent().unwrap().join("outside").exists());
    let audit = std::fs::read_to_string(wharf.state().join("audit.jsonl")).unwrap();
    let entries: Vec<Value> = audit.lines().map(json).collect();
    let whats: Vec<_> = entries.iter().map(|entry| entry["what"].as_str().unwrap()).collect();
    assert_eq!(whats, ["decision", "end"], "{audit}");
    assert_eq!(entries[0]["sandbox"], "workspace", "{audit}");
    assert!(!audit.contains("hush"));
}

#[test]
fn what_a_rule_denies_is_refused_with_its_reason_and_written_down() {
    let wharf = Wharf::new();
    wharf.set_policy(RULES);
    let (path, read) = notes(&wharf);
    let script = agent(&json!({"command": "git", "args": ["push", "--force"]}), path.to_str().unwrap());
    Client::start(&wharf, &[], &script).finish();
    let error = &read()[0]["error"];
    assert_eq!(error["data"]["code"], "denied", "{error}");
    assert_eq!(error["data"]["rule"], "no force", "{error}");
    let message = error["message"].as_str().unwrap();
    let said = format!("denied by the rule \"no force\" in {}: ", wharf.policy().display());
    assert!(message.starts_with(&said) && message.ends_with("ask the user to change that rule"), "{message}");
    let audit = std::fs::read_to_string(wharf.state().join("audit.jsonl")).unwrap();
    assert!(audit.contains("\"denied\"") && audit.contains("no force"), "{audit}");
}

#[test]
fn what_a_rule_asks_about_is_asked_in_the_editor() {
    for (answer, runs) in [("allow_once", true), ("reject_once", false)] {
        let wharf = Wharf::new();
        wharf.set_policy(RULES);
        let (path, read) = notes(&wharf);
        let script = agent(&json!({"command": "touch", "args": ["made"]}), path.to_str().unwrap());
        let mut client = Client::start(&wharf, &[], &script);
        let question = loop {
            let message = client.hear();
            if message["method"] == "session/request_permission" {
                break message;
            }
        };
        assert!(question["params"].to_string().contains("touch made"), "{question}");
        let options = question["params"]["options"].as_array().unwrap();
        let option = options.iter().find(|option| option["kind"] == answer).unwrap();
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option["optionId"]}});
        client.say(&json!({"jsonrpc": "2.0", "id": question["id"], "result": outcome}));
        client.finish();
        assert_eq!(wharf.scratch().join("made").exists(), runs, "{:?}", read());
        assert_eq!(read()[0]["error"].is_null(), runs, "{:?}", read());
    }
}

#[test]
fn limits_of_the_policy_bind_what_an_agent_asks_for() {
    let wharf = Wharf::new();
    wharf.set_policy("version = 1\n[limits]\ntime = \"300ms\"\nterminals = 1\n");
    let notes = wharf.scratch().join("notes");
    let script = format!(
        "ask create '\"command\":\"sleep 50\"'; id; ask create '\"command\":\"true\"'; echo \"$answer\" > {0}
         ask wait_for_exit \"\\\"terminalId\\\":\\\"$terminal\\\"\"; echo \"$answer\" >> {0}
         ask create '\"command\":\"true\"'; echo \"$answer\" >> {0}",
        notes.display()
    );
    Client::start(&wharf, &[], &script).finish();
    let heard: Vec<Value> = std::fs::read_to_string(&notes).unwrap().lines().map(json).collect();
    assert_eq!(heard[0]["error"]["data"]["code"], "too_many_terminals", "{heard:?}");
    assert!(heard[1]["result"]["signal"].is_string(), "{heard:?}");
    assert!(heard[2]["result"]["terminalId"].is_string(), "{heard:?}");
    let audit = std::fs::read_to_string(wharf.state().join("audit.jsonl")).unwrap();
    assert!(audit.contains("\"time_limit\""), "{audit}");
}

#[test]
fn a_project_may_want_fewer_terminals() {
    let wharf = Wharf::new();
    let project = wharf.scratch().join(".wharf");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("policy.toml"), "version = 1\n[limits]\nterminals = 1\n").unwrap();
    let notes = wharf.scratch().join("notes");
    let script = format!(
        "ask create '\"command\":\"sleep 50\"'; id; ask create '\"command\":\"true\"'; echo \"$answer\" > {0}
         ask kill \"\\\"terminalId\\\":\\\"$terminal\\\"\"
         ask wait_for_exit \"\\\"terminalId\\\":\\\"$terminal\\\"\"
         ask create '\"command\":\"true\"'; echo \"$answer\" >> {0}",
        notes.display()
    );
    Client::start(&wharf, &[], &script).finish();
    let heard: Vec<Value> = std::fs::read_to_string(&notes).unwrap().lines().map(json).collect();
    assert_eq!(heard[0]["error"]["data"]["code"], "too_many_terminals", "{heard:?}");
    assert_eq!(heard[0]["error"]["data"]["limit"], 1, "{heard:?}");
    assert!(heard[1]["result"]["terminalId"].is_string(), "{heard:?}");
}

/// Nothing is refused wholesale because of where somebody is: it is read as usual, and not written.
#[test]
fn in_a_directory_that_is_too_wide_commands_run_and_write_temporary_files_only() {
    let wharf = Wharf::new();
    let home = wharf.scratch().parent().unwrap().to_owned();
    std::fs::write(home.join("notes"), "mine\n").unwrap();
    let line = "cat notes; touch new 2>&1; touch $TMPDIR/new && echo made; pwd";
    for (sandbox, wrote) in [("workspace", false), ("open", true)] {
        let mut command = wharf.command(["run", "--sandbox", sandbox, "-c", line]);
        command
            .current_dir(&home)
            .env("TMPDIR", wharf.scratch())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let done = crate::harness::finish(command.spawn().unwrap());
        assert_eq!(done.code, Some(0), "{sandbox}: {done:?}");
        assert!(done.out.starts_with("mine\n") && done.out.contains("made\n"), "{sandbox}: {done:?}");
        assert!(done.out.ends_with(&format!("{}\n", home.display())), "{sandbox}: {done:?}");
        assert_eq!(home.join("new").exists(), wrote, "{sandbox}: {done:?}");
    }
    // Everybody's temporary directory is the command's own there.
    for dir in ["/tmp", "/"] {
        let mut command = wharf.command(["run", "--sandbox", "workspace", "-c", "pwd; touch x; ls x; true"]);
        command.current_dir(dir).stdout(Stdio::piped()).stderr(Stdio::piped());
        let done = crate::harness::finish(command.spawn().unwrap());
        let expected = if dir == "/tmp" { "/tmp\nx\n" } else { "/\n" };
        assert!(done.code == Some(0) && done.out.starts_with(expected), "{dir}: {done:?}");
        assert!(!std::path::Path::new("/tmp/x").exists() && !std::path::Path::new("/x").exists(), "{dir}");
    }
}

/// Runs a line in a sandbox, in the scratch directory of a home.
fn confined(wharf: &Wharf, sandbox: &str, line: &str) -> (Option<i32>, String) {
    let mut command = wharf.command(["run", "--sandbox", sandbox, "-c", line]);
    command.current_dir(wharf.scratch()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let done = crate::harness::finish(command.spawn().unwrap());
    (done.code, done.out + &done.err)
}

#[test]
fn what_is_hidden_in_a_cache_cannot_be_moved_away_with_its_directory() {
    let wharf = Wharf::new();
    let home = wharf.scratch().parent().unwrap().to_owned();
    let token = home.join(".cache/huggingface/token");
    std::fs::create_dir_all(token.parent().unwrap()).unwrap();
    std::fs::write(&token, "hush").unwrap();
    wharf.set_policy("version = 1\n[profile.wide]\nwrite = [\"~/.cache\"]\n");
    let (_, said) =
        confined(&wharf, "wide", "touch ~/.cache/fine && cat ~/.cache/huggingface/token && echo read");
    assert_eq!(said, "read\n", "the cache is there, the secret is empty");
    let (_, said) = confined(&wharf, "wide", "mv ~/.cache/huggingface ~/.cache/other && echo moved");
    assert!(!said.contains("moved\n"), "{said}");
    assert!(token.exists());
}

#[test]
fn a_profile_based_on_locked_reads_no_more_with_a_loopback() {
    let wharf = Wharf::new();
    wharf.set_policy(
        "version = 1\n[profile.near]\nbase = \"locked\"\nnamespaces = \"auto\"\nnetwork = \"loopback\"\n",
    );
    std::fs::write(wharf.scratch().parent().unwrap().join("diary"), "hush").unwrap();
    std::fs::write(wharf.scratch().join("mine"), "here").unwrap();
    for sandbox in ["locked", "near"] {
        let (_, said) = confined(&wharf, sandbox, "cat mine ~/diary; echo x > written");
        assert!(said.contains("here") && !said.contains("hush"), "{sandbox}: {said}");
        assert!(!wharf.scratch().join("written").exists(), "{sandbox}");
    }
}

#[test]
fn where_unix_sockets_are_refused_no_pair_of_them_sends_to_a_name() {
    let wharf = Wharf::new();
    let heard = std::os::unix::net::UnixDatagram::bind(wharf.scratch().join("heard")).unwrap();
    heard.set_nonblocking(true).unwrap();
    let script =
        "import socket; a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.sendto(b'x', 'heard')";
    let line = format!("/usr/bin/python3 -c \"{script}\"; true");
    confined(&wharf, "locked", &line);
    assert!(heard.recv(&mut [0; 8]).is_err(), "locked");
    confined(&wharf, "workspace", &line);
    assert!(
        heard.recv(&mut [0; 8]).is_ok(),
        "in `workspace` mounts hide the sockets of others, and one's own work"
    );
}

#[test]
fn a_lock_on_what_stands_in_for_a_file_holds_nobody_up() {
    let wharf = Wharf::new();
    wharf.set_policy("version = 1\n[profile.strict]\nprotection = \"strict\"\n");
    let mut command =
        wharf.command(["run", "--", "flock", "-x", ".fleet", "sh", "-c", "echo locked; exec sleep 300"]);
    command.current_dir(wharf.scratch()).stdout(Stdio::piped()).stderr(Stdio::piped());
    std::fs::create_dir(wharf.scratch().join(".fleet")).unwrap();
    std::fs::set_permissions(wharf.scratch().join(".fleet"), std::fs::Permissions::from_mode(0o1700))
        .unwrap();
    let mut holder = command.spawn().unwrap();
    crate::harness::read_until(holder.stdout.as_mut().unwrap(), "locked\n");
    let (code, said) = confined(&wharf, "strict", "true");
    assert_eq!(code, Some(125), "{said}");
    assert!(said.contains(".fleet"), "{said}");
    holder.kill().unwrap();
    holder.wait().unwrap();
}
