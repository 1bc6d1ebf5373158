//! A full disk: whoever waits is told so, and whoever wants to go, or wants something gone, is not kept.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::harness::{GUARD, Wharf, finish, json, read_until, signal};
use crate::mcp::client::Client;
use crate::pty::Seat;
use rustix::process::Signal;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Instant;
use wharf_testing::SmallDisk;

const FULL: &str = "the disk is full";
/// More than there is room for.
const FLOOD: &str = "seq 200000";

/// A state directory on a disk of its own. The disk goes before the directory that it is mounted on.
struct Small {
    disk: SmallDisk,
    wharf: Wharf,
}

impl Small {
    /// None where the test may not mount.
    fn new() -> Option<Self> {
        let wharf = Wharf::new();
        Some(Self { disk: SmallDisk::mount(wharf.state(), "300k")?, wharf })
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        for id in self.wharf.ids() {
            let rm = self.wharf.command(["rm", &id]);
            #[expect(clippy::disallowed_methods, reason = "a test that fails must not hang either")]
            let mut bounded = Command::new("timeout");
            bounded.arg("10").arg(rm.get_program()).args(rm.get_args()).env_clear();
            bounded.envs(rm.get_envs().filter_map(|(name, value)| Some((name, value?))));
            let _ = bounded.stdout(Stdio::null()).status();
        }
    }
}

/// A command in the foreground that cannot print on; its output goes nowhere.
fn stuck(wharf: &Wharf, line: &str) -> Child {
    let mut command = wharf.command(["run", "-c", line]);
    let run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    until(|| !wharf.ids().is_empty() && state(wharf)["state"] == "stalled");
    run
}

/// Returns when the person is told this.
fn hear(run: &mut Child, text: &'static str) {
    let mut heard = run.stderr.take().unwrap();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        read_until(&mut heard, text);
        sender.send(heard)
    });
    run.stderr = Some(receiver.recv_timeout(GUARD).unwrap());
}

/// A detached command that cannot print on.
fn waiting(wharf: &Wharf) -> String {
    let id = wharf.detach(["-c", FLOOD]);
    until(|| state(wharf)["state"] == "stalled");
    id
}

/// The one terminal, as it is listed.
fn state(wharf: &Wharf) -> serde_json::Value {
    json(&wharf.ok(["ls", "-a", "--json"]))[0].clone()
}

/// Until what cannot be waited for in another way is so.
fn until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < GUARD, "it did not come to be");
        std::thread::yield_now();
    }
}

/// Waits for a program whose output nobody reads.
fn ended(mut run: Child) -> Option<i32> {
    let unread = (run.stdout.take(), run.stderr.take());
    let code = finish(run).code;
    drop(unread);
    code
}

fn exists(path: &Path) {
    until(|| path.exists());
}

#[test]
fn whoever_waits_for_a_full_disk_is_told_so_and_when_it_goes_on() {
    let Some(small) = Small::new() else { return };
    let wharf = &small.wharf;
    let mut run = stuck(wharf, FLOOD);
    hear(&mut run, FULL);
    small.disk.resize("8m");
    hear(&mut run, "goes on");
    assert_eq!(finish(run).code, Some(0));
    let listed = state(wharf);
    assert_eq!((listed["bytes"].as_u64(), listed["dropped"].as_u64()), (Some(1_288_895), Some(0)));
}

#[test]
fn the_second_ctrl_c_ends_a_command_that_waits_for_the_disk() {
    let Some(small) = Small::new() else { return };
    let wharf = &small.wharf;
    let mark = wharf.scratch().join("asked");
    // Neither the shell nor what floods ends by the first one.
    let line = format!("trap '> {}' INT; {FLOOD} & while :; do wait; done", mark.display());
    let run = stuck(wharf, &line);
    signal(&run, Signal::INT);
    exists(&mark);
    signal(&run, Signal::INT);
    assert_eq!(finish(run).code, Some(137));
    assert_eq!(state(wharf)["signal"], "SIGKILL");
}

