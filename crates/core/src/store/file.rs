//! The files of one terminal, opened by name: each is there and is a regular file, or the terminal is damaged.

use crate::error::ReadError;
use std::fs::File;
use std::io;
use std::path::Path;
use wharf_shim::journal::file::{self, Access, FileError};
use wharf_shim::journal::format::Damage;
use wharf_shim::journal::{EVENTS, META};
use wharf_shim::wire::frame::MAX_PLAN;

/// What is asked for fits into a plan, and a byte of it takes at most six in JSON.
const LONGEST_META: u64 = 8 * MAX_PLAN as u64;

/// One file of the terminal in that directory.
pub(crate) fn open(dir: &Path, name: &'static str, access: Access) -> Result<File, ReadError> {
    file::open(&dir.join(name), access).map_err(|error| match error {
        FileError::NotRegular => Damage::NotRegular { file: name }.into(),
        // In a directory that is there, a file that is not is damage.
        FileError::Io(error) if error.kind() == io::ErrorKind::NotFound && dir.exists() => {
            Damage::Missing { file: name }.into()
        }
        FileError::Io(error) => error.into(),
    })
}

/// The file that its holder has locked.
pub(crate) fn open_events(dir: &Path) -> Result<File, ReadError> {
    open(dir, EVENTS, Access::Read)
}

/// All of what was asked for.
pub(crate) fn read_meta(dir: &Path) -> Result<Vec<u8>, ReadError> {
    let bytes = file::read(&open(dir, META, Access::Read)?, LONGEST_META)?;
    let too_long = || Damage::Meta { why: format!("it is longer than {LONGEST_META} bytes") };
    Ok(bytes.ok_or_else(too_long)?)
}
