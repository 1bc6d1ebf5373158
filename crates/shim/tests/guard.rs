//! A guard and its lease without any runtime: what its starter hears, and what it leaves with.

#![cfg(test)]

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;
use wharf_shim::launch::{Lease, guarded};

fn start(program: &str, args: &[&str]) -> (Child, Lease) {
    let shim = Path::new(env!("CARGO_BIN_EXE_wharf-shim"));
    let (mut command, lease) = guarded(shim, OsStr::new(program), args).unwrap();
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    (child, lease)
}

#[test]
fn what_cannot_be_started_is_told_and_gives_the_codes_of_a_shell() {
    let cases = [("no-such-program", 127, "not_found"), ("/etc/passwd", 126, "not_executable")];
    for (program, code, word) in cases {
        let (mut child, mut lease) = start(program, &[]);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert_eq!(lease.answer().unwrap().unwrap_err().code(), word);
    }
}

#[test]
fn a_lease_says_who_runs_and_ends_it() {
    let (mut child, mut lease) = start("sleep", &["1000"]);
    lease.end(Duration::ZERO).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(128 + 9));
    assert!(lease.answer().unwrap().unwrap() > 1);
    assert!(lease.end(Duration::ZERO).is_err(), "nobody is there any more");
}

#[test]
fn a_lease_that_is_dropped_before_the_start_leaves_nothing() {
    let (mut child, lease) = start("sleep", &["1000"]);
    drop(lease);
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
}
