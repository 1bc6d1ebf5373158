//! A terminal with a program sitting at it, and somebody who types and looks.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::harness::{Done, GUARD, Wharf, finish};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

pub(crate) struct Seat {
    master: File,
    slave: OwnedFd,
    child: Child,
    shown: Arc<(Mutex<Vec<u8>>, Condvar)>,
    before: Termios,
}

impl Seat {
    /// A program at a terminal of its own, which is its controlling one.
    pub(crate) fn take<'a>(wharf: &Wharf, args: impl IntoIterator<Item = &'a str>, size: (u16, u16)) -> Self {
        Self::take_in(Path::new("."), wharf, args, size)
    }

    /// The same in a directory.
    pub(crate) fn take_in<'a>(
        directory: &Path,
        wharf: &Wharf,
        args: impl IntoIterator<Item = &'a str>,
        size: (u16, u16),
    ) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let slave = ioctl_tiocgptpeer(&master, flags).unwrap();
        resize(&master, size);
        let before = tcgetattr(&slave).unwrap();
        let end = || Stdio::from(slave.try_clone().unwrap());
        // Not being a group leader it does not fork, so the child is the program itself.
        #[expect(clippy::disallowed_methods, reason = "tests start the program")]
        let child = Command::new("setsid")
            .arg("--ctty")
            .arg(wharf.program())
            .args(args)
            .env_clear()
            .envs(wharf.environment())
            .env("TERM", "xterm-256color")
            .current_dir(directory)
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();
        let master = File::from(master);
        let shown = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let (mut reader, seen) = (master.try_clone().unwrap(), Arc::clone(&shown));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = reader.read(&mut bytes) {
                seen.0.lock().unwrap().extend_from_slice(&bytes[..n]);
                seen.1.notify_all();
            }
        });
        Self { master, slave, child, shown, before }
    }

    pub(crate) fn type_keys(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn resize(&self, size: (u16, u16)) {
        resize(&self.master, size);
    }

    /// Returns when `text` has been shown.
    pub(crate) fn see(&self, text: &str) {
        let deadline = Instant::now() + GUARD;
        let mut shown = self.shown.0.lock().unwrap();
        while !String::from_utf8_lossy(&shown).contains(text) {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{text:?} was not shown, but {:?}", String::from_utf8_lossy(&shown));
            shown = self.shown.1.wait_timeout(shown, left).unwrap().0;
        }
    }

    /// All that was shown so far.
    pub(crate) fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.0.lock().unwrap()).into_owned()
    }

    pub(crate) fn child(&self) -> &Child {
        &self.child
    }

    pub(crate) fn is_raw(&self) -> bool {
        let modes = tcgetattr(&self.slave).unwrap();
        !modes.local_modes.contains(rustix::termios::LocalModes::ICANON)
    }

    /// As [`leave`](Self::leave), with that code; all that was shown.
    pub(crate) fn leave_shown(self, code: Option<i32>) -> String {
        let shown = Arc::clone(&self.shown);
        assert_eq!(self.leave(), code);
        let bytes = shown.0.lock().unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits for the end. The terminal must be as it was found.
    pub(crate) fn leave(self) -> Option<i32> {
        let Done { code, .. } = finish(self.child);
        let after = tcgetattr(&self.slave).unwrap();
        assert_eq!(after.local_modes, self.before.local_modes);
        assert_eq!(after.input_modes, self.before.input_modes);
        assert_eq!(after.output_modes, self.before.output_modes);
        code
    }
}

fn resize(master: &impl std::os::fd::AsFd, (cols, rows): (u16, u16)) {
    tcsetwinsize(master, Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
}
