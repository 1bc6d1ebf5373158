//! End: exactly one, truthful, for anybody who asks, whenever they ask.

use std::time::{Duration, Instant};
use wharf_core::{Cause, Holder, Outcome, Phase, Size, Step, signal};
use wharf_testing::front_end::FrontEnd;
use wharf_testing::{Place, all_of, guarded, until};

#[tokio::test]
async fn every_exit_code_is_reported_as_it_was() {
    let place = Place::process();
    for code in 0..=255 {
        let terminal = place.start(place.misbehaving(&["exits-with", &code.to_string()])).await;
        let ended = guarded(terminal.wait()).await.unwrap();
        assert_eq!(ended.outcome, Outcome::Code(code));
        assert_eq!((ended.cause, ended.author.as_str()), (Cause::Exited, ""));
        guarded(terminal.release()).await.unwrap();
    }
    place.check().await;
}

#[tokio::test]
async fn every_deadly_signal_is_reported_by_its_name() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        for number in 1..=64 {
            // Ignored or stopping by default, or the C library's own.
            if [17, 18, 19, 20, 21, 22, 23, 28, 32, 33].contains(&number) {
                continue;
            }
            let terminal = place.start(place.misbehaving(&["dies-by", &number.to_string()])).await;
            let ended = guarded(terminal.wait()).await.unwrap();
            assert_eq!(ended.outcome, Outcome::Signal(number));
            assert_eq!(ended.signal(), Some(signal::name(number)));
            assert!(ended.signal().unwrap().starts_with("SIG"));
            assert_eq!(ended.cause, Cause::Exited, "a signal that wharf did not send is no kill of its own");
        }
        place.check().await;
    }
}

#[tokio::test]
async fn time_and_memory_are_those_of_the_command() {
    let place = Place::process();
    let terminal = place.start(place.misbehaving(&["uses-resources", "64", "300"])).await;
    let ended = guarded(terminal.wait()).await.unwrap();
    let cpu = ended.cpu.0 + ended.cpu.1;
    assert!(cpu >= Duration::from_millis(100), "{cpu:?} of processor time for 300 ms of work");
    assert!(cpu <= ended.lasted + Duration::from_millis(50), "{cpu:?} in {:?}", ended.lasted);
    assert!(ended.lasted >= Duration::from_millis(300) && ended.lasted < Duration::from_secs(15));
    assert!((64 << 20..128 << 20).contains(&ended.peak_memory), "{}", ended.peak_memory);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let at = Duration::from_nanos(ended.at);
    assert!(at <= now && now - at < Duration::from_secs(20));
    place.check().await;
}

#[tokio::test]
async fn all_that_was_written_before_the_exit_is_there_at_the_end_although_a_child_holds_the_output() {
    for holder in Place::holders() {
        let held_by = holder.clone();
        let place = Place::with(holder);
        for round in 0..60usize {
            // Around the sizes at which pipes and PTYs fill up.
            let bytes = [1, 100, 4095, 4096, 4097, 65535, 65536, 65537, 200_000][round % 9];
            let spec = place.misbehaving(&["holds-output", &bytes.to_string(), "4"]);
            let spec = if round % 2 == 0 { spec } else { spec.pty(Size::default()) };
            let terminal = place.start(spec).await;
            let ended = guarded(terminal.wait()).await.unwrap();
            assert_eq!((ended.exit_code(), ended.bytes), (Some(4), bytes as u64), "round {round}");
            assert_eq!(terminal.look().unwrap().end, bytes as u64);
            let out = terminal.read(0, bytes + 1).unwrap().bytes;
            assert!(out == vec![b'x'; bytes], "round {round}: {} bytes", out.len());
            // On a thread a process in the middle of its exec cannot be told from a stranger.
            if matches!(held_by, Holder::Process(_)) {
                assert_eq!((ended.left, ended.holding), (1, 1), "round {round}");
            }
            guarded(terminal.release_with(Some(Duration::ZERO))).await.unwrap();
        }
        place.check().await;
    }
}

#[tokio::test]
async fn the_end_counts_who_is_left_and_who_holds_the_output() {
    let place = Place::process();
    let misbehave = wharf_testing::program("wharf-misbehave");
    // HUP is what a PTY sends when its session ends.
    let line =
        format!("trap '' HUP; sleep 100 & sleep 100 & {} double-forks 1 exits; exit 3", misbehave.display());
    for spec in [place.line(&line), place.line(&line).pty(Size::default())] {
        let terminal = place.start(spec).await;
        let ended = guarded(terminal.wait()).await.unwrap();
        assert_eq!((ended.exit_code(), ended.left, ended.holding), (Some(3), 3, 2));
        assert!(terminal.look().unwrap().held, "somebody is left, so somebody holds the terminal");
        guarded(terminal.kill("test", Some(Duration::ZERO))).await.unwrap();
    }
    place.check().await;
}

#[tokio::test]
async fn what_descendants_print_after_the_end_is_kept_too() {
    let place = Place::process();
    let terminal = place.start(place.line("(sleep 0.3; echo late) & echo early")).await;
    let ended = guarded(terminal.wait()).await.unwrap();
    assert_eq!(ended.bytes, 6);
    let mut reader = terminal.reader(6);
    assert_eq!(guarded(reader.next(100)).await.unwrap(), Step::Ended);
    let Step::Output(chunk) = guarded(reader.next_until_closed(100)).await.unwrap() else { panic!("closed") };
    assert_eq!(chunk.bytes, b"late\n");
    assert_eq!(guarded(reader.next_until_closed(100)).await.unwrap(), Step::Closed);
    assert_eq!(guarded(terminal.wait()).await.unwrap(), ended, "the end stays as it was");
    place.check().await;
}

