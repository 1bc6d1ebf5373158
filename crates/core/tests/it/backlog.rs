//! A command that waits for its owner: nothing is dropped that the owner has not taken, and nobody waits for anybody else.

use std::time::Duration;
use wharf_core::{Cause, Phase, Step};
use wharf_testing::{Place, guarded};

const KEEP: u64 = 64 << 10;
const ALL: u64 = 4 << 20;

#[tokio::test]
async fn an_owner_who_is_slow_misses_nothing() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let line = format!("head -c {ALL} /dev/zero | tr '\\0' x");
        let terminal = place.start(place.line(&line).keep(KEEP).wait_for_owner()).await;
        let mut reader = terminal.reader(0);
        let mut total = 0;
        while let Step::Output(chunk) = guarded(reader.next(1000)).await.unwrap() {
            assert_eq!(chunk.gap, 0);
            assert!(chunk.bytes.iter().all(|byte| *byte == b'x'));
            total += chunk.bytes.len() as u64;
            // One read and one write of the command may be on top of what is kept.
            assert!(chunk.end - chunk.at <= KEEP + (256 << 10), "{} wait", chunk.end - chunk.at);
            reader.taken();
        }
        assert_eq!(total, ALL);
        drop(reader);
        place.check().await;
    }
}

#[tokio::test]
async fn another_reader_is_not_waited_for() {
    let place = Place::process();
    let line = format!("head -c {ALL} /dev/zero");
    let terminal = place.start(place.line(&line).keep(KEEP)).await;
    let mut behind = terminal.reader(0);
    let Step::Output(_) = guarded(behind.next(1)).await.unwrap() else { panic!("no output") };
    assert_eq!(guarded(terminal.wait()).await.unwrap().bytes, ALL);
    let read = behind.offset();
    let Step::Output(chunk) = guarded(behind.next(10)).await.unwrap() else { panic!("no output") };
    assert_eq!(chunk.gap, chunk.first.saturating_sub(read), "it missed that much, and knows");
    drop(behind);
    place.check().await;
}

#[tokio::test]
async fn a_command_whose_owner_lets_go_of_it_waits_no_more() {
    let place = Place::process();
    let line = format!("head -c {ALL} /dev/zero");
    let terminal = place.start(place.line(&line).keep(KEEP).wait_for_owner()).await;
    let mut reader = terminal.reader(0);
    while reader.offset() < KEEP {
        guarded(reader.next(1 << 20)).await.unwrap();
    }
    assert!(matches!(terminal.look().unwrap().phase, Phase::Running { .. }), "it waits to be taken from");
    guarded(terminal.disown()).await.unwrap();
    assert_eq!(guarded(terminal.wait()).await.unwrap().bytes, ALL);
    drop(reader);
    place.check().await;
}

#[tokio::test]
async fn a_command_that_waits_for_its_owner_can_be_killed() {
    let place = Place::process();
    let terminal = place.start(place.line("cat /dev/zero").keep(KEEP).wait_for_owner()).await;
    let mut reader = terminal.reader(0);
    while reader.offset() < KEEP {
        guarded(reader.next(1 << 20)).await.unwrap();
    }
    assert!(guarded(terminal.kill("test", None)).await.unwrap() >= 1);
    drop(reader);
    place.check().await;
}

#[tokio::test]
async fn a_command_is_not_idle_while_it_waits_for_its_owner() {
    let place = Place::process();
    let limit = Duration::from_millis(500);
    let line = format!("head -c {ALL} /dev/zero");
    let terminal = place.start(place.line(&line).keep(KEEP).wait_for_owner().idle_limit(limit)).await;
    let mut reader = terminal.reader(0);
    while reader.offset() < KEEP {
        guarded(reader.next(1 << 20)).await.unwrap();
    }
    // Twice the limit passes, by the clock of another terminal.
    let clock = place.start(place.line("sleep 1000").time_limit(limit * 2)).await;
    assert_eq!(guarded(clock.wait()).await.unwrap().cause, Cause::TimeLimit);
    reader.taken();
    while let Step::Output(_) = guarded(reader.next(1 << 20)).await.unwrap() {
        reader.taken();
    }
    let ended = guarded(terminal.wait()).await.unwrap();
    assert_eq!((ended.cause, ended.bytes), (Cause::Exited, ALL));
    drop(reader);
    place.check().await;
}
