//! The shim program: one terminal, one process. Started by wharf, never by hand.
//!
//! The C entry point is used directly: what Rust's own does before `main` (looking for the stack's guard page in
//! `/proc/self/maps`, an alternate signal stack) costs a tenth of a shim's start and serves nothing here.

#![no_main]

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Called by the C library.
// SAFETY: no other symbol of this name is linked in, and the C library calls it once with this signature.
#[unsafe(no_mangle)]
extern "C" fn main(argc: c_int, argv: *const *const c_char) -> c_int {
    let parent = if argc > 1 {
        // SAFETY: the C library gives `argc` pointers.
        let second = unsafe { argv.add(1) };
        // SAFETY: as above.
        let text = unsafe { *second };
        // SAFETY: the string ends with a NUL and lives as long as the process.
        let text = unsafe { CStr::from_ptr(text) };
        Some(Path::new(OsStr::from_bytes(text.to_bytes())))
    } else {
        None
    };
    wharf_shim::main(parent).into()
}
