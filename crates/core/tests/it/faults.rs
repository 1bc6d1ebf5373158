//! Faults: reported as what they are, repaired where they can be, and nothing else is affected.

use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wharf_core::{Cause, Dirs, Holder, Lost, Outcome, Phase, Retention, Store, Terminal, unrestricted};
use wharf_shim::journal::format::HEADER_LEN;
use wharf_shim::journal::record::{Entry, Record};
use wharf_shim::wire::message::{Reply, Request, State};
use wharf_testing::front_end::{FrontEnd, misbehave};
use wharf_testing::leak::{self, MARK};
use wharf_testing::talk::Talk;
use wharf_testing::{Place, all_of, guarded, program, until};

const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

fn kill_holder(place: &Place, terminal: &Terminal) {
    let holder = Pid::from_raw(place.holder_of(terminal) as i32).unwrap();
    kill_process(holder, Signal::KILL).unwrap();
}

/// Processes of the place that live, other than holders of terminals that are meant to.
fn living(place: &Place, but: &[u32]) -> Vec<String> {
    let all =
        leak::processes(place.dir()).into_iter().filter(|p| !p.is_zombie() && !but.contains(&(p.pid as u32)));
    all.map(|p| {
        format!("{p:?} {}", fs::read_to_string(format!("/proc/{}/cmdline", p.pid)).unwrap_or_default())
    })
    .collect()
}

#[tokio::test]
async fn a_killed_holder_is_said_and_its_processes_are_swept_and_nothing_else() {
    let place = Place::process();
    let bystander = place.start(place.misbehaving(&["echoes-lines"]).with_input()).await;
    until(&bystander, "ready").await;
    let Phase::Running { pid, .. } = bystander.look().unwrap().phase else { panic!("does not run") };
    let spared = [pid, place.holder_of(&bystander)];
    for way in ["wait", "look", "tidy", "kill", "release", "reader"] {
        let terminal = place.start(place.misbehaving(&["double-forks", "2", "stays"])).await;
        until(&terminal, "2 daemons").await;
        kill_holder(&place, &terminal);
        let fresh = place.reopened().get(terminal.id()).unwrap();
        match way {
            "wait" => drop(guarded(fresh.wait()).await.unwrap()),
            "look" => settled(&fresh).await,
            "tidy" => {
                while !matches!(fresh.look().unwrap().phase, Phase::Ended(_)) {
                    place.store.tidy(&Retention::default()).unwrap();
                }
            }
            "kill" => drop(guarded(fresh.kill("test", AT_ONCE)).await.unwrap()),
            "reader" => while !matches!(guarded(reader_step(&fresh)).await, wharf_core::Step::Closed) {},
            _ => {
                guarded(fresh.release()).await.unwrap();
                assert_eq!(living(&place, &spared), Vec::<String>::new(), "{way}");
                continue;
            }
        }
        let ended = guarded(terminal.wait()).await.unwrap();
        assert_eq!((ended.outcome, ended.cause), (Outcome::Lost(Lost::HolderDied), Cause::Lost), "{way}");
        assert_eq!(living(&place, &spared), Vec::<String>::new(), "{way}");
        assert_eq!(terminal.read(0, 100).unwrap().bytes, b"2 daemons\n", "what was printed is still there");
        let again = place.reopened().get(terminal.id()).unwrap();
        assert_eq!(guarded(again.wait()).await.unwrap(), ended, "{way}: said once, the same for ever");
    }
    guarded(bystander.input("test").unwrap().end()).await.unwrap();
    assert!(guarded(bystander.wait()).await.unwrap().success());
    place.check().await;
}

/// The dead holder's lock may be seen a moment longer than its death.
async fn settled(terminal: &Terminal) {
    let settling = async {
        while !matches!(terminal.look_and_settle().await.unwrap().phase, Phase::Ended(_)) {
            tokio::task::yield_now().await;
        }
    };
    guarded(settling).await;
}

