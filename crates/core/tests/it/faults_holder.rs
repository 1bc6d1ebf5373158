//! A holder that dies or cannot be reached: said as it is, swept by whoever looks next, and nothing else is affected.

use rustix::process::{Pid, Signal, kill_process};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use wharf_core::{Cause, Lost, Outcome, Phase, Retention, Terminal, unrestricted};
use wharf_shim::journal::record::Record;
use wharf_shim::tree::proc;
use wharf_shim::wire::frame::frame;
use wharf_shim::wire::message::{Refusal, Reply};
use wharf_testing::front_end::{FrontEnd, misbehave};
use wharf_testing::{Place, guarded, leak, program, until};

const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

#[tokio::test]
async fn a_killed_holder_is_said_and_its_processes_are_swept_and_nothing_else() {
    let place = Place::process();
    let bystander = place.start(place.misbehaving(&["echoes-lines"]).with_input()).await;
    until(&bystander, "ready").await;
    let Phase::Running { pid, .. } = bystander.look().unwrap().phase else { panic!("does not run") };
    let spared = [pid, place.holder_of(&bystander)];
    for way in ["wait", "look", "tidy", "kill", "release", "reader"] {
        let terminal = place.start(place.misbehaving(&["double-forks", "2", "stays"])).await;
        until(&terminal, "2 daemons").await;
        place.kill_holder(&terminal);
        let fresh = place.reopened().get(terminal.id()).unwrap();
        match way {
            "wait" => drop(guarded(fresh.wait()).await.unwrap()),
            "look" => settled(&fresh).await,
            "tidy" => {
                while !matches!(fresh.look().unwrap().phase, Phase::Ended(_)) {
                    place.store.tidy(&Retention::default()).unwrap();
                }
            }
            "kill" => drop(guarded(fresh.kill("test", AT_ONCE)).await.unwrap()),
            "reader" => while !matches!(guarded(reader_step(&fresh)).await, wharf_core::Step::Closed) {},
            _ => {
                guarded(fresh.release()).await.unwrap();
                assert_eq!(leak::living(place.dir(), &spared), Vec::<String>::new(), "{way}");
                continue;
            }
        }
        let ended = guarded(terminal.wait()).await.unwrap();
        assert_eq!((ended.outcome, ended.cause), (Outcome::Lost(Lost::HolderDied), Cause::Lost), "{way}");
        assert_eq!(leak::living(place.dir(), &spared), Vec::<String>::new(), "{way}");
        assert_eq!(terminal.read(0, 100).unwrap().bytes, b"2 daemons\n", "what was printed is still there");
        let again = place.reopened().get(terminal.id()).unwrap();
        assert_eq!(guarded(again.wait()).await.unwrap(), ended, "{way}: said once, the same for ever");
    }
    guarded(bystander.input("test").unwrap().end()).await.unwrap();
    assert!(guarded(bystander.wait()).await.unwrap().success());
    place.check().await;
}

/// The dead holder's lock may be seen a moment longer than its death.
async fn settled(terminal: &Terminal) {
    let settling = async {
        while !matches!(terminal.look_and_settle().await.unwrap().phase, Phase::Ended(_)) {
            tokio::task::yield_now().await;
        }
    };
    guarded(settling).await;
}

