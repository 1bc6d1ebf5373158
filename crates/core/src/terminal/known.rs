//! What a journal's records say, read once each, however often one asks.

use super::Terminal;
use crate::end::Ended;
use crate::error::ReadError;
use crate::spec::Size;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::PoisonError;
use wharf_shim::journal::format::{self, Damage, HEADER_LEN};
use wharf_shim::journal::read::{first_kept, read_records, stalled};
use wharf_shim::journal::record::{Entry, Record};
use wharf_shim::tree::Identity;

/// How a terminal stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// Where it is in its life.
    pub phase: Phase,
    /// The first offset of the output that is still kept: so many bytes were dropped.
    pub first: u64,
    /// The offset after the last byte.
    pub end: u64,
    /// The present size, if it is a PTY.
    pub size: Option<Size>,
    /// Whether a holder is there: the command runs, or descendants of it do.
    pub held: bool,
    /// Why its holder cannot write at this moment, as an error number: the disk is full, most likely. The command waits
    /// and nothing is lost.
    pub stalled: Option<i32>,
}

/// The life of a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// Its command does not run yet.
    Starting,
    /// Its command runs.
    Running {
        /// The command's process id.
        pid: u32,
        /// When it was started, in nanoseconds since 1970.
        since: u64,
    },
    /// Its command has ended.
    Ended(Ended),
    /// Its command never ran: it could not be started, or its creator died before.
    NotStarted,
}

/// What one author has typed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Typing {
    /// How many bytes.
    pub(crate) bytes: u64,
    /// When last, in nanoseconds since 1970.
    pub(crate) last: u64,
}

/// What has been read of the records so far.
#[derive(Debug, Default)]
pub(super) struct Known {
    read_to: u64,
    running: Option<(u32, u64)>,
    ended: Option<Ended>,
    size: Option<Size>,
    failed: bool,
    /// Number and start time of the holder's process, if it does nothing else.
    holder: Option<Identity>,
    sandbox: String,
    typed: BTreeMap<String, Typing>,
    pub(super) closed: Option<u32>,
    /// How many bytes it has printed in all, once it is closed.
    printed: Option<u64>,
}

impl Known {
    /// Reads what is new. A read is not atomic: beside a writer it can hold a later record and not yet the one before,
    /// which looks like damage. Looked at again, that one is there; damage stays.
    fn update(&mut self, events: &File) -> Result<(), ReadError> {
        for _ in 0..10 {
            match self.read_new(events) {
                Err(ReadError::Damaged(Damage::Record { .. })) => std::thread::yield_now(),
                read => return read,
            }
        }
        self.read_new(events)
    }

    fn read_new(&mut self, events: &File) -> Result<(), ReadError> {
        if events.metadata()?.len() <= self.read_to {
            return Ok(());
        }
        let mut header = [0; HEADER_LEN as usize];
        if events.read_exact_at(&mut header, 0).is_err() {
            // Not even a header yet: somebody is just beginning it.
            return Ok(());
        }
        format::check_header(&header)?;
        let from = self.read_to.max(HEADER_LEN);
        let (sound, damage) = read_records(events, from, |entry| self.learn(&entry))?;
        self.read_to = sound;
        match damage {
            Some(damage) => Err(damage.into()),
            None => Ok(()),
        }
    }

    /// What was printed is all there is once nothing is left of the tree, and never more than the disk holds. A file that
    /// is longer is not what was printed.
    fn check_length(&self, out: &File, first: u64) -> Result<u64, ReadError> {
        /// Smaller ones are not worth asking the file system about.
        const LARGE: u64 = 1 << 30;
        let found = out.metadata()?.len();
        let mut most = self.printed.unwrap_or(u64::MAX);
        if found.saturating_sub(first) > LARGE {
            let disk = rustix::fs::fstatvfs(out).map_err(io::Error::from)?;
            most = most.min(first.saturating_add(disk.f_blocks.saturating_mul(disk.f_frsize)));
        }
        if found > most { Err(Damage::Length { found, most }.into()) } else { Ok(found) }
    }

    /// The newest size; the first one, in columns and rows, if it was never changed.
    fn size(&self, first: Option<(u16, u16)>) -> Option<Size> {
        self.size.or(first.map(|(cols, rows)| Size { cols, rows }))
    }

