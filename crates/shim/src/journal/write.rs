//! Writing a journal: append, drop the oldest, and stand still without losing a byte when the disk is full.
//!
//! Owned by the holder alone. A byte is written here before anyone is told of it.

use super::format::{self, FIRST_AT, HEADER_LEN, STALL_AT};
use super::record::{Entry, Record};
use crate::failpoint;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Space for records taken when the journal is made, so that the end of a command can be written on a full disk. Zeros
/// are written rather than asked for with `fallocate`, which costs a transaction of the file system; a reader takes the
/// zeros after the last record for a record that was never finished.
const RESERVED: usize = 4096;
/// Holes are made in whole blocks of the size that file systems use; a part of one would be written over with zeros.
pub(super) const BLOCK: u64 = 4096;
/// Bytes are dropped a slice at a time, since every drop is a change of the file's block map.
const SLICES: u64 = 16;

/// A journal with its end and everything that could not be written yet.
#[derive(Debug)]
pub struct Journal {
    pub(super) events: File,
    pub(super) out: File,
    events_len: u64,
    first: u64,
    /// Up to here the disk space has been given back, in whole blocks; never beyond `first`.
    pub(super) punched: u64,
    pub(super) end: u64,
    keep: u64,
    /// Nothing from here on may be dropped.
    wanted: u64,
    /// Output read from the command and not yet in the file; never more than one read.
    pub(super) unwritten: Vec<u8>,
    /// Records not yet in the file.
    records: Vec<u8>,
    stalled: Option<Stall>,
    can_drop: Option<bool>,
    /// Why nothing is written any more, as an error number.
    pub(super) abandoned: Option<i32>,
}

/// Since when and why nothing can be written.
#[derive(Debug, Clone, Copy)]
struct Stall {
    since: Instant,
    errno: i32,
}

impl Journal {
    /// Begins a journal in two new files.
    pub fn begin(events: File, out: File, keep: u64) -> io::Result<Self> {
        let mut first_block = format::header();
        first_block.resize(RESERVED, 0);
        events.write_all_at(&first_block, 0)?;
        Ok(Self {
            events,
            out,
            events_len: HEADER_LEN,
            first: 0,
            punched: 0,
            end: 0,
            keep,
            wanted: u64::MAX,
            unwritten: Vec::new(),
            records: Vec::new(),
            stalled: None,
            can_drop: None,
            abandoned: None,
        })
    }

    /// Goes on with the `events` of a terminal whose holder died, to write down what became of it.
    pub fn resume(events: File, out: File) -> io::Result<Self> {
        let (events_len, first) = (sound_length(&events)?, super::read::first_kept(&events)?);
        events.set_len(events_len)?;
        let end = out.metadata()?.len();
        Ok(Self {
            events,
            out,
            events_len,
            first,
            punched: first - first % BLOCK,
            end,
            keep: u64::MAX,
            wanted: u64::MAX,
            unwritten: Vec::new(),
            records: Vec::new(),
            stalled: None,
            can_drop: None,
            abandoned: None,
        })
    }

    /// The first offset still kept.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The offset after the last byte in the file.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// From here on everything is kept, even beyond the limit.
    pub fn want(&mut self, from: u64) {
        self.wanted = from;
    }

