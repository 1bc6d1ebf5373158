//! The demonstration shows what it says, and can be left at any moment.

use crate::harness::{GUARD, Wharf, read_until};
use std::process::Stdio;
use std::time::Instant;
use wharf_shim::tree::proc;

/// What was started in this test's directory, and says so in its environment, and is alive.
fn left(wharf: &Wharf) -> Vec<i32> {
    // Inherited by commands, as wharf's own variables are not.
    let [_, (name, home), _] = wharf.environment();
    let mark = format!("{name}={}", home.display());
    let is_ours = |process: &proc::Process| {
        let environment = std::fs::read(process.dir().join("environ")).unwrap_or_default();
        !process.is_zombie() && environment.split(|byte| *byte == 0).any(|line| line == mark.as_bytes())
    };
    proc::all().into_iter().filter(is_ours).map(|process| process.pid).collect()
}

#[test]
fn the_demonstration_shows_five_honest_ends_and_leaves_nothing() {
    let wharf = Wharf::new();
    let done = wharf.call(["demo"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for said in [
        "  │    Compiling shim\n",
        "exit code 0 after",
        "exit code 101 after",
        "killed by SIGTERM after",
        "its time ran out, and all of its processes were ended",
        "the agent has the newest 65,536 bytes",
        "  │ that was all\n",
        "killed by SIGSEGV after",
        "5 of 5 commands ended",
        "left behind: 0 processes\n",
    ] {
        assert!(done.out.contains(said), "{said:?} is missing:\n{}", done.out);
    }
    assert!(!done.out.contains('\u{1b}'), "no colours where nobody sees them");
    assert_eq!(left(&wharf), [0; 0], "and the demonstration counted right");
    assert_eq!(wharf.ids(), [""; 0], "no terminal is left either");
}

#[test]
fn a_demonstration_that_is_killed_leaves_nothing_either() {
    let wharf = Wharf::new();
    // Killed, it cannot take its directory with it.
    let mut demo = wharf.command(["demo"]);
    let mut demo = demo.env("TMPDIR", wharf.scratch()).stdout(Stdio::piped()).spawn().unwrap();
    read_until(demo.stdout.as_mut().unwrap(), "with two daemons\n");
    assert!(left(&wharf).len() > 3, "the agent, its guard, a server and its children");
    demo.kill().unwrap();
    demo.wait().unwrap();
    let began = Instant::now();
    while !left(&wharf).is_empty() {
        assert!(began.elapsed() < GUARD, "left behind: {:?}", left(&wharf));
        // The next of them, by its own end.
        let process = left(&wharf).first().and_then(|pid| proc::look(*pid));
        if let Some(handle) = process.as_ref().and_then(proc::open) {
            proc::wait_for_exit(&handle, GUARD);
        }
    }
}
