//! `terminal/release`: the name is gone at once, the tree with it, and asking again is no mistake.

use crate::station::{EVERYWHERE, Station, Where};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use wharf_testing::{Place, guarded};

#[tokio::test]
async fn a_released_name_is_invalid_at_once_and_may_be_released_again() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let terminal = station.start("exec sleep 1000").await;
        let mut released = Vec::new();
        let about = station.about(&terminal);
        released.push(station.agent.begin("terminal/release", about.clone()).await);
        // Not waited for: what comes after it comes after it.
        for method in ["output", "wait_for_exit", "kill"] {
            assert_eq!(station.ask(method, &terminal).await.unwrap_err().code, -32002, "{at:?} {method}");
        }
        for _ in 0..3 {
            released.push(station.agent.begin("terminal/release", about.clone()).await);
        }
        for answer in released {
            assert_eq!(answer.answer().await.unwrap(), json!({}));
        }
        assert_eq!(station.ask("release", &terminal).await.unwrap(), json!({}), "also long after");
        assert!(place.store.ids().unwrap().is_empty(), "nothing is left of it");
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn waits_are_answered_with_the_true_end() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let terminal = station.start("exec sleep 1000").await;
        let wait = station.agent.begin("terminal/wait_for_exit", station.about(&terminal)).await;
        station.ask("release", &terminal).await.unwrap();
        assert_eq!(wait.answer().await.unwrap(), json!({"signal": "SIGTERM"}), "{at:?}");
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn what_never_was_cannot_be_released() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let terminal = station.start("true").await;
        let other = wharf_core::TerminalId::random().unwrap();
        for id in ["", "x", "../../etc", other.as_str(), &terminal.to_uppercase()] {
            for method in ["release", "output", "wait_for_exit", "kill"] {
                assert_eq!(station.ask(method, id).await.unwrap_err().code, -32002, "{at:?} {method} {id}");
            }
        }
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn the_end_and_the_release_are_told_in_order() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let terminal = station.start("exec sleep 1000").await;
        station.ask("release", &terminal).await.unwrap();
        let events = station.events.lock().unwrap().clone();
        let expected = ["created", "ended", "released"].map(|what| format!("{what} {terminal}"));
        assert!(
            events.iter().zip(&expected).all(|(event, start)| event.starts_with(start)),
            "{at:?}: {events:?}"
        );
        assert_eq!(events.len(), 3);
        assert!(events[1].ends_with("by agent"), "{events:?}");
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn thousands_of_terminals_leave_no_descriptor_and_next_to_no_memory() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let round = async |count: usize| {
            for _ in 0..count {
                let (released, forgotten) = (station.start("true").await, station.start("true").await);
                station.ask("wait_for_exit", &forgotten).await.unwrap();
                station.ask("release", &released).await.unwrap();
            }
        };
        round(20).await;
        let (descriptors, memory) = (open_descriptors(), resident_kib());
        round(100).await;
        assert!(
            open_descriptors() < descriptors + 50,
            "{at:?}: {descriptors} and then {}",
            open_descriptors()
        );
        let grown = resident_kib().saturating_sub(memory);
        assert!(grown < 2048, "{at:?}: {grown} KiB for 200 terminals, 100 of them forgotten");
        station.finish().await;
        assert!(place.store.ids().unwrap().is_empty(), "what was forgotten goes with the connection");
        place.check().await;
    }
}

#[tokio::test]
async fn with_few_descriptors_many_forgotten_terminals_go_all_the_same() {
    let place = Place::process();
    let station = Station::open(&place, Where::Client).await;
    for _ in 0..200 {
        let forgotten = station.start("true").await;
        station.ask("wait_for_exit", &forgotten).await.unwrap();
    }
    let few = Rlimit {
        current: Some(open_descriptors() as u64 + 100),
        maximum: getrlimit(Resource::Nofile).maximum,
    };
    setrlimit(Resource::Nofile, few).unwrap();
    let session = agent_client_protocol::v1::schema::SessionId::new(station.one.clone());
    guarded(station.host.close_session(&session)).await;
    assert!(place.store.ids().unwrap().is_empty(), "{} are left", place.store.ids().unwrap().len());
    station.finish().await;
    place.check().await;
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn resident_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
