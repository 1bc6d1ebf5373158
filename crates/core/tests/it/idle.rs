//! Terminals in which nothing can change: nobody is woken for them, and their limits hold.

use crate::limits::{BOMB, PROCESSES, until_over};
use rustix::process::{Pid, Signal, kill_process};
use std::time::Duration;
use wharf_core::{Cause, Size, Spec, Terminal};
use wharf_testing::{Place, guarded, until};

/// How often the process that holds a terminal has been switched away from.
fn switches(place: &Place, terminal: &Terminal) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", place.holder_of(terminal))).unwrap();
    let counts = status.lines().filter(|line| line.contains("ctxt_switches:"));
    counts.map(|line| line.rsplit('\t').next().unwrap().parse::<u64>().unwrap()).sum()
}

/// Waits for three seconds in which the holder does not run at all.
async fn until_idle(place: &Place, terminal: &Terminal) {
    guarded(async {
        loop {
            let before = switches(place, terminal);
            // The creator is told of the end unasked, so waiting for it wakes nobody either.
            let ended = tokio::time::timeout(Duration::from_secs(3), terminal.wait()).await;
            assert!(ended.is_err(), "{ended:?}");
            if switches(place, terminal) == before {
                return;
            }
        }
    })
    .await;
}

fn shell(place: &Place) -> Spec {
    place.marked(Spec::argv("/bin/bash", ["--norc", "-i"])).env("PS1", "ready: ").pty(Size::default())
}

#[tokio::test]
async fn nobody_is_woken_for_a_shell_at_its_prompt_and_its_limit_holds_after_that() {
    let place = Place::process();
    let terminal = place.start(shell(&place).process_limit(PROCESSES)).await;
    until(&terminal, "ready: ").await;
    until_idle(&place, &terminal).await;
    let mut input = terminal.input("test").unwrap();
    guarded(input.send(format!("{BOMB}\n").as_bytes())).await.unwrap();
    assert_eq!(until_over(&terminal).await.cause, Cause::ProcessLimit);
    place.check().await;
}

#[tokio::test]
async fn nobody_is_woken_for_a_sleep_and_a_bomb_after_it_is_caught() {
    let place = Place::process();
    let sleeps = place.start(place.line("sleep 1000").process_limit(PROCESSES)).await;
    until_idle(&place, &sleeps).await;
    let wakes = place.start(place.line(&format!("sleep 4; {BOMB}")).process_limit(PROCESSES)).await;
    let ended = until_over(&wakes).await;
    assert_eq!(ended.cause, Cause::ProcessLimit);
    assert!(ended.lasted < Duration::from_secs(12), "{:?}", ended.lasted);
    place.check().await;
}

#[tokio::test]
async fn a_bomb_after_a_sleep_that_somebody_else_ends_is_caught() {
    let place = Place::process();
    let line = format!("sleep 1000; {BOMB}");
    let terminal = place.start(place.line(&line).process_limit(PROCESSES)).await;
    until_idle(&place, &terminal).await;
    let shell = place.events(&terminal).start().unwrap().1.pid;
    let sleep = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).unwrap();
    let sleep = Pid::from_raw(sleep.trim().parse().unwrap()).unwrap();
    // The one signal after which the shell prints nothing.
    kill_process(sleep, Signal::PIPE).unwrap();
    assert_eq!(until_over(&terminal).await.cause, Cause::ProcessLimit);
    place.check().await;
}

#[tokio::test]
async fn a_program_that_waits_for_the_terminal_with_an_alarm_set_is_watched_on() {
    let place = Place::process();
    let program = "$SIG{ALRM} = sub { exec '/bin/sh', '-c', $ARGV[0] }; alarm 4; <STDIN>";
    let line = format!("exec perl -e \"{}\" '{BOMB}'", program.replace('$', "\\$"));
    let terminal = place.start(place.line(&line).pty(Size::default()).process_limit(PROCESSES)).await;
    let ended = until_over(&terminal).await;
    assert_eq!(ended.cause, Cause::ProcessLimit);
    assert!(ended.lasted < Duration::from_secs(12), "{:?}", ended.lasted);
    place.check().await;
}

#[tokio::test]
async fn a_program_that_was_asked_for_itself_and_has_an_alarm_set_is_watched_on() {
    let place = Place::process();
    // Nothing is printed, nobody ends: nothing is heard of it.
    let wakes =
        "$SIG{ALRM} = sub { fork or exec qw(sleep 20) for 1..60; sleep 20 }; alarm 6; sysread STDIN, $_, 1";
    // As one that edits lines has the terminal.
    let edits = format!("system 'stty -icanon'; {wakes}");
    for program in [wakes, &edits] {
        let spec = place.marked(Spec::argv("/usr/bin/perl", ["-e", program])).pty(Size::default());
        let terminal = place.start(spec.process_limit(PROCESSES)).await;
        let ended = until_over(&terminal).await;
        assert_eq!(ended.cause, Cause::ProcessLimit);
        assert!(ended.lasted < Duration::from_secs(14), "{:?}", ended.lasted);
    }
    place.check().await;
}
