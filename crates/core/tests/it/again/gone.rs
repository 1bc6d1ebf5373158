//! Shims that wait and are ended, stores that go, and many at once: no terminal is lost, and nobody stays.

use super::{Reusing, pause, until_idle, until_over};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use wharf_core::{Cause, OnOwnerExit, Retention, unrestricted};
use wharf_shim::tree::{cgroup, proc};
use wharf_testing::leak;
use wharf_testing::{GUARD, all_of, guarded, until};

/// As many as come back, and the spare.
const MOST_WAITING: usize = 8 + 1;

async fn until_gone(pid: u32) {
    let until = Instant::now() + GUARD;
    while proc::look(pid.cast_signed()).is_some_and(|process| !process.is_zombie()) {
        assert!(Instant::now() < until, "{pid} does not leave");
        pause().await;
    }
}

#[tokio::test]
async fn a_shim_that_is_ended_while_it_waits_is_missed_by_nobody() {
    let reusing = Reusing::new();
    for signal in [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP] {
        let (holder, ..) = reusing.see_through(unrestricted(reusing.place.line("exit 0")).unwrap()).await;
        kill_process(Pid::from_raw(holder.cast_signed()).unwrap(), signal).unwrap();
        until_gone(holder).await;
        let (next, ended, said) =
            reusing.see_through(unrestricted(reusing.place.line("echo said; exit 3")).unwrap()).await;
        assert_ne!(next, holder);
        assert_eq!((ended.exit_code(), said.as_str()), (Some(3), "said\n"), "after {signal:?}");
    }
    // The group that waited with it is taken away by whoever tidies next.
    reusing.store.tidy(&Retention::default()).unwrap();
    reusing.check().await;
}

#[tokio::test]
async fn a_holder_that_is_asked_to_go_ends_its_second_terminal_and_goes() {
    let reusing = Reusing::new();
    let (holder, ..) = reusing.see_through(unrestricted(reusing.place.line("exit 0")).unwrap()).await;
    let line = "trap 'echo bye; exit 6' TERM; echo ready; while :; do sleep 0.02; done";
    let second = reusing.start(reusing.place.line(line)).await;
    assert_eq!(reusing.place.holder_of(&second), holder);
    until(&second, "ready").await;
    kill_process(Pid::from_raw(holder.cast_signed()).unwrap(), Signal::TERM).unwrap();
    let ended = until_over(&second).await;
    assert_eq!((ended.cause, ended.exit_code(), ended.author.as_str()), (Cause::Killed, Some(6), "signal"));
    until_gone(holder).await;
    guarded(second.release()).await.unwrap();
    drop(second);
    reusing.check().await;
}

#[tokio::test]
async fn with_its_store_every_shim_that_waits_leaves() {
    let reusing = Reusing::new();
    let mut holders = BTreeSet::new();
    for _ in 0..3 {
        let starts = (0..6).map(|_| reusing.start(reusing.place.line("read x").with_input()));
        let mut terminals = Vec::new();
        for start in starts {
            terminals.push(start.await);
        }
        holders.extend(terminals.iter().map(|terminal| reusing.place.holder_of(terminal)));
        for terminal in terminals {
            guarded(terminal.release()).await.unwrap();
        }
        for holder in &holders {
            until_idle(*holder, &reusing.place).await;
        }
    }
    assert!(holders.len() <= MOST_WAITING, "{holders:?}");
    let Reusing { place, store } = reusing;
    drop(store);
    for holder in holders {
        until_gone(holder).await;
    }
    place.check_to_the_last_descriptor().await;
}

#[tokio::test]
async fn a_terminal_outlives_its_store_and_its_holder_leaves_after_it() {
    let reusing = Reusing::new();
    let first = reusing.place.line("exit 0").on_owner_exit(OnOwnerExit::Keep);
    let (holder, ..) = reusing.see_through(unrestricted(first).unwrap()).await;
    let line = reusing.place.line("echo ready; read x; exit 7").with_input();
    let terminal = reusing.start(line.on_owner_exit(OnOwnerExit::Keep)).await;
    assert_eq!(reusing.place.holder_of(&terminal), holder);
    until(&terminal, "ready").await;
    let id = terminal.id().clone();
    drop(terminal);
    let Reusing { place, store } = reusing;
    drop(store);
    let terminal = place.store.get(&id).unwrap();
    guarded(terminal.input("test").unwrap().send(b"\n")).await.unwrap();
    assert_eq!(guarded(terminal.wait()).await.unwrap().exit_code(), Some(7));
    until_gone(holder).await;
    drop(terminal);
    place.check_to_the_last_descriptor().await;
}

