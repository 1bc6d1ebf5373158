//! What a host writes down, and that nothing starts without.

use super::{Rig, code};
use crate::station::{EVERYWHERE, Where};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use wharf_core::policy::Audit;
use wharf_testing::Place;

fn entries(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn every_decision_and_every_end_is_written_down() {
    for at in EVERYWHERE {
        let place = Place::process();
        let path = place.dir().join("audit.jsonl");
        let audit = Arc::new(Audit::open(&path).unwrap());
        let rig = Rig::open_with(&place, at, |host| host.audit(audit)).await;
        fs::write(&path, "").unwrap();
        let env = json!([{"name": "TOKEN", "value": "secret-value"}]);
        let params = json!({"command": "exit", "args": ["3"]});
        let free = json!({"command": "echo free; exit 3", "env": env});
        let terminal = rig.create_unasked(&free).await.unwrap();
        rig.station.finished(&terminal).await;
        rig.create(&json!({"command": "exit 4"}), "reject_once").await.unwrap_err();
        let always = rig.create(&json!({"command": "exit 5"}), "allow_always").await.unwrap();
        rig.station.finished(&always).await;
        rig.create_unasked(&json!({"command": "echo forbidden"})).await.unwrap_err();
        rig.create_unasked(&params).await.unwrap_err();
        rig.station.finish().await;
        let found = entries(&path);
        let decided = found.iter().filter(|entry| entry["what"] == "decision");
        let verdicts: Vec<_> = decided.clone().map(|entry| entry["verdict"].as_str().unwrap()).collect();
        assert_eq!(verdicts, ["allowed", "refused_by_user", "allowed_always", "denied", "invalid"], "{at:?}");
        let first = decided.clone().next().unwrap();
        assert_eq!(first["terminal"], terminal.as_str());
        assert_eq!(first["who"], json!({"front_end": "acp", "agent": "test", "session": "session-1"}));
        assert_eq!((&first["command"]["line"], &first["env_names"]), (&free["command"], &json!(["TOKEN"])));
        assert_eq!(decided.clone().filter(|entry| entry["terminal"].is_null()).count(), 3);
        let ends = found.iter().filter(|entry| entry["what"] == "end");
        let codes: Vec<_> =
            ends.map(|entry| (&entry["terminal"], entry["exit_code"].as_i64().unwrap())).collect();
        assert_eq!(codes, [(&json!(terminal), 3), (&json!(always), 5)]);
        assert!(!fs::read_to_string(&path).unwrap().contains("secret-value"));
        place.check().await;
    }
}

#[tokio::test]
async fn what_cannot_be_written_down_is_not_started() {
    let place = Place::process();
    let path = place.dir().join("audit.jsonl");
    let audit = Arc::new(Audit::open(&path).unwrap());
    let rig = Rig::open_with(&place, Where::Private, |host| host.audit(audit)).await;
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let (file, params) = rig.mark("made");
    let refused = rig.create(&params, "allow_once").await.unwrap_err();
    assert_eq!(code(&refused), (-32603, "audit_io"));
    let refused = rig.create_unasked(&json!({"command": "touch made; echo free"})).await.unwrap_err();
    assert_eq!(code(&refused), (-32603, "audit_io"));
    fs::remove_dir(&path).unwrap();
    rig.nothing_started(&place, &file).await;
    rig.station.finish().await;
    place.check().await;
}
