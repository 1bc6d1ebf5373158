//! Properties that hold for any line, not only for those somebody thought of.

use super::line::{Dialect, parse};
use super::table::rules;
use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const DENY_RM: &str = r#"[{"decision": "deny", "command": ["rm", "…"]}, {"decision": "ask", "command": ["git", "…", "-f", "…"]}]"#;

/// Words that mean something to shells, to git or to wrappers.
const WORDS: &[&str] = &[
    "env",
    "sh",
    "-c",
    "git",
    "-f",
    "push",
    "rm",
    "xargs",
    "$X",
    "A=1",
    "find",
    "-exec",
    ";",
    "--",
    "-",
    "-C",
    "bisect",
    "run",
    "submodule",
    "foreach",
    "-I{}",
    "{}",
    "fd",
    "-x",
    "-xrm",
    "capsh",
    "==",
    "=+",
    "--shell=rm",
    "su",
    "runuser",
    "-u",
    "-s",
    "hyperfine",
    "-L",
    "{a} b",
    "uv",
    "perf",
    "stat",
    "npx",
    "start-stop-daemon",
    "-a",
    "ld.so",
    "--new",
];

/// Pieces that meet each other in unusual ways more often than random bytes do.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let known: Vec<&'static [u8]> = vec![
        b"$(",
        b")",
        b"`",
        b"\"",
        b"'",
        b"$'",
        b"\\",
        b"\\\n",
        b"\n",
        b";",
        b";;",
        b"&",
        b"&&",
        b"|",
        b"(",
        b"((",
        b"))",
        b"${",
        b"}",
        b"{",
        b"$((",
        b"<<E",
        b"<<-E",
        b"<<'E'",
        b"E",
        b"\nE\n",
        b"<(",
        b">",
        b"<<<",
        b"#",
        b" ",
        b"\t",
        b"if ",
        b"then ",
        b"fi",
        b"for ",
        b"in ",
        b"do ",
        b"done",
        b"case ",
        b"esac",
        b"[[ ",
        b" ]]",
        b"$[",
        b"]",
        b"*",
        b"~",
        b"=",
        b"a=(",
        b"eval ",
        b"sh -c ",
        b"env ",
        b"xargs ",
        b"function f",
        b"$X",
        b"x",
        b"git",
        b"-f",
        b"\xff",
        b"!",
        b"time ",
    ];
    prop_oneof![8 => select(known).prop_map(<[u8]>::to_vec), 1 => vec(any::<u8>(), 1..4)]
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    vec(fragment(), 0..40).prop_map(|parts| parts.concat())
}

fn short_line() -> impl Strategy<Value = Vec<u8>> {
    vec(fragment(), 0..8).prop_map(|parts| parts.concat())
}

fn judge(rules: &Rules, shell: &str, line: &[u8]) -> Matches {
    rules.judge(&Subject::Line { shell: Path::new(shell), line: OsStr::from_bytes(line) })
}

