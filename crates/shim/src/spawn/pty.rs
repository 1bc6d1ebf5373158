//! Opening a PTY so that no other thread's child can inherit it.
//!
//! `TIOCGPTPEER` opens the other side without a path, close-on-exec from the first instant, and also where
//! `/dev/pts` belongs to another mount namespace.

use super::error::{Stage, StartError};
use crate::plan::Size;
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{InputModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};
use std::os::fd::OwnedFd;

/// Master and slave of a new PTY of that size; the master does not block.
pub(crate) fn open(size: Size) -> Result<(OwnedFd, OwnedFd), StartError> {
    let failed = || Stage::Pty.failed();
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).map_err(failed())?;
    unlockpt(&master).map_err(failed())?;
    let slave = ioctl_tiocgptpeer(&master, flags).map_err(failed())?;
    resize(&master, size).map_err(failed())?;
    // Erasing must take a whole character from a line, not one byte of it.
    let mut modes = tcgetattr(&slave).map_err(failed())?;
    modes.input_modes |= InputModes::IUTF8;
    tcsetattr(&slave, OptionalActions::Now, &modes).map_err(failed())?;
    rustix::fs::fcntl_setfl(&master, OFlags::NONBLOCK).map_err(failed())?;
    Ok((master, slave))
}

/// Gives a PTY a new size; the kernel tells the foreground group.
pub(crate) fn resize(master: &OwnedFd, size: Size) -> rustix::io::Result<()> {
    let window = Winsize { ws_col: size.cols, ws_row: size.rows, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master, window)
}
