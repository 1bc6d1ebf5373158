//! An end on a full disk: nobody waits for room for ever, and what is given up is counted to the byte.

use crate::faults_disk::stalled;
use std::fs;
use std::time::Duration;
use wharf_core::{Cause, Dirs, Holder, Lost, Outcome, Phase, Size, Step, Store, Terminal, unrestricted};
use wharf_shim::journal::format::HEADER_LEN;
use wharf_shim::journal::read::Events;
use wharf_testing::{Place, SmallDisk, guarded, leak, program};

const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

fn small(place: &Place, holder: Holder) -> Option<(SmallDisk, Store)> {
    let disk = SmallDisk::mount(place.dir().join("small"), "1m")?;
    let store = Store::open(Dirs::under(disk.path().join("s")), holder).unwrap();
    Some((disk, store))
}

fn shim() -> Holder {
    Holder::Process(program("wharf-shim"))
}

async fn until_stalled(disk: &SmallDisk, terminal: &Terminal) {
    stalled(disk.path().join("s/terminals").join(terminal.id().as_str()).join("socket")).await;
}

/// What `prints-numbered-lines` prints.
fn numbered(count: u64, newline: &str) -> Vec<u8> {
    let mut all: String = (0..count).map(|n| format!("{n:063}{newline}")).collect();
    all.push_str(&format!("wrote {} bytes{newline}", count * 64));
    all.into_bytes()
}

/// Every reader sees the same: so many bytes are gone, and the rest is what was printed.
fn counts_are_exact(terminal: &Terminal, printed: &[u8]) {
    let look = terminal.look().unwrap();
    let Phase::Ended(ended) = look.phase else { panic!("not ended") };
    assert_eq!((ended.bytes, look.stalled), (look.end, None));
    let chunk = terminal.read(0, 1 << 30).unwrap();
    assert_eq!((chunk.gap, chunk.at, chunk.first, chunk.end), (look.first, look.first, look.first, look.end));
    let (first, end) = (usize::try_from(look.first).unwrap(), usize::try_from(look.end).unwrap());
    assert!(chunk.bytes == printed[first..end], "other bytes than were printed");
    assert!(look.first > 0 && terminal.text(1 << 30).unwrap().1, "truncated");
}

#[tokio::test]
async fn a_kill_on_a_full_disk_is_done_at_once_and_what_is_given_up_is_counted() {
    for holder in Place::holders() {
        let place = Place::with(holder.clone());
        let Some((disk, store)) = small(&place, holder) else { return };
        let spec = place.misbehaving(&["prints-numbered-lines", "50000", "11"]);
        for (spec, newline) in [(spec.clone(), "\n"), (spec.pty(Size::default()), "\r\n")] {
            for grace in [AT_ONCE, None] {
                let terminal = store.create(unrestricted(spec.clone()).unwrap()).await.unwrap();
                until_stalled(&disk, &terminal).await;
                assert_eq!(guarded(terminal.kill("test", grace)).await.unwrap(), 1);
                let ended = guarded(terminal.wait()).await.unwrap();
                assert_eq!((ended.cause, ended.author.as_str()), (Cause::Killed, "test"));
                let closed = terminal.reader(u64::MAX).next_until_closed(1).await;
                assert_eq!(closed.unwrap(), Step::Closed);
                counts_are_exact(&terminal, &numbered(50_000, newline));
                guarded(terminal.release()).await.unwrap();
            }
        }
        drop((store, disk));
        place.check().await;
    }
}

#[tokio::test]
async fn a_kill_does_not_wait_for_the_disk_longer_than_its_grace() {
    let place = Place::process();
    let Some((disk, store)) = small(&place, shim()) else { return };
    let floods = format!("trap '' TERM; exec {} floods", program("wharf-misbehave").display());
    let terminal = store.create(unrestricted(place.line(&floods)).unwrap()).await.unwrap();
    until_stalled(&disk, &terminal).await;
    guarded(terminal.kill("test", Some(Duration::from_millis(100)))).await.unwrap();
    assert_eq!(guarded(terminal.wait()).await.unwrap().outcome, Outcome::Signal(9));
    guarded(terminal.release()).await.unwrap();
    drop((terminal, store, disk));
    place.check().await;
}

/// A terminal whose command prints and ends with 3 when it gets a line, on a disk without any room.
async fn ends_on_a_full_disk(place: &Place, disk: &SmallDisk, store: &Store) -> Terminal {
    let misbehave = program("wharf-misbehave");
    // Less than a pipe holds, so that it can end although nobody reads.
    let line = format!("read x; exec {} prints-numbered-lines 900 3", misbehave.display());
    let terminal = store.create(unrestricted(place.line(&line).with_input()).unwrap()).await.unwrap();
    let filler = disk.fill();
    terminal.input("test").unwrap().send(b"go\n").await.unwrap();
    until_stalled(disk, &terminal).await;
    // The holder is all that is left.
    let alone = async {
        while leak::living(place.dir(), &[]).len() > 1 {
            tokio::task::yield_now().await;
        }
    };
    guarded(alone).await;
    assert!(filler.exists());
    assert!(matches!(terminal.look().unwrap().phase, Phase::Running { .. }), "its end waits for the disk");
    terminal
}

