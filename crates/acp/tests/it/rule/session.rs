//! Terminals belong to sessions, and go with them.

use crate::station::{EVERYWHERE, Station};
use agent_client_protocol::v1::schema::SessionId;
use serde_json::json;
use wharf_testing::{Place, guarded};

#[tokio::test]
async fn a_terminal_of_one_session_is_unknown_in_another() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let terminal = station.start("exec sleep 1000").await;
        for method in ["output", "wait_for_exit", "kill", "release"] {
            let params = json!({"sessionId": station.two, "terminalId": terminal});
            let refused = station.agent.call(&format!("terminal/{method}"), params).await.unwrap_err();
            assert_eq!(refused.code, -32002, "{at:?} {method}");
        }
        assert!(station.ask("output", &terminal).await.unwrap().get("exitStatus").is_none(), "untouched");
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn in_an_unknown_session_nothing_starts() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        for session in ["", "session-3", "SESSION-1"] {
            let refused = station.create(session, json!({"command": "touch x"})).await.unwrap_err();
            assert_eq!(refused.code, -32002, "{at:?}");
        }
        assert!(!station.cwd.join("x").exists() && place.store.ids().unwrap().is_empty());
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn closing_a_session_ends_its_terminals_and_no_others() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let goes = station.start("setsid sleep 1000 & echo ready; wait").await;
        station.until(&goes, "ready").await;
        let ended = station.start("true").await;
        station.ask("wait_for_exit", &ended).await.unwrap();
        let stays = station.create(&station.two, json!({"command": "exec sleep 1000"})).await.unwrap();
        let wait = station.agent.begin("terminal/wait_for_exit", station.about(&goes)).await;
        // Answered after the wait was taken up.
        station.ask("output", &goes).await.unwrap();
        guarded(station.host.close_session(&SessionId::new(station.one.clone()))).await;
        assert_eq!(wait.answer().await.unwrap(), json!({"signal": "SIGTERM"}));
        let ended = station
            .events
            .lock()
            .unwrap()
            .iter()
            .any(|event| event.starts_with(&format!("ended {goes} by session end")));
        assert!(ended, "{:?}", station.events);
        let left: Vec<_> = place.store.ids().unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(left, std::slice::from_ref(&stays), "{at:?}");
        assert_eq!(station.create(&station.one, json!({"command": "true"})).await.unwrap_err().code, -32002);
        assert_eq!(station.ask("output", &goes).await.unwrap_err().code, -32002);
        assert_eq!(station.ask("release", &goes).await.unwrap(), json!({}), "late, and no mistake");
        let about = json!({"sessionId": station.two, "terminalId": stays});
        assert!(station.agent.call("terminal/output", about).await.unwrap().get("exitStatus").is_none());
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn when_the_connection_ends_everything_ends() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let terminal = station.start("setsid sleep 1000 & echo ready; wait").await;
        station.until(&terminal, "ready").await;
        let released = format!("released {terminal}");
        let events = station.events.clone();
        station.agent.close().await;
        station.finish().await;
        assert!(events.lock().unwrap().contains(&released), "{at:?}: {events:?}");
        assert!(place.store.ids().unwrap().is_empty());
        place.check_to_the_last_descriptor().await;
    }
}