async fn reader_step(terminal: &Terminal) -> wharf_core::Step {
    terminal.reader(u64::MAX).next_until_closed(1).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_wait_when_a_holder_dies_hear_the_same() {
    let place = Place::process();
    for _ in 0..10 {
        let terminal = place.start(place.misbehaving(&["double-forks", "2", "stays"])).await;
        until(&terminal, "2 daemons").await;
        let waiters: Vec<_> = (0..20)
            .map(|_| {
                let own = place.store.get(terminal.id()).unwrap();
                tokio::spawn(async move { own.wait().await })
            })
            .collect();
        kill_holder(&place, &terminal);
        let mut ends = Vec::new();
        for waiter in waiters {
            ends.push(guarded(waiter).await.unwrap().unwrap());
        }
        assert!(ends.iter().all(|end| *end == ends[0]), "{ends:?}");
        assert_eq!(ends[0].outcome, Outcome::Lost(Lost::HolderDied));
        let ended =
            place.events(&terminal).entries.iter().filter(|e| matches!(e.record, Record::End(_))).count();
        assert_eq!(ended, 1, "exactly one end");
        guarded(terminal.release()).await.unwrap();
    }
    place.check().await;
}

#[tokio::test]
async fn an_end_that_is_on_record_survives_the_holders_death() {
    let place = Place::process();
    let terminal = place.start(place.misbehaving(&["double-forks", "1", "exits"])).await;
    let ended = guarded(terminal.wait()).await.unwrap();
    kill_holder(&place, &terminal);
    let fresh = place.reopened().get(terminal.id()).unwrap();
    assert_eq!(guarded(fresh.wait()).await.unwrap(), ended);
    guarded(fresh.kill("test", AT_ONCE)).await.unwrap();
    assert_eq!(living(&place, &[]), Vec::<String>::new(), "its daemon is swept");
    assert_eq!(guarded(fresh.wait()).await.unwrap(), ended);
    place.check().await;
}

/// Ends a terminal and gives its records.
async fn ended_journal(place: &Place) -> (Terminal, PathBuf, Vec<Entry>) {
    let terminal = place.start(place.line("echo hello; exit 3")).await;
    guarded(terminal.wait()).await.unwrap();
    while guarded(terminal.reader(u64::MAX).next_until_closed(1)).await.unwrap() != wharf_core::Step::Closed {
    }
    let entries = place.events(&terminal).entries;
    let events = place.files(&terminal).join("events");
    (terminal, events, entries)
}

/// Writes a journal with these records in place of what was there.
fn rewrite(events: &Path, entries: &[Entry]) {
    let mut bytes = wharf_shim::journal::format::header();
    entries.iter().for_each(|entry| bytes.extend(entry.encode()));
    fs::write(events, bytes).unwrap();
}

#[tokio::test]
async fn a_torn_last_record_never_happened() {
    let place = Place::process();
    let (terminal, events, entries) = ended_journal(&place).await;
    let end = entries.iter().position(|e| matches!(e.record, Record::End(_))).unwrap();
    rewrite(&events, &entries[..=end]);
    let file = File::options().write(true).open(&events).unwrap();
    file.set_len(file.metadata().unwrap().len() - 5).unwrap();
    let fresh = place.reopened().get(terminal.id()).unwrap();
    // The end was not written to the end, so nobody knows it; it is not invented.
    assert_eq!(guarded(fresh.wait()).await.unwrap().outcome, Outcome::Lost(Lost::HolderDied));
    assert_eq!(fresh.text(100).unwrap(), ("hello\n".to_owned(), false));
    place.check().await;
}

#[tokio::test]
async fn a_journal_from_before_the_reboot_says_so_and_no_process_is_touched() {
    let place = Place::process();
    let (terminal, events, mut entries) = ended_journal(&place).await;
    let mut innocent = misbehave(&["stays"]).spawn().unwrap();
    let Record::Start(start) = &mut entries[0].record else { panic!("{entries:?}") };
    // The same number and time, but in another life of the machine.
    start.pid = innocent.id();
    start.ticks = wharf_shim::tree::proc::look(innocent.id() as i32).unwrap().ticks;
    start.boot[0] ^= 1;
    start.cgroup = String::new();
    rewrite(&events, &entries[..1]);
    let fresh = place.reopened().get(terminal.id()).unwrap();
    assert_eq!(guarded(fresh.wait()).await.unwrap().outcome, Outcome::Lost(Lost::Reboot));
    assert_eq!(innocent.try_wait().unwrap(), None, "a number from another boot is nobody's");
    innocent.kill().unwrap();
    innocent.wait().unwrap();
    place.check().await;
}

#[tokio::test]
async fn a_damaged_or_newer_or_foreign_journal_is_named_and_the_others_can_be_used() {
    let place = Place::process();
    let (sound, ..) = ended_journal(&place).await;
    for (at, code) in [(HEADER_LEN + 10, "damaged_record"), (8, "newer_format"), (0, "not_a_journal")] {
        let (terminal, events, _) = ended_journal(&place).await;
        let file = File::options().read(true).write(true).open(&events).unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 2], at).unwrap();
        let fresh = place.reopened().get(terminal.id()).unwrap();
        assert_eq!(fresh.look().unwrap_err().code(), code);
        assert_eq!(guarded(fresh.wait()).await.unwrap_err().code(), code);
        assert_eq!(place.store.list().unwrap().len(), 2);
        place.store.tidy(&Retention::default()).unwrap();
        assert_eq!(place.reopened().get(sound.id()).unwrap().text(100).unwrap().0, "hello\n");
        // Unreadable is no reason for it to stay for ever.
        guarded(fresh.release()).await.unwrap();
        assert_eq!(place.store.list().unwrap().len(), 1);
    }
    place.check().await;
}

