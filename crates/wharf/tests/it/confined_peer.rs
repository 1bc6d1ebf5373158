//! A front end that is more confined than a holder: a command in a sandbox that has found a socket.

use crate::harness::{Wharf, finish};
use std::process::{Command, Stdio};

/// Enters a filter that allows everything, and becomes the program that is named.
const CONFINE: &str = r#"
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(allow)))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"#;

#[test]
fn a_holder_does_nothing_for_who_is_more_confined_than_itself() {
    let wharf = Wharf::new();
    let id = wharf.detach(["--pty", "-c", "read x; echo got $x"]);
    let send = wharf.command(["send", &id, "escaped", "--enter"]);
    #[expect(clippy::disallowed_methods, reason = "it becomes the program under test")]
    let mut confined = Command::new("/usr/bin/python3");
    confined.args(["-c", CONFINE]).arg(send.get_program()).args(send.get_args()).env_clear();
    confined.envs(send.get_envs().filter_map(|(name, value)| Some((name, value?))));
    confined.env("PATH", "/usr/bin:/bin");
    let child = confined.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let done = finish(child);
    assert!(done.code != Some(0) && !done.err.contains("Traceback"), "{done:?}");
    // What runs is as it was, and takes input from who may give it.
    wharf.ok(["send", &id, "allowed", "--enter"]);
    assert_eq!(wharf.call(["wait", &id]).code, Some(0));
    let printed = wharf.ok(["logs", &id]);
    assert!(printed.contains("got allowed") && !printed.contains("escaped"), "{printed}");
}
