//! A working directory that changes while it is judged.
#![cfg(test)]

use super::*;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, symlink};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const ROUNDS: u32 = 200_000;

/// Swaps two names until told to stop, and counts how often.
struct Swapper<'a> {
    names: [PathBuf; 2],
    stop: &'a AtomicBool,
    swaps: &'a AtomicU64,
}

impl Swapper<'_> {
    fn run(&self) {
        let [one, other] = &self.names;
        while !self.stop.load(Ordering::Relaxed) {
            renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
            self.swaps.fetch_add(1, Ordering::Relaxed);
            // Every rename makes whoever walks a path at that moment start again; some must get through.
            std::thread::yield_now();
        }
    }
}

/// Lets the swapper stop however the test ends, so that a failure is a failure and no hanging.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[derive(Debug, Default)]
struct Count {
    inside: u32,
    refused: u32,
    escaped: u32,
}

/// Judges the descriptor, and looks where the descriptor is.
fn by_descriptor(roots: &Roots, link: &Path, inside: &Path) -> Count {
    let mut count = Count::default();
    for _ in 0..ROUNDS {
        match roots.admit(link) {
            Ok(admitted) => {
                let entered = fs::read_link(format!("/proc/self/fd/{}", admitted.fd.as_raw_fd())).unwrap();
                let is_inside = entered == inside && admitted.path == inside;
                *(if is_inside { &mut count.inside } else { &mut count.escaped }) += 1;
            }
            Err(Refused::Outside { .. }) => count.refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    count
}

/// What one must not do: judges the path, then opens it again. Ends when it has been fooled often enough.
fn by_path(root: &Path, link: &Path, inside: &Path) -> Count {
    let inode = fs::metadata(inside).unwrap().ino();
    let mut count = Count::default();
    for _ in 0..ROUNDS {
        if !fs::canonicalize(link).unwrap().starts_with(root) {
            count.refused += 1;
        } else if fs::File::open(link).unwrap().metadata().unwrap().ino() == inode {
            count.inside += 1;
        } else {
            count.escaped += 1;
        }
        if count.escaped == 20 {
            break;
        }
    }
    count
}

#[test]
fn a_directory_that_is_swapped_while_it_is_judged_never_gets_out() {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let [work, inside, outside] = ["work", "work/inside", "outside"].map(|name| base.join(name));
    for path in [&work, &inside, &outside] {
        fs::create_dir(path).unwrap();
    }
    let [link, other] = ["link", "other"].map(|name| work.join(name));
    symlink(&inside, &link).unwrap();
    symlink(&outside, &other).unwrap();
    let roots = Roots::new(vec![Root::open(&work).unwrap()]);
    let (stop, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
    let swapper = Swapper { names: [link.clone(), other], stop: &stop, swaps: &swaps };
    let (ours, naive) = std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        scope.spawn(|| swapper.run());
        (by_descriptor(&roots, &link, &inside), by_path(&work, &link, &inside))
    });
    let swaps = swaps.into_inner();
    println!("{swaps} swaps; by descriptor {ours:?}; by path {naive:?}");
    assert_eq!(ours.escaped, 0);
    // Both happened often, so there was something to get wrong; and who judges the path did get it wrong.
    assert!(ours.inside > 1000 && ours.refused > 1000 && swaps > 1000, "{ours:?}, {swaps} swaps");
    assert!(naive.escaped > 0, "{naive:?}");
}

/// The number of a directory's links grows and shrinks with the directories in it, and says nothing of which it is.
#[test]
fn a_directory_in_which_others_make_directories_is_always_itself() {
    let dir = tempfile::tempdir().unwrap();
    let work = dir.path().canonicalize().unwrap().join("work");
    fs::create_dir(&work).unwrap();
    let roots = Roots::new(vec![Root::open(&work).unwrap()]);
    let (stop, made) = (AtomicBool::new(false), AtomicU64::new(0));
    let busy = || {
        while !stop.load(Ordering::Relaxed) {
            let below = work.join("below");
            fs::create_dir(&below).unwrap();
            fs::remove_dir(&below).unwrap();
            made.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        scope.spawn(busy);
        let mut rounds = 0;
        while rounds < 5000 || made.load(Ordering::Relaxed) < 1000 {
            rounds += 1;
            let admitted = roots.admit(&work).unwrap_or_else(|refused| panic!("{refused} in round {rounds}"));
            assert_eq!(admitted.path, work);
        }
    });
}
