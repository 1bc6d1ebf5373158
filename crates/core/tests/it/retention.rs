//! Retention and privacy: what stays, for how long, and who may look.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};
use wharf_core::{Dirs, Holder, OpenError, Retention, Store};
use wharf_testing::{Place, guarded, leak, program, until};

const FOR_EVER: Duration = Duration::from_secs(1 << 30);

fn mode(path: impl AsRef<std::path::Path>) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[tokio::test]
async fn ended_terminals_go_by_age_and_running_ones_stay() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let running = place.start(place.misbehaving(&["stays", "ready"])).await;
        let ended = place.start(place.misbehaving(&["exits-with", "0"])).await;
        guarded(ended.reader(0).next_until_closed(1)).await.unwrap();
        let keep = Retention { age: FOR_EVER, total: u64::MAX };
        assert!(place.store.tidy(&keep).unwrap().removed.is_empty());
        let tidied = place.reopened().tidy(&Retention { age: Duration::ZERO, total: u64::MAX }).unwrap();
        assert_eq!(tidied.removed, [ended.id().clone()]);
        assert!(tidied.bytes > 0);
        assert_eq!(place.store.ids().unwrap(), [running.id().clone()]);
        until(&running, "ready").await;
        place.check().await;
    }
}

#[tokio::test]
async fn beyond_the_total_the_oldest_go_first() {
    let place = Place::process();
    let mut ids = Vec::new();
    for _ in 0..5 {
        let terminal = place.start(place.misbehaving(&["prints-numbered-lines", "4096", "0"])).await;
        guarded(terminal.wait()).await.unwrap();
        let mut reader = terminal.reader(u64::MAX);
        guarded(reader.next_until_closed(1)).await.unwrap();
        ids.push(terminal.id().clone());
    }
    // Each has printed a little more than 256 KiB: two fit, three do not.
    let tidied = place.store.tidy(&Retention { age: FOR_EVER, total: 800 << 10 }).unwrap();
    assert_eq!(tidied.removed, ids[..3]);
    let mut left = place.store.ids().unwrap();
    left.sort();
    let mut expected = ids[3..].to_vec();
    expected.sort();
    assert_eq!(left, expected);
    place.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_may_tidy_and_release_at_the_same_time() {
    let place = Place::process();
    let mut terminals = Vec::new();
    for _ in 0..20 {
        let terminal = place.start(place.misbehaving(&["exits-with", "0"])).await;
        guarded(terminal.wait()).await.unwrap();
        terminals.push(terminal);
    }
    let tidying = (0..4).map(|_| {
        let store = place.reopened();
        tokio::task::spawn_blocking(move || {
            store.tidy(&Retention { age: Duration::ZERO, total: 0 }).map(|t| t.removed)
        })
    });
    let tidying: Vec<_> = tidying.collect();
    for terminal in terminals {
        guarded(terminal.release()).await.unwrap();
    }
    for tidied in tidying {
        guarded(tidied).await.unwrap().unwrap();
    }
    assert!(leak::files(&place.state()).is_empty());
    place.check().await;
}

#[tokio::test]
async fn a_name_can_be_released_again_although_remains_of_its_last_terminal_are_there() {
    let place = Place::process();
    let id = wharf_core::TerminalId::random().unwrap();
    for _ in 0..2 {
        let grant = wharf_core::unrestricted(place.misbehaving(&["exits-with", "0"])).unwrap();
        let terminal = place.store.create_as(id.clone(), grant).await.unwrap();
        guarded(terminal.wait()).await.unwrap();
        // Never deleted, as by somebody who was killed.
        drop(guarded(terminal.retire(None)).await.unwrap());
        assert!(place.store.ids().unwrap().is_empty());
    }
    let remains = place.state().join("terminals").join(format!(".gone-{id}"));
    fs::remove_dir_all(remains).unwrap();
    place.check().await;
}

#[tokio::test]
async fn what_killed_front_ends_left_half_made_goes_once_it_is_old() {
    let place = Place::process();
    let id = wharf_core::TerminalId::random().unwrap();
    let new = place.state().join("terminals").join(format!(".new-{id}"));
    let gone = place.state().join("terminals").join(format!(".gone-{id}"));
    let retention = Retention { age: FOR_EVER, total: u64::MAX };
    for dir in [&new, &gone] {
        fs::create_dir(dir).unwrap();
        fs::write(dir.join("events"), "").unwrap();
    }
    place.store.tidy(&retention).unwrap();
    assert!(new.exists() && gone.exists(), "somebody may be at work on them");
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    for dir in [&new, &gone] {
        fs::File::open(dir).unwrap().set_modified(long_ago).unwrap();
    }
    place.store.tidy(&retention).unwrap();
    assert!(leak::files(&place.state()).is_empty(), "{:?}", leak::files(&place.state()));
    place.check().await;
}

#[tokio::test]
async fn everything_is_closed_to_others() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let terminal = place.start(place.misbehaving(&["stays", "ready"])).await;
        let state = place.state();
        for dir in [state.clone(), state.join("terminals"), place.files(&terminal)] {
            assert_eq!(mode(&dir), 0o700, "{}", dir.display());
        }
        for file in ["events", "out", "meta"] {
            assert_eq!(mode(place.files(&terminal).join(file)), 0o600, "{file}");
        }
        assert_eq!(mode(place.socket(&terminal)) & 0o777, 0o600, "the socket");
        place.check().await;
    }
}

#[tokio::test]
async fn a_directory_that_is_open_to_others_is_refused() {
    let place = Place::process();
    let open = place.dir().join("open");
    fs::create_dir(&open).unwrap();
    for bits in [0o755, 0o770, 0o701] {
        fs::set_permissions(&open, Permissions::from_mode(bits)).unwrap();
        let refused = Store::open(Dirs::under(&open), Holder::Thread);
        assert!(matches!(refused, Err(OpenError::Unsafe { .. })), "{bits:o}: {refused:?}");
    }
    place.check().await;
}

#[tokio::test]
async fn another_user_is_not_answered_even_if_the_doors_are_open() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    for holder in Place::holders() {
        let place = Place::with(holder);
        let terminal = place.start(place.misbehaving(&["stays", "ready"])).await;
        until(&terminal, "ready").await;
        fs::set_permissions(place.dir(), Permissions::from_mode(0o755)).unwrap();
        assert_eq!(as_nobody(&place.socket(&terminal)).await, "not connected: PermissionDenied\n");
        let state = place.state();
        for dir in [state.clone(), state.join("terminals"), place.files(&terminal)] {
            fs::set_permissions(dir, Permissions::from_mode(0o755)).unwrap();
        }
        fs::set_permissions(place.socket(&terminal), Permissions::from_mode(0o777)).unwrap();
        assert_eq!(as_nobody(&place.socket(&terminal)).await, "not answered\n");
        place.check().await;
    }
}

async fn as_nobody(socket: &std::path::Path) -> String {
    #[expect(clippy::disallowed_methods, reason = "setpriv is how a test becomes somebody else")]
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    command.arg(program("wharf-misbehave")).arg("tries-to-connect").arg(socket);
    let output = guarded(tokio::task::spawn_blocking(move || command.output())).await.unwrap().unwrap();
    String::from_utf8(output.stdout).unwrap()
}
