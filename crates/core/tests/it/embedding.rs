//! Embedding: the same promises on a thread, beside a program that has children and signals of its own.

use std::time::Duration;
use wharf_core::{Holder, Lost, Outcome, TerminalId, unrestricted};
use wharf_testing::front_end::{FrontEnd, misbehave};
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

#[tokio::test]
async fn the_terminals_of_a_killed_program_are_lost_and_swept_by_whoever_comes_next() {
    let place = Place::thread();
    let misbehaving = program("wharf-misbehave");
    let state = place.state();
    let mut command = misbehave(&[
        "embeds-terminal",
        state.to_str().unwrap(),
        "--",
        misbehaving.to_str().unwrap(),
        "double-forks",
        "2",
        "stays",
    ]);
    command.env(MARK, place.dir());
    let mut program = FrontEnd::run(command);
    let said = program.hear();
    let terminal = place.store.get(&TerminalId::parse(said.strip_prefix("ok ").unwrap()).unwrap()).unwrap();
    until(&terminal, "2 daemons").await;
    program.kill();
    let ended = guarded(terminal.wait()).await.unwrap();
    assert_eq!(ended.outcome, Outcome::Lost(Lost::HolderDied));
    place.check().await;
}
