//! Reading a journal, also while it is being written and after anything happened to it.
//!
//! Nothing here takes a lock: the length of `out` is the commit point of its bytes, and a record counts once its
//! checksum is there. A torn last record is what a crash leaves; it is passed over in silence because it never happened.

use super::format::{self, Damage, FIRST_AT, HEADER_LEN, STALL_AT};
use super::record::{End, Entry, Record, Start};
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// So much of a file is looked at in one go, which is more than a record is long, and than a writer leaves behind its last
/// one: zeros that are reserved, and an append that was never finished.
const WINDOW: usize = 256 * 1024;

/// All that an `events` file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Events {
    /// The records in order.
    pub entries: Vec<Entry>,
    /// The first offset of the output that is still kept.
    pub first: u64,
    /// The length of the file up to the end of its last sound record.
    pub sound: u64,
    /// What is wrong with the file, if anything; the entries before it are sound.
    pub damage: Option<Damage>,
}

impl Events {
    /// Reads the whole of `file` as it is now.
    pub fn read(file: &File) -> io::Result<Self> {
        let mut events = Self::read_once(file)?;
        // A read is not atomic: beside a writer it can hold a later record and not yet the one before. Looked at again,
        // that one is there; damage stays where it is.
        while let Some(Damage::Record { at }) = events.damage {
            events = Self::read_once(file)?;
            if events.damage == Some(Damage::Record { at }) {
                break;
            }
        }
        if events.damage.is_none() {
            events.first = first_kept(file)?;
        }
        Ok(events)
    }

    fn read_once(file: &File) -> io::Result<Self> {
        let mut events = Self::parse(&read_window(file, 0, HEADER_LEN as usize)?);
        if events.damage.is_none() {
            let entries = &mut events.entries;
            (events.sound, events.damage) = read_records(file, HEADER_LEN, |entry| entries.push(entry))?;
        }
        Ok(events)
    }

    /// The pure part: bytes of a file → what they say. Total: any bytes give an answer.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        if let Err(damage) = format::check_header(bytes) {
            return Self { damage: Some(damage), ..Self::default() };
        }
        let mut events = Self::default();
        let slot = bytes.get(FIRST_AT as usize..).and_then(|b| b.first_chunk::<16>());
        events.first = slot.and_then(format::read_first_slot).unwrap_or(0);
        let records = &bytes[HEADER_LEN as usize..];
        let sound = decode(records, |entry| events.entries.push(entry));
        events.sound = HEADER_LEN + sound as u64;
        events.damage = damage(&records[sound..], events.sound);
        events
    }

    /// The start, if the command was let run.
    #[must_use]
    pub fn start(&self) -> Option<(&Entry, &Start)> {
        self.entries.iter().find_map(|e| match &e.record {
            Record::Start(start) => Some((e, start)),
            _ => None,
        })
    }

    /// The end. If a damaged or doubly written file should hold two, the first one counts.
    #[must_use]
    pub fn end(&self) -> Option<(&Entry, &End)> {
        self.entries.iter().find_map(|e| match &e.record {
            Record::End(end) => Some((e, end)),
            _ => None,
        })
    }

    /// The step and the error number, if the command could not be started.
    #[must_use]
    pub fn not_started(&self) -> Option<(u8, i32)> {
        self.entries.iter().find_map(|e| match e.record {
            Record::NotStarted { stage, errno } => Some((stage, errno)),
            _ => None,
        })
    }

    /// How many processes the holder ended, once nothing is left.
    #[must_use]
    pub fn closed(&self) -> Option<u32> {
        self.entries.iter().find_map(|e| match e.record {
            Record::Closed { killed } => Some(killed),
            _ => None,
        })
    }
}

/// Goes over the records from byte `from` on, one after the other, however long the file is. Says where the last sound one
/// ends, and what is wrong there, if anything.
pub fn read_records(
    file: &File,
    from: u64,
    mut each: impl FnMut(Entry),
) -> io::Result<(u64, Option<Damage>)> {
    let mut at = from;
    loop {
        let bytes = read_window(file, at, WINDOW)?;
        let sound = decode(&bytes, &mut each);
        at += sound as u64;
        if sound == 0 || bytes.len() < WINDOW {
            return Ok((at, damage(&bytes[sound..], at)));
        }
    }
}

