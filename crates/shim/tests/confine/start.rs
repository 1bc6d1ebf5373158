//! What a sandbox costs, and what a start that cannot have one says.

use super::place::{Place, Who, answered, c_path, descriptors, everybody, hide, identity, outcome, rule};
use std::io::Read;
use wharf_shim::confine::{Absent, Access, Confine, Hidden, Mount};
use wharf_shim::launch::{LaunchError, hold_on_thread};

#[test]
fn a_sandbox_that_cannot_be_had_is_an_error_with_its_reason() {
    for who in everybody() {
        let place = Place::new(who);
        let mut confine = place.plain_confine();
        let missing = rule(&place.path("missing"), Access::Read);
        confine.rules.push(missing.clone());
        place.run("true", confine.clone()).succeeded();
        *confine.rules.last_mut().unwrap() = wharf_shim::confine::Rule { absent: Absent::Fail, ..missing };
        let error = place.launch(&place.line("true", Some(confine))).err().unwrap();
        assert!(matches!(error, LaunchError::Sandbox { .. }), "{error:?}");
        let expected = format!(
            "the sandbox could not be set up: test: the Landlock rule for {}: No such file",
            place.path("missing").display()
        );
        assert!(error.to_string().starts_with(&expected), "{error}");

        let is = Hidden::Exactly(identity(&place.path("root")));
        let relative = Confine { mounts: vec![Mount::Hide { path: c"etc".into(), is }], ..place.confine() };
        let error = place.launch(&place.line("true", Some(relative))).err().unwrap().to_string();
        assert!(error.contains("hiding etc: Invalid argument"), "{error}");
    }
}

#[test]
fn a_holder_on_a_thread_confines_like_one_in_a_process() {
    let who = if everybody().contains(&Who::Root) { Who::Root } else { Who::Ordinary };
    let place = Place::new(who);
    let secret = place.make_dir("secret");
    place.make_file("secret/key", "secret");
    let placeholder = Mount::Placeholder { path: c_path(&place.path("root/.editor")) };
    let confine = Confine { mounts: vec![hide(&secret), placeholder], ..place.confine() };
    let state = tempfile::tempdir().unwrap();
    let line = "ls -A ../secret; touch .editor/x; touch ../x; echo done";
    let plan = place.line(line, Some(confine));
    let sent = hold_on_thread(plan, descriptors(&state, &place.path("root")), None).unwrap();
    let (_, mut owner) = answered(sent).unwrap();
    // Closed by the holder, which is the last thing it does.
    owner.read_to_end(&mut Vec::new()).unwrap();
    let output = outcome(&state).succeeded();
    assert!(
        !output.contains("key") && output.contains("Read-only") && output.ends_with("done\n"),
        "{output}"
    );
    assert!(!place.path("x").exists() && !place.path("root/.editor").exists());
    let own = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!own.contains("secret"), "this process stays where it was");
}
