//! The table of cases: a small set of rules, and what it says of commands that try to get past it.

mod argv;
mod git;
mod later;
mod line;
mod wrapper;

use super::*;
use Expect::{Allow, Ask, Deny, Nothing, Unknown, Unreadable};

/// What the rules must say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    Allow,
    Ask,
    Deny,
    /// No rule speaks of it.
    Nothing,
    /// No rule speaks of it, and its name cannot be known.
    Unknown,
    /// No rule speaks of it, and it cannot be read.
    Unreadable,
}

const RULES: &str = r#"[
    {"decision": "deny", "command": ["rm", "…"]},
    {"decision": "deny", "command": ["git", "push", "…", ["--force", "-f"], "…"], "name": "no force"},
    {"decision": "ask", "command": ["git", "push", "…"]},
    {"decision": "deny", "command": ["/usr/sbin/shutdown", "…"]},
    {"decision": "deny", "command": ["mkfs*", "…"]},
    {"decision": "ask", "command": ["cargo", "publish", "…"]},
    {"decision": "deny", "command": ["dropdb", "production"]},
    {"decision": "allow", "command": [["git", "grep", "ls", "cat", "find", "tar", "sort", "sed", "awk", "man", "rg", "cargo"], "…"]},
    {"decision": "allow", "command": [["ssh", "npm", "make", "curl", "rsync", "vim", "env", "xargs", "timeout", "python3"], "…"]},
    {"decision": "allow", "command": ["git", "-c", "color.ui=never", "log", "…"]},
    {"decision": "allow", "command": ["find", "…", "-delete"]},
    {"decision": "allow", "command": ["timeout", "60", "cargo", "test", "…"]},
    {"decision": "allow", "command": ["bash", "-c", "…"]},
    {"decision": "allow", "command": ["/opt/tool/bin/tool", "…"]}
]"#;

pub(super) fn rules(json: &str) -> Rules {
    let texts: Vec<RuleText> = serde_json::from_str(json).unwrap();
    let trusted = ["/usr/bin", "/bin", "/usr/local/bin"].map(PathBuf::from);
    Rules::compile(&texts, &trusted).unwrap()
}

fn said(matches: &Matches) -> Expect {
    match matches.decision {
        Some(Decision::Allow) => Allow,
        Some(Decision::Ask) => Ask,
        Some(Decision::Deny) => Deny,
        None if matches.unreadable => Unreadable,
        None if matches.unknown => Unknown,
        None => Nothing,
    }
}

fn judge_argv(rules: &Rules, program: &str, args: &[&str]) -> Matches {
    let name = program.rsplit('/').next().unwrap();
    let argv: Vec<OsString> = [name].iter().chain(args).map(OsString::from).collect();
    rules.judge(&Subject::Argv { program: Path::new(program), argv: &argv })
}

fn judge_line(rules: &Rules, shell: &str, line: &[u8]) -> Matches {
    rules.judge(&Subject::Line { shell: Path::new(shell), line: OsStr::from_bytes(line) })
}

#[test]
fn sixty_parts_are_judged_to_the_last_and_two_thousand_are_the_limit() {
    let rules = rules(RULES);
    for count in [60, 1999] {
        let line = "ls a; ".repeat(count - 1) + "rm x";
        assert_eq!(said(&judge_line(&rules, "/bin/sh", line.as_bytes())), Deny, "{count}");
    }
    let matches = judge_line(&rules, "/bin/sh", "ls a; ".repeat(2001).as_bytes());
    assert_eq!(said(&matches), Unreadable);
    let matches = judge_line(&rules, "/bin/sh", &[b'a'; 64 * 1024 + 1]);
    assert_eq!(said(&matches), Unreadable);
    let deep = "$(".repeat(60) + "ls" + &")".repeat(60);
    assert_eq!(said(&judge_line(&rules, "/bin/sh", deep.as_bytes())), Unreadable);
}

