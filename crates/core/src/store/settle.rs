//! What becomes of a terminal whose holder died: its processes are ended and the fact is written down.
//!
//! Whoever looks first takes the lock that the dead holder let go, so it happens once, and afterwards the journal
//! has its one end like any other.

use crate::error::ReadError;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::time::Duration;
use wharf_shim::journal::read::Events;
use wharf_shim::journal::record::{Cause, End, Lost, Record, Status};
use wharf_shim::journal::write::Journal;
use wharf_shim::journal::{EVENTS, OUT};
use wharf_shim::tree::{lost, proc};

/// Brings a terminal that nobody holds to its end. Quiet if it has one, or if somebody holds it after all.
pub(crate) fn settle(id: &str, dir: &Path) -> Result<(), ReadError> {
    let events = OpenOptions::new().read(true).write(true).open(dir.join(EVENTS))?;
    match rustix::fs::flock(&events, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Ok(()),
        Err(errno) => return Err(ReadError::Io(errno.into())),
    }
    let known = Events::read(&events)?;
    if let Some(damage) = known.damage {
        return Err(damage.into());
    }
    match known.start() {
        Some((_, start)) if known.closed().is_none() => {
            let killed = lost::sweep(id, start);
            let ended = known.end().is_some();
            write_down(events, dir, start.boot, ended, killed)
        }
        _ => Ok(()),
    }
}

fn write_down(events: File, dir: &Path, boot: [u8; 16], ended: bool, killed: u32) -> Result<(), ReadError> {
    let out = File::open(dir.join(OUT))?;
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
        }));
    }
    journal.record(Record::Closed { killed });
    Ok(())
}
