//! Signals to `wharf run` reach the command, and whatever happens to us nothing of it is left.

use crate::harness::{Wharf, finish, open_gate, read_until, signal};
use rustix::process::Signal;
use std::process::Stdio;

#[test]
fn ctrl_c_is_the_commands() {
    let wharf = Wharf::new();
    let mut run = wharf.spawn(["run", "-c", "trap 'echo caught; exit 7' INT; echo ready; sleep 1000 & wait"]);
    read_until(run.stdout.as_mut().unwrap(), "ready\n");
    signal(&run, Signal::INT);
    let done = finish(run);
    assert_eq!((done.code, done.out.as_str()), (Some(7), "caught\n"));
}

#[test]
fn a_command_that_does_not_mind_ctrl_c_dies_of_the_second() {
    let wharf = Wharf::new();
    let line = "trap 'echo no' INT; trap '' TERM; echo ready; while :; do sleep 0.05; done";
    let mut run = wharf.spawn(["run", "-c", line]);
    let out = run.stdout.as_mut().unwrap();
    read_until(out, "ready\n");
    signal(&run, Signal::INT);
    read_until(run.stdout.as_mut().unwrap(), "no\n");
    signal(&run, Signal::INT);
    assert_eq!(finish(run).code, Some(137));
}

#[test]
fn told_to_go_it_ends_the_command_and_shows_its_last_words() {
    let wharf = Wharf::new();
    for (ours, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let mut run =
            wharf.spawn(["run", "-c", "trap 'echo bye; exit 0' TERM; echo ready; sleep 1000 & wait"]);
        read_until(run.stdout.as_mut().unwrap(), "ready\n");
        signal(&run, ours);
        let done = finish(run);
        assert_eq!((done.code, done.out.as_str()), (Some(code), "bye\n"), "{done:?}");
    }
    for id in wharf.ids() {
        assert!(wharf.ok(["kill", &id]).contains("had already ended"));
    }
}

#[test]
fn killed_without_warning_it_leaves_nothing_running() {
    let wharf = Wharf::new();
    let mut run = wharf.spawn(["run", "-c", "echo ready; sleep 1000 & wait"]);
    read_until(run.stdout.as_mut().unwrap(), "ready\n");
    let id = wharf.ids()[0].clone();
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(wharf.call(["wait", &id]).code, Some(143));
    assert!(wharf.call(["wait", "--json", &id]).out.contains("owner_gone"));
}

#[test]
fn a_reader_that_does_not_read_on_cannot_keep_it() {
    let wharf = Wharf::new();
    let mut run = wharf.spawn(["run", "--", "yes"]);
    let mut output = run.stdout.take().unwrap();
    read_until(&mut output, "y\n");
    signal(&run, Signal::TERM);
    assert_eq!(finish(run).code, Some(143));
}

#[test]
fn a_signal_that_was_ignored_from_the_start_stays_ignored() {
    let wharf = Wharf::new();
    let gate = wharf.gate();
    let line = format!("echo ready; read x < {}; echo done", gate.display());
    let inner = wharf.command(["run", "-c", &line]);
    #[expect(clippy::disallowed_methods, reason = "the program that ignores the signal on our behalf")]
    let mut outer = std::process::Command::new("env");
    outer.arg("--ignore-signal=HUP").arg(inner.get_program()).args(inner.get_args()).env_clear();
    outer.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut run = outer.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    read_until(run.stdout.as_mut().unwrap(), "ready\n");
    signal(&run, Signal::HUP);
    open_gate(&gate);
    let done = finish(run);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "done\n"), "{done:?}");
}
