//! Writing a command's output to ours, without holding anything else up.
//!
//! A pipe that nobody empties blocks its writer. That must not keep signals from being heard, so the writing is done
//! aside and waited for.

use crate::exit_code;
use crate::report::Failure;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io;

/// Writes all of it.
pub(crate) async fn write(bytes: Vec<u8>) -> Result<(), Failure> {
    if bytes.is_empty() {
        return Ok(());
    }
    let written = tokio::task::spawn_blocking(move || write_all(&bytes)).await.map_err(io::Error::other)?;
    // EIO is what a terminal says whose window was closed: nobody is left to read, as with a broken pipe.
    written.map_err(|errno| match errno {
        Errno::PIPE | Errno::IO => {
            Failure { code: exit_code::BROKEN_PIPE, ..Failure::new("nobody reads the output") }
        }
        other => Failure::new(format!("cannot write the output: {}", io::Error::from(other))),
    })
}

fn write_all(mut bytes: &[u8]) -> Result<(), Errno> {
    let out = rustix::stdio::stdout();
    while !bytes.is_empty() {
        match rustix::io::write(out, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            // Somebody who shares our terminal has made it non-blocking.
            Err(Errno::AGAIN) => drop(poll(&mut [PollFd::new(&out, PollFlags::OUT)], None)),
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
