//! What outlives whoever made it: clients that hunt children, and logins that come and go.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::harness::{Wharf, finish, open_gate, read_until, signal};
use crate::mcp::client::Client;
use crate::pty::Seat;
use crate::rig::Rig;
use rustix::process::Signal;
use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};
use wharf_testing::leak;

fn client(wharf: &Wharf) -> Client {
    let mut client = Client::start(wharf, &[]);
    client.initialize();
    client
}

#[test]
fn a_client_that_ends_its_server_with_all_descendants_finds_its_shells_again() {
    for kind in [Signal::TERM, Signal::KILL] {
        let wharf = Wharf::new();
        let mut first = client(&wharf);
        // The second shell is that of a spare.
        for name in ["default", "other"] {
            let arguments = json!({"command": format!("export KEEP={name}"), "terminal_id": name});
            assert!(!first.call("terminal_execute", arguments).is_error);
        }
        leak::hunt(first.child.id(), kind);
        signal(&first.child, kind);
        drop(first.leave());
        let mut second = client(&wharf);
        for name in ["default", "other"] {
            let arguments = json!({"command": "echo kept $KEEP", "terminal_id": name});
            let ran = second.call("terminal_execute", arguments);
            assert!(ran.text.contains(&format!("kept {name}")), "{kind:?}: {}", ran.text);
        }
    }
}

#[test]
fn a_persons_own_shell_outlives_the_hunt_for_what_started_it() {
    let wharf = Wharf::new();
    let mut seat = Seat::take_in(&wharf.scratch(), &wharf, ["sh"], (100, 30));
    seat.see("Ctrl-] leaves");
    seat.type_keys("export KEEP=me; echo set-$KEEP\r");
    seat.see("set-me");
    leak::hunt(seat.child().id(), Signal::TERM);
    signal(seat.child(), Signal::TERM);
    seat.leave();
    let mut seat = Seat::take_in(&wharf.scratch(), &wharf, ["sh"], (100, 30));
    seat.type_keys("echo got-$KEEP\r");
    seat.see("got-me");
    seat.type_keys("\x1d");
    assert_eq!(seat.leave(), Some(0));
}

/// As after a logout: everything is gone that does not survive one.
fn wipe(wharf: &Wharf) {
    let _ = std::fs::remove_dir_all(wharf.state().join("run"));
    let _ = std::fs::remove_dir_all(login(wharf));
}

fn login(wharf: &Wharf) -> std::path::PathBuf {
    wharf.scratch().join("login")
}

/// Only the directory of journals is the same.
fn from(wharf: &Wharf, runtime: Option<&Path>, args: &[&str]) -> Command {
    let mut command = wharf.command(args.iter().copied());
    command.env_remove("WHARF_STATE_DIR").env("XDG_STATE_HOME", wharf.scratch().join("journals"));
    if let Some(runtime) = runtime {
        std::fs::create_dir_all(runtime).unwrap();
        command.env("XDG_RUNTIME_DIR", runtime);
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn a_running_command_is_reached_however_its_user_has_logged_in() {
    let wharf = Wharf::new();
    let (gate, first, other) = (wharf.gate(), login(&wharf), wharf.scratch().join("other"));
    let line = format!("read x; echo got $x; read y < {}; exit 7", gate.display());
    let begun = finish(from(&wharf, Some(&first), &["run", "-d", "--stdin", "-c", &line]).spawn().unwrap());
    let id = begun.out.trim();
    wipe(&wharf);
    for runtime in [Some(first.as_path()), None, Some(other.as_path())] {
        let mut waiting = from(&wharf, runtime, &["wait", id]).spawn().unwrap();
        let mut following = from(&wharf, runtime, &["logs", "-f", id]).spawn().unwrap();
        let sent = finish(from(&wharf, runtime, &["send", id, "it", "--enter"]).spawn().unwrap());
        assert_eq!(sent.code, Some(0), "{runtime:?}: {sent:?}");
        read_until(following.stdout.as_mut().unwrap(), "got it\n");
        assert_eq!(waiting.try_wait().unwrap(), None, "{runtime:?}: it runs");
        for mut child in [waiting, following] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
    let waiting = from(&wharf, None, &["wait", id]).spawn().unwrap();
    open_gate(&gate);
    assert_eq!(finish(waiting).code, Some(7));
    assert_eq!(finish(from(&wharf, None, &["rm", id]).spawn().unwrap()).code, Some(0));
}

#[test]
fn shells_and_their_servers_work_on_after_a_logout() {
    let wharf = Wharf::new();
    let mut first = client(&wharf);
    assert!(!first.run("export KEEP=me").is_error);
    wipe(&wharf);
    let said = first.run("echo kept $KEEP").text;
    assert!(said.contains("kept me"), "{said}");
    let opened = first.call("terminal_execute", json!({"command": "echo new", "terminal_id": "new"}));
    assert!(opened.text.contains("new") && !opened.is_error, "{opened:?}");
    assert_eq!(first.leave().code, Some(0));
    wipe(&wharf);
    let said = client(&wharf).run("echo kept $KEEP").text;
    assert!(said.contains("kept me"), "{said}");
}

#[test]
fn an_editors_terminals_work_on_after_a_logout() {
    let mut rig = Rig::begun("", &json!({}));
    rig.works();
    wipe(&rig.wharf);
    rig.works();
    rig.finish();
}
