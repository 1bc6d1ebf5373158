//! The shim is not for people, and says so.

use std::process::{Command, Stdio};

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
