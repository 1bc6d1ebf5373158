//! The journal reader against everything that may happen to a file.
#![expect(clippy::unwrap_used, reason = "what the tests share fails the test that uses it")]

use proptest::prelude::*;
use std::fs::File;
use std::path::Path;
use std::time::Duration;
use wharf_shim::journal::format::{Damage, FIRST_AT, HEADER_LEN, header};
use wharf_shim::journal::read::{Events, first_kept};
use wharf_shim::journal::record::{Cause, End, Entry, Lost, Record, Start, Status};
use wharf_shim::journal::write::Journal;
use wharf_shim::plan::Size;

fn status() -> impl Strategy<Value = Status> {
    prop_oneof![
        (0i32..256).prop_map(Status::Code),
        (1i32..65).prop_map(Status::Signal),
        Just(Status::Lost(Lost::HolderDied)),
        Just(Status::Lost(Lost::Reboot)),
    ]
}

fn record() -> impl Strategy<Value = Record> {
    let author = || "[a-z]{0,12}";
    let time = || any::<u64>().prop_map(Duration::from_nanos);
    let start = (any::<u32>(), any::<u32>(), any::<u64>(), any::<[u8; 16]>(), "[a-z/-]{0,40}").prop_map(
        |(holder, pid, ticks, boot, cgroup)| {
            Record::Start(Start {
                holder,
                holder_ticks: ticks / 2,
                pid,
                ticks,
                boot,
                sandbox: cgroup.clone(),
                cgroup,
            })
        },
    );
    let end = (status(), author(), time(), any::<u64>(), any::<u32>()).prop_map(
        |(status, author, lasted, n, left)| {
            let (user, system) = (lasted / 2, lasted / 3);
            Record::End(End {
                status,
                cause: Cause::Exited,
                author,
                lasted,
                user,
                system,
                peak_memory: n,
                left,
                holding: 0,
                limit: (n % 2 == 0).then_some(n),
            })
        },
    );
    prop_oneof![
        start,
        end,
        (any::<u16>(), any::<u16>()).prop_map(|(cols, rows)| Record::Resize(Size { cols, rows })),
        (any::<u64>(), any::<u64>(), any::<u64>(), author())
            .prop_map(|(writer, seq, len, author)| Record::Input { writer, seq, len, author }),
        (1i32..65, author()).prop_map(|(signal, author)| Record::Signal { signal, author }),
        (any::<u8>(), any::<i32>()).prop_map(|(stage, errno)| Record::NotStarted { stage, errno }),
        any::<u32>().prop_map(|killed| Record::Closed { killed }),
    ]
}

fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let entry =
        (any::<u64>(), any::<u64>(), record()).prop_map(|(offset, at, record)| Entry { offset, at, record });
    proptest::collection::vec(entry, 1..8)
}

/// The file that a journal with these records is.
fn file_of(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = header();
    entries.iter().for_each(|entry| bytes.extend(entry.encode()));
    bytes
}

/// As a holder leaves it: with space for more records behind the last one.
fn reserved(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().max(4096), 0);
    bytes
}

fn is_prefix(part: &[Entry], whole: &[Entry]) -> bool {
    part.len() <= whole.len() && part == &whole[..part.len()]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_written_is_read(entries in entries()) {
        let read = Events::parse(&reserved(file_of(&entries)));
        prop_assert_eq!(read.entries, entries);
        prop_assert_eq!(read.damage, None);
    }

    #[test]
    fn a_cut_file_says_what_was_written_before_the_cut(entries in entries(), cut in any::<prop::sample::Index>()) {
        let bytes = file_of(&entries);
        let cut = HEADER_LEN as usize + cut.index(bytes.len() - HEADER_LEN as usize);
        let read = Events::parse(&bytes[..cut]);
        prop_assert!(is_prefix(&read.entries, &entries));
        prop_assert_eq!(read.damage, None);
    }

    #[test]
    fn a_record_that_was_torn_in_the_reserved_space_never_happened(
        entries in entries(),
        cut in any::<prop::sample::Index>(),
    ) {
        // The last write stopped in its middle; behind it are the zeros that were there before.
        let mut bytes = file_of(&entries);
        let last = entries[entries.len() - 1].encode().len();
        let from = bytes.len() - last + cut.index(last);
        bytes.truncate(from);
        let read = Events::parse(&reserved(bytes));
        prop_assert!(is_prefix(&read.entries, &entries));
        prop_assert_eq!(read.damage, None);
    }

    #[test]
    fn a_changed_byte_is_never_taken_for_a_record(
        entries in entries(),
        at in any::<prop::sample::Index>(),
        change in 1u8..=255,
    ) {
        let mut bytes = reserved(file_of(&entries));
        let records = HEADER_LEN as usize..file_of(&entries).len();
        let at = records.start + at.index(records.len());
        bytes[at] ^= change;
        let read = Events::parse(&bytes);
        prop_assert!(is_prefix(&read.entries, &entries));
        prop_assert!(read.entries.len() < entries.len());
    }

    #[test]
    fn damage_before_the_last_record_is_not_mistaken_for_a_torn_end(
        entries in entries(),
        at in any::<prop::sample::Index>(),
        change in 1u8..=255,
    ) {
        prop_assume!(entries.len() > 1);
        let mut bytes = reserved(file_of(&entries));
        let first = HEADER_LEN as usize..HEADER_LEN as usize + entries[0].encode().len();
        bytes[first.start + at.index(first.len())] ^= change;
        prop_assert!(Events::parse(&bytes).damage.is_some(), "records that were there are passed over in silence");
    }

    #[test]
    fn a_changed_header_is_refused_or_harmless(at in 0usize..HEADER_LEN as usize, change in 1u8..=255) {
        let entry = Entry { offset: 0, at: 0, record: Record::Closed { killed: 1 } };
        let mut bytes = file_of(std::slice::from_ref(&entry));
        bytes[at] ^= change;
        let read = Events::parse(&bytes);
        prop_assert!(read.damage.is_some() || read.entries == [entry]);
        if at < 10 {
            prop_assert!(read.damage.is_some(), "magic and version are checked");
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let _ = Events::parse(&bytes);
        let with_header: Vec<u8> = header().into_iter().chain(bytes).collect();
        let _ = Events::parse(&with_header);
    }
}

/// Two files for a journal, and another eye on the first.
fn files(dir: &Path) -> (File, File, File) {
    let make = |name| {
        let path = dir.join(name);
        File::options().read(true).write(true).create(true).truncate(true).open(path).unwrap()
    };
    let (events, out) = (make("events"), make("out"));
    (events, out, File::open(dir.join("events")).unwrap())
}

/// Reads beside a writer until all its records were seen.
fn read_beside_writer(dir: &Path, records: u64) {
    let (events, out, reading) = files(dir);
    let mut journal = Journal::begin(events, out, 1 << 20).unwrap();
    let writer = std::thread::spawn(move || {
        for seq in 0..records {
            journal.record(Record::Input { writer: 7, seq, len: 1, author: "somebody".into() });
        }
    });
    let mut seen = 0;
    while seen < records as usize {
        let done = writer.is_finished();
        let read = Events::read(&reading).unwrap();
        assert_eq!(read.damage, None, "after {seen} records");
        assert!(read.entries.len() >= seen, "what was read once stays");
        seen = read.entries.len();
        assert!(!done || seen == records as usize, "only {seen} records");
    }
    writer.join().unwrap();
}

#[test]
fn a_reader_beside_the_writer_sees_no_damage_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    read_beside_writer(dir.path(), 20_000);
}