#[tokio::test]
async fn a_hundred_waiters_hear_the_same_end() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let terminal = place.start(place.misbehaving(&["echoes-lines"]).with_input()).await;
        let waiters: Vec<_> = (0..100)
            .map(|_| {
                let terminal = terminal.clone();
                tokio::spawn(async move { terminal.wait().await.unwrap() })
            })
            .collect();
        until(&terminal, "ready").await;
        guarded(terminal.input("test").unwrap().end()).await.unwrap();
        let ended = guarded(terminal.wait()).await.unwrap();
        for waiter in waiters {
            assert_eq!(guarded(waiter).await.unwrap(), ended);
        }
        place.check().await;
    }
}

#[tokio::test]
async fn three_hundred_waiters_with_connections_of_their_own_hear_it_too() {
    let place = Place::process();
    let terminal = place.start(place.misbehaving(&["echoes-lines"]).with_input()).await;
    until(&terminal, "ready").await;
    let waiters: Vec<_> = (0..300)
        .map(|_| {
            // As different programs would: each handle asks by itself.
            let own = place.store.get(terminal.id()).unwrap();
            tokio::spawn(async move { own.wait().await })
        })
        .collect();
    // Any answer shows that those who came before are being waited for.
    tokio::task::yield_now().await;
    guarded(terminal.input("test").unwrap().end()).await.unwrap();
    let ended = guarded(terminal.wait()).await.unwrap();
    for waiter in waiters {
        assert_eq!(guarded(waiter).await.unwrap().unwrap(), ended);
    }
    place.check().await;
}

#[tokio::test]
async fn a_wait_that_is_given_up_touches_nothing() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let terminal = place.start(place.misbehaving(&["echoes-lines"]).with_input()).await;
        until(&terminal, "ready").await;
        for _ in 0..20 {
            let given_up = tokio::time::timeout(Duration::from_millis(5), terminal.wait()).await;
            assert!(given_up.is_err());
        }
        let patient = terminal.clone();
        let patient = tokio::spawn(async move { patient.wait().await.unwrap() });
        let mut input = terminal.input("test").unwrap();
        guarded(input.send(b"still here\n")).await.unwrap();
        guarded(input.end()).await.unwrap();
        assert!(guarded(patient).await.unwrap().success());
        assert_eq!(all_of(&terminal).await, b"ready\ngot still here\n1 lines\n");
        place.check().await;
    }
}

#[tokio::test]
async fn whoever_waits_hears_the_end_also_if_the_terminal_is_disowned_meanwhile() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let terminal = place.start(place.misbehaving(&["echoes-lines"]).with_input()).await;
        until(&terminal, "ready").await;
        let patient = terminal.clone();
        let mut patient = Box::pin(async move { patient.wait().await.unwrap() });
        // Begun, and waiting for the holder's word.
        assert!(tokio::time::timeout(Duration::from_millis(5), &mut patient).await.is_err());
        let patient = tokio::spawn(patient);
        guarded(terminal.disown()).await.unwrap();
        guarded(terminal.input("test").unwrap().end()).await.unwrap();
        assert!(guarded(patient).await.unwrap().success());
        place.check().await;
    }
}

#[test]
fn a_terminal_of_a_runtime_that_rests_or_is_gone_is_waited_for_in_another() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (holder, rests) in
        Place::holders().into_iter().flat_map(|holder| [(holder.clone(), true), (holder, false)])
    {
        let (first, second) = (runtime(), runtime());
        let (place, terminal) = first.block_on(async {
            let place = Place::with(holder);
            let terminal = place.start(place.misbehaving(&["echoes-lines"]).with_input()).await;
            (place, terminal)
        });
        let resting = rests.then_some(first);
        second.block_on(async {
            until(&terminal, "ready").await;
            guarded(terminal.input("test").unwrap().end()).await.unwrap();
            assert!(guarded(terminal.wait()).await.unwrap().success());
        });
        // While it rests it does not bury its holder either.
        drop(resting);
        second.block_on(place.check());
    }
}

#[tokio::test]
async fn waiting_after_the_end_answers_at_once_whoever_asks() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let terminal = place.start(place.misbehaving(&["exits-with", "42"])).await;
        let ended = guarded(terminal.wait()).await.unwrap();
        let before = Instant::now();
        assert_eq!(guarded(terminal.wait()).await.unwrap(), ended);
        let fresh = place.reopened().get(terminal.id()).unwrap();
        assert_eq!(guarded(fresh.wait()).await.unwrap(), ended);
        assert!(before.elapsed() < Duration::from_secs(1));
        let other = FrontEnd::start("waits-for-terminal", &place.state(), &[terminal.id().as_str()]);
        assert_eq!(other.finish(), "Code(42)\n");
        place.check().await;
    }
}

#[tokio::test]
async fn another_process_can_wait_while_the_command_runs() {
    let place = Place::process();
    let terminal = place.start(place.misbehaving(&["echoes-lines"]).with_input()).await;
    until(&terminal, "ready").await;
    let other = FrontEnd::start("waits-for-terminal", &place.state(), &[terminal.id().as_str()]);
    guarded(terminal.signal(15, "test")).await.unwrap();
    assert_eq!(other.finish(), "Signal(15)\n");
    assert!(matches!(terminal.look().unwrap().phase, Phase::Ended(_)));
    place.check().await;
}
