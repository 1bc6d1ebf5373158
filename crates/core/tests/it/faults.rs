//! Journals that are torn, damaged, from another boot or a later wharf: named as what they are, and still got rid of.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wharf_core::{Lost, Outcome, Retention, Terminal};
use wharf_shim::journal::format::HEADER_LEN;
use wharf_shim::journal::read::is_held;
use wharf_shim::journal::record::{Entry, Record};
use wharf_testing::front_end::misbehave;
use wharf_testing::{Place, guarded, leak, until};

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

/// A terminal of three processes whose holder is dead and whose journal cannot be read beyond its start.
async fn damaged_and_orphaned(place: &Place) -> Terminal {
    let terminal = place.start(place.misbehaving(&["double-forks", "2", "stays"])).await;
    until(&terminal, "2 daemons").await;
    for _ in 0..2 {
        guarded(terminal.signal(28, "test")).await.unwrap();
    }
    place.kill_holder(&terminal);
    let events = File::options().read(true).write(true).open(place.files(&terminal).join("events")).unwrap();
    let gone = async {
        while is_held(&events).unwrap() {
            tokio::task::yield_now().await;
        }
    };
    guarded(gone).await;
    // Within the first signal's record, which a sound one follows.
    let at = HEADER_LEN + place.events(&terminal).entries[0].encode().len() as u64 + 10;
    let mut byte = [0];
    events.read_exact_at(&mut byte, at).unwrap();
    events.write_all_at(&[byte[0] ^ 2], at).unwrap();
    let fresh = place.reopened().get(terminal.id()).unwrap();
    assert_eq!(fresh.look().unwrap_err().code(), "damaged_record");
    fresh
}

#[tokio::test]
async fn releasing_what_is_damaged_ends_its_processes_too() {
    let place = Place::process();
    let terminal = damaged_and_orphaned(&place).await;
    // The command itself goes with its holder, its daemons do not.
    assert!(leak::living(place.dir(), &[]).len() >= 2);
    guarded(terminal.release()).await.unwrap();
    assert_eq!(leak::living(place.dir(), &[]), Vec::<String>::new());
    assert!(leak::files(&place.state()).is_empty());
    place.check().await;
}

#[tokio::test]
async fn tidying_ends_the_processes_of_what_is_damaged_and_removes_it_when_it_is_old() {
    let place = Place::process();
    let terminal = damaged_and_orphaned(&place).await;
    assert!(place.store.tidy(&Retention::default()).unwrap().removed.is_empty(), "it is young");
    assert_eq!(leak::living(place.dir(), &[]), Vec::<String>::new());
    let tidied = place.store.tidy(&Retention { age: Duration::ZERO, total: u64::MAX }).unwrap();
    assert_eq!(tidied.removed, [terminal.id().clone()]);
    assert!(leak::files(&place.state()).is_empty());
    place.check().await;
}
