//! Room at any price, for when nobody may wait for the disk any longer: somebody ends the terminal.
//!
//! The oldest output is given up for the newest, as when more is printed than is kept. So whatever is lost is counted by
//! `first`, to the byte, and every reader, also an older one, sees the gap as it sees any other.

use super::format::{self, FIRST_AT};
use super::write::{BLOCK, Journal};
use std::io;
use std::os::unix::fs::FileExt;

impl Journal {
    /// Writes what could not be written, and gives up as much of the oldest output for it as it takes. Never stalled
    /// afterwards: if not even that helps, the journal is abandoned.
    pub fn make_room(&mut self) {
        let mut slice = BLOCK;
        if self.lacks_room() == Some(false) && !self.retry() {
            // A broken disk: giving up output would gain nothing.
            return self.abandon(None);
        }
        // Others may take what is given back, so it is more each time.
        while !self.retry() {
            let wanted = self.waiting() + BLOCK;
            if !self.give_back(wanted.max(slice)) {
                return self.write_nothing_but_records();
            }
            slice *= 2;
        }
    }

    /// Why nothing more will ever be written, as an error number, if that is so. Whoever settles the terminal finds it
    /// without its last records.
    #[must_use]
    pub fn abandoned(&self) -> Option<i32> {
        self.abandoned
    }

    /// Gives the oldest so many bytes back to the disk; false if there is nothing to give.
    fn give_back(&mut self, bytes: u64) -> bool {
        if self.first() >= self.end() || !self.can_punch() {
            return false;
        }
        let target = (self.punched + bytes).next_multiple_of(BLOCK).clamp(self.first(), self.end());
        // Less than a block gives nothing back, and is not given up for nothing.
        target - target % BLOCK > self.punched && self.drop_to(target)
    }

    /// All output is given up, also what was never written; the file gets its length, which takes no room.
    fn write_nothing_but_records(&mut self) {
        if self.unwritten.is_empty() {
            // It is the records that find no room, and no more can be made.
            return self.abandon(None);
        }
        let skipped = self.skip_unwritten();
        // The last word is the error of whatever was tried last: a full disk, or one that is broken.
        if skipped.is_err() || !self.retry() {
            let errno = skipped.err().and_then(|error| error.raw_os_error());
            self.abandon(errno);
        }
    }

    fn skip_unwritten(&mut self) -> io::Result<()> {
        let total = self.end() + self.unwritten.len() as u64;
        // Announced first, so that no reader takes what was never written for output.
        self.events.write_all_at(&format::first_slot(total), FIRST_AT)?;
        if let Err(error) = self.out.set_len(total) {
            let _ = self.events.write_all_at(&format::first_slot(self.first()), FIRST_AT);
            return Err(error);
        }
        self.unwritten.clear();
        self.end = total;
        self.drop_to(total);
        Ok(())
    }
}
