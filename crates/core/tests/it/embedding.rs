//! Embedding: the same promises on a thread, beside a program that has children and signals of its own.

use rustix::process::{Pid, Signal, kill_process};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use wharf_core::{Holder, Lost, Outcome, Step, Terminal, TerminalId, unrestricted};
use wharf_shim::journal::record::Record;
use wharf_shim::wire::frame::frame;
use wharf_shim::wire::message::Reply;
use wharf_testing::front_end::{FrontEnd, deaf_to_children, misbehave, without_cgroups};
use wharf_testing::leak::MARK;
use wharf_testing::{Place, all_of, guarded, program, until};

#[tokio::test]
async fn without_a_shim_beside_it_a_program_gets_a_thread() {
    // Tests live in a directory of their own, where no shim is.
    assert_eq!(Holder::found(), Holder::Thread);
}

#[tokio::test]
async fn a_shim_that_is_not_there_is_a_clear_error() {
    let place = Place::with(Holder::Process("/no/such/wharf-shim".into()));
    assert_eq!(place.refused(place.line("true")).await, "no_shim");
    place.check_to_the_last_descriptor().await;
}

#[tokio::test]
async fn a_shim_that_is_no_shim_is_a_clear_error() {
    let place = Place::with(Holder::Process("/bin/true".into()));
    assert_eq!(place.refused(place.line("true")).await, "shim_silent");
    place.check_to_the_last_descriptor().await;
}

/// A program that stands where a shim should be.
fn impostor(dir: &Path, name: &str, lines: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    path
}

#[tokio::test]
async fn a_shim_of_another_version_is_named_and_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let answer = frame(&Reply::OtherVersion { plans: 200 }.encode(0));
    let answer: String = answer.iter().map(|byte| format!("\\{byte:03o}")).collect();
    // Its standard input is the socket: it waits for the plan, answers, and stays until that was heard.
    let newer = format!("head -c 1 >/dev/null; printf '{answer}' >&0; cat >/dev/null");
    let ours = format!("version {}", wharf_shim::plan::VERSION);
    for (name, lines, code, said) in [
        ("newer", newer.as_str(), "shim_version", "knows plans of version 200"),
        ("silent", "head -c 1 >/dev/null", "shim_silent", "ended without an answer"),
        ("gone", "exit 0", "shim_silent", "ended without an answer"),
    ] {
        let path = impostor(dir.path(), name, lines);
        let place = Place::with(Holder::Process(path.clone()));
        let grant = unrestricted(place.line("true")).unwrap();
        let error = guarded(place.store.create(grant)).await.unwrap_err();
        let text = error.to_string();
        assert_eq!(error.code(), code, "{name}: {text}");
        for said in [said, &ours, path.to_str().unwrap(), "install wharf and wharf-shim of the same version"]
        {
            assert!(text.contains(said), "{name}: {said}: {text}");
        }
        place.check_to_the_last_descriptor().await;
    }
}

#[tokio::test]
async fn fifty_threads_hold_fifty_terminals() {
    let place = Place::thread();
    let starts: Vec<_> = (0..50)
        .map(|n| {
            let spec = place.line(&format!("echo {n}; exit {n}"));
            let store = place.store.clone();
            tokio::spawn(async move { store.create(unrestricted(spec).unwrap()).await.unwrap() })
        })
        .collect();
    for (n, start) in starts.into_iter().enumerate() {
        let terminal = guarded(start).await.unwrap();
        assert_eq!(guarded(terminal.wait()).await.unwrap().exit_code(), Some(n as i32));
        assert_eq!(all_of(&terminal).await, format!("{n}\n").into_bytes());
    }
    place.check().await;
}