async fn reader_step(terminal: &Terminal) -> wharf_core::Step {
    terminal.reader(u64::MAX).next_until_closed(1).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_wait_when_a_holder_dies_hear_the_same() {
    let place = Place::process();
    for _ in 0..10 {
        let terminal = place.start(place.misbehaving(&["double-forks", "2", "stays"])).await;
        until(&terminal, "2 daemons").await;
        let waiters: Vec<_> = (0..20)
            .map(|_| {
                let own = place.store.get(terminal.id()).unwrap();
                tokio::spawn(async move { own.wait().await })
            })
            .collect();
        place.kill_holder(&terminal);
        let mut ends = Vec::new();
        for waiter in waiters {
            ends.push(guarded(waiter).await.unwrap().unwrap());
        }
        assert!(ends.iter().all(|end| *end == ends[0]), "{ends:?}");
        assert_eq!(ends[0].outcome, Outcome::Lost(Lost::HolderDied));
        let ended =
            place.events(&terminal).entries.iter().filter(|e| matches!(e.record, Record::End(_))).count();
        assert_eq!(ended, 1, "exactly one end");
        guarded(terminal.release()).await.unwrap();
    }
    place.check().await;
}

#[tokio::test]
async fn an_end_that_is_on_record_survives_the_holders_death() {
    let place = Place::process();
    let terminal = place.start(place.misbehaving(&["double-forks", "1", "exits"])).await;
    let ended = guarded(terminal.wait()).await.unwrap();
    place.kill_holder(&terminal);
    let fresh = place.reopened().get(terminal.id()).unwrap();
    assert_eq!(guarded(fresh.wait()).await.unwrap(), ended);
    guarded(fresh.kill("test", AT_ONCE)).await.unwrap();
    assert_eq!(leak::living(place.dir(), &[]), Vec::<String>::new(), "its daemon is swept");
    assert_eq!(guarded(fresh.wait()).await.unwrap(), ended);
    place.check().await;
}

/// Every place in the holder where a test may kill it.
const IN_THE_HOLDER: [&str; 10] = [
    "create.before_record",
    "create.after_record",
    "read.before_write",
    "kill.before_record",
    "kill.after_ask",
    "kill.before_sweep",
    "exit.before_drain",
    "exit.before_record",
    "exit.after_record",
    "exit.before_closed",
];

#[tokio::test]
async fn a_holder_that_dies_at_any_step_leaves_no_process_and_no_invented_status() {
    if !cfg!(debug_assertions) {
        return;
    }
    let place = Place::process();
    for at in IN_THE_HOLDER {
        for behaviour in [&["double-forks", "1", "exits"][..], &["double-forks", "1", "stays"]] {
            let spec = place.misbehaving(behaviour).env("WHARF_FAILPOINTS", format!("{at}=kill"));
            let made = guarded(place.store.create(unrestricted(spec).unwrap())).await;
            let Ok(terminal) = made else {
                assert!(at.starts_with("create."), "{at}: {made:?}");
                assert!(leak::files(&place.state()).is_empty(), "{at}");
                continue;
            };
            let stays = behaviour[2] == "stays";
            if !stays {
                guarded(terminal.wait()).await.unwrap();
            } else if !at.starts_with("read.") {
                until(&terminal, "1 daemons").await;
            }
            guarded(terminal.kill("test", Some(Duration::from_millis(50)))).await.unwrap();
            let outcome = guarded(terminal.wait()).await.unwrap().outcome;
            let truthful = match outcome {
                Outcome::Lost(Lost::HolderDied) => at != "exit.after_record" && at != "exit.before_closed",
                Outcome::Code(0) => !stays,
                Outcome::Signal(15 | 9) => stays,
                _ => false,
            };
            assert!(truthful, "{at}, {behaviour:?}: {outcome:?}");
            assert_eq!(
                leak::living(place.dir(), &[place.holder_of(&terminal)]),
                Vec::<String>::new(),
                "{at}"
            );
            guarded(terminal.release()).await.unwrap();
        }
    }
    // A holder that dies before its start is on record leaves an empty cgroup, which whoever tidies next removes.
    place.store.tidy(&Retention::default()).unwrap();
    place.check().await;
}

#[tokio::test]
async fn a_kill_that_finds_the_holder_dead_says_how_many_it_ended() {
    let place = Place::process();
    for daemons in [1, 4] {
        let terminal = place.start(place.misbehaving(&["double-forks", &daemons.to_string(), "stays"])).await;
        until(&terminal, "daemons").await;
        place.kill_holder(&terminal);
        // The command itself goes with its holder.
        let alone = async {
            while leak::living(place.dir(), &[]).len() > daemons {
                tokio::task::yield_now().await;
            }
        };
        guarded(alone).await;
        assert_eq!(guarded(terminal.kill("test", AT_ONCE)).await.unwrap() as usize, daemons);
        assert_eq!(leak::living(place.dir(), &[]), Vec::<String>::new());
        assert_eq!(guarded(terminal.kill("test", AT_ONCE)).await.unwrap(), 0, "that was all");
    }
    place.check().await;
}

#[tokio::test]
async fn a_terminal_whose_socket_was_swept_away_can_still_be_ended() {
    let place = Place::process();
    for way in ["kill", "release"] {
        let spec = place.misbehaving(&["double-forks", "2", "stays"]).grace(Duration::from_millis(50));
        let terminal = place.start(spec).await;
        until(&terminal, "2 daemons").await;
        std::fs::remove_file(place.socket(&terminal)).unwrap();
        let holder = place.holder_of(&terminal);
        let fresh = place.reopened().get(terminal.id()).unwrap();
        if way == "kill" {
            assert_eq!(guarded(fresh.kill("test", None)).await.unwrap(), 3);
            let ended = guarded(fresh.wait()).await.unwrap();
            assert_eq!((ended.cause, ended.author.as_str()), (Cause::Killed, "signal"));
        } else {
            guarded(fresh.release()).await.unwrap();
            assert!(!place.store.ids().unwrap().contains(terminal.id()));
        }
        // The holder itself has nothing left to do, and may be on its way out.
        assert_eq!(leak::living(place.dir(), &[holder]), Vec::<String>::new(), "{way}");
    }
    place.check().await;
}

#[tokio::test]
async fn a_terminal_whose_socket_was_swept_away_can_still_be_waited_for() {
    let place = Place::process();
    for way in ["exit", "lost"] {
        let terminal = place.start(place.line("sleep 2; exit 5")).await;
        std::fs::remove_file(place.socket(&terminal)).unwrap();
        let fresh = place.reopened().get(terminal.id()).unwrap();
        let dropped = tokio::time::timeout(Duration::from_millis(50), fresh.wait()).await;
        assert!(dropped.is_err(), "{dropped:?}");
        let refused = guarded(fresh.signal(28, "test")).await.unwrap_err();
        assert!(refused.to_string().contains("socket"), "{refused}");
        if way == "lost" {
            let holder = Pid::from_raw(place.holder_of(&terminal).cast_signed()).unwrap();
            kill_process(holder, Signal::KILL).unwrap();
        }
        let ended = guarded(fresh.wait()).await.unwrap();
        assert_eq!(ended.exit_code(), (way == "exit").then_some(5), "{way}");
    }
    place.check().await;
}

#[tokio::test]
async fn a_terminal_whose_holder_does_not_say_that_it_was_ended_is_not_discarded() {
    let place = Place::process();
    let terminal = place.start(place.line("exec sleep 60")).await;
    let (id, socket) = (terminal.id().clone(), place.socket(&terminal));
    let aside = socket.with_extension("aside");
    std::fs::rename(&socket, &aside).unwrap();
    let refusal = frame(&Reply::Refused(Refusal::NotUnderstood).encode(0));
    for answer in [Vec::new(), refusal] {
        // Somebody in the holder's place, who says only this and hangs up.
        let other = tokio::net::UnixListener::bind(&socket).unwrap();
        let answers = tokio::spawn(async move {
            let mut asked = other.accept().await.unwrap().0;
            asked.read_exact(&mut [0; 4]).await.unwrap();
            asked.write_all(&answer).await.unwrap();
        });
        guarded(place.store.discard(&id)).await.unwrap_err();
        guarded(answers).await.unwrap();
        assert!(place.store.has(&id), "what runs keeps its record");
        std::fs::remove_file(&socket).unwrap();
    }
    std::fs::rename(&aside, &socket).unwrap();
    guarded(place.store.discard(&id)).await.unwrap();
    assert!(!place.store.has(&id));
    place.check().await;
}

#[tokio::test]
async fn a_thread_whose_socket_was_swept_away_is_not_signalled() {
    let place = Place::thread();
    let store = place.reopened();
    let grant = unrestricted(place.misbehaving(&["stays", "ready"])).unwrap();
    let own = guarded(store.create(grant)).await.unwrap();
    let terminal = place.store.get(own.id()).unwrap();
    std::fs::remove_file(place.socket(&terminal)).unwrap();
    // A signal would end the whole program, which is this test.
    assert_eq!(guarded(terminal.kill("test", AT_ONCE)).await.unwrap_err().code(), "unreachable");
    assert!(matches!(terminal.look().unwrap().phase, Phase::Running { .. }));
    // Its owner's leaving reaches the holder without a socket.
    drop((own, store));
    let left = async {
        while terminal.look().unwrap().held {
            tokio::task::yield_now().await;
        }
    };
    guarded(left).await;
    place.check().await;
}

#[tokio::test]
async fn a_crowd_that_connects_and_says_nothing_keeps_nobody_out() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let terminal = place.start(place.misbehaving(&["echoes-lines"]).with_input()).await;
        until(&terminal, "ready").await;
        let waiter = place.reopened().get(terminal.id()).unwrap();
        let waiting = tokio::spawn(async move { waiter.wait().await });
        let mut crowd = Vec::new();
        for _ in 0..300 {
            crowd.push(guarded(tokio::net::UnixStream::connect(place.socket(&terminal))).await.unwrap());
        }
        guarded(terminal.input("test").unwrap().send(b"hello\n")).await.unwrap();
        until(&terminal, "got hello").await;
        assert_eq!(guarded(terminal.kill("test", AT_ONCE)).await.unwrap(), 1);
        assert_eq!(guarded(waiting).await.unwrap().unwrap().cause, Cause::Killed);
        drop(crowd);
        place.check().await;
    }
}

