//! The shim program: one terminal or one guarded program, one process. Started by wharf, never by hand.
//!
//! The C entry point is used directly: what Rust's own does before `main` (looking for the stack's guard page in
//! `/proc/self/maps`, an alternate signal stack) costs a tenth of a shim's start and serves nothing here.

#![no_main]

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;

/// Called by the C library.
// SAFETY: no other symbol of this name is linked in, and the C library calls it once with this signature.
#[unsafe(no_mangle)]
extern "C" fn main(argc: c_int, argv: *const *const c_char) -> c_int {
    let arguments: Vec<&OsStr> =
        (1..usize::try_from(argc).unwrap_or(0)).map(|at| argument(argv, at)).collect();
    wharf_shim::main(&arguments).into()
}

/// One of the arguments; `at` is below their number.
fn argument(argv: *const *const c_char, at: usize) -> &'static OsStr {
    // SAFETY: the C library gives as many pointers as it says.
    let place = unsafe { argv.add(at) };
    // SAFETY: as above.
    let text = unsafe { *place };
    // SAFETY: the string ends with a NUL and lives as long as the process.
    let text = unsafe { CStr::from_ptr(text) };
    OsStr::from_bytes(text.to_bytes())
}