#[tokio::test]
async fn the_programs_own_children_are_left_alone() {
    let place = Place::thread();
    let mut own = misbehave(&["exits-with", "17"]).spawn().unwrap();
    let mut stays = misbehave(&["stays"]).spawn().unwrap();
    for _ in 0..5 {
        let terminal = place.start(place.misbehaving(&["forks-tree", "2"])).await;
        until(&terminal, "parent").await;
        guarded(terminal.release_with(Some(Duration::ZERO))).await.unwrap();
    }
    assert_eq!(own.wait().unwrap().code(), Some(17), "its status was not taken by anybody else");
    assert_eq!(stays.try_wait().unwrap(), None, "it was not killed");
    stays.kill().unwrap();
    stays.wait().unwrap();
    place.check().await;
}

#[tokio::test]
async fn input_to_a_closed_pipe_does_not_end_the_program() {
    let place = Place::thread();
    let terminal = place.start(place.misbehaving(&["closes-its-output", "3"]).with_input()).await;
    until(&terminal, "closing").await;
    let mut input = terminal.input("test").unwrap();
    // Written to a pipe that nobody reads any more, sooner or later.
    while input.send(&[b'x'; 1000]).await.is_ok() {}
    assert_eq!(guarded(terminal.wait()).await.unwrap().exit_code(), Some(3));
    place.check().await;
}

/// A command that plays a program with a terminal on a thread.
fn embedding(place: &Place, way: &str, command: &[&str]) -> Command {
    let state = place.state();
    let mut args = vec![way, state.to_str().unwrap(), "--"];
    args.extend(command);
    let mut program = misbehave(&args);
    program.env(MARK, place.dir());
    program
}

/// Starts it; the program, and its terminal as others see it. `None` if it could not be started.
fn embedded(place: &Place, command: Command) -> Option<(FrontEnd, Terminal)> {
    let mut program = FrontEnd::run(command);
    let said = program.hear();
    let Some(id) = said.strip_prefix("ok ") else {
        program.kill();
        return None;
    };
    let id = TerminalId::parse(id).unwrap();
    Some((program, place.store.get(&id).unwrap()))
}

#[tokio::test]
async fn the_terminals_of_a_killed_program_are_lost_and_swept_by_whoever_comes_next() {
    let place = Place::thread();
    let misbehaving = program("wharf-misbehave");
    let command = [misbehaving.to_str().unwrap(), "double-forks", "2", "stays"];
    let (program, terminal) = embedded(&place, embedding(&place, "embeds-terminal", &command)).unwrap();
    until(&terminal, "2 daemons").await;
    program.kill();
    let ended = guarded(terminal.wait()).await.unwrap();
    assert_eq!(ended.outcome, Outcome::Lost(Lost::HolderDied));
    place.check().await;
}

#[tokio::test]
async fn a_status_that_the_program_throws_away_is_lost_and_the_rest_is_as_ever() {
    let place = Place::thread();
    let line = "sleep 100 & echo said; exit 3";
    let command = embedding(&place, "embeds-terminal", &["/bin/sh", "-c", line]);
    let (program, terminal) = embedded(&place, deaf_to_children(&command)).unwrap();
    let ended = guarded(terminal.wait()).await.unwrap();
    assert_eq!((ended.outcome, ended.left), (Outcome::Lost(Lost::StatusTaken), 1));
    assert_eq!(all_of(&terminal).await, b"said\n");
    assert_eq!(guarded(terminal.kill("test", None)).await.unwrap(), 1);
    program.kill();
    place.check().await;
}

#[tokio::test]
async fn a_program_that_waits_for_every_child_takes_a_status_but_stops_nothing() {
    let place = Place::thread();
    let (mut taken, mut rounds) = (0, 0);
    while taken < 3 && rounds < 100 {
        rounds += 1;
        let command = embedding(&place, "takes-statuses", &["/bin/sh", "-c", "echo said; exit 3"]);
        let (program, terminal) = embedded(&place, command).unwrap();
        match guarded(terminal.wait()).await.unwrap().outcome {
            Outcome::Lost(Lost::StatusTaken) => taken += 1,
            outcome => {
                assert_eq!(outcome, Outcome::Code(3), "the holder was faster, or something was invented")
            }
        }
        assert_eq!(all_of(&terminal).await, b"said\n");
        guarded(terminal.release()).await.unwrap();
        program.kill();
    }
    assert!(taken > 0, "the holder was faster every time, so nothing was tried");
    place.check().await;
}

