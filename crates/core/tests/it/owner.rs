//! Owner: what happens when a creator dies, and the limits that a holder enforces by itself.

use std::time::{Duration, Instant};
use wharf_core::{Cause, OnOwnerExit, Outcome, Phase, Size, Terminal, TerminalId};
use wharf_shim::journal::record::Record;
use wharf_testing::front_end::{FrontEnd, misbehave};
use wharf_testing::leak::MARK;
use wharf_testing::{Place, guarded, program, until};

/// A front end in a process of its own that has created one terminal.
fn creator(place: &Place, on_exit: &str, behaviour: &[&str]) -> (FrontEnd, Terminal) {
    let program = program("wharf-misbehave");
    let state = place.state();
    let mut args = vec!["creates-terminal", state.to_str().unwrap(), on_exit, "0", "100", "stay", "--"];
    args.push(program.to_str().unwrap());
    args.extend(behaviour);
    let mut command = misbehave(&args);
    command.env(MARK, place.dir());
    let mut front_end = FrontEnd::run(command);
    let said = front_end.hear();
    let id = TerminalId::parse(said.strip_prefix("ok ").unwrap_or_else(|| panic!("{said}"))).unwrap();
    let terminal = place.store.get(&id).unwrap();
    (front_end, terminal)
}

#[tokio::test]
async fn a_killed_creator_takes_its_terminal_and_every_daemon_with_it() {
    let place = Place::process();
    let (front_end, terminal) = creator(&place, "kill", &["double-forks", "3", "stays"]);
    until(&terminal, "3 daemons").await;
    front_end.kill();
    let ended = guarded(terminal.wait()).await.unwrap();
    assert_eq!(ended.cause, Cause::OwnerGone);
    assert!(matches!(ended.outcome, Outcome::Signal(_)));
    let mut reader = terminal.reader(u64::MAX);
    // Closed: nothing of the tree is left.
    assert_eq!(guarded(reader.next_until_closed(1)).await.unwrap(), wharf_core::Step::Closed);
    place.check().await;
}

#[tokio::test]
async fn a_killed_creator_leaves_a_terminal_that_is_to_be_kept() {
    let place = Place::process();
    let (front_end, terminal) = creator(&place, "keep", &["stays", "ready"]);
    until(&terminal, "ready").await;
    front_end.kill();
    // A request that is answered after the death shows that it runs on.
    guarded(terminal.signal(28, "test")).await.unwrap();
    assert!(matches!(terminal.look().unwrap().phase, Phase::Running { .. }));
    guarded(terminal.kill("test", None)).await.unwrap();
    assert_eq!(guarded(terminal.wait()).await.unwrap().cause, Cause::Killed);
    place.check().await;
}

#[tokio::test]
async fn a_reader_that_dies_means_nothing_to_the_terminal() {
    let place = Place::process();
    let terminal = place.start(place.misbehaving(&["stays", "ready"])).await;
    until(&terminal, "ready").await;
    for _ in 0..5 {
        let copy = place.dir().join("copy");
        let reader = FrontEnd::start(
            "reads-terminal",
            &place.state(),
            &[terminal.id().as_str(), copy.to_str().unwrap()],
        );
        reader.kill();
    }
    guarded(terminal.signal(28, "test")).await.unwrap();
    assert!(matches!(terminal.look().unwrap().phase, Phase::Running { .. }));
    place.check().await;
}

#[tokio::test]
async fn dropping_the_store_is_the_owners_leaving() {
    for on_exit in [OnOwnerExit::Kill, OnOwnerExit::Keep] {
        let place = Place::process();
        let store = place.reopened();
        let grant =
            wharf_core::unrestricted(place.misbehaving(&["stays", "ready"]).on_owner_exit(on_exit)).unwrap();
        let id = store.create(grant).await.unwrap().id().clone();
        let terminal = place.store.get(&id).unwrap();
        until(&terminal, "ready").await;
        drop(store);
        if on_exit == OnOwnerExit::Kill {
            assert_eq!(guarded(terminal.wait()).await.unwrap().cause, Cause::OwnerGone);
        } else {
            guarded(terminal.signal(28, "test")).await.unwrap();
        }
        place.check().await;
    }
}

#[tokio::test]
async fn a_disowned_terminal_outlives_its_creator() {
    let place = Place::process();
    let store = place.reopened();
    let grant = wharf_core::unrestricted(place.misbehaving(&["stays", "ready"])).unwrap();
    let own = store.create(grant).await.unwrap();
    let terminal = place.store.get(own.id()).unwrap();
    until(&terminal, "ready").await;
    guarded(own.disown()).await.unwrap();
    drop((own, store));
    guarded(terminal.signal(28, "test")).await.unwrap();
    assert!(matches!(terminal.look().unwrap().phase, Phase::Running { .. }));
    place.check().await;
}