#[test]
fn a_reader_that_sees_a_later_record_before_an_earlier_one_looks_again() {
    // A read is not atomic: bytes that it copies first can be older than those that it copies last.
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..3_000 {
        read_beside_writer(dir.path(), 30);
    }
}

#[test]
fn a_damaged_slot_for_the_first_kept_offset_is_an_error_and_not_a_number() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events");
    let mut bytes = header();
    bytes[FIRST_AT as usize] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    assert!(first_kept(&File::open(&path).unwrap()).is_err());
}

#[test]
fn an_end_from_before_limits_were_on_record_has_none() {
    let end = End {
        status: Status::Code(0),
        cause: Cause::Exited,
        author: String::new(),
        lasted: Duration::ZERO,
        user: Duration::ZERO,
        system: Duration::ZERO,
        peak_memory: 1,
        left: 2,
        holding: 3,
        limit: None,
    };
    let entry = Entry { offset: 1, at: 2, record: Record::End(end) };
    let whole = entry.encode();
    // Length, body, checksum; the last byte of the body is the mark that nothing follows.
    let body = &whole[4..whole.len() - 5];
    let mut old = u32::try_from(body.len()).unwrap().to_le_bytes().to_vec();
    old.extend_from_slice(body);
    old.extend_from_slice(&crc32fast::hash(body).to_le_bytes());
    assert_eq!(Entry::decode(&old), Some((entry, old.len())));
}

#[test]
fn a_start_from_before_there_were_sandboxes_is_one_without() {
    let start = Start {
        holder: 1,
        holder_ticks: 2,
        pid: 3,
        ticks: 4,
        boot: [5; 16],
        cgroup: "/group".to_owned(),
        sandbox: String::new(),
    };
    let entry = Entry { offset: 0, at: 7, record: Record::Start(start) };
    let now = entry.encode();
    // Without the length of the empty name at the end.
    let body = &now[4..now.len() - 8];
    let length = u32::try_from(body.len()).unwrap().to_le_bytes();
    let then = [&length, body, &crc32fast::hash(body).to_le_bytes()].concat();
    assert_eq!(Entry::decode(&then).unwrap().0, entry);
}

#[test]
fn a_long_file_is_read_to_its_last_record_and_a_file_of_4_tb_no_further() {
    let dir = tempfile::tempdir().unwrap();
    let (events, out, reading) = files(dir.path());
    let mut journal = Journal::begin(events, out, 1 << 20).unwrap();
    let record = |seq| Record::Input { writer: 7, seq, len: 1, author: "somebody".into() };
    (0..20_000).for_each(|seq| journal.record(record(seq)));
    let whole = Events::read(&reading).unwrap();
    assert!(whole.sound > 1 << 20, "{} bytes are no long file", whole.sound);
    let read: Vec<Record> = whole.entries.iter().map(|entry| entry.record.clone()).collect();
    assert_eq!((read, &whole.damage), ((0..20_000).map(record).collect(), &None));
    assert_eq!(Events::parse(&std::fs::read(dir.path().join("events")).unwrap()), whole);
    File::options().write(true).open(dir.path().join("events")).unwrap().set_len(4 << 40).unwrap();
    let long = Events::read(&reading).unwrap();
    assert_eq!(long.damage, Some(Damage::Record { at: whole.sound }));
    assert_eq!(long.entries, whole.entries, "what was written counts");
}