/// Leaves a child that has nothing of the terminal open and takes a moment to obey TERM.
fn leaves_a_child(place: &Place, mark: &str) -> String {
    let ready = place.dir().join(mark);
    let child = format!("trap \"sleep 0.2; exit\" TERM; : > {}; while :; do :; done", ready.display());
    format!(
        "setsid sh -c '{child}' </dev/null >/dev/null 2>&1 & until [ -e {} ]; do :; done; exit 4",
        ready.display()
    )
}

/// Counts who is left, and ends those who obey without waiting for the grace.
async fn counts_and_hurries(terminal: &Terminal) {
    let ended = guarded(terminal.wait()).await.unwrap();
    assert_eq!((ended.exit_code(), ended.left, ended.holding), (Some(4), 1, 0));
    let before = Instant::now();
    assert_eq!(guarded(terminal.kill("test", Some(Duration::from_secs(15)))).await.unwrap(), 1);
    assert!(before.elapsed() < Duration::from_secs(5), "everyone obeyed, and still: {:?}", before.elapsed());
}

#[tokio::test]
async fn whoever_is_left_with_its_output_closed_is_counted_and_ended_well_before_the_grace() {
    let place = Place::thread();
    counts_and_hurries(&place.start(place.line(&leaves_a_child(&place, "one"))).await).await;
    let line = leaves_a_child(&place, "two");
    let command = embedding(&place, "embeds-terminal", &["/bin/sh", "-c", &line]);
    if let Some((program, terminal)) = embedded(&place, without_cgroups(&command)) {
        counts_and_hurries(&terminal).await;
        program.kill();
    }
    let running = place.start(place.misbehaving(&["forks-tree", "3"])).await;
    until(&running, "parent").await;
    let before = Instant::now();
    guarded(running.kill("test", Some(Duration::from_secs(15)))).await.unwrap();
    assert!(before.elapsed() < Duration::from_secs(5), "everyone obeyed, and still: {:?}", before.elapsed());
    place.check().await;
}

#[tokio::test]
async fn whoever_cannot_be_told_for_one_of_ours_does_not_keep_a_terminal_that_was_killed() {
    let place = Place::thread();
    // The command ends when the stranger is one: before its environment is cleared, it is one of ours.
    let gate = place.dir().join("gate");
    let stranger = "echo process $$ .; : >$0; exec /bin/sleep 60";
    let line = format!("mkfifo {0}; env -i /bin/sh -c '{stranger}' {0} & read x <{0}", gate.display());
    let command = embedding(&place, "embeds-terminal", &["/bin/sh", "-c", &line]);
    let Some((program, terminal)) = embedded(&place, without_cgroups(&command)) else { return };
    let said = String::from_utf8(until(&terminal, " .\n").await).unwrap();
    let stranger = said.split(' ').nth(1).and_then(|pid| Pid::from_raw(pid.parse().ok()?)).unwrap();
    guarded(terminal.wait()).await.unwrap();
    assert_eq!(guarded(terminal.kill("test", None)).await.unwrap(), 0);
    let mut reader = terminal.reader(said.len() as u64);
    let step = guarded(reader.next_until_closed(100)).await;
    // What the documentation says can escape, has; it is the test's to end.
    kill_process(stranger, Signal::KILL).unwrap();
    assert_eq!(step.unwrap(), Step::Closed);
    let killings = place.events(&terminal).entries.into_iter();
    assert_eq!(killings.filter(|entry| matches!(entry.record, Record::Killing { .. })).count(), 1);
    drop(reader);
    program.kill();
    place.check().await;
}
