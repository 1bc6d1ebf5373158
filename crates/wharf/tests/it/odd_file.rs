//! Something else in place of a file of the state directory: a pipe, a device, a link, a directory, a file of 4 TB that
//! holds nothing. Nobody waits for it, nobody follows it, and the terminals beside it are as they were.
//!
//! A program that hangs is ended by the harness, and its test has failed.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::harness::{Wharf, json};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use wharf_core::TerminalId;

const TB: u64 = 1 << 40;

/// What is put in place of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Odd {
    Fifo,
    /// `/dev/zero`, which never ends.
    Device,
    /// To the very file that was there: whoever follows it reads what is right.
    Link,
    Directory,
    /// The file itself, but longer.
    Long,
    /// Zeros, which take no room.
    Empty,
}

impl Odd {
    const ALL: [Self; 6] = [Self::Fifo, Self::Device, Self::Link, Self::Directory, Self::Long, Self::Empty];

    /// False where it cannot be made: a device by whoever is not root, a long file on some file systems.
    fn replace(self, path: &Path) -> bool {
        let aside = path.parent().unwrap().parent().unwrap().join(".aside");
        let long = |path: &Path| {
            let file = fs::File::options().write(true).create(true).truncate(false).open(path).unwrap();
            file.set_len(4 * TB).is_ok()
        };
        if self == Self::Long {
            return long(path);
        }
        let _ = fs::remove_file(&aside);
        fs::rename(path, &aside).unwrap();
        let mode = Mode::from_raw_mode(0o600);
        match self {
            Self::Fifo => mknodat(CWD, path, FileType::Fifo, mode, 0).is_ok(),
            Self::Device => mknodat(CWD, path, FileType::CharacterDevice, mode, makedev(1, 5)).is_ok(),
            Self::Link => symlink(&aside, path).is_ok(),
            Self::Directory => fs::create_dir(path).is_ok(),
            Self::Long | Self::Empty => long(path),
        }
    }
}

fn ended(wharf: &Wharf) -> (String, PathBuf) {
    let before = wharf.ids();
    wharf.ok(["run", "-c", "echo hello"]);
    let id = wharf.ids().into_iter().find(|id| !before.contains(id)).unwrap();
    // Following it ends when its holder is gone too.
    wharf.ok(["logs", "-f", &id]);
    let dir = wharf.state().join("terminals").join(&id);
    (id, dir)
}

/// How a listing names the state of a terminal.
fn state_of(listed: &serde_json::Value, id: &str) -> String {
    let found = listed.as_array().unwrap().iter().find(|entry| entry["id"] == id).unwrap();
    found["state"].as_str().unwrap().to_owned()
}

fn assert_damaged(file: &str, odd: Odd) {
    let wharf = Wharf::new();
    let (id, dir) = ended(&wharf);
    let (sound, _) = ended(&wharf);
    if !odd.replace(&dir.join(file)) {
        return;
    }
    let what = format!("{odd:?} as {file}");
    let listed = json(&wharf.ok(["ls", "--json"]));
    assert_eq!(
        (state_of(&listed, &id), state_of(&listed, &sound)),
        ("damaged".into(), "ended".into()),
        "{what}"
    );
    assert!(wharf.ok(["ls"]).contains("damaged"), "{what}");
    for verb in [&["logs"][..], &["logs", "-f"], &["wait"], &["kill"]] {
        let done = wharf.call(verb.iter().copied().chain([id.as_str()]));
        assert_eq!(done.code, Some(125), "{what}: {verb:?}: {done:?}");
        let says = |word| done.err.contains(word);
        assert!(says("journal cannot be read") || says("is damaged"), "{what}: {verb:?}: {done:?}");
        assert!(done.out.is_empty() || done.out == "hello\n", "{what}: {verb:?}: {} bytes", done.out.len());
    }
    assert_eq!(wharf.ok(["logs", &sound]), "hello\n", "{what}");
    wharf.ok(["wait", &sound]);
    wharf.ok(["run", "-c", "true"]);
    assert!(wharf.ok(["rm", &id]).contains("removed"), "{what}");
    assert!(!dir.exists(), "{what}");
    if odd == Odd::Link {
        let aside = wharf.state().join("terminals/.aside");
        assert!(fs::metadata(aside).unwrap().len() > 0, "{what}: it was followed");
    }
}

#[test]
fn a_meta_that_is_no_file_of_ours_is_damage() {
    Odd::ALL.into_iter().for_each(|odd| assert_damaged("meta", odd));
}

#[test]
fn events_that_are_no_file_of_ours_are_damage() {
    Odd::ALL.into_iter().for_each(|odd| assert_damaged("events", odd));
}

#[test]
fn output_that_is_no_file_of_ours_is_damage() {
    Odd::ALL.into_iter().for_each(|odd| assert_damaged("out", odd));
}

#[test]
fn what_runs_behind_an_odd_file_is_ended_when_it_is_removed() {
    for file in ["meta", "events", "out"] {
        for odd in Odd::ALL {
            let wharf = Wharf::new();
            let id = wharf.detach(["-c", "echo $$; exec sleep 1000"]);
            wharf.wait_for_output(&id, "\n");
            let pid: i32 = wharf.ok(["logs", &id]).trim().parse().unwrap();
            if !odd.replace(&wharf.state().join("terminals").join(&id).join(file)) {
                continue;
            }
            let listed = json(&wharf.ok(["ls", "--json"]));
            assert_eq!(state_of(&listed, &id), "damaged", "{odd:?} as {file}");
            wharf.ok(["rm", &id]);
            let left = wharf_shim::tree::proc::look(pid).is_some_and(|process| !process.is_zombie());
            assert!(!left, "{odd:?} as {file}");
        }
    }
}

/// Notes of ends that are owed, the stamp of the last tidying, seats: who passes by neither waits for them nor writes
/// through them.
#[test]
fn whatever_else_lies_in_the_state_directory_holds_up_nobody() {
    for odd in [Odd::Fifo, Odd::Device, Odd::Link, Odd::Directory, Odd::Empty] {
        let wharf = Wharf::new();
        ended(&wharf);
        let owed = wharf.state().join("owed");
        let note = owed.join(TerminalId::random().unwrap().as_str());
        for path in [&note, &wharf.state().join("tidied")] {
            fs::write(path, "kept").unwrap();
            odd.replace(path);
        }
        for verb in [&["ls"][..], &["run", "-c", "true"], &["rm", "--ended"]] {
            let done = wharf.call(verb.iter().copied());
            assert_eq!(done.code, Some(0), "{odd:?}: {verb:?}: {done:?}");
        }
        if odd == Odd::Link {
            let aside = wharf.state().parent().unwrap().join(".aside");
            assert_eq!(fs::read_to_string(aside).unwrap(), "kept", "it was written through");
        }
    }
}
