//! What is moved, replaced or removed between the decision and the start, by a command that runs meanwhile or by whom it
//! belongs to.

use super::place::{Place, c_path, everybody, hide, identity};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use wharf_shim::confine::{Confine, Hidden, Mount};
use wharf_shim::journal::record::Status;

fn with(confine: Confine, mounts: Vec<Mount>) -> Confine {
    Confine { mounts, ..confine }
}

/// By its name in the directory that holds it now.
fn hide_in(path: &Path) -> Mount {
    Mount::Hide { path: c_path(path), is: Hidden::In(identity(path.parent().unwrap())) }
}

#[test]
fn what_was_moved_away_or_replaced_since_it_was_seen_fails_the_start() {
    for who in everybody() {
        for (change, expected) in [
            ("nothing", ""),
            ("moved", "No such file or directory"),
            ("replaced", "Stale file handle"),
            ("link", "Too many levels of symbolic links"),
        ] {
            let place = Place::new(who);
            let keys = place.make_dir("keys");
            let confine = with(place.confine(), vec![hide(&keys)]);
            if change != "nothing" {
                fs::rename(&keys, place.path("other")).unwrap();
            }
            match change {
                "replaced" => drop(place.make_dir("keys")),
                "link" => symlink("other", &keys).unwrap(),
                _ => {}
            }
            let launched = place.launch(&place.line("true", Some(confine)));
            let said = launched.map_or_else(|error| error.to_string(), |held| held.end().succeeded());
            assert!(
                said.contains(expected) && (said.is_empty() == expected.is_empty()),
                "{who:?} {change}: {said}"
            );
        }
    }
}

#[test]
fn a_file_may_be_written_anew_in_its_own_directory_and_in_no_other() {
    for who in everybody() {
        let place = Place::new(who);
        place.make_dir("keys");
        let token = place.make_file("keys/token", "secret");
        let confine = with(place.confine(), vec![hide_in(&token)]);
        place.make_file("keys/new", "secret");
        fs::rename(place.path("keys/new"), &token).unwrap();
        assert_eq!(place.run("cat ../keys/token", confine.clone()).succeeded(), "", "{who:?}");
        fs::remove_file(&token).unwrap();
        place.run("test ! -e ../keys/token", confine.clone()).succeeded();
        fs::rename(place.path("keys"), place.path("other")).unwrap();
        assert!(place.launch(&place.line("true", Some(confine.clone()))).is_err(), "{who:?}: gone");
        place.make_dir("keys");
        assert!(place.launch(&place.line("true", Some(confine))).is_err(), "{who:?}: another");
    }
}

/// How many commands are started while somebody moves the directory to and fro.
const ROUNDS: usize = 40;

#[test]
fn a_hidden_file_cannot_be_raced_away_by_moving_its_directory() {
    for who in everybody() {
        let place = Place::new(who);
        let keys = place.make_dir("keys");
        let token = place.make_file("keys/token", "a-secret");
        let confine = with(place.confine(), vec![hide(&token)]);
        let away = place.path("away");
        let over = AtomicBool::new(false);
        // Wherever it is when it is looked for.
        let line = "for i in 1 2 3 4 5 6 7 8; do cat ../keys/token ../away/token 2>/dev/null; done; true";
        let (mut started, mut told) = (0, String::new());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    fs::rename(&keys, &away).unwrap();
                    fs::rename(&away, &keys).unwrap();
                }
            });
            for _ in 0..ROUNDS {
                if let Ok(held) = place.launch(&place.line(line, Some(confine.clone()))) {
                    started += 1;
                    told.push_str(&held.end().output);
                }
            }
            over.store(true, Ordering::Relaxed);
        });
        assert_eq!(told.matches("a-secret").count(), 0, "{who:?}: {started} of {ROUNDS} were started");
    }
}

#[test]
fn a_link_that_is_kept_leads_where_it_did_and_cannot_be_replaced() {
    for who in everybody() {
        let place = Place::new(who);
        place.make_dir("root/settings");
        place.make_file("root/settings/one", "one");
        let link = place.path("root/.editor");
        symlink("settings", &link).unwrap();
        let keep = Mount::Link { path: c_path(&link), is: identity(&link) };
        let confine = with(place.confine(), vec![keep]);
        assert_eq!(
            place.run("cat .editor/one; readlink .editor", confine.clone()).succeeded(),
            "onesettings\n"
        );
        for attempt in
            ["rm .editor", "mv .editor x", "ln -sfn /etc .editor", "echo x > x && mv -fT x .editor"]
        {
            let outcome = place.run(attempt, confine.clone());
            assert_ne!(outcome.status, Status::Code(0), "{who:?}: {attempt}: {}", outcome.output);
        }
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("settings"));
        // Moved, not removed: its number could be given to the next.
        fs::rename(&link, place.path("old")).unwrap();
        symlink("/etc", &link).unwrap();
        let error = place.launch(&place.line("true", Some(confine))).err().unwrap().to_string();
        assert!(
            error.contains("keeping the link") && error.contains("Stale file handle"),
            "{who:?}: {error}"
        );
    }
}
