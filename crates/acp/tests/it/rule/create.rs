//! `terminal/create`: what runs, where, with what around it, and what is refused before anything runs.

use crate::station::{EVERYWHERE, Station};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;
use wharf_core::TerminalId;
use wharf_testing::Place;

#[tokio::test]
async fn a_command_alone_is_a_line_for_a_shell() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        for args in [Value::Null, json!([])] {
            let text =
                station.text_of(json!({"command": "echo one two | wc -w; exit 3", "args": args})).await;
            assert_eq!(text, "2\n", "{at:?}");
        }
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn a_command_with_arguments_is_executed_literally() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let params = json!({"command": "printf", "args": ["%s|", "a b", "$HOME", "*", "", "'q'", "a;b"]});
        assert_eq!(station.text_of(params).await, "a b|$HOME|*||'q'|a;b|", "{at:?}");
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn a_path_to_a_program_is_executed_even_with_a_space_in_it() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let program = station.cwd.join("my program; echo no");
        fs::write(&program, "#!/bin/sh\necho \"ran with $# arguments\"\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        for command in [program.to_str().unwrap(), "./my program; echo no"] {
            assert_eq!(
                station.text_of(json!({"command": command})).await,
                "ran with 0 arguments\n",
                "{command}"
            );
        }
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn a_script_that_does_not_say_what_reads_it_is_read_by_the_shell() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let script = station.cwd.join("bare script");
        fs::write(&script, "echo \"bare, with $# arguments\"\n").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let text = station.text_of(json!({"command": script})).await;
        assert_eq!(text, "bare, with 0 arguments\n", "{at:?}");
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn it_starts_where_the_session_is_or_where_the_request_says() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let cwd = station.cwd.to_str().unwrap();
        assert_eq!(station.text_of(json!({"command": "pwd"})).await, format!("{cwd}\n"));
        assert_eq!(station.text_of(json!({"command": "pwd", "cwd": "/"})).await, "/\n");
        assert_eq!(station.text_of(json!({"command": "pwd", "cwd": null})).await, format!("{cwd}\n"));
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn what_cannot_run_is_refused_and_nothing_starts() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let file = station.cwd.join("file");
        fs::write(&file, "no program").unwrap();
        let file = file.to_str().unwrap();
        for params in [
            json!({"command": ""}),
            json!({"command": " \n"}),
            json!({"command": "touch x", "cwd": "relative"}),
            json!({"command": "touch x", "cwd": ""}),
            json!({"command": "touch x", "cwd": "/does/not/exist"}),
            json!({"command": "touch x", "cwd": file}),
            json!({"command": "touch x", "env": [{"name": "", "value": "v"}]}),
            json!({"command": "touch x", "env": [{"name": "A=B", "value": "v"}]}),
            json!({"command": "touch x", "env": [{"name": "A\u{0}", "value": "v"}]}),
            json!({"command": "touch x", "env": [{"name": "A", "value": "\u{0}"}]}),
            json!({"command": "touch\u{0} x"}),
            json!({"command": "no-such-program-anywhere", "args": ["x"]}),
            json!({"command": file, "args": ["x"]}),
            json!({"command": 7}),
            json!({"args": ["x"]}),
            json!({"command": "touch x", "outputByteLimit": -1}),
            json!({"command": "touch x", "outputByteLimit": "many"}),
            json!({"command": "touch x", "args": "x"}),
        ] {
            let refused = station.create(&station.one, params.clone()).await.unwrap_err();
            assert_eq!(refused.code, -32602, "{at:?} {params}: {refused:?}");
            assert!(!refused.error["message"].as_str().unwrap().is_empty());
        }
        assert!(!station.cwd.join("x").exists(), "nothing was started");
        assert!(place.store.ids().unwrap().is_empty());
        assert!(!station.events.lock().unwrap().iter().any(|event| event.starts_with("created")));
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn the_agents_environment_wins_over_the_hosts_and_this_over_what_was_inherited() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let line = "echo $TERM $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT ${HOME:+home} $A";
        assert_eq!(station.text_of(json!({"command": line})).await, "dumb cat cat 0 home\n");
        let env = json!([
            {"name": "TERM", "value": "xterm-256color"},
            {"name": "GIT_PAGER", "value": "delta"},
            {"name": "A", "value": "1"},
            {"name": "A", "value": "two words"},
        ]);
        let text = station.text_of(json!({"command": line, "env": env})).await;
        assert_eq!(text, "xterm-256color cat delta 0 home two words\n");
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn nothing_waits_for_a_person() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        // Reading, a line that never ends, an editor, a pager, a terminal that is not there.
        for line in [
            "cat",
            "read x; echo got nothing",
            "cat <<END\nno end",
            "if true; then",
            "git init -q . && git -c user.name=n -c user.email=e commit --allow-empty",
            "git -c user.name=n -c user.email=e commit -q --allow-empty -m m && git log",
            "ssh -o BatchMode=no nobody@127.0.0.1 -p 1",
            "cat /dev/tty",
        ] {
            let terminal = station.start(line).await;
            station.finished(&terminal).await;
            station.ask("release", &terminal).await.unwrap();
        }
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn the_answer_comes_at_once_with_a_name_nobody_can_guess() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let began = Instant::now();
        let ids = [station.start("exec sleep 1000").await, station.start("exec sleep 1000").await];
        assert!(began.elapsed().as_secs() < 10, "it does not wait for the command");
        for id in &ids {
            assert!(TerminalId::parse(id).is_some());
            let output = station.ask("output", id).await.unwrap();
            assert_eq!(output, json!({"output": "", "truncated": false}), "no status while it runs");
        }
        let common = ids[0].bytes().zip(ids[1].bytes()).take_while(|(a, b)| a == b).count();
        assert!(common < 8, "{ids:?}");
        station.finish().await;
        place.check().await;
    }
}

#[tokio::test]
async fn a_create_that_is_cancelled_is_answered_and_leaves_nothing_if_it_was_not_done() {
    for at in EVERYWHERE {
        let place = Place::process();
        let station = Station::open(&place, at).await;
        let params = json!({"sessionId": station.one, "command": "exec sleep 1000"});
        for _ in 0..20 {
            let asked = station.agent.begin("terminal/create", params.clone()).await;
            station.agent.cancel(&asked).await;
            match asked.answer().await {
                // It was faster.
                Ok(created) => {
                    station.ask("release", created["terminalId"].as_str().unwrap()).await.unwrap();
                }
                Err(refused) => assert_eq!(refused.code, -32800),
            }
        }
        station.finish().await;
        place.check().await;
    }
}