fn quote(word: &[u8]) -> Vec<u8> {
    let inner: Vec<&[u8]> = word.split(|byte| *byte == b'\'').collect();
    [b"'", inner.join(&b"'\\''"[..]).as_slice(), b"'"].concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn any_line_gets_an_answer_and_what_cannot_be_known_is_never_allowed(line in line()) {
        let rules = rules(r#"[{"decision": "allow", "command": [["sh", "bash"], "-c", "…"]}]"#);
        for shell in ["/bin/sh", "/bin/bash"] {
            let matches = judge(&rules, shell, &line);
            prop_assert!(!(matches.unreadable || matches.unknown) || matches.decision != Some(Decision::Allow));
        }
    }

    #[test]
    fn quoted_words_come_back_as_they_were(
        words in vec(vec(1..=255_u8, 0..20), 1..10),
        escaped in any::<bool>(),
    ) {
        let words: Vec<Vec<u8>> = words;
        // A backslash quotes every byte but a newline, which it would join away.
        let backslash = |word: &[u8]| word.iter().flat_map(|byte| [b'\\', *byte]).collect::<Vec<u8>>();
        let can_escape = |word: &&Vec<u8>| escaped && !word.is_empty() && !word.contains(&b'\n');
        let quoted: Vec<Vec<u8>> =
            words.iter().map(|word| if can_escape(&word) { backslash(word) } else { quote(word) }).collect();
        for dialect in [Dialect::Posix, Dialect::Bash] {
            let parsed = parse(&quoted.join(&b' '), dialect);
            prop_assert_eq!(parsed.trouble, None);
            prop_assert_eq!(parsed.commands.len(), 1);
            let read: Option<Vec<Vec<u8>>> = parsed.commands[0].words.iter().map(Word::text).collect();
            prop_assert_eq!(read.as_ref(), Some(&words));
        }
    }

    #[test]
    fn a_denied_part_before_any_line_denies_it(line in line()) {
        let rules = rules(DENY_RM);
        for shell in ["/bin/sh", "/bin/bash"] {
            let matches = judge(&rules, shell, &[b"rm x\n", line.as_slice()].concat());
            prop_assert_eq!(matches.decision, Some(Decision::Deny));
        }
    }

    #[test]
    fn a_denied_part_behind_a_readable_line_denies_it(line in short_line(), separator in select(vec!["\n", "\n\n", "\n;"])) {
        let rules = rules(DENY_RM);
        let before = judge(&rules, "/bin/bash", &line);
        // A line that ends in a here-document without an end takes in what follows, as does one that is joined.
        prop_assume!(!before.unreadable && !line.ends_with(b"\\") && !line.windows(2).any(|part| part == b"<<"));
        let matches = judge(&rules, "/bin/bash", &[&line, separator.as_bytes(), b"rm x"].concat());
        prop_assert_eq!(matches.decision, Some(Decision::Deny));
    }

    #[test]
    fn a_denied_part_anywhere_among_ordinary_ones_denies_the_line(
        parts in vec(select(vec!["ls", "echo 'a;b'", "(cd x && y)", "for i in 1 2; do z; done", "a=$(b)", "x <<<y"]), 0..30),
        at in any::<proptest::sample::Index>(),
        denied in select(vec!["rm x", "\\rm x", "env rm x", "x $(rm y)", "if a; then rm b; fi", "sh -c 'rm x'"]),
    ) {
        let rules = rules(DENY_RM);
        let mut parts: Vec<&str> = parts;
        prop_assert_eq!(judge(&rules, "/bin/sh", parts.join("; ").as_bytes()).decision, None);
        parts.insert(at.index(parts.len() + 1), denied);
        prop_assert_eq!(judge(&rules, "/bin/sh", parts.join("; ").as_bytes()).decision, Some(Decision::Deny));
    }

    #[test]
    fn any_argv_gets_an_answer_and_more_rules_never_make_it_milder(
        words in vec(select(WORDS.to_vec()), 1..8),
    ) {
        let argv: Vec<OsString> = words.iter().map(OsString::from).collect();
        let program = Path::new("/usr/bin").join(words[0]);
        let subject = Subject::Argv { program: &program, argv: &argv };
        let few = rules(DENY_RM).judge(&subject).decision;
        let more = r#"[{"decision": "allow", "command": [["git", "env", "sh", "find", "fd", "uv", "capsh", "xargs", "hyperfine", "su"], "…"]}, {"decision": "ask", "command": ["git", "…"]},"#;
        let many = rules(&format!("{more}{}", &DENY_RM[1..])).judge(&subject).decision;
        prop_assert!(many >= few);
    }
}

#[test]
fn lines_made_to_be_slow_are_answered_all_the_same() {
    let rules = rules(DENY_RM);
    let repeat = |text: &str| text.repeat(32 * 1024 / text.len());
    for line in [
        repeat("$(("),
        repeat("(("),
        repeat("${x:-"),
        repeat("`"),
        repeat("\\\n"),
        repeat("9"),
        repeat("{a"),
        repeat("git $X "),
        repeat("$X"),
        repeat("<<E "),
        repeat("x\\\n"),
        format!("cat <<E\n{}", repeat("x\\\n")),
        repeat("sudo --x "),
        repeat("eval "),
        repeat("((a)) "),
        repeat("[["),
        repeat("{,"),
        repeat("git -*"),
        repeat("git --x "),
        repeat("git submodule foreach $X "),
        repeat("perf stat --x "),
        repeat("xargs -I{} {} "),
        repeat("hyperfine {a} "),
        repeat("capsh == "),
        repeat("fd -x "),
    ] {
        let mut line = line;
        line.truncate(32 * 1024);
        for shell in ["/bin/sh", "/bin/bash"] {
            let matches = judge(&rules, shell, line.as_bytes());
            assert!(matches.found.len() <= 300 && matches.notes.len() <= 300);
        }
    }
}