/// Every place in the holder where a test may kill it.
const IN_THE_HOLDER: [&str; 10] = [
    "create.before_record",
    "create.after_record",
    "read.before_write",
    "kill.before_record",
    "kill.after_ask",
    "kill.before_sweep",
    "exit.before_drain",
    "exit.before_record",
    "exit.after_record",
    "exit.before_closed",
];

#[tokio::test]
async fn a_holder_that_dies_at_any_step_leaves_no_process_and_no_invented_status() {
    if !cfg!(debug_assertions) {
        return;
    }
    let place = Place::process();
    for at in IN_THE_HOLDER {
        for behaviour in [&["double-forks", "1", "exits"][..], &["double-forks", "1", "stays"]] {
            let spec = place.misbehaving(behaviour).env("WHARF_FAILPOINTS", format!("{at}=kill"));
            let made = guarded(place.store.create(unrestricted(spec).unwrap())).await;
            let Ok(terminal) = made else {
                assert!(at.starts_with("create."), "{at}: {made:?}");
                assert!(leak::files(&place.state()).is_empty(), "{at}");
                continue;
            };
            let stays = behaviour[2] == "stays";
            if !stays {
                guarded(terminal.wait()).await.unwrap();
            } else if !at.starts_with("read.") {
                until(&terminal, "1 daemons").await;
            }
            guarded(terminal.kill("test", Some(Duration::from_millis(50)))).await.unwrap();
            let outcome = guarded(terminal.wait()).await.unwrap().outcome;
            let truthful = match outcome {
                Outcome::Lost(Lost::HolderDied) => at != "exit.after_record" && at != "exit.before_closed",
                Outcome::Code(0) => !stays,
                Outcome::Signal(15 | 9) => stays,
                _ => false,
            };
            assert!(truthful, "{at}, {behaviour:?}: {outcome:?}");
            assert_eq!(living(&place, &[place.holder_of(&terminal)]), Vec::<String>::new(), "{at}");
            guarded(terminal.release()).await.unwrap();
        }
    }
    // A holder that dies before its start is on record leaves an empty cgroup, which whoever tidies next removes.
    place.store.tidy(&Retention::default()).unwrap();
    place.check().await;
}

#[tokio::test]
async fn a_creator_that_dies_at_any_step_leaves_no_process_and_nothing_unreadable() {
    if !cfg!(debug_assertions) {
        return;
    }
    let place = Place::process();
    for at in ["create.after_lock", "create.after_files", "create.after_start"] {
        let state = place.state();
        let misbehaving = program("wharf-misbehave");
        let mut command = misbehave(&[
            "creates-terminal",
            state.to_str().unwrap(),
            "kill",
            "0",
            "0",
            "stay",
            "--",
            misbehaving.to_str().unwrap(),
            "double-forks",
            "1",
            "stays",
        ]);
        command.env(MARK, place.dir()).env("WHARF_FAILPOINTS", format!("{at}=kill"));
        assert_eq!(FrontEnd::run(command).finish(), "", "{at}: it was killed before it could say anything");
        for found in place.store.list().unwrap() {
            let terminal = found.terminal.unwrap();
            match guarded(terminal.wait()).await {
                Ok(ended) => assert_eq!(ended.cause, Cause::OwnerGone, "{at}"),
                Err(error) => assert_eq!(error.code(), "not_found", "{at}: it never ran"),
            }
            guarded(terminal.release()).await.unwrap();
        }
        // What is half made is hidden, and goes with time.
        for path in leak::files(&state) {
            assert!(
                path.file_name().unwrap().to_str().unwrap().starts_with(".new-")
                    || path.starts_with(state.join("run"))
            );
            if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
        }
    }
    place.check().await;
}