#[test]
fn what_is_nested_deeper_than_eight_is_denied() {
    let rules = rules(r#"[{"decision": "ask", "command": ["rm", "…"]}]"#);
    let nested = |depth: usize| [vec!["nohup"; depth], vec!["rm"]].concat();
    assert_eq!(said(&judge_argv(&rules, "/usr/bin/nohup", &nested(7))), Ask);
    let matches = judge_argv(&rules, "/usr/bin/nohup", &nested(8));
    assert_eq!(said(&matches), Deny);
    assert_eq!(
        (matches.found[0].rule, matches.found[0].name.as_str()),
        (None, "built in: too deeply nested")
    );
}

#[test]
fn a_program_under_another_name_is_judged_by_both() {
    let rules = rules(RULES);
    let disguised = [OsString::from("rm"), OsString::from("x")];
    let matches = rules.judge(&Subject::Argv { program: Path::new("/usr/bin/busybox"), argv: &disguised });
    assert_eq!(said(&matches), Deny);
    let matches = rules.judge(&Subject::Argv { program: Path::new("/usr/bin/ls"), argv: &["cat".into()] });
    assert_eq!(said(&matches), Nothing, "{matches:#?}");
}

#[test]
fn every_match_is_listed_with_its_part_and_the_strictest_wins() {
    let rules = rules(RULES);
    let matches = judge_line(&rules, "/bin/sh", b"git push origin; git push -f");
    let found: Vec<_> =
        matches.found.iter().map(|found| (found.name.as_str(), found.part.as_str())).collect();
    assert_eq!(
        found,
        [("rule 3", "git push origin"), ("no force", "git push -f"), ("rule 3", "git push -f")]
    );
    assert_eq!(matches.decision, Some(Decision::Deny));
}

#[test]
fn what_stands_in_the_way_of_an_allowing_rule_is_said() {
    let rules = rules(RULES);
    let matches = judge_argv(&rules, "/usr/bin/git", &["fetch", "--upload-pack=x"]);
    assert_eq!(
        matches.notes,
        [
            "rule 8 does not allow `--upload-pack=x`: it makes git run another program; only a rule that spells it out does"
        ]
    );
}

#[test]
fn names_that_a_command_sets_are_listed() {
    let rules = rules("[]");
    let line = b"A=1 B+=2 ls; export C=3 D; env E=4 ls; for F in x; do G[1]=5; done; echo H=6; read I";
    let mut names = judge_line(&rules, "/bin/sh", line).assigns;
    names.sort();
    assert_eq!(names, ["A", "B", "C", "D", "E", "F", "G", "I"]);
}

#[test]
fn a_rule_is_tried_on_its_examples_when_it_is_loaded() {
    for (rule, fault) in [
        (r#"{"decision": "deny", "command": []}"#, "`command` is empty"),
        (r#"{"decision": "deny", "command": ["…", "x"]}"#, "must begin with a program"),
        (r#"{"decision": "deny", "command": [""]}"#, "must begin with a program"),
        (r#"{"decision": "deny", "command": [[], "x"]}"#, "an empty list"),
        (r#"{"decision": "deny", "command": ["x", ["a", "..."]]}"#, "cannot be one of several"),
        (r#"{"decision": "deny", "command": ["x", "a*b"]}"#, "may only stand at the end"),
        (r#"{"decision": "allow", "command": ["mk*"]}"#, "in full, not as `mk*`"),
        (
            r#"{"decision": "deny", "command": ["rm"], "match": ["rm x"]}"#,
            "does not match its example `rm x`",
        ),
        (
            r#"{"decision": "deny", "command": ["rm", "…"], "not_match": [["rm", "x"]]}"#,
            "which `not_match` says",
        ),
        (
            r#"{"decision": "deny", "command": ["rm"], "match": ["rm 'x"]}"#,
            "cannot be read: a quotation is not closed",
        ),
        (r#"{"decision": "allow", "command": ["ls"], "match": ["ls; ls"]}"#, "is a shell line"),
        (
            r#"{"decision": "allow", "command": ["git", "…"], "match": ["git -c a=b log"]}"#,
            "does not allow `-c`",
        ),
    ] {
        let text: RuleText = serde_json::from_str(rule).unwrap();
        let error = Rules::compile(&[text], &[PathBuf::from("/usr/bin")]).unwrap_err().to_string();
        assert!(error.starts_with("rule 1: ") && error.contains(fault), "{rule}: {error}");
    }
    let good = r#"[
        {"decision": "deny", "command": ["rm", "…"], "match": ["sudo rm x", "ls; rm x", ["rm", "a b"]], "not_match": ["ls rm"]},
        {"decision": "allow", "command": ["/opt/x/tool", "\\*", "*"], "match": ["tool '*' y"], "not_match": ["tool x y"]},
        {"decision": "ask", "command": ["x", "--y*"], "match": ["x --yes"], "not_match": ["x --no"]}
    ]"#;
    assert_eq!(rules(good).list.len(), 3);
    assert!(
        serde_json::from_str::<RuleText>(r#"{"decision": "deny", "command": ["x"], "comand": 1}"#).is_err()
    );
}
