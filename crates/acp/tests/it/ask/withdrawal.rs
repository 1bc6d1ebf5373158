//! Questions that become pointless: what was asked about is never started, whatever is answered later.

use super::{Open, Person, Rig, code};
use crate::station::{EVERYWHERE, Where};
use serde_json::json;
use wharf_testing::{Place, guarded};

impl Rig {
    /// Waits until whoever is asked has heard that the question is withdrawn.
    async fn withdrawn(&self, open: &mut Open) {
        match (open, &self.person) {
            (Open::Hook((_, tell)), _) => guarded(tell.closed()).await,
            (Open::Client(request), Person::Client(client)) => {
                // A conductor may hand them over in either order.
                let (mut cancelled, mut concluded) = (false, false);
                while !(cancelled && concluded) {
                    let message = client.next().await;
                    cancelled |= message["method"] == "$/cancel_request"
                        && message["params"]["requestId"] == request["id"];
                    concluded |= message["params"]["update"]["status"] == "failed";
                }
            }
            (Open::Client(_), Person::Hook(_)) => unreachable!("asked by whom?"),
        }
    }
}

#[tokio::test]
async fn a_create_that_is_cancelled_while_somebody_is_asked_never_starts() {
    for at in EVERYWHERE {
        let place = Place::process();
        let rig = Rig::open(&place, at).await;
        let (file, mut params) = rig.mark("made");
        params["sessionId"] = json!(rig.station.one);
        let asked = rig.station.agent.begin("terminal/create", params).await;
        let mut question = rig.question().await;
        rig.station.agent.cancel(&asked).await;
        assert_eq!(asked.answer().await.unwrap_err().code, -32800, "{at:?}");
        rig.withdrawn(&mut question).await;
        // Too late.
        rig.answer(question, "allow_always").await;
        rig.nothing_started(&place, &file).await;
        rig.station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn a_session_that_is_closed_while_somebody_is_asked_starts_nothing() {
    for at in EVERYWHERE {
        let place = Place::process();
        let rig = Rig::open(&place, at).await;
        let (file, mut params) = rig.mark("made");
        params["sessionId"] = json!(rig.station.two);
        let asked = rig.station.agent.begin("terminal/create", params).await;
        let mut question = rig.question().await;
        match &rig.station.client {
            Some(client) => {
                let close = client.begin("session/close", json!({"sessionId": rig.station.two})).await;
                let request = rig.station.agent.next_of("session/close").await;
                rig.station.agent.respond(&request, json!({})).await;
                close.answer().await.unwrap();
            }
            None => rig.station.host.close_session(&rig.station.two.clone().into()).await,
        }
        let refused = asked.answer().await.unwrap_err();
        assert_eq!(refused.error["message"], "there is no such session", "{at:?}");
        rig.withdrawn(&mut question).await;
        rig.answer(question, "allow_once").await;
        rig.nothing_started(&place, &file).await;
        rig.station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn a_connection_that_ends_while_somebody_is_asked_starts_nothing() {
    for at in EVERYWHERE {
        let place = Place::process();
        let rig = Rig::open(&place, at).await;
        let (file, mut params) = rig.mark("made");
        params["sessionId"] = json!(rig.station.one);
        let _asked = rig.station.agent.begin("terminal/create", params).await;
        let _question = rig.question().await;
        // Returns when everything that was begun is over.
        rig.station.finish().await;
        assert!(!file.exists(), "{at:?}");
        assert!(place.store.ids().unwrap().is_empty());
        place.check().await;
    }
}

#[tokio::test]
async fn a_turn_that_the_client_cancels_takes_its_questions_along_answered_or_not() {
    for at in [Where::Relay, Where::Conductor] {
        let place = Place::process();
        let rig = Rig::open(&place, at).await;
        let (file, mut params) = rig.mark("made");
        let Person::Client(client) = &rig.person else { unreachable!() };
        params["sessionId"] = json!(rig.station.one);
        let one = rig.station.agent.begin("terminal/create", params.clone()).await;
        let question = rig.question().await;
        params["sessionId"] = json!(rig.station.two);
        let mut two = rig.station.agent.begin("terminal/create", params).await;
        let other = rig.question().await;
        client.notify("session/cancel", json!({"sessionId": rig.station.one})).await;
        rig.station.agent.next_of("session/cancel").await;
        assert_eq!(code(&one.answer().await.unwrap_err()), (-32003, "cancelled"), "{at:?}");
        // A client that says both has not said yes.
        rig.answer(question, "allow_once").await;
        assert!(!two.is_answered());
        rig.answer(other, "reject_once").await;
        assert_eq!(code(&two.answer().await.unwrap_err()), (-32003, "refused_by_user"));
        rig.nothing_started(&place, &file).await;
        rig.station.finish().await;
        place.check().await;
    }
}
