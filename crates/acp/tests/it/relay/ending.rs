//! Whoever ends, nothing stays.

use super::{Rig, text};
use serde_json::json;
use wharf_acp::End;
use wharf_testing::{Place, guarded};

#[tokio::test]
async fn when_the_client_leaves_the_agent_reads_the_end_and_its_terminals_are_gone() {
    let place = Place::process();
    let mut rig = Rig::begun(&place).await;
    rig.start("setsid sleep 1000 & exec sleep 1000").await;
    rig.client.say("{\"method\":\"last\"}\n").await;
    rig.client.close().await;
    assert_eq!(text(&rig.agent.rest().await), text(b"{\"method\":\"last\"}\n"));
    rig.agent.say("{\"method\":\"goodbye\"}\n").await;
    rig.agent.close().await;
    assert_eq!(text(&rig.client.rest().await), text(b"{\"method\":\"goodbye\"}\n"));
    assert_eq!(guarded(rig.relay).await.unwrap(), End::Client);
    assert!(place.store.list().unwrap().is_empty());
    place.check().await;
}

#[tokio::test]
async fn when_the_agent_leaves_what_it_said_is_delivered_and_its_terminals_are_gone() {
    let place = Place::process();
    let mut rig = Rig::begun(&place).await;
    rig.start("exec sleep 1000").await;
    let words = "{\"method\":\"words\"}\n".repeat(10_000);
    rig.agent.say(&words[..20_000]).await;
    let (_, heard) = tokio::join!(
        async {
            rig.agent.say(&words[20_000..]).await;
            rig.agent.close().await;
        },
        rig.client.rest()
    );
    assert_eq!(heard.len(), words.len());
    assert_eq!(guarded(rig.relay).await.unwrap(), End::Agent);
    assert!(place.store.list().unwrap().is_empty());
    place.check().await;
}

#[tokio::test]
async fn when_it_is_asked_to_go_the_agent_reads_the_end() {
    let place = Place::process();
    let mut rig = Rig::begun(&place).await;
    rig.start("exec sleep 1000").await;
    rig.leave.take().unwrap().send(()).unwrap();
    assert_eq!(text(&rig.agent.rest().await), "");
    rig.agent.close().await;
    assert_eq!(guarded(rig.relay).await.unwrap(), End::Asked);
    assert!(place.store.list().unwrap().is_empty());
    place.check().await;
}

#[tokio::test]
async fn an_agent_that_does_not_leave_is_not_waited_for_for_ever() {
    let place = Place::thread();
    let mut rig = Rig::begun(&place).await;
    rig.client.close().await;
    assert_eq!(guarded(rig.relay).await.unwrap(), End::Client);
    drop(rig.agent);
    place.check().await;
}

#[tokio::test]
async fn a_client_that_goes_away_without_a_word_is_gone() {
    let place = Place::process();
    let mut rig = Rig::begun(&place).await;
    rig.start("exec sleep 1000").await;
    drop(rig.client);
    assert_eq!(text(&rig.agent.rest().await), "");
    rig.agent.close().await;
    assert_eq!(guarded(rig.relay).await.unwrap(), End::Client);
    place.check().await;
}

#[tokio::test]
async fn an_agent_that_reads_no_more_may_still_speak() {
    let place = Place::thread();
    let mut rig = Rig::begun(&place).await;
    rig.client.say("{\"method\":\"unread\"}\n".repeat(100_000 / 20)).await;
    for n in 0..1000 {
        rig.agent.say_json(json!({"method":"n","params":[n]})).await;
        assert_eq!(rig.client.hear_json().await["params"][0], n);
    }
    rig.client.close().await;
    drop(rig.agent);
    guarded(rig.relay).await.unwrap();
    place.check().await;
}
