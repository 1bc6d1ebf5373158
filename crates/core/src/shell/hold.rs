//! A human's hand on a terminal: while it is there, agents do not type.
//!
//! It is a named pipe beside the journal which a human keeps open for writing. The kernel closes it with whoever has it,
//! however that ends; looking at it is reading from it, which disturbs nobody; and that the last human has left is an
//! event. A lock would do none of the last two: two agents that try it at the same moment would take each other for a human.

use crate::terminal::Terminal;
use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use tokio::net::unix::pipe;

/// The pipe, in the terminal's directory.
const NAME: &str = "hold";

/// Held for as long as this value lives.
#[derive(Debug)]
pub struct Hold {
    _end: OwnedFd,
}

impl Hold {
    /// Takes the terminal. Any number of humans may.
    pub fn take(terminal: &Terminal) -> io::Result<Self> {
        take_at(&terminal.dir().join(NAME))
    }

    /// Whether somebody has it.
    pub fn is_taken(terminal: &Terminal) -> io::Result<bool> {
        is_taken_at(&terminal.dir().join(NAME))
    }

    /// Returns when nobody has it. May be dropped at any time.
    pub async fn released(terminal: &Terminal) -> io::Result<()> {
        released_at(&terminal.dir().join(NAME)).await
    }
}

fn take_at(path: &Path) -> io::Result<Hold> {
    match rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno.into()),
    }
    // For both, because opening for writing alone fails while nobody reads.
    let end = open(path, OFlags::RDWR)?.ok_or(io::ErrorKind::NotFound)?;
    Ok(Hold { _end: end })
}

fn is_taken_at(path: &Path) -> io::Result<bool> {
    let Some(end) = open(path, OFlags::RDONLY)? else { return Ok(false) };
    has_writer(&end)
}

/// The end of the input means that nobody could write any; nobody ever does, so "nothing yet" means that somebody could.
fn has_writer(end: &OwnedFd) -> io::Result<bool> {
    match rustix::io::read(end, &mut [0; 1]) {
        Ok(read) => Ok(read > 0),
        Err(Errno::AGAIN) => Ok(true),
        Err(errno) => Err(errno.into()),
    }
}

async fn released_at(path: &Path) -> io::Result<()> {
    let Some(end) = open(path, OFlags::RDONLY)? else { return Ok(()) };
    // Of a pipe that had no writer when it was opened the kernel tells no end.
    if !has_writer(&end)? {
        return Ok(());
    }
    let receiver = pipe::Receiver::from_owned_fd(end)?;
    loop {
        match receiver.try_read(&mut [0; 64]) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => receiver.readable().await?,
            Err(error) => return Err(error),
        }
    }
}

/// The pipe, if there is one. Anything else by that name is not waited for.
fn open(path: &Path, access: OFlags) -> io::Result<Option<OwnedFd>> {
    let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let end = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(end) => end,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(errno.into()),
    };
    match FileType::from_raw_mode(rustix::fs::fstat(&end)?.st_mode) {
        FileType::Fifo => Ok(Some(end)),
        _ => Err(io::Error::other("the terminal's `hold` is not a pipe")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::time::Duration;

    /// Only against hanging.
    const GUARD: Duration = Duration::from_secs(30);

    #[test]
    fn it_is_taken_while_any_human_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        assert!(!is_taken_at(&path).unwrap(), "nobody ever took it");
        let first = take_at(&path).unwrap();
        let second = take_at(&path).unwrap();
        assert!(is_taken_at(&path).unwrap());
        drop(first);
        assert!(is_taken_at(&path).unwrap());
        drop(second);
        assert!(!is_taken_at(&path).unwrap());
        let again = take_at(&path).unwrap();
        assert!(is_taken_at(&path).unwrap());
        drop(again);
    }

    #[test]
    fn those_who_look_at_the_same_time_do_not_take_each_other_for_a_human() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        drop(take_at(&path).unwrap());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|_| assert!(!is_taken_at(&path).unwrap())));
            }
        });
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a human who is killed is a process")]
    fn it_goes_with_a_human_who_is_killed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        drop(take_at(&path).unwrap());
        let mut human = std::process::Command::new("sh")
            .args(["-c", "exec 3<>\"$1\"; echo taken; exec cat", "sh"])
            .arg(&path)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = [0; 5];
        io::Read::read_exact(human.stdout.as_mut().unwrap(), &mut said).unwrap();
        assert!(is_taken_at(&path).unwrap());
        human.kill().unwrap();
        human.wait().unwrap();
        assert!(!is_taken_at(&path).unwrap());
    }

    #[tokio::test]
    async fn whoever_waits_hears_when_the_last_human_leaves() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        released_at(&path).await.unwrap();
        let (first, second) = (take_at(&path).unwrap(), take_at(&path).unwrap());
        let mut released = pin!(released_at(&path));
        // Polled once: it has the pipe open and waits.
        assert!(poll_now(released.as_mut()).await.is_none());
        drop(first);
        assert!(poll_now(released.as_mut()).await.is_none());
        drop(second);
        tokio::time::timeout(GUARD, released).await.unwrap().unwrap();
        released_at(&path).await.unwrap();
    }

    #[test]
    fn something_else_by_that_name_is_an_error_and_hangs_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        std::fs::write(&path, "not a pipe").unwrap();
        assert!(take_at(&path).is_err() && is_taken_at(&path).is_err());
    }

    /// What a future has to say now, if anything.
    async fn poll_now<T>(mut future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
        tokio::select! {
            biased;
            done = &mut future => Some(done),
            () = tokio::task::yield_now() => None,
        }
    }
}
