//! A full disk: the command waits, nothing is lost, nobody is kept busy by it, and what is asked for is still done.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::Duration;
use wharf_core::{Cause, Dirs, Holder, Phase, Step, Store, Terminal, unrestricted};
use wharf_shim::journal::record::Record;
use wharf_shim::wire::message::{Reply, Request, State};
use wharf_testing::talk::Talk;
use wharf_testing::{Place, SmallDisk, all_of, guarded, leak, program};

const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

/// Waits until a holder says that it cannot write.
pub(crate) async fn stalled(socket: PathBuf) {
    let heard = tokio::task::spawn_blocking(move || {
        let (mut talk, mut seen) = (Talk::to(&socket), State::Running);
        while seen != State::Stalled {
            let Reply::Progress(progress) = talk.ask(&Request::Watch { past: u64::MAX, seen }) else {
                panic!("not answered")
            };
            seen = progress.state;
        }
    });
    guarded(heard).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_stops_the_command_and_every_byte_follows_when_there_is_room_again() {
    let place = Place::process();
    let Some(disk) = SmallDisk::mount(place.dir().join("small"), "1m") else { return };
    let shim = Holder::Process(program("wharf-shim"));
    let store = Store::open(Dirs::under(disk.path().join("s")), shim).unwrap();
    let spec = place.misbehaving(&["prints-numbered-lines", "50000", "11"]);
    for spec in [spec.clone(), spec.pty(wharf_core::Size::default())] {
        disk.resize("1m");
        let terminal = store.create(unrestricted(spec).unwrap()).await.unwrap();
        stalled(disk.path().join("s/terminals").join(terminal.id().as_str()).join("socket")).await;
        let Phase::Running { .. } = terminal.look().unwrap().phase else { panic!("ended") };
        let so_far = terminal.read(0, 1 << 30).unwrap().bytes;
        disk.resize("64m");
        let all = all_of(&terminal).await;
        let newline = if terminal.meta().size.is_some() { "\r\n" } else { "\n" };
        let mut expected: String = (0..50_000).map(|n| format!("{n:063}{newline}")).collect();
        expected.push_str(&format!("wrote 3200000 bytes{newline}"));
        assert!(all == expected.as_bytes(), "{} bytes of {}", all.len(), expected.len());
        assert!(all.starts_with(&so_far));
        assert_eq!(guarded(terminal.wait()).await.unwrap().exit_code(), Some(11));
        let events =
            File::open(disk.path().join("s/terminals").join(terminal.id().as_str()).join("events")).unwrap();
        let records = wharf_shim::journal::read::Events::read(&events).unwrap().entries;
        assert!(
            records.iter().any(|e| matches!(e.record, Record::Stalled { errno: 28, .. })),
            "the stall is on record"
        );
        guarded(terminal.release()).await.unwrap();
    }
    drop((store, disk));
    place.check().await;
}

/// The first terminal for which there is room.
async fn roomy(store: &Store, place: &Place) -> Terminal {
    let room = async {
        loop {
            let grant = unrestricted(place.misbehaving(&["exits-with", "1"])).unwrap();
            match store.create(grant).await {
                Ok(terminal) => return terminal,
                Err(error) => assert_eq!(error.code(), "disk_full"),
            }
        }
    };
    guarded(room).await
}

#[tokio::test]
async fn a_kill_on_a_full_disk_ends_the_processes_and_a_release_makes_room() {
    let place = Place::process();
    let Some(disk) = SmallDisk::mount(place.dir().join("small"), "1m") else { return };
    let store =
        Store::open(Dirs::under(disk.path().join("s")), Holder::Process(program("wharf-shim"))).unwrap();
    let terminal = store.create(unrestricted(place.misbehaving(&["floods"])).unwrap()).await.unwrap();
    stalled(disk.path().join("s/terminals").join(terminal.id().as_str()).join("socket")).await;
    guarded(terminal.release_with(AT_ONCE)).await.unwrap();
    // The room is there when nobody has the file open any more: neither this test nor the holder, which is leaving.
    drop(terminal);
    let next = roomy(&store, &place).await;
    assert_eq!(guarded(next.wait()).await.unwrap().exit_code(), Some(1));
    guarded(next.release()).await.unwrap();
    drop((store, next, disk));
    place.check().await;
}

#[tokio::test]
async fn no_room_for_a_new_terminal_is_a_clear_error() {
    let place = Place::process();
    let Some(disk) = SmallDisk::mount(place.dir().join("small"), "1m") else { return };
    let store =
        Store::open(Dirs::under(disk.path().join("s")), Holder::Process(program("wharf-shim"))).unwrap();
    let _ = fs::write(disk.path().join("filler"), vec![0; 2 << 20]);
    let made = guarded(store.create(unrestricted(place.misbehaving(&["stays"])).unwrap())).await;
    assert_eq!(made.unwrap_err().code(), "disk_full");
    assert!(leak::files(&disk.path().join("s")).is_empty());
    drop((store, disk));
    place.check().await;
}

/// A line that ends at once, and whose child floods as soon as a test comes true.
fn floods_once(test: &str) -> String {
    let misbehave = program("wharf-misbehave");
    format!("(until {test}; do sleep 0.01; done; exec {} floods) & exit 3", misbehave.display())
}

/// Processor time that a process has used, in hundredths of a second.
fn hundredths(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_ascii_whitespace().collect();
    // `utime` and `stime`, counted from the state.
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// Follows a terminal to its end, which does not come within a second, and makes sure that nobody is kept busy by it.
async fn nobody_is_busy(disk: &SmallDisk, terminal: &Terminal) {
    let events =
        File::open(disk.path().join("s/terminals").join(terminal.id().as_str()).join("events")).unwrap();
    let holder = wharf_shim::journal::read::Events::read(&events).unwrap().start().unwrap().1.holder;
    let used = || (hundredths(holder), hundredths(std::process::id()));
    let before = used();
    let mut reader = terminal.reader(u64::MAX);
    let step = tokio::time::timeout(Duration::from_secs(1), reader.next_until_closed(1)).await;
    assert!(step.is_err(), "{step:?}");
    let after = used();
    let (holder, reader) = (after.0 - before.0, after.1 - before.1);
    assert!(holder < 20, "the holder used {holder} hundredths of a second in one");
    assert!(reader < 20, "the reader used {reader} hundredths of a second in one");
}

#[tokio::test]
async fn who_follows_a_terminal_to_its_end_waits_quietly_while_the_disk_is_full() {
    let place = Place::process();
    let Some(disk) = SmallDisk::mount(place.dir().join("small"), "1m") else { return };
    let store =
        Store::open(Dirs::under(disk.path().join("s")), Holder::Process(program("wharf-shim"))).unwrap();
    let go = place.dir().join("go");
    let floods = floods_once(&format!("[ -e {} ]", go.display()));
    // One whose command still runs, and one whose command's end is on record.
    for (spec, ended) in [(place.misbehaving(&["floods"]), None), (place.line(&floods), Some(3))] {
        let terminal = store.create(unrestricted(spec).unwrap()).await.unwrap();
        if ended.is_some() {
            guarded(terminal.wait()).await.unwrap();
            fs::write(&go, "").unwrap();
        }
        stalled(disk.path().join("s/terminals").join(terminal.id().as_str()).join("socket")).await;
        let code = match terminal.look().unwrap().phase {
            Phase::Ended(ended) => ended.exit_code(),
            _ => None,
        };
        assert_eq!(code, ended);
        nobody_is_busy(&disk, &terminal).await;
        guarded(terminal.release_with(AT_ONCE)).await.unwrap();
        drop(terminal);
        let next = roomy(&store, &place).await;
        guarded(next.release()).await.unwrap();
    }
    drop((store, disk));
    place.check().await;
}

#[tokio::test]
async fn a_time_limit_is_kept_while_the_disk_is_full() {
    let place = Place::process();
    let Some(disk) = SmallDisk::mount(place.dir().join("small"), "1m") else { return };
    let store =
        Store::open(Dirs::under(disk.path().join("s")), Holder::Process(program("wharf-shim"))).unwrap();
    // When the command has been reaped; its end may be on record by then, or wait for this child to settle.
    let floods = floods_once("[ ! -d /proc/$$ ]");
    for (spec, cause) in
        [(place.misbehaving(&["floods"]), Cause::TimeLimit), (place.line(&floods), Cause::Exited)]
    {
        let spec = spec.time_limit(Duration::from_millis(500)).grace(Duration::from_millis(50));
        let terminal = store.create(unrestricted(spec).unwrap()).await.unwrap();
        assert_eq!(guarded(terminal.wait()).await.unwrap().cause, cause);
        assert_eq!(guarded(terminal.reader(u64::MAX).next_until_closed(1)).await.unwrap(), Step::Closed);
        assert!(terminal.look().unwrap().first > 0, "output was given up for the end");
        guarded(terminal.release()).await.unwrap();
    }
    drop((store, disk));
    place.check().await;
}
