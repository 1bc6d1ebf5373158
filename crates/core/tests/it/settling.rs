//! Helpers that outlive the command: what they are still writing at its end belongs to it, and whoever only stays delays
//! nobody.

use rustix::process::{Pid, Signal, kill_process};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wharf_core::{Cause, Size, Spec, Step, Terminal};
use wharf_shim::failpoint;
use wharf_shim::journal::record::Record;
use wharf_testing::{Place, guarded, until};

/// Writes only after it has computed for some milliseconds, and so never before the command's end.
const SLOW_CAT: &str = "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done; exec cat";

fn bash(place: &Place, line: &str) -> Spec {
    // HUP is what a PTY sends to the foreground when its session ends.
    place.marked(Spec::shell_line("/bin/bash", format!("trap '' HUP; {line}")))
}

fn on_both(spec: impl Fn() -> Spec) -> [Spec; 2] {
    [spec(), spec().pty(Size::default())]
}

fn place_of(place: &Place, terminal: &Terminal, wanted: impl Fn(&Record) -> bool) -> Option<usize> {
    place.events(terminal).entries.iter().position(|entry| wanted(&entry.record))
}

async fn until_stopped(pid: u32) {
    let is_stopped = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap().contains(") T ");
    guarded(async {
        while !is_stopped() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn what_a_helper_is_still_writing_when_the_command_ends_belongs_to_the_end() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        for helper in ["tee /dev/null", SLOW_CAT] {
            let line = format!("exec > >({helper}) 2>&1; echo hi; exit 3");
            for spec in on_both(|| bash(&place, &line)) {
                let terminal = place.start(spec).await;
                let ended = guarded(terminal.wait()).await.unwrap();
                assert_eq!((ended.exit_code(), ended.cause), (Some(3), Cause::Exited));
                let text = terminal.text(100).unwrap().0;
                assert_eq!(text.trim_end(), "hi", "{helper}");
                assert_eq!(ended.bytes, text.len() as u64, "{helper}");
                guarded(terminal.release()).await.unwrap();
            }
        }
        place.check().await;
    }
}

#[tokio::test]
async fn the_last_of_a_chain_of_helpers_is_heard_too() {
    let place = Place::process();
    let line = format!("exec > >(tr a-z A-Z | sort | ({SLOW_CAT})); echo b; echo a");
    let terminal = place.start(bash(&place, &line)).await;
    guarded(terminal.wait()).await.unwrap();
    assert_eq!(terminal.text(100).unwrap().0, "A\nB\n");
    place.check().await;
}

#[tokio::test]
async fn a_daemon_that_sleeps_with_the_output_in_its_hands_delays_nobody() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        for spec in on_both(|| bash(&place, "sleep 1000 & echo here; exit 4")) {
            let before = Instant::now();
            let terminal = place.start(spec).await;
            let ended = guarded(terminal.wait()).await.unwrap();
            assert!(before.elapsed() < Duration::from_secs(2), "{:?}", before.elapsed());
            assert_eq!((ended.exit_code(), ended.left, ended.holding), (Some(4), 1, 1));
            guarded(terminal.release_with(Some(Duration::ZERO))).await.unwrap();
        }
        place.check().await;
    }
}

#[tokio::test]
async fn a_helper_that_writes_for_ever_is_waited_for_only_so_long() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        for spec in on_both(|| bash(&place, "yes & exit 4").keep(1 << 20)) {
            let before = Instant::now();
            let terminal = place.start(spec).await;
            let ended = guarded(terminal.wait()).await.unwrap();
            assert!(before.elapsed() < Duration::from_secs(5), "{:?}", before.elapsed());
            assert_eq!((ended.exit_code(), ended.cause, ended.left), (Some(4), Cause::Exited, 1));
            // It writes on, and what it writes is kept.
            let mut reader = terminal.reader(ended.bytes);
            let step = guarded(reader.next_until_closed(100)).await.unwrap();
            assert!(matches!(step, Step::Output(_)), "{step:?}");
            guarded(terminal.release_with(Some(Duration::ZERO))).await.unwrap();
        }
        place.check().await;
    }
}

#[tokio::test]
async fn the_end_is_dated_when_the_command_ended_and_not_when_its_helpers_had_settled() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let before = Instant::now();
        let terminal = place.start(bash(&place, "(while :; do :; done) & exit 4")).await;
        let ended = guarded(terminal.wait()).await.unwrap();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        // A helper that computes may still have something to say: it gets all the time there is, and the end does not.
        assert!(before.elapsed() >= ended.lasted + Duration::from_millis(95), "{:?}", ended.lasted);
        assert!(now >= Duration::from_nanos(ended.at) + Duration::from_millis(95));
        guarded(terminal.release_with(Some(Duration::ZERO))).await.unwrap();
        place.check().await;
    }
}

#[tokio::test]
async fn a_kill_does_not_wait_for_helpers_and_comes_after_the_end_that_was_there_before() {
    let place = Place::process();
    for grace in [Duration::ZERO, Duration::from_millis(200)] {
        let terminal = place.start(bash(&place, "(while :; do :; done) & echo $$; exit 4")).await;
        let pid = String::from_utf8(until(&terminal, "\n").await).unwrap();
        // The command is over as soon as its number means nothing, and its helper computes.
        guarded(async {
            while std::fs::exists(format!("/proc/{}", pid.trim())).unwrap() {
                tokio::task::yield_now().await;
            }
        })
        .await;
        guarded(terminal.kill("test", Some(grace))).await.unwrap();
        let ended = guarded(terminal.wait()).await.unwrap();
        assert_eq!((ended.exit_code(), ended.cause, ended.left), (Some(4), Cause::Exited, 1));
        let end = place_of(&place, &terminal, |record| matches!(record, Record::End(_)));
        let killing = place_of(&place, &terminal, |record| matches!(record, Record::Killing { .. }));
        assert!(end.is_some() && end < killing, "{end:?} {killing:?}");
    }
    place.check().await;
}

#[tokio::test]
async fn all_that_will_ever_be_printed_is_there_when_a_kill_is_answered() {
    let place = Place::process();
    for spec in on_both(|| bash(&place, "yes & exit 4").keep(1 << 20)) {
        let terminal = place.start(spec.env(failpoint::VARIABLE, "kill.after_answer=stop")).await;
        guarded(terminal.wait()).await.unwrap();
        guarded(terminal.kill("test", Some(Duration::ZERO))).await.unwrap();
        let told = terminal.look().unwrap().end;
        until_stopped(place.holder_of(&terminal)).await;
        let holder = Pid::from_raw(place.holder_of(&terminal).cast_signed()).unwrap();
        kill_process(holder, Signal::CONT).unwrap();
        let mut reader = terminal.reader(u64::MAX);
        assert_eq!(guarded(reader.next_until_closed(1)).await.unwrap(), Step::Closed);
        assert_eq!(terminal.look().unwrap().end, told);
    }
    place.check().await;
}
