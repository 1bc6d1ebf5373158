//! The examples do what they say, when they are run as a reader would run them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use wharf_testing::{GUARD, program};

/// Built by cargo together with the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let own = program("wharf-misbehave").with_file_name("examples").join(name);
    assert!(own.is_file(), "{} is missing: run `cargo build -p wharf-acp --examples`", own.display());
    own
}

/// Runs one to its end, under a limit that no example needs.
fn run(name: &str, args: &[&str], project: &Path) -> (bool, String) {
    #[expect(clippy::disallowed_methods, reason = "as a person would run it")]
    let mut command = Command::new("timeout");
    command.arg(GUARD.as_secs().to_string()).arg(example(name)).args(args).current_dir(project);
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
    (status.success(), text)
}

pub(crate) fn project(build: &str) -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("build.sh");
    std::fs::write(&script, format!("#!/bin/sh\n{build}\n")).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

#[test]
fn both_sides_in_one_process_follow_one_command_and_end_another() {
    let (success, text) = run("pair", &[], Path::new("/"));
    let expected =
        "one\ntwo\nthree\ncounted: exit code 0\nwaiting\nwaited: killed by SIGTERM, timed out: true\n";
    assert_eq!((success, text.as_str()), (true, expected));
}

#[test]
fn the_client_builds_a_project_with_the_agent_beside_it() {
    let (success, text) = run("client", &[], project("echo compiling; echo linking").path());
    assert!(success, "{text}");
    assert!(text.contains("Building the project: InProgress"), "{text}");
    assert!(text.contains("compiling\nlinking\n"), "{text}");
    assert!(text.contains("agent: It builds.\nthe turn is over: EndTurn\n"), "{text}");
}

#[test]
fn the_agent_tells_a_failed_build_and_one_that_takes_too_long() {
    let agent = example("agent").display().to_string();
    let (success, text) = run("client", &[&agent], project("echo broken; exit 2").path());
    assert!(success && text.contains("broken\n"), "{text}");
    assert!(text.contains("agent: The build failed: exit code 2."), "{text}");
    let (success, text) = run("client", &[&agent, "1"], project("echo begun; sleep 100").path());
    assert!(success && text.contains("begun\n"), "{text}");
    assert!(text.contains("agent: The build took longer than 1s and was ended."), "{text}");
}

#[test]
fn a_project_without_anything_to_build_is_no_failure() {
    let (success, text) = run("client", &[], tempfile::tempdir().unwrap().path());
    assert!(success && text.contains("agent: There is nothing to build here."), "{text}");
}