/// Up to so many bytes of a file, as many as there are.
fn read_window(file: &File, at: u64, most: usize) -> io::Result<Vec<u8>> {
    let left = file.metadata()?.len().saturating_sub(at);
    let mut bytes = vec![0; usize::try_from(left).unwrap_or(usize::MAX).min(most)];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// The sound records at the beginning of `bytes`; how many bytes they are together.
fn decode(bytes: &[u8], mut each: impl FnMut(Entry)) -> usize {
    let mut at = 0;
    while let Some((entry, len)) = bytes.get(at..).and_then(Entry::decode) {
        each(entry);
        at += len;
    }
    at
}

/// What is wrong with that which follows the last sound record, at byte `at`. A record that does not decode is an
/// unfinished append if nothing but zeros follows it, and damage otherwise. So it is after a crash, and so it looks to a
/// reader that comes while the record is being written. A damaged length can hide the records after it, so they are
/// looked for: an unfinished append has none. More than a writer can have left is damage, whatever it is.
fn damage(rest: &[u8], at: u64) -> Option<Damage> {
    if rest.len() >= WINDOW {
        return Some(Damage::Record { at });
    }
    if rest.iter().all(|b| *b == 0) {
        return None;
    }
    let announced = rest.first_chunk::<4>().map(|h| (u32::from_le_bytes(*h) as usize).saturating_add(8));
    let after = announced.and_then(|len| rest.get(len..)).unwrap_or_default();
    let unfinished =
        after.iter().all(|b| *b == 0) && (1..rest.len()).all(|from| Entry::decode(&rest[from..]).is_none());
    (!unfinished).then_some(Damage::Record { at })
}

/// The first offset that is still kept, as the header says at this moment.
pub fn first_kept(events: &File) -> io::Result<u64> {
    // The writer changes sixteen bytes with one call; a reader that catches half of it looks again, and lets the
    // writer run in between. If a thousand looks show the same, the slot itself is damaged.
    for _ in 0..1000 {
        let mut slot = [0; 16];
        match events.read_exact_at(&mut slot, FIRST_AT) {
            // Not even a header yet, so nothing can have been dropped.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
            read => read?,
        }
        if let Some(first) = format::read_first_slot(&slot) {
            return Ok(first);
        }
        std::thread::yield_now();
    }
    Err(io::Error::other("the journal's header does not say which bytes are kept"))
}

/// Why the holder cannot write at this moment, as an error number; `None` if it can.
pub fn stalled(events: &File) -> io::Result<Option<i32>> {
    let mut errno = [0; 2];
    match events.read_exact_at(&mut errno, STALL_AT) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let errno = i32::from(u16::from_le_bytes(errno));
    Ok((errno != 0).then_some(errno))
}

/// A piece of output, with all that a reader needs to know where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The offset of the first byte of `bytes`.
    pub at: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Bytes between the asked offset and `at` that are no longer kept.
    pub gap: u64,
    /// The first offset still kept.
    pub first: u64,
    /// The offset after the last byte that was there when this was read.
    pub end: u64,
}

/// Reads up to `max` bytes from `from`. An offset beyond the end gives an empty chunk at the end.
pub fn read_output(events: &File, out: &File, from: u64, max: usize) -> io::Result<Chunk> {
    let end = out.metadata()?.len();
    let first = first_kept(events)?;
    let at = from.clamp(first.min(end), end);
    let len = usize::try_from(end - at).unwrap_or(usize::MAX).min(max);
    let mut bytes = vec![0; len];
    out.read_exact_at(&mut bytes, at)?;
    // The writer announces a drop before it punches the hole: bytes that are still announced now were real when
    // they were read; the others may be zeros and are given up.
    let first = first_kept(events)?;
    let lost = usize::try_from(first.saturating_sub(at)).unwrap_or(usize::MAX).min(len);
    bytes.drain(..lost);
    let at = at + lost as u64;
    Ok(Chunk { at, bytes, gap: at.saturating_sub(from), first, end })
}

/// Whether somebody holds the terminal. The lock ends with its holder, however that dies.
pub fn is_held(events: &File) -> io::Result<bool> {
    match rustix::fs::flock(events, FlockOperation::NonBlockingLockShared) {
        Ok(()) => {
            rustix::fs::flock(events, FlockOperation::Unlock)?;
            Ok(false)
        }
        Err(Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(error.into()),
    }
}
