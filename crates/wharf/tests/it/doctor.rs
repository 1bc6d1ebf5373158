//! `wharf doctor`.

use crate::harness::{Wharf, finish, json};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::process::Stdio;
use wharf_testing::SmallDisk;

#[test]
fn every_capability_is_told_with_its_use_and_its_price() {
    let wharf = Wharf::new();
    let records = json(&wharf.ok(["doctor", "--json"]));
    let records = records.as_array().unwrap();
    assert!(records.len() > 10);
    for record in records {
        for field in ["name", "used_for", "without_it", "advice"] {
            assert!(!record[field].as_str().unwrap().is_empty(), "{field}: {record}");
        }
        assert!(record["have"].is_boolean() && record["required"].is_boolean());
    }
    let page = wharf.ok(["doctor"]);
    assert!(
        page.contains("wharf mcp, wharf acp: agents' commands will run here, in the sandbox `workspace`"),
        "{page}"
    );
}

#[test]
fn a_state_directory_open_to_others_is_refused_with_a_hint_and_found_by_the_doctor() {
    let wharf = Wharf::new();
    std::fs::DirBuilder::new().mode(0o700).create(wharf.state()).unwrap();
    std::fs::set_permissions(wharf.state(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let done = wharf.call(["run", "--", "true"]);
    assert_eq!(done.code, Some(125));
    assert!(done.err.contains("chmod 700"), "{}", done.err);
    let done = wharf.call(["doctor"]);
    assert_eq!(done.code, Some(1));
    assert!(done.out.contains("MISSING"), "{}", done.out);
}

/// What keeps every command from running is found by running one.
#[test]
fn a_full_disk_and_a_small_limit_on_descriptors_are_no_machine_to_work_on() {
    let wharf = Wharf::new();
    let done = wharf.limited("ulimit -n 30", ["doctor"]);
    assert!(done.code == Some(1) && done.out.contains("wharf does not work here"), "{done:?}");

    let Some(disk) = SmallDisk::mount(wharf.scratch().join("disk"), "4m") else { return };
    let filler = disk.fill();
    let full = |args: &[&str]| {
        let mut command = wharf.command(args.iter().copied());
        finish(command.env("WHARF_STATE_DIR", disk.path()).stdout(Stdio::piped()).spawn().unwrap())
    };
    let done = full(&["doctor"]);
    assert!(done.code == Some(1) && !done.out.contains("commands will run"), "{done:?}");
    std::fs::remove_file(filler).unwrap();
}
