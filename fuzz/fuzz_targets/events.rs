//! Any bytes as an `events` file: an answer and never a panic, and what was read is what was written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::time::Duration;
use wharf_fuzz::plant;
use wharf_shim::journal::format::{HEADER_LEN, header};
use wharf_shim::journal::read::Events;
use wharf_shim::journal::record::{Cause, End, Entry, Lost, Record, Start, Status};
use wharf_shim::plan::Size;

fuzz_target!(init: plant([whole_journal(), header(), lost_journal()]), |bytes: &[u8]| {
    check(bytes);
    // No fuzzer guesses a checksum; with the right ones in their place it reaches the fields behind them.
    check(&mended(bytes));
});

fn check(bytes: &[u8]) {
    let events = Events::parse(bytes);
    assert!(events.sound <= bytes.len() as u64);
    let mut at = HEADER_LEN as usize;
    for entry in &events.entries {
        let len = announced(&bytes[at..]).expect("a record that was read has a length");
        let (stored, written) = (&bytes[at..at + len], entry.encode());
        let read = Entry::decode(&written).expect("what is written can be read");
        assert_eq!((&read.0, read.1), (entry, written.len()));
        // A record from a later wharf may say more than this one reads; what it does read is the same bytes. One from an
        // earlier wharf may lack a sandbox's name, which is then an empty text, or the mark that no limit ended it.
        let lacking = match entry.record {
            Record::Start(_) => 4,
            Record::End(_) => 1,
            _ => 0,
        };
        assert!(written.len() <= stored.len() + lacking);
        if written.len() == stored.len() {
            assert_eq!(written, stored);
        }
        at += len;
    }
    assert!(events.entries.is_empty() || at as u64 == events.sound);
}

/// The length on disk of the record at the start of `bytes`: length, body, checksum.
fn announced(bytes: &[u8]) -> Option<usize> {
    let head = bytes.first_chunk::<4>()?;
    let len = usize::try_from(u32::from_le_bytes(*head)).ok()?.checked_add(8)?;
    (len <= bytes.len()).then_some(len)
}

fn mended(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut at = HEADER_LEN as usize;
    while let Some(len) = bytes.get(at..).and_then(announced) {
        let crc = crc32fast::hash(&bytes[at + 4..at + len - 4]);
        bytes[at + len - 4..at + len].copy_from_slice(&crc.to_le_bytes());
        at += len;
    }
    bytes
}

fn whole_journal() -> Vec<u8> {
    let author = || "agent".to_owned();
    let start = Start {
        holder: 1,
        holder_ticks: 2,
        pid: 2,
        ticks: 3,
        boot: [4; 16],
        cgroup: "/sys/fs/cgroup/x".to_owned(),
        sandbox: "workspace".to_owned(),
    };
    journal([
        Record::Start(start),
        Record::Resize(Size { cols: 80, rows: 24 }),
        Record::Input { writer: 1, seq: 2, len: 3, author: author() },
        Record::InputEnded { author: author() },
        Record::Signal { signal: 2, author: author() },
        Record::Killing { cause: Cause::Killed, author: author(), grace: Duration::from_secs(5) },
        Record::Stalled { errno: 28, lasted: Duration::from_millis(7) },
        Record::End(end(Status::Signal(15), Cause::Killed)),
        Record::Closed { killed: 2 },
        Record::Unknown(200),
    ])
}

fn lost_journal() -> Vec<u8> {
    journal([
        Record::NotStarted { stage: 1, errno: 2 },
        Record::End(end(Status::Code(3), Cause::Exited)),
        Record::End(end(Status::Lost(Lost::Reboot), Cause::Lost)),
    ])
}

fn journal(records: impl IntoIterator<Item = Record>) -> Vec<u8> {
    let entries = records.into_iter().map(|record| Entry { offset: 5, at: 6, record }.encode());
    std::iter::once(header()).chain(entries).flatten().collect()
}

fn end(status: Status, cause: Cause) -> End {
    End {
        status,
        cause,
        author: String::new(),
        lasted: Duration::from_secs(1),
        user: Duration::from_millis(2),
        system: Duration::from_millis(3),
        peak_memory: 4,
        left: 5,
        holding: 6,
        limit: Some(7),
    }
}