/// A file system of its own, of a size that a test can change.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// None where the test may not mount.
    fn mount(at: PathBuf, size: &str) -> Option<Self> {
        fs::create_dir(&at).unwrap();
        let mounted = run(
            "mount",
            &["-t", "tmpfs", "-o", &format!("size={size},mode=700"), "wharf-test", at.to_str().unwrap()],
        );
        mounted.then(|| Self(at))
    }

    fn resize(&self, size: &str) {
        assert!(run("mount", &["-o", &format!("remount,size={size}"), self.0.to_str().unwrap()]));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        run("umount", &["-l", self.0.to_str().unwrap()]);
    }
}

fn run(program: &str, args: &[&str]) -> bool {
    #[expect(clippy::disallowed_methods, reason = "mounting is no command in a terminal")]
    let mut command = std::process::Command::new(program);
    command.args(args).stderr(std::process::Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Waits until a holder says that it cannot write.
async fn stalled(socket: PathBuf) {
    let heard = tokio::task::spawn_blocking(move || {
        Talk::to(&socket).ask(&Request::Watch { past: u64::MAX, seen: State::Running })
    });
    let reply = guarded(heard).await.unwrap();
    assert!(matches!(reply, Reply::Progress(p) if p.state == State::Stalled), "{reply:?}");
}

#[tokio::test]
async fn a_full_disk_stops_the_command_and_every_byte_follows_when_there_is_room_again() {
    let place = Place::process();
    let Some(disk) = SmallDisk::mount(place.dir().join("small"), "1m") else { return };
    let shim = Holder::Process(program("wharf-shim"));
    let store = Store::open(Dirs::under(disk.0.join("s")), shim).unwrap();
    let spec = place.misbehaving(&["prints-numbered-lines", "50000", "11"]);
    for spec in [spec.clone(), spec.pty(wharf_core::Size::default())] {
        disk.resize("1m");
        let terminal = store.create(unrestricted(spec).unwrap()).await.unwrap();
        stalled(disk.0.join("s/run").join(terminal.id().as_str())).await;
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
            File::open(disk.0.join("s/terminals").join(terminal.id().as_str()).join("events")).unwrap();
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

#[tokio::test]
async fn a_kill_on_a_full_disk_ends_the_processes_and_a_release_makes_room() {
    let place = Place::process();
    let Some(disk) = SmallDisk::mount(place.dir().join("small"), "1m") else { return };
    let store = Store::open(Dirs::under(disk.0.join("s")), Holder::Process(program("wharf-shim"))).unwrap();
    let terminal = store.create(unrestricted(place.misbehaving(&["floods"])).unwrap()).await.unwrap();
    stalled(disk.0.join("s/run").join(terminal.id().as_str())).await;
    guarded(terminal.release_with(AT_ONCE)).await.unwrap();
    // The room is there when nobody has the file open any more: neither this test nor the holder, which is leaving.
    drop(terminal);
    let next = guarded(async {
        loop {
            let made = store.create(unrestricted(place.misbehaving(&["exits-with", "1"])).unwrap()).await;
            match made {
                Ok(terminal) => break terminal,
                Err(error) => assert_eq!(error.code(), "disk_full"),
            }
        }
    })
    .await;
    assert_eq!(guarded(next.wait()).await.unwrap().exit_code(), Some(1));
    guarded(next.release()).await.unwrap();
    drop((store, next, disk));
    place.check().await;
}

#[tokio::test]
async fn no_room_for_a_new_terminal_is_a_clear_error() {
    let place = Place::process();
    let Some(disk) = SmallDisk::mount(place.dir().join("small"), "1m") else { return };
    let store = Store::open(Dirs::under(disk.0.join("s")), Holder::Process(program("wharf-shim"))).unwrap();
    let _ = fs::write(disk.0.join("filler"), vec![0; 2 << 20]);
    let made = guarded(store.create(unrestricted(place.misbehaving(&["stays"])).unwrap())).await;
    assert_eq!(made.unwrap_err().code(), "disk_full");
    assert!(leak::files(&disk.0.join("s")).is_empty());
    drop((store, disk));
    place.check().await;
}
