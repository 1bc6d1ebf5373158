//! The fixed part of `events`: magic, version, and the two numbers that change in place.
//!
//! `first` (the first offset of `out` that is still kept) is stored with its complement, so that a reader racing with
//! the writer can see that it caught half of a change and look again.

use crate::wire::value::{Reader, Writer};

/// The first eight bytes of every `events` file.
pub const MAGIC: [u8; 8] = *b"wharf-ev";
/// The version this code writes. Readers read every version up to it.
pub const VERSION: u16 = 1;
/// Where the records begin.
pub const HEADER_LEN: u64 = 32;
/// Where the reason stands for which nothing can be written: an error number, or zero.
pub const STALL_AT: u64 = 10;
/// Where `first` and its complement stand.
pub const FIRST_AT: u64 = 16;
/// No record is longer: an end with the longest author name fits many times over.
pub const MAX_RECORD: usize = 64 * 1024;

/// What is wrong with a terminal's files, `events` above all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// Shorter than its own header: the terminal never got as far as starting.
    #[error("the events file is empty or cut short")]
    NoHeader,
    /// One of the files is not there.
    #[error("its {file:?} is missing")]
    Missing {
        /// Which.
        file: &'static str,
    },
    /// Something else has the name of one of the files: a pipe, a device, a link, a directory.
    #[error("its {file:?} is no regular file")]
    NotRegular {
        /// Which.
        file: &'static str,
    },
    /// The output's file is longer than what was printed, or than its disk.
    #[error("its \"out\" has {found} bytes, and no more than {most} can have been printed")]
    Length {
        /// How long it is.
        found: u64,
        /// How long it can be.
        most: u64,
    },
    /// What was asked for is not JSON, or lacks something.
    #[error("its meta cannot be understood: {why}")]
    Meta {
        /// What the reader of JSON said.
        why: String,
    },
    /// Not an events file.
    #[error("the events file does not begin as a journal does")]
    NotAJournal,
    /// Written by a later wharf.
    #[error(
        "the journal has format version {found}, and this wharf reads up to {VERSION}; use a newer wharf"
    )]
    Newer {
        /// The version found.
        found: u16,
    },
    /// A record in the middle does not match its checksum; what follows cannot be trusted.
    #[error("a record at byte {at} of the events file is damaged")]
    Record {
        /// Where the damaged record begins.
        at: u64,
    },
}

impl Damage {
    /// A stable word for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoHeader => "no_header",
            Self::Missing { .. } => "missing_file",
            Self::NotRegular { .. } => "not_a_file",
            Self::Length { .. } => "wrong_length",
            Self::Meta { .. } => "damaged_meta",
            Self::NotAJournal => "not_a_journal",
            Self::Newer { .. } => "newer_format",
            Self::Record { .. } => "damaged_record",
        }
    }
}

/// A header for a journal from whose output nothing was dropped yet.
#[must_use]
pub fn header() -> Vec<u8> {
    let mut w = Writer::new();
    for byte in MAGIC {
        w.u8(byte);
    }
    w.u16(VERSION).u16(0).u32(0);
    let mut bytes = w.into_bytes();
    bytes.extend_from_slice(&first_slot(0));
    bytes
}

/// `first` as it stands in the header.
#[must_use]
pub fn first_slot(first: u64) -> [u8; 16] {
    let mut slot = [0; 16];
    slot[..8].copy_from_slice(&first.to_le_bytes());
    slot[8..].copy_from_slice(&(!first).to_le_bytes());
    slot
}

/// Reads the slot back; `None` if it was caught in the middle of a change.
#[must_use]
pub fn read_first_slot(slot: &[u8; 16]) -> Option<u64> {
    let mut r = Reader::new(slot);
    let (first, complement) = (r.u64().ok()?, r.u64().ok()?);
    (first == !complement).then_some(first)
}

/// Checks magic and version of a file's first bytes.
pub fn check_header(bytes: &[u8]) -> Result<(), Damage> {
    let Some((head, _)) = bytes.split_first_chunk::<{ HEADER_LEN as usize }>() else {
        return Err(Damage::NoHeader);
    };
    if head[..8] != MAGIC {
        return Err(Damage::NotAJournal);
    }
    match u16::from_le_bytes([head[8], head[9]]) {
        0 => Err(Damage::NotAJournal),
        found if found > VERSION => Err(Damage::Newer { found }),
        _ => Ok(()),
    }
}
