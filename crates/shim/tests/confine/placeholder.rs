//! Protected directories that do not exist.

use super::place::{Place, c_path, everybody};
use std::fs;
use std::io::Read;
use wharf_shim::confine::{Confine, Mount};
use wharf_shim::journal::record::Status;

fn confine(place: &Place) -> Confine {
    let path = c_path(&place.path("root/.editor"));
    Confine { mounts: vec![Mount::Placeholder { path }], ..place.confine() }
}

#[test]
fn it_is_there_and_read_only_while_the_terminal_is_and_gone_afterwards() {
    for who in everybody() {
        let place = Place::new(who);
        let outcome = place
            .run("ls -d .editor && touch .editor/run-this; rmdir .editor; mv .editor x", confine(&place));
        assert!(outcome.output.starts_with(".editor\n"), "{}", outcome.output);
        assert_ne!(outcome.status, Status::Code(0));
        assert_eq!(fs::read_dir(place.path("root")).unwrap().count(), 0, "{who:?}");
    }
}

#[test]
fn a_start_that_fails_leaves_none() {
    for who in everybody() {
        let place = Place::new(who);
        let plan = place.plan(std::path::Path::new("/no/such/program"), &["x"], Some(confine(&place)));
        assert!(place.launch(&plan).is_err());
        assert_eq!(fs::read_dir(place.path("root")).unwrap().count(), 0, "{who:?}");
    }
}

#[test]
fn two_terminals_share_it_and_the_last_removes_it() {
    for who in everybody() {
        let place = Place::new(who);
        // Each waits until it may read from a pipe of its own, so that the order of their ends is known.
        let wait = |name: &str| {
            let path = place.path(name);
            let status = rustix::fs::mknodat(
                rustix::fs::CWD,
                &path,
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::from_raw_mode(0o666),
                0,
            );
            status.unwrap();
            rustix::fs::chmod(&path, rustix::fs::Mode::from_raw_mode(0o666)).unwrap();
            let line = format!("echo go < {}; touch .editor/x; exit $?", path.display());
            place.launch(&place.line(&line, Some(confine(&place)))).unwrap()
        };
        let go = |name: &str| drop(fs::File::options().write(true).open(place.path(name)).unwrap());
        let (first, second) = (wait("first"), wait("second"));
        go("first");
        let mut outcome = first.end();
        assert!(outcome.output.contains("Read-only file system"), "{}", outcome.output);
        assert!(place.path("root/.editor").exists(), "{who:?}: the second still uses it");
        go("second");
        outcome = second.end();
        assert!(outcome.output.contains("Read-only file system"), "{}", outcome.output);
        assert!(!place.path("root/.editor").exists(), "{who:?}");
    }
}

#[test]
fn one_that_a_killed_holder_left_is_removed_by_the_next() {
    for who in everybody() {
        let place = Place::new(who);
        let mut held =
            place.launch(&place.line("echo up; read nothing < /dev/zero", Some(confine(&place)))).unwrap();
        held.kill_holder();
        // The owner's connection ends with the holder.
        let mut rest = Vec::new();
        let _ = held.owner.read_to_end(&mut rest);
        assert!(place.path("root/.editor").exists(), "{who:?}");
        place.run("true", confine(&place)).succeeded();
        assert!(!place.path("root/.editor").exists(), "{who:?}");
    }
}
