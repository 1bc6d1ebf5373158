//! What becomes of a terminal whose holder died: its processes are ended and the fact is written down.
//!
//! Whoever looks first takes the lock that the dead holder let go, so it happens once, and afterwards the journal
//! has its one end like any other.

use super::file;
use crate::error::ReadError;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;
use wharf_shim::journal::file::Access;
use wharf_shim::journal::read::Events;
use wharf_shim::journal::record::{Cause, End, Lost, Record, Status};
use wharf_shim::journal::write::Journal;
use wharf_shim::journal::{EVENTS, OUT};
use wharf_shim::tree::lost::{self, Swept};
use wharf_shim::tree::proc;

/// Brings a terminal whose holder is dead to its end; quiet if it has one. Waits for the lock, which then is held only
/// by others that look or settle, for moments.
pub(crate) fn settle(id: &str, dir: &Path) -> Result<(), ReadError> {
    let events = file::open(dir, EVENTS, Access::Write)?;
    while let Err(errno) = rustix::fs::flock(&events, FlockOperation::LockExclusive) {
        if errno != Errno::INTR {
            return Err(ReadError::Io(errno.into()));
        }
    }
    let known = Events::read(&events)?;
    let swept = match known.start() {
        Some((_, start)) if known.closed().is_none() && known.not_started().is_none() => {
            Some((start, lost::sweep(id, start)))
        }
        _ => None,
    };
    // What is damaged can be swept, but not written to.
    if let Some(damage) = known.damage {
        return Err(damage.into());
    }
    match swept {
        None => Ok(()),
        Some((start, swept)) => write_down(events, dir, start.boot, known.end().is_some(), swept),
    }
}

/// The command's end is lost in any case. Closed it is when nobody is left; else whoever looks next tries again.
fn write_down(events: File, dir: &Path, boot: [u8; 16], ended: bool, swept: Swept) -> Result<(), ReadError> {
    let killed = swept.processes;
    let out = file::open(dir, OUT, Access::Write)?;
    let mut journal = Journal::resume(events, out)?;
    if !ended {
        let why = if boot == proc::boot() { Lost::HolderDied } else { Lost::Reboot };
        journal.record(Record::End(End {
            status: Status::Lost(why),
            cause: Cause::Lost,
            author: String::new(),
            lasted: Duration::ZERO,
            user: Duration::ZERO,
            system: Duration::ZERO,
            peak_memory: 0,
            left: killed,
            holding: 0,
            limit: None,
        }));
    }
    if swept.done {
        journal.record(Record::Closed { killed });
    }
    // Whoever looks does not wait for the disk, and what is on record is worth more than the oldest output.
    journal.make_room();
    if journal.abandoned().is_some() {
        let full = io::Error::new(io::ErrorKind::StorageFull, "its end cannot be written, the disk is full");
        return Err(ReadError::Io(full));
    }
    Ok(())
}
