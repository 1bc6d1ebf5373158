//! `wharf doctor`.

use crate::harness::{Wharf, json};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

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
