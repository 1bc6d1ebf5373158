//! `leaves-its-first-thread`: a child in a session of its own whose first thread has ended while another lives on, which
//! the kernel shows as a zombie with threads; then stays.

use rustix::thread::{SecureComputingMode, set_secure_computing_mode};
use std::process::ExitCode;

pub(super) fn run() -> ExitCode {
    let _ = super::again(&["leaves-its-first-thread-child"]).spawn();
    super::stay();
    ExitCode::SUCCESS
}

pub(super) fn child() -> ExitCode {
    rustix::process::setsid().unwrap();
    std::thread::spawn(|| {
        let stat = format!("/proc/self/task/{}/stat", std::process::id());
        while !std::fs::read_to_string(&stat).unwrap().contains(") Z ") {
            std::thread::yield_now();
        }
        super::say(&format!("process {} has lost its first thread", std::process::id()));
        super::stay();
        std::process::exit(0);
    });
    // No safe call ends one thread only, but from here on this thread may only read, write and leave: for anything else
    // the kernel ends it, and no other.
    set_secure_computing_mode(SecureComputingMode::Strict).unwrap();
    std::thread::yield_now();
    ExitCode::FAILURE
}
