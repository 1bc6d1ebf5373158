//! The record of what was run: every decision and every end, whoever is there to see it.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::harness::{Wharf, json, open_gate, signal};
use serde_json::Value;

fn entries(wharf: &Wharf) -> Vec<Value> {
    let text = std::fs::read_to_string(wharf.state().join("audit.jsonl")).unwrap();
    text.lines().map(json).collect()
}

fn ends(wharf: &Wharf, id: &str) -> usize {
    entries(wharf).iter().filter(|entry| entry["what"] == "end" && entry["terminal"] == id).count()
}

#[test]
fn the_end_of_a_detached_command_is_written_once_by_whoever_sees_it() {
    for verb in [&["wait"][..], &["kill"], &["rm"], &["ls"]] {
        let wharf = Wharf::new();
        let gate = wharf.gate();
        let line = format!("read x < {}; exit 3", gate.display());
        let id = wharf.detach(["-c", &line]);
        assert_eq!(ends(&wharf, &id), 0);
        if verb[0] != "kill" && verb[0] != "rm" {
            open_gate(&gate);
        }
        if verb[0] == "ls" {
            // Until it has ended; the journal says so.
            wharf.spawn(["logs", "-f", &id]).wait().unwrap();
            wharf.ok(["ls"]);
        } else {
            wharf.call(verb.iter().copied().chain([id.as_str()]));
        }
        assert_eq!(ends(&wharf, &id), 1, "{verb:?}");
        wharf.ok(["ls"]);
        wharf.call(["wait", &id]);
        assert_eq!(ends(&wharf, &id), 1, "{verb:?}");
        wharf.call(["rm", &id]);
        assert_eq!(std::fs::read_dir(wharf.state().join("owed")).unwrap().count(), 0, "{verb:?}");
    }
}

#[test]
fn the_end_of_a_command_whose_starter_was_killed_is_written_later() {
    let wharf = Wharf::new();
    let mut run = wharf.spawn(["run", "-c", "echo up; sleep 300"]);
    crate::harness::read_until(run.stdout.as_mut().unwrap(), "up\n");
    signal(&run, rustix::process::Signal::KILL);
    run.wait().unwrap();
    let id = wharf.ids().remove(0);
    wharf.call(["wait", &id]);
    assert_eq!(ends(&wharf, &id), 1);
    let end = entries(&wharf).into_iter().find(|entry| entry["what"] == "end").unwrap();
    assert_eq!(end["terminal"], id.as_str(), "{end}");
}

#[test]
fn a_command_that_is_denied_or_cannot_be_started_is_in_the_record() {
    let wharf = Wharf::new();
    // A variable that loads code into whatever runs.
    let denied = wharf.call(["run", "--sandbox", "workspace", "--env", "LD_PRELOAD=/x", "--", "/bin/true"]);
    assert_eq!(denied.code, Some(125), "{denied:?}");
    let found = entries(&wharf);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (&found[0]["what"], &found[0]["verdict"]),
        (&"decision".into(), &"denied".into()),
        "{found:?}"
    );
    assert!(found[0]["command"].to_string().contains("/bin/true"), "{found:?}");

    let odd = wharf.scratch().join("odd");
    std::fs::write(&odd, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&odd, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert_ne!(wharf.call(["run", "--", odd.to_str().unwrap()]).code, Some(0));
    let found = entries(&wharf);
    let whats: Vec<_> = found.iter().map(|entry| entry["what"].as_str().unwrap()).collect();
    assert_eq!(whats, ["decision", "decision", "not_started"], "{found:?}");
    assert_eq!(std::fs::read_dir(wharf.state().join("owed")).unwrap().count(), 0);
}
