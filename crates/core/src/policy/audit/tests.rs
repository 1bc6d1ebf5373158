//! Real files, several writers, and what must be refused.

use super::*;
use crate::end::{Ended, Outcome};
use crate::id::TerminalId;
use crate::policy::ask::Shown;
use crate::policy::verdict::Facts;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Duration;
use wharf_shim::journal::record::Cause;

fn decision(command: Shown) -> Entry {
    Entry::Decision(Decision {
        who: Who { front_end: "acp".into(), agent: "claude".into(), session: Some("s".into()) },
        terminal: Some(TerminalId::from_bits(7)),
        command,
        cwd: "/src/project".into(),
        env_names: vec!["TOKEN".into()],
        ruling: Ruling::AllowedOnce,
        facts: Facts {
            rules: vec!["no push".into()],
            sandbox: "workspace".into(),
            missing: vec!["signals".into()],
            limits: [("time".to_owned(), "2h".to_owned())].into(),
        },
    })
}

fn line(text: impl Into<OsString>) -> Shown {
    Shown::Line { shell: "/bin/sh".into(), line: text.into() }
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_decision_says_who_asked_what_and_what_decided() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let audit = Audit::open(&path).unwrap();
    audit.write(&decision(line("git push"))).unwrap();
    let mut found = lines(&path).remove(0);
    assert!(found.as_object_mut().unwrap().remove("time_ms").unwrap().as_u64().unwrap() > 1_700_000_000_000);
    let expected = json!({
        "what": "decision",
        "who": {"front_end": "acp", "agent": "claude", "session": "s"},
        "terminal": TerminalId::from_bits(7).as_str(),
        "command": {"line": "git push", "shell": "/bin/sh"},
        "cwd": "/src/project",
        "env_names": ["TOKEN"],
        "env_names_left_out": 0,
        "verdict": "allowed_once",
        "rules": ["no push"],
        "sandbox": "workspace",
        "not_held": ["signals"],
        "limits": {"time": "2h"},
    });
    assert_eq!(found, expected);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_end_says_how_and_why() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let ended = Ended {
        outcome: Outcome::Signal(9),
        cause: Cause::TimeLimit,
        author: String::new(),
        at: 1,
        lasted: Duration::from_millis(1500),
        cpu: Default::default(),
        peak_memory: 0,
        bytes: 0,
        left: 0,
        holding: 0,
        limit: None,
        sandbox: "open".to_owned(),
    };
    let terminal = TerminalId::from_bits(7);
    Audit::open(&path).unwrap().write(&Entry::End { terminal, ended }).unwrap();
    let found = lines(&path).remove(0);
    assert_eq!(
        (&found["outcome"], &found["signal"], &found["cause"], &found["duration_ms"]),
        (&json!("signal"), &json!("SIGKILL"), &json!("time_limit"), &json!(1500)),
        "{found}"
    );
}

#[test]
fn a_command_that_is_too_long_keeps_its_ends_and_its_length() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let audit = Audit::open(&path).unwrap();
    let long = format!("first {} last", "é".repeat(200_000));
    audit.write(&decision(line(&long))).unwrap();
    audit.write(&decision(line("x".repeat(60_000)))).unwrap();
    let found = lines(&path);
    let cut = &found[0]["command"];
    assert_eq!(cut["bytes"], long.len() + "/bin/sh".len());
    assert!(cut["start"].as_str().unwrap().starts_with("first é"));
    assert!(cut["end"].as_str().unwrap().ends_with("é last"));
    assert_eq!(found[1]["command"]["line"].as_str().unwrap().len(), 60_000, "whole");
}

#[test]
fn nothing_an_agent_chooses_makes_an_entry_endless() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let Entry::Decision(mut huge) = decision(line("\u{202e}".repeat(1 << 20))) else { unreachable!() };
    huge.who.session = Some("s".repeat(1 << 20));
    huge.env_names = (0..10_000).map(|number| format!("N{number}")).collect();
    Audit::open(&path).unwrap().write(&Entry::Decision(huge)).unwrap();
    assert!(fs::metadata(&path).unwrap().len() < 256 << 10);
    assert_eq!(lines(&path)[0]["env_names_left_out"], 10_000 - 256);
}

#[test]
fn a_file_that_others_could_change_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let code = |path: &Path| Audit::open(path).map(|_| "opened").unwrap_or_else(|error| error.code());
    fs::write(at("loose"), "").unwrap();
    for (mode, expected) in
        [(0o600, "opened"), (0o644, "opened"), (0o660, "audit_unsafe"), (0o602, "audit_unsafe")]
    {
        fs::set_permissions(at("loose"), fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(code(&at("loose")), expected, "{mode:o}");
    }
    symlink(at("loose"), at("link")).unwrap();
    assert_eq!(code(&at("link")), "audit_io");
    rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    assert_eq!(code(&at("pipe")), "audit_io");
    assert_eq!(code(&at("missing/audit.jsonl")), "audit_io");
    assert_eq!(code(dir.path()), "audit_io");
    if rustix::process::geteuid().is_root() {
        fs::write(at("theirs"), "").unwrap();
        std::os::unix::fs::chown(at("theirs"), Some(65534), None).unwrap();
        assert_eq!(code(&at("theirs")), "audit_unsafe");
    }
}

#[test]
fn many_writers_lose_nothing_while_it_is_renamed_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let (writers, each) = (4, 200);
    // Renamed once, after about half.
    let one = serde_json::to_vec(&decision(line("0-000"))).unwrap().len() as u64 + 1;
    let full = one * writers * each / 2;
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let path = path.clone();
            // Each has a descriptor of its own, as programs have.
            scope.spawn(move || {
                let audit = Audit::with_full(path, full).unwrap();
                for number in 0..each {
                    audit.write(&decision(line(format!("{writer}-{number:03}")))).unwrap();
                }
            });
        }
    });
    let mut found = lines(&dir.path().join("audit.jsonl.1"));
    let before = found.len();
    found.extend(lines(&path));
    assert!(before > 0 && before < found.len());
    let mut seen: Vec<_> = found.iter().map(|entry| entry["command"]["line"].to_string()).collect();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len() as u64, writers * each);
}

#[test]
fn a_file_that_was_taken_away_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let audit = Audit::open(&path).unwrap();
    audit.write(&decision(line("one"))).unwrap();
    fs::remove_file(&path).unwrap();
    audit.write(&decision(line("two"))).unwrap();
    assert_eq!(lines(&path).len(), 1);
    // And what is not safe any more is an error, not an entry.
    fs::remove_file(&path).unwrap();
    symlink(dir.path().join("elsewhere"), &path).unwrap();
    assert_eq!(audit.write(&decision(line("three"))).unwrap_err().code(), "audit_io");
    assert!(!dir.path().join("elsewhere").exists());
}

#[test]
fn an_entry_that_does_not_fit_is_an_error_and_does_not_spoil_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let audit = Audit::open(&path).unwrap();
    audit.write(&decision(line("one"))).unwrap();
    // As after a disk that was full in the middle of an entry.
    fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap()
        .set_len(fs::metadata(&path).unwrap().len() - 5)
        .unwrap();
    audit.open.lock().unwrap().torn = true;
    audit.write(&decision(line("two"))).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let whole: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!((text.lines().count(), whole.len()), (2, 1));
    assert_eq!(whole[0]["command"]["line"], "two");
}
