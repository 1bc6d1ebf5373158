//! The shim is not for people, and says so; nor for programs of another version.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use wharf_shim::plan;
use wharf_shim::wire::frame::frame;
use wharf_shim::wire::message::Reply;

#[test]
fn started_by_hand_it_explains_itself_and_exits_with_2() {
    #[expect(clippy::disallowed_methods, reason = "starts the shim as a person would")]
    let mut shim = Command::new(env!("CARGO_BIN_EXE_wharf-shim"));
    let output = shim.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("wharf run"), "{text}");
}

#[test]
fn a_shim_whose_creator_is_gone_leaves_quietly() {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    #[expect(clippy::disallowed_methods, reason = "starts the shim as wharf does, and sends no plan")]
    let mut shim = Command::new(env!("CARGO_BIN_EXE_wharf-shim"));
    let stdin = Stdio::from(std::os::fd::OwnedFd::from(theirs));
    let mut child = shim.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    drop(shim);
    drop(ours);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_shim_says_which_plans_it_knows_when_it_gets_another() {
    let (mut ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    #[expect(clippy::disallowed_methods, reason = "starts the shim as a program of another version does")]
    let mut shim = Command::new(env!("CARGO_BIN_EXE_wharf-shim"));
    let stdin = Stdio::from(std::os::fd::OwnedFd::from(theirs));
    let mut child = shim.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    drop(shim);
    ours.write_all(&frame(&[plan::VERSION + 1, 1, 2, 3])).unwrap();
    let mut answer = Vec::new();
    // It ends of itself, and with it its side.
    ours.read_to_end(&mut answer).unwrap();
    assert_eq!(answer, frame(&Reply::OtherVersion { plans: plan::VERSION }.encode(0)));
    assert_eq!(child.wait().unwrap().code(), Some(1));
}
