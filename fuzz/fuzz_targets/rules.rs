//! Any bytes as a shell line: an answer and never a panic, nothing granted that is not known, and no way to hide a
//! denied command behind or before it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use wharf_core::policy::rules::{Decision, Matches, RuleText, Rules, Subject, Token};
use wharf_fuzz::plant;

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let texts = [
        rule(Decision::Deny, &["rm", "…"]),
        rule(Decision::Ask, &["git", "…", "-f", "…"]),
        rule(Decision::Deny, &["git", "push", "…", "--force", "…"]),
        rule(Decision::Allow, &["sh", "-c", "…"]),
        rule(Decision::Allow, &["bash", "-c", "…"]),
    ];
    Rules::compile(&texts, &[PathBuf::from("/bin")]).expect("the rules are sound")
});

fuzz_target!(init: plant(seeds()), |bytes: &[u8]| {
    for shell in ["/bin/sh", "/bin/bash"] {
        let matches = judge(shell, bytes);
        let is_known = !matches.unreadable && !matches.unknown;
        assert!(is_known || matches.decision != Some(Decision::Allow));
        // A shell runs a line before it reads the next one.
        assert_eq!(judge(shell, &[b"rm x\n", bytes].concat()).decision, Some(Decision::Deny));
        // The end of a line can be taken in only by what takes in the next one too, and a here-document does that.
        if !matches.unreadable && !bytes.ends_with(b"\\") && !bytes.windows(2).any(|part| part == b"<<") && !is_joined(bytes) {
            assert_eq!(judge(shell, &[bytes, b"\nrm x"].concat()).decision, Some(Decision::Deny));
        }
    }
});

/// Whether arrows may stand on both sides of a joined line.
fn is_joined(bytes: &[u8]) -> bool {
    bytes.contains(&b'<') && bytes.windows(2).any(|part| part == b"\\\n")
}

fn judge(shell: &str, line: &[u8]) -> Matches {
    RULES.judge(&Subject::Line { shell: Path::new(shell), line: OsStr::from_bytes(line) })
}

fn rule(decision: Decision, command: &[&str]) -> RuleText {
    let command = command.iter().map(|token| Token::One((*token).to_owned())).collect();
    RuleText { name: None, decision, command, reason: None, matches: Vec::new(), not_match: Vec::new() }
}

/// Every construct of the language once.
fn seeds() -> Vec<Vec<u8>> {
    let lines = [
        "ls -l | grep 'a b' && echo \"$x ${y:-z}\" || true; cd ~ & wait",
        "if a; then b; elif c; then d; else e; fi; while f; do g; done; until h; do i; done",
        "for x in 1 2; do y; done; for ((i=0;i<3;i++)); do z; done; select s in a; do b; done",
        "case $x in (a|b) c ;; d) e ;& *) f ;; esac",
        "f() { g; }; function h { i; }; ( j ); { k; } 2>&1; ! time -p l; coproc m",
        "[[ -f a && b =~ ^(c|d)$ ]]; [ e = f ]; ((1+2)); echo $((3*(4))) $[5] `6` $(7)",
        "cat <<A <<-'B' <<<c >d 2>>e <f >|g <>h &>i {j}>k\n$(l)\nA\n\tm\nB\n",
        "A=1 B+=2 C[3]=4 D=(5 6) env E=7 x\\\ny $'\\x41\\101\\n' $\"z\" r''m",
        "eval 'a; b' c; trap 'd' EXIT; alias e='f'; exec -a g h; command -p i; . j; export K=l",
        "sudo -u a timeout -k 1 2 nice xargs -0 sh -c 'find . -exec b {} +' -- \"$@\"",
        "diff <(a) >(b) *.c x[0-9]y {1,2} {a..z} ~user/b ${c@P} ${ d; } # comment",
    ];
    lines.map(|line| line.as_bytes().to_vec()).to_vec()
}
