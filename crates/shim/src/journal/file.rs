//! Opening a journal's files, and whatever else is kept in the state directory: regular files and nothing else.
//!
//! Something else may lie in their place. Whoever opened it as it comes would wait for a pipe that nobody writes to, read
//! a device that never ends, or follow a link out of the directory. So it is opened without waiting and without following,
//! looked at before a byte is read, and refused; and of a file that is meant to be small, no more is read than that.

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To be read, or locked.
    Read,
    /// To be written as well.
    Write,
    /// To be written, and made if it is not there, for its owner alone.
    Make,
}

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Something else has its name.
    #[error("it is no regular file")]
    NotRegular,
    /// The system said no.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        match error {
            FileError::NotRegular => Self::new(io::ErrorKind::InvalidInput, error),
            FileError::Io(error) => error,
        }
    }
}

/// Opens a regular file. Never waits, and follows no link in the last part of the path.
pub fn open(path: &Path, access: Access) -> Result<File, FileError> {
    let access = match access {
        Access::Read => OFlags::RDONLY,
        Access::Write => OFlags::RDWR,
        Access::Make => OFlags::RDWR | OFlags::CREATE,
    };
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR) {
        // A link; a socket, or a device that nothing stands behind; a directory that was to be written.
        Err(Errno::LOOP | Errno::NXIO | Errno::NODEV | Errno::ISDIR) => return Err(FileError::NotRegular),
        file => file.map_err(io::Error::from)?,
    };
    let found = rustix::fs::fstat(&file).map_err(io::Error::from)?;
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => Ok(file.into()),
        _ => Err(FileError::NotRegular),
    }
}

/// All that is in a small file; `None` if it is longer than `most` bytes.
pub fn read(file: &File, most: u64) -> io::Result<Option<Vec<u8>>> {
    if file.metadata()?.len() > most {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, mknodat};
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_a_regular_file_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "text").unwrap();
        fs::create_dir(at("directory")).unwrap();
        symlink(at("file"), at("link")).unwrap();
        symlink("/dev/zero", at("device")).unwrap();
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        for access in [Access::Read, Access::Write, Access::Make] {
            for odd in ["directory", "link", "device", "pipe", "socket"] {
                let opened = open(&at(odd), access);
                assert!(matches!(opened, Err(FileError::NotRegular)), "{odd}: {access:?}: {opened:?}");
            }
            assert_eq!(read(&open(&at("file"), access).unwrap(), 4).unwrap().unwrap(), b"text");
        }
        assert!(matches!(open(Path::new("/dev/zero"), Access::Read), Err(FileError::NotRegular)));
    }

    #[test]
    fn a_file_is_made_only_if_that_was_meant() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new");
        for access in [Access::Read, Access::Write] {
            let error = io::Error::from(open(&path, access).unwrap_err());
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
        }
        open(&path, Access::Make).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    }

    #[test]
    fn no_more_is_read_than_was_meant() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "12345").unwrap();
        let file = || open(&path, Access::Read).unwrap();
        assert_eq!(read(&file(), 5).unwrap().unwrap(), b"12345");
        assert_eq!(read(&file(), 4).unwrap(), None);
        File::options().write(true).open(&path).unwrap().set_len(1 << 42).unwrap();
        assert_eq!(read(&file(), 1 << 20).unwrap(), None);
    }
}
