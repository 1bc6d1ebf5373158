//! Who has the PTY's foreground, and what they do.
//!
//! The kernel has no event for "a program began to wait for input", so somebody has to look. This is one look: bounded,
//! and without a trace in what is looked at. What it means is decided by whoever asked.

use super::holder::Holder;
use super::output::{IoKind, has_input};
use crate::tree::Members;
use crate::tree::blocked::{self, Tty};
use crate::tree::proc::{self, Process};
use crate::wire::foreground::{Foreground, Member, Typing};
use crate::wire::message::{Refusal, Reply};
use rustix::io::Errno;
use rustix::process::getpid;
use rustix::termios::{InputModes, LocalModes, tcgetattr, tcgetpgrp};
use std::fs;

/// Members that are looked at.
const MOST_MEMBERS: usize = 256;
/// Threads of all of them together that are looked at, each for some ten microseconds.
const MOST_THREADS: usize = 1024;
/// Descendants among whom members are looked for.
const MOST_DESCENDANTS: usize = 4096;
/// A name that is longer is none.
const LONGEST_NAME: usize = 64;

impl Holder {
    pub(super) fn foreground(&mut self) -> Result<Reply, Refusal> {
        if self.io_kind != IoKind::Pty {
            return Err(Refusal::NoPty);
        }
        self.check_exit();
        // The holder's own handle to the other side is open for as long as the command runs.
        let Some(slave) = self.slave.as_ref().filter(|_| self.exit.is_none()) else {
            return Err(Refusal::Ended);
        };
        let failed = |errno: Errno| Refusal::System(errno.raw_os_error());
        let tty = Tty::of(slave).map_err(failed)?;
        // A session whose leader has gone has no foreground; that is no error.
        let group = tcgetpgrp(&self.output).map_or(0, |group| group.as_raw_nonzero().get());
        let modes = tcgetattr(&self.output).map_err(failed)?;
        let typing = Typing {
            echo: modes.local_modes.contains(LocalModes::ECHO),
            canonical: modes.local_modes.contains(LocalModes::ICANON),
            signals: modes.local_modes.contains(LocalModes::ISIG),
            newline: modes.input_modes.contains(InputModes::ICRNL),
            exchanged: modes.input_modes.contains(InputModes::INLCR),
        };
        let members = if group == 0 { Vec::new() } else { self.group(group, &tty) };
        // Last: what arrives while the members are looked at must count as unread.
        let unread = self.unread();
        Ok(Reply::Foreground(Foreground { group, typing, unread, members }))
    }

    fn group(&self, group: i32, tty: &Tty) -> Vec<Member> {
        let family = match self.members {
            Members::Descendants => proc::below(getpid().as_raw_nonzero().get(), MOST_DESCENDANTS),
            // Orphans belong to somebody else then.
            Members::Marked { .. } => None,
        };
        let family = family.unwrap_or_else(proc::all);
        let living = family.iter().filter(|process| process.group == group && !process.is_zombie());
        let mut threads = MOST_THREADS;
        living.take(MOST_MEMBERS).map(|process| member(process, tty, &mut threads)).collect()
    }

    /// Bytes that were accepted and that no program has taken. An end of file, which has no bytes, counts as one.
    fn unread(&self) -> u32 {
        let waits = self.slave.as_ref().map_or(0, |slave| {
            // First this, which makes the kernel hand over what is on its way.
            let some = u64::from(has_input(slave));
            rustix::io::ioctl_fionread(slave).unwrap_or(0).max(some)
        });
        let queued = u64::try_from(self.input.pending()).unwrap_or(u64::MAX);
        u32::try_from(waits.saturating_add(queued)).unwrap_or(u32::MAX)
    }
}

fn member(process: &Process, tty: &Tty, threads: &mut usize) -> Member {
    Member {
        pid: process.pid,
        name: name(process.pid),
        doing: blocked::doing(process, tty, threads),
        ticks: process.spent,
    }
}

/// What newer versions of node call their first thread, and thereby themselves.
const NO_NAME: &str = "MainThread";

fn name(pid: i32) -> String {
    let name = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    let name = printable(name.trim_ascii_end());
    if name != NO_NAME {
        return name;
    }
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let program = words.split(|b| *b == 0).next().and_then(|path| path.rsplit(|b| *b == b'/').next());
    program.filter(|program| !program.is_empty() && program.len() <= LONGEST_NAME).map_or(name, printable)
}

/// A program may give itself any name, also one that would do something to a screen.
fn printable(name: &[u8]) -> String {
    String::from_utf8_lossy(name).chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