    fn learn(&mut self, entry: &Entry) {
        match &entry.record {
            Record::Start(start) => {
                self.running = Some((start.pid, entry.at));
                self.sandbox.clone_from(&start.sandbox);
                let pid = i32::try_from(start.holder).ok().filter(|_| start.holder_ticks != 0);
                self.holder = pid.map(|pid| (pid, start.holder_ticks));
            }
            Record::NotStarted { .. } => self.failed = true,
            Record::Resize(size) => self.size = Some(*size),
            Record::End(end) if self.ended.is_none() => {
                self.ended = Some(Ended::new(entry, end, &self.sandbox));
            }
            Record::Input { len, author, .. } => {
                let typing = self.typed.entry(author.clone()).or_default();
                typing.bytes += len;
                typing.last = entry.at;
            }
            Record::Closed { killed } => {
                self.closed = Some(*killed);
                self.printed = Some(entry.offset);
            }
            _ => {}
        }
    }
}

impl Terminal {
    /// How it stands now. If its holder died, that is found out and put right by [`Terminal::wait`] and by every
    /// listing; until then such a terminal looks as if it ran, with `held` false.
    pub fn look(&self) -> Result<Look, ReadError> {
        let shared = &self.shared;
        // Asked before the records are read: a holder lets go only after its last record.
        let held = self.is_held()?;
        let mut known = shared.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.update(&shared.events)?;
        let phase = match (&known.ended, known.running) {
            (Some(ended), _) => {
                let _ = shared.ended.set(ended.clone());
                Phase::Ended(ended.clone())
            }
            (None, _) if known.failed => Phase::NotStarted,
            (None, Some((pid, since))) => Phase::Running { pid, since },
            (None, None) if held => Phase::Starting,
            (None, None) => Phase::NotStarted,
        };
        let first =
            if shared.events.metadata()?.len() < HEADER_LEN { 0 } else { first_kept(&shared.events)? };
        let size = known.size(shared.meta.size);
        let stalled = if held { stalled(&shared.events)? } else { None };
        let end = known.check_length(&shared.out, first)?;
        Ok(Look { phase, first, end, size, held, stalled })
    }

    /// The present size, if it is a PTY: what [`Terminal::look`] says of it, for less.
    pub(crate) fn size(&self) -> Result<Option<Size>, ReadError> {
        let shared = &self.shared;
        let mut known = shared.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.update(&shared.events)?;
        Ok(known.size(shared.meta.size))
    }

    /// As [`Terminal::look`], and if the holder died, brings the terminal to its end first.
    pub async fn look_and_settle(&self) -> Result<Look, ReadError> {
        let is_orphaned = match self.is_orphaned() {
            // What is damaged can be swept, all the same.
            Err(ReadError::Damaged(_)) => !self.is_held()?,
            known => known?,
        };
        if is_orphaned {
            self.settle().await?;
        }
        self.look()
    }

    /// The same, waiting in place.
    pub(crate) fn settled(self) -> Result<Self, ReadError> {
        if self.is_orphaned()? {
            crate::store::settle(self.shared.id.as_str(), &self.shared.dir)?;
        }
        Ok(self)
    }

    /// Whether it should have a holder and has none. If it has one, that is awake afterwards: an owner's death, for one,
    /// is nothing to a holder that sleeps.
    pub(super) fn is_orphaned(&self) -> Result<bool, ReadError> {
        let look = self.look()?;
        if look.held {
            self.wake_holder();
        }
        Ok(self.lacks_holder(&look))
    }

    /// The same of a look just taken.
    pub(super) fn lacks_holder(&self, look: &Look) -> bool {
        // A holder that was alone in seeing the command's end may have died before those who were left did.
        let unfinished = match look.phase {
            Phase::Running { .. } => true,
            Phase::Ended(_) => self.closed().is_none(),
            Phase::Starting | Phase::NotStarted => false,
        };
        !look.held && unfinished
    }

    /// The command's process, as long as the machine runs; it may have ended.
    pub(crate) fn pid(&self) -> Result<Option<i32>, ReadError> {
        self.look()?;
        let known = self.shared.known.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(known.running.and_then(|(pid, _)| i32::try_from(pid).ok()))
    }

    /// What has been typed, by author.
    pub(crate) fn typed(&self) -> Result<BTreeMap<String, Typing>, ReadError> {
        self.look()?;
        Ok(self.shared.known.lock().unwrap_or_else(PoisonError::into_inner).typed.clone())
    }

    /// The holder's process, as far as the records have been read.
    pub(super) fn holder_identity(&self) -> Option<Identity> {
        self.shared.known.lock().unwrap_or_else(PoisonError::into_inner).holder
    }

    /// How many processes the holder ended over the terminal's whole life, once it is closed.
    pub(super) fn closed(&self) -> Option<u32> {
        self.shared.known.lock().unwrap_or_else(PoisonError::into_inner).closed
    }
}
