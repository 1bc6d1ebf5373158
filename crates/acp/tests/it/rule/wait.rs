//! `terminal/wait_for_exit`: any number of waits, none in anybody's way.

use crate::station::{EVERYWHERE, Station, Where};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::time::{Duration, Instant};
use wharf_testing::Place;

#[tokio::test]
async fn the_end_is_an_exit_code_or_a_signal_and_never_both() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        for (line, status) in [
            ("true", json!({"exitCode": 0})),
            ("exit 3", json!({"exitCode": 3})),
            ("exit 255", json!({"exitCode": 255})),
            ("kill -KILL $$", json!({"signal": "SIGKILL"})),
            ("kill -SEGV $$", json!({"signal": "SIGSEGV"})),
            ("no-such-program-anywhere", json!({"exitCode": 127})),
        ] {
            let terminal = station.start(line).await;
            assert_eq!(station.ask("wait_for_exit", &terminal).await.unwrap(), status, "{at:?} {line}");
            assert_eq!(station.ask("output", &terminal).await.unwrap()["exitStatus"], status, "{line}");
            // After the end as well as before.
            assert_eq!(station.ask("wait_for_exit", &terminal).await.unwrap(), status, "{line}");
        }
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn three_hundred_waits_hold_up_nothing_and_are_all_answered() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let terminal = station.start("exec sleep 1000").await;
        let mut waits = Vec::new();
        for _ in 0..300 {
            waits.push(station.agent.begin("terminal/wait_for_exit", station.about(&terminal)).await);
        }
        let other = station.start("echo other").await;
        assert_eq!(station.finished(&other).await["output"], "other\n");
        assert!(waits.iter_mut().all(|wait| !wait.is_answered()));
        station.ask("kill", &terminal).await.unwrap();
        for wait in waits {
            assert_eq!(wait.answer().await.unwrap(), json!({"signal": "SIGTERM"}));
        }
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn a_cancelled_wait_is_answered_so_and_the_others_go_on() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let terminal = station.start("exec sleep 1000").await;
        let stays = station.agent.begin("terminal/wait_for_exit", station.about(&terminal)).await;
        for id in [json!("a string"), json!(4_000_000_000_u64), json!(-3)] {
            let wait =
                station.agent.begin_as(id.clone(), "terminal/wait_for_exit", station.about(&terminal)).await;
            station.agent.cancel(&wait).await;
            assert_eq!(wait.answer().await.unwrap_err().code, -32800, "{at:?} {id}");
        }
        // The command was not touched.
        assert!(station.ask("output", &terminal).await.unwrap().get("exitStatus").is_none());
        station.ask("kill", &terminal).await.unwrap();
        assert_eq!(stays.answer().await.unwrap(), json!({"signal": "SIGTERM"}));
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn a_child_in_the_background_does_not_hold_the_end() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let began = Instant::now();
        let terminal = station.start("sleep 1000 & echo started").await;
        assert_eq!(station.finished(&terminal).await["output"], "started\n");
        assert!(began.elapsed() < Duration::from_secs(15));
        station.ask("release", &terminal).await.unwrap();
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn what_a_pipelines_last_helper_prints_is_in_the_output_after_the_wait() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        for round in 0..10 {
            let line = "exec > >(tee log) 2>&1; echo hi; exit 3";
            let params = json!({"command": "bash", "args": ["-c", line], "cwd": station.cwd});
            let terminal = station.create(&station.one, params).await.unwrap();
            let output = station.finished(&terminal).await;
            assert_eq!(
                (&output["output"], &output["exitStatus"]["exitCode"]),
                (&json!("hi\n"), &json!(3)),
                "{at:?}, round {round}"
            );
            station.ask("release", &terminal).await.unwrap();
        }
        std::fs::remove_file(station.cwd.join("log")).unwrap();
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn an_end_that_nobody_saw_is_an_error_and_not_a_success() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let terminal = station.start("echo before; exec sleep 1000").await;
        station.until(&terminal, "before").await;
        let wait = station.agent.begin("terminal/wait_for_exit", station.about(&terminal)).await;
        let session = agent_client_protocol::v1::schema::SessionId::new(station.one.clone());
        place.kill_holder(&station.host.terminal(&session, &terminal).unwrap());
        let refused = wait.answer().await.unwrap_err();
        assert_eq!((refused.code, &refused.error["data"]["code"]), (-32603, &json!("lost")), "{at:?}");
        let output = station.ask("output", &terminal).await.unwrap();
        assert_eq!(output["output"], "before\n");
        let status = &output["exitStatus"];
        assert!(status.is_object() && status.get("exitCode").is_none() && status.get("signal").is_none());
        station.ask("release", &terminal).await.unwrap();
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn a_holder_that_is_stopped_meanwhile_is_continued_and_the_wait_answered() {
    let place = Place::process();
    let station = Station::open(&place, Where::Client).await;
    let terminal = station.start("sleep 1; exit 3").await;
    let session = agent_client_protocol::v1::schema::SessionId::new(station.one.clone());
    let holder = place.holder_of(&station.host.terminal(&session, &terminal).unwrap());
    let holder = Pid::from_raw(holder.cast_signed()).unwrap();
    let (waited, ()) = tokio::join!(station.ask("wait_for_exit", &terminal), async {
        // Answered after the wait has begun.
        station.ask("output", &terminal).await.unwrap();
        kill_process(holder, Signal::STOP).unwrap();
    });
    assert_eq!(waited.unwrap(), json!({"exitCode": 3}));
    station.finish().await;
    place.check().await;
}