#[tokio::test]
async fn the_second_terminal_goes_with_its_owner_if_that_was_asked_for() {
    let reusing = Reusing::new();
    let (holder, ..) = reusing.see_through(unrestricted(reusing.place.line("exit 0")).unwrap()).await;
    let terminal = reusing.start(reusing.place.line("sleep 60").on_owner_exit(OnOwnerExit::Kill)).await;
    assert_eq!(reusing.place.holder_of(&terminal), holder);
    drop(terminal);
    let Reusing { place, store } = reusing;
    drop(store);
    until_gone(holder).await;
    assert_eq!(leak::living(place.dir(), &[]), Vec::<String>::new());
    place.check_to_the_last_descriptor().await;
}

#[tokio::test]
async fn a_command_that_cannot_be_started_costs_the_next_nothing() {
    let reusing = Reusing::new();
    for _ in 0..3 {
        let (holder, ..) = reusing.see_through(unrestricted(reusing.place.line("exit 0")).unwrap()).await;
        let file = reusing.place.dir().join("no-program");
        std::fs::write(&file, "\x7fELF nothing").unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let spec = reusing.place.marked(wharf_core::Spec::argv(&file, [""; 0]));
        let refused = guarded(reusing.store.create(unrestricted(spec).unwrap())).await;
        assert_eq!(refused.unwrap_err().code(), "not_executable", "{holder}");
    }
    reusing.check().await;
}

#[tokio::test]
async fn many_at_once_never_share_a_holder_and_each_gets_its_own_output() {
    let reusing = Reusing::new();
    let mut ever = BTreeSet::new();
    for round in 0..8 {
        let starts: Vec<_> = (0..12)
            .map(|n| {
                let spec = reusing.place.line(&format!("echo {round}-{n}; read x; exit {n}")).with_input();
                let store = reusing.store.clone();
                tokio::spawn(async move { store.create(unrestricted(spec).unwrap()).await.unwrap() })
            })
            .collect();
        let mut terminals = Vec::new();
        for start in starts {
            terminals.push(guarded(start).await.unwrap());
        }
        let holders: BTreeSet<u32> = terminals.iter().map(|t| reusing.place.holder_of(t)).collect();
        assert_eq!(holders.len(), terminals.len(), "two terminals in one process at once");
        for (n, terminal) in terminals.into_iter().enumerate() {
            guarded(terminal.input("test").unwrap().send(b"\n")).await.unwrap();
            assert_eq!(guarded(terminal.wait()).await.unwrap().exit_code(), Some(n as i32));
            assert_eq!(all_of(&terminal).await, format!("{round}-{n}\n").into_bytes());
            guarded(terminal.release()).await.unwrap();
        }
        ever.extend(holders);
    }
    assert!(ever.len() < 8 * 12, "none was used again");
    waiting_at_most(&ever, MOST_WAITING).await;
    reusing.check().await;
}

/// Of those, so many are left, once all that leave have left.
async fn waiting_at_most(holders: &BTreeSet<u32>, most: usize) {
    let until = Instant::now() + Duration::from_secs(10);
    let living = |pid: &&u32| proc::look(pid.cast_signed()).is_some_and(|process| !process.is_zombie());
    while holders.iter().filter(living).count() > most {
        assert!(Instant::now() < until, "more than {most} wait");
        pause().await;
    }
}

#[tokio::test]
async fn a_group_that_was_taken_from_a_shim_that_waits_is_made_again() {
    let Some(parent) = cgroup::parent() else { return };
    let reusing = Reusing::new();
    let (holder, ..) = reusing.see_through(unrestricted(reusing.place.line("exit 0")).unwrap()).await;
    let groups = || {
        let all = std::fs::read_dir(&parent).unwrap().map(|entry| entry.unwrap().path());
        let name = |path: &std::path::Path| path.file_name().unwrap().to_string_lossy().into_owned();
        all.filter(|path| name(path).starts_with(&cgroup::prefix(holder))).collect::<Vec<_>>()
    };
    // As somebody in a container does, who sees the group and not the shim.
    let [group] = &groups()[..] else { panic!("{:?}", groups()) };
    std::fs::remove_dir(group).unwrap();
    let line = reusing.place.line("echo said; cat /proc/self/cgroup");
    let (ended, said) = reusing.again(holder, line).await;
    assert_eq!(ended.exit_code(), Some(0));
    assert!(said.starts_with("said\n") && said.contains(&cgroup::prefix(holder)), "{said}");
    reusing.check().await;
}