    /// Whether something waits to be written.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        self.stalled.is_some()
    }

    /// Whether more is on disk than may be kept and the file system cannot drop it.
    #[must_use]
    pub fn is_overfull(&self) -> bool {
        self.can_drop == Some(false) && self.end - self.first > self.keep
    }

    /// Appends output. What cannot be written now is kept and the journal is stalled; the caller reads no more.
    pub fn append(&mut self, bytes: &[u8]) {
        if self.abandoned.is_some() {
            return;
        }
        if self.stalled.is_some() {
            self.unwritten.extend_from_slice(bytes);
            return;
        }
        let written = match self.write_output(bytes) {
            Ok(()) => bytes.len(),
            Err((written, error)) => {
                self.stall(&error);
                written
            }
        };
        self.unwritten.extend_from_slice(&bytes[written..]);
        self.drop_oldest();
    }

    /// Appends a record at the present end of the output.
    pub fn record(&mut self, record: Record) {
        self.record_at(record, now());
    }

    /// The same of something that happened a moment ago.
    pub fn record_at(&mut self, record: Record, at: u64) {
        if self.abandoned.is_some() {
            return;
        }
        let entry = Entry { offset: self.end + self.unwritten.len() as u64, at, record };
        self.records.extend_from_slice(&entry.encode());
        if self.stalled.is_none()
            && let Err(error) = self.write_records()
        {
            self.stall(&error);
        }
    }

    /// Tries again to write what is left over; true when nothing is.
    pub fn retry(&mut self) -> bool {
        let Some(stall) = self.stalled else { return true };
        if self.is_forgotten() {
            self.unwritten.clear();
            self.records.clear();
            self.stalled = None;
            return true;
        }
        let unwritten = std::mem::take(&mut self.unwritten);
        if let Err((written, _)) = self.write_output(&unwritten) {
            self.unwritten = unwritten[written..].to_vec();
            return false;
        }
        if self.write_records().is_err() {
            return false;
        }
        self.stalled = None;
        self.announce_stall(0);
        self.record(Record::Stalled { errno: stall.errno, lasted: stall.since.elapsed() });
        self.drop_oldest();
        self.stalled.is_none()
    }

    /// Whether it is for want of room that nothing can be written, if nothing can.
    pub(super) fn lacks_room(&self) -> Option<bool> {
        self.stalled.map(|stall| matches!(stall.errno, libc::ENOSPC | libc::EDQUOT))
    }

    /// How many bytes wait to be written.
    pub(super) fn waiting(&self) -> u64 {
        (self.unwritten.len() + self.records.len()) as u64
    }

    /// From now on nothing is written, and nothing waits to be.
    pub(super) fn abandon(&mut self, errno: Option<i32>) {
        let stalled = self.stalled.take().map(|stall| stall.errno);
        self.abandoned = Some(errno.or(stalled).unwrap_or(libc::EIO));
        self.unwritten.clear();
        self.records.clear();
    }

    /// Whether the terminal was released: nobody can open these files any more.
    fn is_forgotten(&self) -> bool {
        self.out.metadata().is_ok_and(|meta| meta.nlink() == 0)
    }

    fn stall(&mut self, error: &io::Error) {
        let errno = error.raw_os_error().unwrap_or(libc::EIO);
        self.stalled = Some(Stall { since: Instant::now(), errno });
        self.announce_stall(errno);
    }

    /// For readers, in a block that the file has already: a full disk does not keep it from being written.
    fn announce_stall(&self, errno: i32) {
        let errno = u16::try_from(errno).unwrap_or(u16::MAX);
        let _ = self.events.write_all_at(&errno.to_le_bytes(), STALL_AT);
    }

    /// On failure says how much was written all the same.
    fn write_output(&mut self, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
        let mut written = 0;
        while written < bytes.len() {
            if let Some(error) = failpoint::error("read.before_write") {
                return Err((written, error));
            }
            match self.out.write_at(&bytes[written..], self.end) {
                Ok(n) => {
                    written += n;
                    self.end += n as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err((written, error)),
            }
        }
        Ok(())
    }

    fn write_records(&mut self) -> io::Result<()> {
        while !self.records.is_empty() {
            match self.events.write_at(&self.records, self.events_len) {
                Ok(n) => {
                    self.events_len += n as u64;
                    self.records.drain(..n);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Once more than `keep` is kept, drops the oldest down to fifteen sixteenths of it.
    fn drop_oldest(&mut self) {
        if self.end - self.first <= self.keep || self.can_drop == Some(false) {
            return;
        }
        let target = (self.end - (self.keep - self.keep / SLICES)).min(self.wanted);
        if target <= self.first || !self.can_punch() {
            return;
        }
        self.drop_to(target);
    }

    /// Gives up what is before `target`. False if that could not be announced, or gives no space back.
    pub(super) fn drop_to(&mut self, target: u64) -> bool {
        // Announced first, so that no reader takes the zeros of a hole for output.
        if self.events.write_all_at(&format::first_slot(target), FIRST_AT).is_err() {
            return false;
        }
        self.first = target;
        let upto = target - target % BLOCK;
        if upto <= self.punched {
            return false;
        }
        match fallocate(&self.out, PUNCH, self.punched, upto - self.punched) {
            Ok(()) => self.punched = upto,
            Err(Errno::INTR) => {}
            // Space that cannot be given back must not be taken without end either.
            Err(_) => self.can_drop = Some(false),
        }
        self.can_drop != Some(false)
    }

    /// Asks once, by punching where nothing is.
    pub(super) fn can_punch(&mut self) -> bool {
        let out = &self.out;
        let beyond = self.end.next_multiple_of(BLOCK) + BLOCK;
        *self.can_drop.get_or_insert_with(|| {
            !matches!(fallocate(out, PUNCH, beyond, BLOCK), Err(Errno::OPNOTSUPP | Errno::NOSYS))
        })
    }
}

const PUNCH: FallocateFlags = FallocateFlags::PUNCH_HOLE.union(FallocateFlags::KEEP_SIZE);

/// Where the sound records of a file end.
fn sound_length(events: &File) -> io::Result<u64> {
    let read = super::read::Events::read(events)?;
    if let Some(damage) = read.damage {
        return Err(io::Error::new(io::ErrorKind::InvalidData, damage));
    }
    Ok(read.sound)
}

/// Wall clock, nanoseconds since 1970.
#[must_use]
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, crate::plan::nanos)
}
