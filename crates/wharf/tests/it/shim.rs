//! The program alone is enough: without `wharf-shim` beside it, it serves as its own.

use crate::harness::{Wharf, json};
use wharf_core::{Guarded, Holder};

#[test]
fn the_program_alone_is_its_own_shim() {
    let dir = tempfile::tempdir().unwrap();
    let alone = dir.path().join("wharf");
    std::fs::copy(env!("CARGO_BIN_EXE_wharf"), &alone).unwrap();
    let wharf = Wharf::of(&alone);
    assert_eq!(wharf.call(["run", "-c", "echo hi; exit 3"]).code, Some(3));
    let id = wharf.detach(["-c", "echo ready; (setsid sleep 1000 &) ; sleep 1000"]);
    wharf.wait_for_output(&id, "ready");
    assert!(wharf.ok(["doctor"]).contains("itself"));
    assert!(wharf.ok(["kill", &id]).contains("processes"));
}

#[test]
fn a_shim_started_by_hand_explains_itself() {
    let done = Wharf::new().call(["__shim"]);
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("wharf run"), "{}", done.err);
}

#[test]
fn a_detached_holder_does_not_hold_its_starters_output_open() {
    let wharf = Wharf::new();
    // `call` reads standard output and standard error to their ends: it would hang if the shim had inherited them.
    let id = wharf.detach(["--", "sleep", "1000"]);
    assert_eq!(json(&wharf.ok(["ls", "--json"]))[0]["id"], id.as_str());
}

#[test]
fn a_guard_started_by_hand_explains_itself() {
    for args in [
        &["__shim", "guard"][..],
        &["__shim", "guard", "--", "true"],
        &["__shim", "guard", "9", "--", "true"],
    ] {
        let done = Wharf::new().call(args.iter().copied());
        assert_eq!(done.code, Some(2), "{args:?}");
        assert!(done.err.contains("wharf run"), "{}", done.err);
    }
}

#[tokio::test]
async fn the_program_alone_is_its_own_guard() {
    // The name it is called by says what it is to be.
    let itself = Holder::Process(env!("CARGO_BIN_EXE_wharf").into());
    let mut program = Guarded::start(&itself, "sh", ["-c", "exit 9"]).await.unwrap();
    assert_eq!(program.wait().await.unwrap(), 9);
}
