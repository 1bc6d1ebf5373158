//! Terminals whose files are damaged: listed as what they are, read as far as they can be, and got rid of.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::harness::{Wharf, json};
use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::PathBuf;
use wharf_core::TerminalId;

fn ended(wharf: &Wharf) -> (String, PathBuf) {
    wharf.ok(["run", "-c", "echo hello; echo there"]);
    let id = wharf.ids()[0].clone();
    // Following it ends when its holder is gone too.
    wharf.ok(["logs", "-f", &id]);
    let dir = wharf.state().join("terminals").join(&id);
    (id, dir)
}

#[test]
fn a_terminal_that_lacks_a_file_is_listed_as_damaged_and_can_be_removed() {
    for what in ["events", "meta", "out", "not JSON"] {
        let wharf = Wharf::new();
        let (id, dir) = ended(&wharf);
        match what {
            "not JSON" => fs::write(dir.join("meta"), "{").unwrap(),
            file => fs::remove_file(dir.join(file)).unwrap(),
        }
        assert!(wharf.ok(["ls"]).contains("damaged"), "{what}");
        let listed = json(&wharf.ok(["ls", "--json"]))[0].clone();
        assert_eq!((&listed["id"], &listed["state"]), (&id.as_str().into(), &"damaged".into()), "{what}");
        let refused = wharf.call(["logs", &id]);
        assert_eq!(refused.code, Some(125), "{what}: {refused:?}");
        assert!(refused.err.contains("wharf rm"), "{what}: {}", refused.err);
        assert!(wharf.ok(["rm", &id]).contains("removed"), "{what}");
        assert!(!dir.exists(), "{what}");
        assert_eq!(wharf.call(["rm", &id]).code, Some(3), "{what}");
    }
}

#[test]
fn a_running_terminal_that_lacks_a_file_is_ended_when_it_is_removed() {
    let wharf = Wharf::new();
    let id = wharf.detach(["-c", "echo $$; exec sleep 1000"]);
    wharf.wait_for_output(&id, "\n");
    let pid: i32 = wharf.ok(["logs", &id]).trim().parse().unwrap();
    fs::remove_file(wharf.state().join("terminals").join(&id).join("meta")).unwrap();
    wharf.ok(["rm", &id]);
    assert!(wharf_shim::tree::proc::look(pid).is_none_or(|process| process.is_zombie()));
}

#[test]
fn what_was_printed_is_shown_although_a_record_is_damaged() {
    let wharf = Wharf::new();
    let (id, dir) = ended(&wharf);
    let events = fs::File::options().read(true).write(true).open(dir.join("events")).unwrap();
    let mut byte = [0];
    events.read_exact_at(&mut byte, 42).unwrap();
    events.write_all_at(&[byte[0] ^ 2], 42).unwrap();
    for (args, out) in [
        (&["logs"][..], "hello\nthere\n"),
        (&["logs", "-n", "1"], "there\n"),
        (&["logs", "-f"], "hello\nthere\n"),
    ] {
        let done = wharf.call(args.iter().copied().chain([id.as_str()]));
        assert_eq!((done.code, done.out.as_str()), (Some(125), out), "{args:?}: {}", done.err);
        assert!(done.err.contains("damaged"), "{args:?}: {}", done.err);
    }
    wharf.ok(["rm", &id]);
    assert!(!dir.exists());
}

#[test]
fn what_is_owed_to_the_audit_log_goes_with_its_terminal() {
    let wharf = Wharf::new();
    let (id, _) = ended(&wharf);
    let owed = wharf.state().join("owed");
    // As creators leave it that are killed before there is a terminal, and one that is at work.
    let (killed, at_work) = (TerminalId::random().unwrap(), TerminalId::random().unwrap());
    fs::write(owed.join(killed.as_str()), "").unwrap();
    let locked = fs::File::create(owed.join(at_work.as_str())).unwrap();
    rustix::fs::flock(&locked, rustix::fs::FlockOperation::LockExclusive).unwrap();
    wharf.ok(["rm", &id]);
    let left: Vec<_> = fs::read_dir(&owed).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [at_work.as_str()]);
    drop(locked);
    wharf.ok(["ls"]);
    assert_eq!(fs::read_dir(&owed).unwrap().count(), 0);
}

/// The program with something else beside it in place of its shim.
fn beside(shim: &[u8], mode: u32) -> (tempfile::TempDir, Wharf) {
    let dir = tempfile::tempdir().unwrap();
    let (own, path) = (dir.path().join("wharf"), dir.path().join("wharf-shim"));
    fs::copy(env!("CARGO_BIN_EXE_wharf"), &own).unwrap();
    fs::write(&path, shim).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    (dir, Wharf::of(&own))
}

#[test]
fn the_doctor_tries_the_shim() {
    let shim = fs::read(wharf_testing::program("wharf-shim")).unwrap();
    for (what, bytes, mode) in [
        ("not executable", shim.as_slice(), 0o644),
        ("empty", b"", 0o755),
        ("truncated", &shim[..5000], 0o755),
        ("garbage", b"#!/bin/sh\necho garbage\n", 0o755),
        ("silent", b"#!/bin/sh\nexec sleep 1000\n", 0o755),
    ] {
        let (dir, wharf) = beside(bytes, mode);
        let begun = std::time::Instant::now();
        let done = wharf.call(["doctor"]);
        assert_eq!(done.code, Some(1), "{what}: {}", done.out);
        assert!(
            done.out.contains("MISSING  shim") && done.out.contains("same version"),
            "{what}: {}",
            done.out
        );
        assert!(begun.elapsed().as_secs() < 15, "{what}");
        drop(dir);
    }
    let (_dir, wharf) = beside(&shim, 0o755);
    assert!(wharf.ok(["doctor"]).contains("agents' commands will run here"));
}
