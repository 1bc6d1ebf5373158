//! `terminal/output`: the newest text within the limit, complete once there is an end.

use crate::station::{EVERYWHERE, Station};
use serde_json::{Value, json};
use wharf_testing::Place;

#[tokio::test]
async fn the_newest_bytes_are_kept_and_the_cut_is_between_characters() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        for (line, limit, text, truncated) in [
            ("printf abcdef", 6, "abcdef", false),
            ("printf abcdef", 5, "bcdef", true),
            ("printf abcdef", 7, "abcdef", false),
            ("printf abcdef", 0, "", true),
            ("true", 0, "", false),
            ("printf 'aé€😀'", 10, "aé€😀", false),
            ("printf 'aé€😀'", 9, "é€😀", true),
            ("printf 'aé€😀'", 8, "€😀", true),
            ("printf 'aé€😀'", 5, "😀", true),
            ("printf 'aé€😀'", 3, "", true),
            ("printf 'a\\r\\nb\\r\\n'", 4, "a\nb\n", false),
            ("printf 'a\\r\\nb\\r\\n'", 3, "\nb\n", true),
            ("printf 'x\\377y'", 5, "x\u{fffd}y", false),
            ("printf 'x\\377y'", 4, "\u{fffd}y", true),
        ] {
            let params = json!({"command": line, "outputByteLimit": limit});
            let terminal = station.create(&station.one, params).await.unwrap();
            for _ in 0..2 {
                let output = station.finished(&terminal).await;
                let expected = json!({"output": text, "truncated": truncated, "exitStatus": {"exitCode": 0}});
                assert_eq!(output, expected, "{at:?} {line} within {limit}");
            }
            station.ask("release", &terminal).await.unwrap();
        }
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn without_a_limit_it_is_a_mebibyte_and_never_more_than_four() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let line = "head -c 5000000 /dev/zero | tr '\\0' x";
        for (limit, kept) in
            [(Value::Null, 1 << 20), (json!(2_000_000), 2_000_000), (json!(1_u64 << 40), 4 << 20)]
        {
            let params = json!({"command": line, "outputByteLimit": limit});
            let terminal = station.create(&station.one, params).await.unwrap();
            let output = station.finished(&terminal).await;
            assert_eq!(output["output"].as_str().unwrap().len(), kept, "{limit}");
            assert_eq!(output["truncated"], true);
            station.ask("release", &terminal).await.unwrap();
        }
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn each_answer_begins_the_next_while_nothing_is_dropped_and_truncated_stays() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        // The flood comes when it is told that something was seen before it.
        let go = place.dir().join("go");
        let line = format!(
            "mkfifo {0}; for i in $(seq 1 400); do printf 'é€\\r\\n'; done; read x <{0}; head -c 60000 /dev/zero | tr '\\0' y",
            go.display()
        );
        let params = json!({"command": line, "outputByteLimit": 10_000});
        let terminal = station.create(&station.one, params).await.unwrap();
        let (mut before, mut was_truncated, mut answers, mut told) = (String::new(), false, 0, false);
        loop {
            let output = station.ask("output", &terminal).await.unwrap();
            let text = output["output"].as_str().unwrap();
            let truncated = output["truncated"].as_bool().unwrap();
            assert!(text.len() <= 10_000 && !text.contains('\r'));
            assert!(truncated || text.starts_with(&before), "not a beginning");
            assert!(truncated || !was_truncated, "truncated is for ever");
            (before, was_truncated, answers) = (text.to_owned(), truncated, answers + 1);
            if !before.is_empty() && !told {
                told = true;
                let go = go.clone();
                tokio::task::spawn_blocking(move || std::fs::write(go, "on\n")).await.unwrap().unwrap();
            }
            if output.get("exitStatus").is_some() {
                break;
            }
        }
        assert!(was_truncated && answers > 1);
        assert_eq!(before, "y".repeat(10_000));
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn once_there_is_a_status_everything_is_there() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        for round in 0..30 {
            let terminal = station.start(&format!("seq 1 2000; echo {round}; exit 7")).await;
            // Without waiting: the first answer with a status must be complete.
            let output = loop {
                let output = station.ask("output", &terminal).await.unwrap();
                if output.get("exitStatus").is_some() {
                    break output;
                }
            };
            assert_eq!(output["exitStatus"], json!({"exitCode": 7}));
            assert!(output["output"].as_str().unwrap().ends_with(&format!("\n2000\n{round}\n")), "{at:?}");
            station.ask("release", &terminal).await.unwrap();
        }
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn standard_output_and_error_are_one_stream_in_order() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let line = "for i in 1 2 3; do echo out $i; echo err $i >&2; done";
        let text = station.text_of(json!({"command": line})).await;
        assert_eq!(text, "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n");
        station.finish().await;
        place.check().await;
    }
}
