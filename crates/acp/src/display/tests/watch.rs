//! Watchers, and what they lead to.

use super::*;
use tokio::sync::mpsc;
use wharf_testing::until;

#[tokio::test]
async fn a_watcher_wakes_for_each_step_and_a_last_time_for_the_end() {
    let mut scene = Scene::new(Shows::Meta).await;
    let terminal = scene.start("printf one; read x <GATE; printf two; exit 5").await;
    let said = scene.say(&embedding(&[&terminal])).unwrap();
    let (sender, mut wakes) = mpsc::channel::<Wake>(1);
    let watcher = tokio::spawn(watch(said.embedded[0].clone(), sender));
    drop(said);
    let mut shown = Vec::new();
    let mut opened = false;
    while let Some(wake) = guarded(wakes.recv()).await {
        shown.extend(values(&scene.display.catch_up(&wake.terminal)));
        if !opened {
            assert_eq!(shown, [output(&terminal, "one")]);
            opened = true;
            scene.open_gate();
        }
    }
    assert_eq!(shown[1..], [output(&terminal, "two"), exit(&terminal, json!(5), Value::Null)]);
    guarded(watcher).await.unwrap();
    scene.done().await;
}

#[tokio::test]
async fn a_terminal_that_is_released_while_it_runs_is_shown_to_its_end() {
    let mut scene = Scene::new(Shows::Text).await;
    let terminal = scene.start("echo begun; read x <GATE").await;
    guarded(until(&terminal, "begun\n")).await;
    let said = scene.say(&embedding(&[&terminal])).unwrap();
    let (sender, mut wakes) = mpsc::channel::<Wake>(1);
    let watcher = tokio::spawn(watch(said.embedded[0].clone(), sender));
    let release = async {
        terminal.release_with(Some(std::time::Duration::ZERO)).await.unwrap();
        scene.shelf.0.borrow_mut().clear();
    };
    let shown = async {
        let mut shown = Vec::new();
        while let Some(wake) = wakes.recv().await {
            shown.extend(values(&scene.display.catch_up(&wake.terminal)));
        }
        shown
    };
    let ((), shown) = guarded(async { tokio::join!(release, shown) }).await;
    assert_eq!(shown, [content("```\nbegun\n```\nkilled by SIGKILL")]);
    guarded(watcher).await.unwrap();
    assert!(scene.display.live.is_empty());
    scene.done().await;
}

#[tokio::test]
async fn a_watcher_waits_until_its_wake_was_dealt_with_and_keeps_its_pace() {
    let scene = Scene::new(Shows::Text).await;
    let terminal = scene.start("yes").await;
    let (sender, mut wakes) = mpsc::channel::<Wake>(8);
    let watcher = tokio::spawn(watch(terminal.clone(), sender));
    let first = guarded(wakes.recv()).await.unwrap();
    let began = tokio::time::Instant::now();
    // A second wake may only come after the first is dropped; what does not come cannot be waited for.
    assert!(tokio::time::timeout(std::time::Duration::from_millis(250), wakes.recv()).await.is_err());
    drop(first);
    for _ in 0..3 {
        drop(guarded(wakes.recv()).await.unwrap());
    }
    assert!(began.elapsed() >= std::time::Duration::from_millis(450), "{:?}", began.elapsed());
    // With nobody left to be told it ends, though the command does not.
    drop(wakes);
    guarded(watcher).await.unwrap();
    drop(terminal);
    scene.done().await;
}
