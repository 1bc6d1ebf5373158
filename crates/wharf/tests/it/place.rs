//! Where things are kept when nobody says so.

use crate::harness::{Wharf, json};
use std::os::unix::fs::PermissionsExt;

#[test]
fn everything_goes_to_the_xdg_state_directory_closed_to_others_and_nothing_elsewhere() {
    let wharf = Wharf::new();
    let (state, runtime) = (wharf.scratch().join("s"), wharf.scratch().join("r"));
    std::fs::create_dir(&runtime).unwrap();
    let mut command = wharf.command(["run", "--", "true"]);
    command.env_remove("WHARF_STATE_DIR").env("XDG_STATE_HOME", &state).env("XDG_RUNTIME_DIR", &runtime);
    assert!(command.status().unwrap().success());
    for dir in [state.join("wharf"), state.join("wharf/terminals")] {
        assert_eq!(
            std::fs::metadata(&dir).unwrap().permissions().mode() & 0o7777,
            0o700,
            "{}",
            dir.display()
        );
    }
    assert_eq!(std::fs::read_dir(&runtime).unwrap().count(), 0);
}

#[test]
fn without_xdg_directories_the_home_directory_serves() {
    let wharf = Wharf::new();
    let home = wharf.scratch();
    let mut command = wharf.command(["doctor", "--json"]);
    // Relative ones are to be ignored.
    command.env_remove("WHARF_STATE_DIR").env("HOME", &home).env("XDG_STATE_HOME", "relative");
    let records = json(&String::from_utf8_lossy(&command.output().unwrap().stdout));
    let state =
        records.as_array().unwrap().iter().find(|record| record["name"] == "state directory").unwrap();
    let expected = home.join(".local/state/wharf");
    assert!(state["detail"].as_str().unwrap().starts_with(expected.to_str().unwrap()), "{state}");
}

#[test]
fn without_any_home_the_error_says_what_to_set() {
    let wharf = Wharf::new();
    let output = wharf.command(["ls"]).env_remove("WHARF_STATE_DIR").env_remove("HOME").output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(String::from_utf8_lossy(&output.stderr).contains("WHARF_STATE_DIR"));
}