#[test]
fn the_third_ctrl_c_lets_us_go_whatever_is_left_to_do() {
    let wharf = Wharf::new();
    let (printed, asked) = (wharf.scratch().join("printed"), wharf.scratch().join("asked"));
    let line = format!(
        "trap '> {}' INT; {FLOOD}; > {}; while :; do sleep 1000 & wait; done",
        asked.display(),
        printed.display()
    );
    // Nobody reads what it printed, so that it is never all shown.
    let run = wharf.spawn(["run", "-c", &line]);
    exists(&printed);
    signal(&run, Signal::INT);
    exists(&asked);
    signal(&run, Signal::INT);
    assert_eq!(wharf.call(["wait", &wharf.ids()[0]]).code, Some(137));
    signal(&run, Signal::INT);
    assert_eq!(ended(run), Some(130));
}

#[test]
fn told_to_go_it_does_not_wait_for_the_disk() {
    let Some(small) = Small::new() else { return };
    let wharf = &small.wharf;
    let run = stuck(wharf, FLOOD);
    signal(&run, Signal::TERM);
    assert_eq!(finish(run).code, Some(143));
    assert_eq!(state(wharf)["alive"], false);
}

#[test]
fn an_owner_that_is_killed_leaves_nothing_that_waits_for_the_disk() {
    let Some(small) = Small::new() else { return };
    let wharf = &small.wharf;
    let mut run = stuck(wharf, FLOOD);
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(wharf.call(["wait", &wharf.ids()[0]]).code, Some(143));
    assert_eq!(state(wharf)["cause"], "owner_gone");
}

#[test]
fn kill_and_rm_do_not_wait_for_the_disk() {
    let Some(small) = Small::new() else { return };
    let wharf = &small.wharf;
    let id = waiting(wharf);
    let killed = wharf.ok(["kill", &id]);
    assert!(killed.contains("ended"), "{killed}");
    let listed = state(wharf);
    let dropped = listed["dropped"].as_u64().unwrap();
    assert!(listed["state"] == "ended" && dropped > 0, "{listed}");
    // What is shown and what was dropped are together all of it.
    let logs = wharf.call(["logs", &id]);
    assert_eq!(logs.out.len() as u64 + dropped, listed["bytes"].as_u64().unwrap());
    wharf.ok(["rm", &id]);
    let id = waiting(wharf);
    assert!(wharf.ok(["rm", &id]).contains("removed"));
    assert!(wharf.ids().is_empty());
}

#[test]
fn ctrl_c_at_a_terminal_works_although_no_key_can_be_taken() {
    let Some(small) = Small::new() else { return };
    let wharf = &small.wharf;
    let mark = wharf.scratch().join("asked");
    let line = format!("trap '> {}' INT; {FLOOD} & while :; do wait; done", mark.display());
    let mut seat = Seat::take(wharf, ["run", "--pty", "-c", &line], (80, 24));
    seat.see(FULL);
    seat.type_keys("\x03");
    exists(&mark);
    seat.type_keys("\x03");
    assert_eq!(seat.leave(), Some(130));
    assert_eq!(state(wharf)["alive"], false);
}

#[test]
fn a_pty_has_a_type_of_terminal_also_where_ours_has_none() {
    let wharf = Wharf::new();
    assert_eq!(wharf.ok(["run", "--pty", "-c", "printenv TERM"]), "xterm-256color\r\n");
    assert_eq!(wharf.ok(["run", "--pty", "--env", "TERM=vt100", "-c", "printenv TERM"]), "vt100\r\n");
    assert_eq!(wharf.call(["run", "--pty", "--clear-env", "--", "/usr/bin/printenv", "TERM"]).code, Some(1));
    assert_eq!(wharf.call(["run", "--", "printenv", "TERM"]).code, Some(1));
}