#[tokio::test]
async fn a_holder_that_was_stopped_is_continued_by_whoever_needs_it_or_looks() {
    let place = Place::process();
    for way in ["kill", "signal", "resize", "wait", "read", "input", "list", "look", "tidy"] {
        let spec = place.misbehaving(&["echoes-lines"]).pty(wharf_core::Size::default());
        let terminal = place.start(spec).await;
        until(&terminal, "ready").await;
        let holder = place.holder_of(&terminal).cast_signed();
        kill_process(Pid::from_raw(holder).unwrap(), Signal::STOP).unwrap();
        let state = || proc::look(holder).map(|holder| holder.state);
        guarded(async {
            while state() != Some('T') {
                tokio::task::yield_now().await
            }
        })
        .await;
        // As another program would, which has read nothing yet.
        let fresh = place.reopened().get(terminal.id()).unwrap();
        match way {
            "kill" => drop(guarded(fresh.kill("test", AT_ONCE)).await.unwrap()),
            "signal" => guarded(fresh.signal(28, "test")).await.unwrap(),
            "resize" => guarded(fresh.resize(wharf_core::Size { cols: 9, rows: 9 })).await.unwrap(),
            "wait" => drop(tokio::time::timeout(Duration::from_millis(200), fresh.wait()).await),
            "read" => {
                let mut reader = fresh.reader(u64::MAX);
                drop(tokio::time::timeout(Duration::from_millis(200), reader.next(1)).await);
            }
            "input" => guarded(fresh.input("test").unwrap().send(b"x\n")).await.unwrap(),
            "list" => drop(place.store.list().unwrap()),
            "look" => drop(guarded(fresh.look_and_settle()).await.unwrap()),
            _ => drop(place.store.tidy(&Retention::default()).unwrap()),
        }
        assert_ne!(state(), Some('T'), "{way}");
        guarded(terminal.release_with(AT_ONCE)).await.unwrap();
    }
    place.check().await;
}

