//! What outlives whoever made it: clients that hunt children, and logins that come and go.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::harness::{Wharf, signal};
use crate::mcp::client::Client;
use crate::pty::Seat;
use rustix::process::Signal;
use serde_json::json;
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