#[test]
fn an_agent_is_told_that_its_command_waits_for_the_disk_and_can_interrupt_it() {
    let Some(small) = Small::new() else { return };
    let wharf = &small.wharf;
    let mut client = Client::start(wharf, &["--sandbox", "open"]);
    client.initialize();
    let run = |client: &mut Client, command: &str| {
        client.call("terminal_execute", serde_json::json!({"command": command, "timeout": 20}))
    };
    assert_eq!(run(&mut client, "echo ready").content(), "ready");
    let stalled = run(&mut client, FLOOD);
    assert_eq!(
        (stalled.get("status"), stalled.get("returned_because")),
        (&"running".into(), &"stalled".into())
    );
    assert_eq!(stalled.get("stalled"), FULL, "{stalled:?}");
    assert!(stalled.text.contains("[stalled: the disk is full; "), "{}", stalled.text);
    let listed = client.call("terminal_list", serde_json::json!({}));
    assert_eq!(listed.get("terminals")[0]["stalled"], FULL, "{listed:?}");
    // The key cannot be written down; its signal comes all the same, and ends what floods.
    let interrupted = run(&mut client, "C-c");
    assert!(!interrupted.is_error, "{}", interrupted.text);
    small.disk.resize("8m");
    let over = run(&mut client, "");
    assert_eq!(
        (over.get("status"), over.get("exit_code")),
        (&"completed".into(), &130.into()),
        "{}",
        over.text
    );
    assert_eq!(run(&mut client, "echo on").content(), "on");
    client.call("terminal_close", serde_json::json!({"terminal_id": "default"}));
}

/// Mounts the state directory's disk anew with these options.
#[expect(clippy::disallowed_methods, reason = "mounting is no command in a terminal")]
fn remount(small: &Small, options: &str) {
    let status = Command::new("mount").args(["-o", options]).arg(small.disk.path()).status().unwrap();
    assert!(status.success());
}

#[test]
fn on_a_read_only_disk_it_is_said_what_cannot_be_written() {
    let Some(small) = Small::new() else { return };
    let wharf = &small.wharf;
    wharf.ok(["run", "--", "true"]);
    let id = wharf.ids()[0].clone();
    wharf.ok(["logs", "-f", &id]);
    remount(&small, "remount,ro");
    let state = wharf.state();
    let done = wharf.call(["rm", &id]);
    assert!(done.code == Some(125) && done.err.contains("cannot be removed"), "{done:?}");
    for verb in [&["mcp"][..], &["run", "--", "true"]] {
        let done = wharf.call(verb.iter().copied());
        assert_eq!(done.code, Some(125), "{verb:?}: {done:?}");
        assert!(done.err.contains(state.to_str().unwrap()), "{verb:?}: {}", done.err);
    }
    assert!(wharf.call(["mcp"]).err.contains("WHARF_STATE_DIR"));
    remount(&small, "remount,rw");
}

#[test]
fn inodes_that_are_used_up_are_named_and_the_doctor_sees_a_full_disk() {
    let Some(small) = Small::new() else { return };
    let wharf = &small.wharf;
    wharf.ok(["run", "--", "true"]);
    assert!(wharf.ok(["doctor"]).contains("missing  disk space"), "300 KB are little");
    remount(&small, "remount,size=64m,nr_inodes=200");
    assert!(wharf.ok(["doctor"]).contains("have     disk space"));
    let filler = small.disk.path().join("filler");
    std::fs::create_dir(&filler).unwrap();
    let made = (0..300).take_while(|n| std::fs::write(filler.join(n.to_string()), "").is_ok()).count();
    assert!(made < 300);
    let done = wharf.call(["doctor"]);
    assert!(done.code == Some(1) && done.out.contains("no inodes are left"), "{done:?}");
    assert!(done.out.contains("commands will NOT run here"), "{done:?}");
    let done = wharf.call(["run", "--", "true"]);
    assert_eq!(done.code, Some(125));
    assert!(done.err.contains("df -i") && done.err.contains("inodes"), "{done:?}");
}
