//! Whose child a holder is: a terminal that is to stay is out of reach of whoever ends a process with all its descendants.

use rustix::process::{Pid, Signal, WaitOptions, getpid, set_child_subreaper, waitpid};
use std::time::Duration;
use wharf_core::{Dirs, Holder, OnOwnerExit, Spares, Spec, Store, Terminal, unrestricted};
use wharf_shim::tree::proc;
use wharf_testing::front_end::{FrontEnd, misbehave};
use wharf_testing::leak::MARK;
use wharf_testing::{Place, guarded, leak, program, until};

fn reusing(place: &Place) -> Store {
    let holder = Holder::Process(program("wharf-shim"));
    Store::open_with(Dirs::under(place.state()), holder, Spares::One).unwrap()
}

async fn start(store: &Store, spec: Spec) -> Terminal {
    guarded(store.create(unrestricted(spec).unwrap())).await.unwrap()
}

#[tokio::test]
async fn the_holder_of_a_terminal_that_is_to_stay_is_no_child_of_its_creator() {
    let place = Place::process();
    let own = std::process::id();
    let store = reusing(&place);
    let stays = || place.misbehaving(&["stays", "ready"]);
    // The second finds a spare that was prepared for one that goes with its owner.
    for on_exit in [OnOwnerExit::Kill, OnOwnerExit::Keep, OnOwnerExit::Keep] {
        let terminal = start(&store, stays().on_owner_exit(on_exit)).await;
        let holder = place.holder_of(&terminal);
        if on_exit == OnOwnerExit::Keep {
            let below = leak::descendants(own);
            assert!(!below.contains(&holder.cast_signed()), "{holder} is among {below:?}");
        }
        until(&terminal, "ready").await;
    }
    drop(store);
    place.check().await;
}

#[tokio::test]
async fn a_front_end_that_is_ended_with_all_its_descendants_leaves_the_terminal_as_it_was() {
    let place = Place::process();
    for signal in [Signal::TERM, Signal::KILL] {
        let state = place.state();
        let misbehaving = program("wharf-misbehave");
        let (path, state) = (misbehaving.to_str().unwrap(), state.to_str().unwrap());
        let mut command =
            misbehave(&["creates-terminal", state, "keep-pty", "0", "0", "stay", "--", path, "echoes-lines"]);
        command.env(MARK, place.dir());
        let mut front_end = FrontEnd::run(command);
        let said = front_end.hear();
        let id = wharf_core::TerminalId::parse(said.strip_prefix("ok ").unwrap()).unwrap();
        let terminal = place.store.get(&id).unwrap();
        until(&terminal, "ready").await;
        leak::hunt(front_end.pid(), signal);
        front_end.kill();
        guarded(terminal.input("test").unwrap().send(b"hello\n")).await.unwrap();
        until(&terminal, "got hello").await;
    }
    place.check().await;
}

#[tokio::test]
async fn where_nobody_reaps_orphans_holders_come_to_stay_children_and_leave_no_remains() {
    let place = Place::process();
    let own = std::process::id();
    let store = reusing(&place);
    // This process inherits its descendants' orphans and waits for none of them.
    set_child_subreaper(Some(getpid())).unwrap();
    let spec = || place.line("true").on_owner_exit(OnOwnerExit::Keep);
    let zombies = || proc::all().iter().filter(|p| p.parent == own.cast_signed() && p.is_zombie()).count();
    // Two at once, so that there are always some who wait.
    let round = async || {
        let terminals = [start(&store, spec()).await, start(&store, spec()).await];
        for terminal in &terminals {
            guarded(terminal.wait()).await.unwrap();
            guarded(terminal.release()).await.unwrap();
        }
    };
    // Found out in the background, by trying it once.
    let settled = async {
        loop {
            round().await;
            let terminal =
                start(&store, place.misbehaving(&["stays"]).on_owner_exit(OnOwnerExit::Keep)).await;
            let holder = place.holder_of(&terminal);
            place.kill_holder(&terminal);
            guarded(terminal.wait()).await.unwrap();
            // A child of the store's is waited for by it.
            let reaped = async {
                while proc::look(holder.cast_signed()).is_some() {
                    tokio::task::yield_now().await
                }
            };
            if tokio::time::timeout(Duration::from_millis(500), reaped).await.is_ok() {
                return;
            }
        }
    };
    guarded(settled).await;
    let before = zombies();
    assert!(before > 0, "nothing was tried");
    for _ in 0..20 {
        round().await;
    }
    drop(store);
    guarded(async {
        while leak::descendants(own).len() > before {
            tokio::task::yield_now().await
        }
    })
    .await;
    assert!(zombies() <= before, "{} after {before}", zombies());
    set_child_subreaper(None).unwrap();
    for remains in proc::all().iter().filter(|p| p.parent == own.cast_signed() && p.is_zombie()) {
        let _ = waitpid(Pid::from_raw(remains.pid), WaitOptions::NOHANG);
    }
    assert_eq!(leak::living(place.dir(), &[]), Vec::<String>::new());
    place.check().await;
}