#[tokio::test]
async fn disowning_again_changes_nothing_and_needs_no_socket_to_be_found() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let store = place.reopened();
        let grant = wharf_core::unrestricted(place.misbehaving(&["echoes-lines"]).with_input()).unwrap();
        let own = store.create(grant).await.unwrap();
        let terminal = place.store.get(own.id()).unwrap();
        until(&terminal, "ready").await;
        let mut input = terminal.input("test").unwrap();
        guarded(input.send(b"before\n")).await.unwrap();
        // Somebody has taken it away. Connections that are there stay.
        let socket = place.socket(&own);
        let aside = place.dir().join("aside");
        std::fs::rename(&socket, &aside).unwrap();
        guarded(own.disown()).await.unwrap();
        guarded(own.disown()).await.unwrap();
        drop((own, store));
        // The first answer may come from before the holder saw that anybody left, the second cannot.
        for line in [b"one\n", b"two\n"] {
            guarded(input.send(line)).await.unwrap();
        }
        let entries = place.events(&terminal).entries;
        assert!(!entries.iter().any(|e| matches!(e.record, Record::Killing { .. })), "{entries:?}");
        assert!(matches!(terminal.look().unwrap().phase, Phase::Running { .. }));
        std::fs::rename(&aside, &socket).unwrap();
        place.check().await;
    }
}

#[tokio::test]
async fn the_time_limit_ends_the_whole_tree_and_is_named() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let limit = Duration::from_millis(500);
        let spec = place
            .misbehaving(&["double-forks", "1", "stays"])
            .time_limit(limit)
            .grace(Duration::from_millis(50));
        let terminal = place.start(spec).await;
        let ended = guarded(terminal.wait()).await.unwrap();
        assert_eq!(ended.cause, Cause::TimeLimit);
        assert!(ended.lasted >= limit && ended.lasted < limit + Duration::from_secs(3), "{:?}", ended.lasted);
        let mut reader = terminal.reader(u64::MAX);
        assert_eq!(guarded(reader.next_until_closed(1)).await.unwrap(), wharf_core::Step::Closed);
        place.check().await;
    }
}

#[tokio::test]
async fn the_idle_limit_waits_for_output_and_input_to_stop() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let limit = Duration::from_millis(600);
        let line =
            "i=0; while [ $i -lt 10 ]; do echo $i; sleep 0.1; i=$((i+1)); done; echo silent; sleep 100";
        let before = Instant::now();
        let terminal = place.start(place.line(line).idle_limit(limit).grace(Duration::ZERO)).await;
        let ended = guarded(terminal.wait()).await.unwrap();
        assert_eq!(ended.cause, Cause::IdleLimit);
        assert!(before.elapsed() >= Duration::from_secs(1) + limit, "{:?}", before.elapsed());
        place.check().await;
    }
}

#[tokio::test]
async fn the_output_limit_ends_a_flood_and_is_named() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let limit = 1 << 20;
        let flood = || place.misbehaving(&["floods"]).output_limit(limit).grace(Duration::ZERO);
        for spec in [flood(), flood().pty(Size::default())] {
            let terminal = place.start(spec).await;
            let ended = guarded(terminal.wait()).await.unwrap();
            assert_eq!(ended.cause, Cause::OutputLimit);
            assert!(ended.bytes > limit && ended.bytes < limit + (1 << 20), "{} bytes", ended.bytes);
        }
        let within =
            place.start(place.misbehaving(&["prints-numbered-lines", "100", "3"]).output_limit(limit)).await;
        assert_eq!(guarded(within.wait()).await.unwrap().cause, Cause::Exited);
        place.check().await;
    }
}

#[tokio::test]
async fn a_holder_that_is_asked_to_go_ends_its_terminal_in_good_order() {
    let place = Place::process();
    let terminal = place
        .start(place.misbehaving(&["double-forks", "1", "stays"]).grace(Duration::from_millis(50)))
        .await;
    until(&terminal, "1 daemons").await;
    let holder = rustix::process::Pid::from_raw(place.holder_of(&terminal) as i32).unwrap();
    rustix::process::kill_process(holder, rustix::process::Signal::TERM).unwrap();
    let ended = guarded(terminal.wait()).await.unwrap();
    assert_eq!((ended.cause, ended.author.as_str()), (Cause::Killed, "signal"));
    place.check().await;
}