#[tokio::test]
async fn an_end_that_waits_for_the_disk_is_recorded_when_somebody_kills_it() {
    let place = Place::process();
    let Some((disk, store)) = small(&place, shim()) else { return };
    let terminal = ends_on_a_full_disk(&place, &disk, &store).await;
    // Long, since nobody is left who could be waited for.
    let grace = Some(Duration::from_secs(3600));
    assert_eq!(guarded(terminal.kill("test", grace)).await.unwrap(), 0);
    let ended = guarded(terminal.wait()).await.unwrap();
    assert_eq!((ended.exit_code(), ended.cause), (Some(3), Cause::Exited));
    let printed = numbered(900, "\n");
    assert_eq!(ended.bytes, printed.len() as u64);
    counts_are_exact(&terminal, &printed);
    guarded(terminal.release()).await.unwrap();
    drop((terminal, store, disk));
    place.check().await;
}

#[tokio::test]
async fn an_end_that_waits_for_the_disk_loses_nothing_when_there_is_room() {
    let place = Place::process();
    let Some((disk, store)) = small(&place, shim()) else { return };
    let terminal = ends_on_a_full_disk(&place, &disk, &store).await;
    disk.resize("2m");
    assert_eq!(guarded(terminal.wait()).await.unwrap().exit_code(), Some(3));
    assert!(terminal.read(0, 1 << 20).unwrap().bytes == numbered(900, "\n"));
    guarded(terminal.release()).await.unwrap();
    drop((terminal, store, disk));
    place.check().await;
}

#[tokio::test]
async fn an_end_that_waits_for_the_disk_keeps_nobody_from_releasing_it() {
    let place = Place::process();
    let Some((disk, store)) = small(&place, shim()) else { return };
    let terminal = ends_on_a_full_disk(&place, &disk, &store).await;
    guarded(terminal.release()).await.unwrap();
    assert!(leak::files(&disk.path().join("s")).is_empty());
    drop((terminal, store, disk));
    place.check().await;
}

/// A terminal that stays, on a disk without any room, and whose records have no room left either.
async fn without_room_for_an_end(place: &Place, disk: &SmallDisk, store: &Store) -> Terminal {
    let spec = place.misbehaving(&["stays"]).with_input();
    let terminal = store.create(unrestricted(spec).unwrap()).await.unwrap();
    let events = disk.path().join("s/terminals").join(terminal.id().as_str()).join("events");
    let sound = || Events::read(&fs::File::open(&events).unwrap()).unwrap().sound;
    let mut input = terminal.input("test").unwrap();
    while sound() < 4096 - HEADER_LEN * 3 {
        input.send(b"x").await.unwrap();
    }
    let _ = disk.fill();
    terminal
}

#[tokio::test]
async fn without_room_for_an_end_a_kill_says_so_and_the_end_is_lost() {
    let place = Place::process();
    let Some((disk, store)) = small(&place, shim()) else { return };
    let terminal = without_room_for_an_end(&place, &disk, &store).await;
    let error = guarded(terminal.kill("test", AT_ONCE)).await.unwrap_err();
    assert_eq!(error.code(), "disk_full", "{error}");
    let gone = async {
        while !leak::living(place.dir(), &[]).is_empty() {
            tokio::task::yield_now().await;
        }
    };
    guarded(gone).await;
    fs::remove_file(disk.path().join("filler")).unwrap();
    let ended = guarded(terminal.wait()).await.unwrap();
    assert_eq!(ended.outcome, Outcome::Lost(Lost::HolderDied));
    guarded(terminal.release()).await.unwrap();
    drop((terminal, store, disk));
    place.check().await;
}

#[tokio::test]
async fn without_room_for_an_end_a_terminal_can_be_released() {
    let place = Place::process();
    let Some((disk, store)) = small(&place, shim()) else { return };
    for kill_before in [false, true] {
        let terminal = without_room_for_an_end(&place, &disk, &store).await;
        if kill_before {
            guarded(terminal.kill("test", AT_ONCE)).await.unwrap_err();
        }
        guarded(terminal.release()).await.unwrap();
        assert!(leak::files(&disk.path().join("s")).is_empty());
        fs::remove_file(disk.path().join("filler")).unwrap();
    }
    drop((store, disk));
    place.check().await;
}
