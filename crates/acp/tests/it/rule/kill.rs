//! `terminal/kill`: the whole tree, an answer when the end can be read, and a terminal that is still there.

use crate::station::{EVERYWHERE, Station};
use serde_json::json;
use wharf_testing::{Place, leak, program};

#[tokio::test]
async fn the_whole_tree_is_gone_when_the_answer_comes_and_the_end_can_be_read() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let tree = program("wharf-misbehave");
        let line = format!("echo ready; {} double-forks 3 stays & setsid sleep 1000 & wait", tree.display());
        let terminal = station.start(&line).await;
        station.until(&terminal, "3 daemons").await;
        assert_eq!(station.ask("kill", &terminal).await.unwrap(), json!({}));
        let session = agent_client_protocol::v1::schema::SessionId::new(station.one.clone());
        let holder = place.holder_of(&station.host.terminal(&session, &terminal).unwrap());
        let ours = [std::process::id(), holder].map(u32::cast_signed);
        let left: Vec<_> = leak::processes(place.dir())
            .into_iter()
            .filter(|process| !process.is_zombie() && !ours.contains(&process.pid))
            .collect();
        assert!(left.is_empty(), "{at:?}: {left:?}");
        let output = station.ask("output", &terminal).await.unwrap();
        assert_eq!(output["exitStatus"], json!({"signal": "SIGTERM"}));
        assert!(output["output"].as_str().unwrap().starts_with("ready\n"));
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn killing_again_or_after_the_end_is_quiet() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let ended = station.start("exit 4").await;
        station.ask("wait_for_exit", &ended).await.unwrap();
        let running = station.start("exec sleep 1000").await;
        for terminal in [&ended, &running] {
            for _ in 0..2 {
                assert_eq!(station.ask("kill", terminal).await.unwrap(), json!({}), "{at:?}");
            }
        }
        assert_eq!(
            station.ask("wait_for_exit", &ended).await.unwrap(),
            json!({"exitCode": 4}),
            "not rewritten"
        );
        assert_eq!(station.ask("wait_for_exit", &running).await.unwrap(), json!({"signal": "SIGTERM"}));
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn a_command_may_end_in_its_own_way_when_it_is_killed() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let line = "trap 'echo cleaning; exit 9' TERM; echo ready; while :; do read -t 0.1 x < <(:); done 2>/dev/null";
        let terminal = station.start(line).await;
        station.until(&terminal, "ready").await;
        station.ask("kill", &terminal).await.unwrap();
        let output = station.ask("output", &terminal).await.unwrap();
        assert_eq!(output["output"], "ready\ncleaning\n", "the last words are there");
        assert_eq!(output["exitStatus"], json!({"exitCode": 9}));
        station.finish().await;
        place.check().await;
    }
}