#[tokio::test]
async fn a_holder_that_is_stopped_while_somebody_attends_is_continued_within_two_seconds() {
    let place = Place::process();
    let terminal = place.start(place.line("read x; exit 5").with_input()).await;
    let holder = Pid::from_raw(place.holder_of(&terminal).cast_signed()).unwrap();
    let mut input = terminal.input("test").unwrap();
    let fresh = place.reopened().get(terminal.id()).unwrap();
    let waiting = tokio::spawn(async move { fresh.keep_awake(fresh.wait()).await });
    guarded(input.send(b"\n")).await.unwrap();
    kill_process(holder, Signal::STOP).unwrap();
    let waited = tokio::time::timeout(Duration::from_secs(4), waiting).await;
    assert_eq!(waited.unwrap().unwrap().unwrap().exit_code(), Some(5));
    place.check().await;
}

#[tokio::test]
async fn a_stopped_holder_whose_owner_was_killed_ends_its_tree_once_anybody_looks() {
    let place = Place::process();
    let state = place.state();
    let path = program("wharf-misbehave");
    let mut command = misbehave(&[
        "creates-terminal",
        state.to_str().unwrap(),
        "kill",
        "0",
        "0",
        "stay",
        "--",
        path.to_str().unwrap(),
        "stays",
    ]);
    command.env(leak::MARK, place.dir());
    let mut front_end = FrontEnd::run(command);
    let said = front_end.hear();
    let id = wharf_core::TerminalId::parse(said.strip_prefix("ok ").unwrap()).unwrap();
    let terminal = place.store.get(&id).unwrap();
    kill_process(Pid::from_raw(place.holder_of(&terminal).cast_signed()).unwrap(), Signal::STOP).unwrap();
    front_end.kill();
    assert!(!leak::living(place.dir(), &[]).is_empty());
    place.store.list().unwrap();
    assert_eq!(guarded(terminal.wait()).await.unwrap().cause, Cause::OwnerGone);
    place.check().await;
}
