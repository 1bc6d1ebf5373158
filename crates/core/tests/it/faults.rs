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

