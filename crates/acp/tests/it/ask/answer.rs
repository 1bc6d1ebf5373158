//! What an answer allows, and what it does not.

use super::{Rig, code};
use crate::station::{EVERYWHERE, Station, Where, host};
use serde_json::json;
use std::fs;
use wharf_testing::Place;

#[tokio::test]
async fn what_is_allowed_once_runs_once_and_is_asked_about_again() {
    for at in EVERYWHERE {
        let place = Place::process();
        let rig = Rig::open(&place, at).await;
        let (file, params) = rig.mark("made");
        for _ in 0..2 {
            let terminal = rig.create(&params, "allow_once").await.unwrap();
            rig.station.finished(&terminal).await;
            assert!(file.exists(), "{at:?}");
            fs::remove_file(&file).unwrap();
            rig.station.ask("release", &terminal).await.unwrap();
        }
        rig.station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn the_question_shows_the_whole_command_where_it_starts_and_why_it_is_asked() {
    for at in EVERYWHERE {
        let place = Place::process();
        let rig = Rig::open(&place, at).await;
        let params = json!({
            "sessionId": rig.station.one, "command": "echo `id`;\necho \u{202e}x",
            "env": [{"name": "TOKEN_NAME", "value": "secret-value"}],
        });
        let asked = rig.station.agent.begin("terminal/create", params).await;
        let question = rig.question().await;
        let text = question.text();
        for part in [
            "    echo `id`;⏎\n    echo ⟨U+202E⟩x\n",
            &format!("in:      {}", rig.station.cwd.display()),
            "TOKEN_NAME",
            "why:     the test asks about everything",
            "test wants to run",
        ] {
            assert!(text.contains(part), "{at:?} {part}: {text}");
        }
        assert!(!text.contains("secret-value"));
        rig.answer(question, "reject_once").await;
        assert_eq!(code(&asked.answer().await.unwrap_err()), (-32003, "refused_by_user"));
        rig.station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn what_is_always_allowed_is_exactly_what_was_shown() {
    for at in EVERYWHERE {
        let place = Place::process();
        let rig = Rig::open(&place, at).await;
        let env = |name: &str| json!([{"name": name, "value": "1"}]);
        let params = json!({"command": "echo", "args": ["a"], "env": env("A")});
        rig.create(&params, "allow_always").await.unwrap();
        rig.create_unasked(&params).await.unwrap();
        // Also in another session, which has the same directory.
        rig.station.create(&rig.station.two, params.clone()).await.unwrap();
        for other in [
            json!({"command": "echo", "args": ["a", "b"], "env": env("A")}),
            json!({"command": "echo", "args": ["a "], "env": env("A")}),
            json!({"command": "echo a", "env": env("A")}),
            json!({"command": "/bin/echo", "args": ["a"], "env": env("A")}),
            json!({"command": "echo", "args": ["a"], "env": env("B")}),
            json!({"command": "echo", "args": ["a"]}),
            json!({"command": "echo", "args": ["a"], "env": env("A"), "cwd": "/"}),
        ] {
            // Each is asked about, which this waits for.
            let refused = rig.create(&other, "reject_once").await.unwrap_err();
            assert_eq!(code(&refused), (-32003, "refused_by_user"), "{at:?} {other}");
        }
        rig.create_unasked(&params).await.unwrap();
        rig.station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn what_is_rejected_or_cancelled_never_starts() {
    for at in EVERYWHERE {
        for (option, expected) in [("reject_once", "refused_by_user"), ("cancelled", "cancelled")] {
            let place = Place::process();
            let rig = Rig::open(&place, at).await;
            let (file, params) = rig.mark("made");
            let refused = rig.create(&params, option).await.unwrap_err();
            assert_eq!(code(&refused), (-32003, expected), "{at:?}");
            assert_eq!(refused.error["data"]["reason"], "the test asks about everything");
            rig.nothing_started(&place, &file).await;
            rig.station.finish().await;
            place.check().await;
        }
    }
}

#[tokio::test]
async fn what_is_denied_is_not_asked_about_and_names_its_rule() {
    for at in EVERYWHERE {
        let place = Place::process();
        let rig = Rig::open(&place, at).await;
        let (file, _) = rig.mark("made");
        let params = json!({"command": "touch made; echo forbidden"});
        let refused = rig.create_unasked(&params).await.unwrap_err();
        assert_eq!(code(&refused), (-32003, "denied"), "{at:?}");
        assert_eq!(refused.error["data"]["rule"], "no evil");
        assert_eq!(refused.error["message"], "denied by the rule \"no evil\": it is forbidden");
        rig.nothing_started(&place, &file).await;
        rig.station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn without_anybody_to_ask_it_is_refused_and_says_how_to_allow_it() {
    for at in [Where::Client, Where::Private] {
        let place = Place::process();
        let (host, events) = host(&place);
        let station = Station::open_with(&place, at, (host.judge(super::Cautious), events)).await;
        let refused = station.create(&station.one, json!({"command": "true"})).await.unwrap_err();
        assert_eq!(code(&refused), (-32003, "nobody_to_ask"), "{at:?}");
        let message = refused.error["message"].as_str().unwrap();
        assert!(
            message.contains("wharf policy") && message.contains("the test asks about everything"),
            "{message}"
        );
        let refused = station.create(&station.one, json!({"command": "true known"})).await.unwrap_err();
        let message = refused.error["message"].as_str().unwrap();
        assert!(message.contains("ask them to run it, or to change that rule"), "{message}");
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn what_is_too_long_to_be_read_is_refused_unasked() {
    for at in EVERYWHERE {
        let place = Place::process();
        let rig = Rig::open(&place, at).await;
        let params = json!({"command": "echo", "args": ["x".repeat(100_000)]});
        let refused = rig.create_unasked(&params).await.unwrap_err();
        assert_eq!(code(&refused), (-32003, "too_long_to_ask"), "{at:?}");
        rig.station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn everything_else_goes_on_while_somebody_is_asked() {
    for at in EVERYWHERE {
        let place = Place::process();
        let rig = Rig::open(&place, at).await;
        let params = json!({"sessionId": rig.station.one, "command": "echo", "args": ["same"]});
        let mut one = rig.station.agent.begin("terminal/create", params.clone()).await;
        let first = rig.question().await;
        // The same again is a question of its own, and answers may come in any order.
        let two = rig.station.agent.begin("terminal/create", params).await;
        let second = rig.question().await;
        assert_eq!(rig.station.text_of(json!({"command": "echo free"})).await, "free\n");
        rig.answer(second, "allow_once").await;
        two.answer().await.unwrap();
        assert!(!one.is_answered(), "{at:?}");
        rig.answer(first, "reject_once").await;
        assert_eq!(code(&one.answer().await.unwrap_err()).1, "refused_by_user");
        rig.station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn a_flood_of_questions_is_refused_and_the_open_ones_stay() {
    for at in EVERYWHERE {
        let place = Place::process();
        let rig = Rig::open(&place, at).await;
        let mut open = Vec::new();
        for number in 0..32 {
            let params =
                json!({"sessionId": rig.station.one, "command": "echo", "args": [number.to_string()]});
            open.push((rig.station.agent.begin("terminal/create", params).await, rig.question().await));
        }
        let refused = rig.create_unasked(&json!({"command": "echo", "args": ["more"]})).await.unwrap_err();
        assert_eq!(code(&refused), (-32003, "nobody_to_ask"), "{at:?}");
        for (asked, question) in open {
            rig.answer(question, "allow_once").await;
            asked.answer().await.unwrap();
        }
        rig.station.finish().await;
        place.check().await;
    }
}
