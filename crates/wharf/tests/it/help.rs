//! All that the program says about itself, in one file that a reviewer can read.
//!
//! `WHARF_UPDATE_SNAPSHOT=1 cargo test -p wharf help` writes it anew.

use crate::harness::Wharf;
use std::path::Path;

#[test]
fn the_whole_help_is_as_reviewed() {
    let wharf = Wharf::new();
    let mut help = wharf.ok(["--help"]);
    for verb in [
        "run",
        "ls",
        "logs",
        "wait",
        "kill",
        "send",
        "attach",
        "sh",
        "rm",
        "acp",
        "mcp",
        "demo",
        "doctor",
        "completions",
    ] {
        help += &format!("\n{}\n$ wharf {verb} --help\n\n{}", "=".repeat(80), wharf.ok([verb, "--help"]));
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/help.txt");
    #[expect(clippy::disallowed_methods, reason = "how a reviewer asks for a new snapshot")]
    if std::env::var_os("WHARF_UPDATE_SNAPSHOT").is_some() {
        std::fs::write(&file, &help).unwrap();
    }
    let reviewed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(help == reviewed, "the help changed; see the module's documentation\n{help}");
}

#[test]
fn there_are_completions_for_every_shell() {
    let wharf = Wharf::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = wharf.ok(["completions", shell]);
        assert!(script.contains("idle-timeout") && script.contains("attach"), "{shell}");
    }
}
