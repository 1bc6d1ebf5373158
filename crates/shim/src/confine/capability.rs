//! Giving up capabilities.
//!
//! An ordinary user's are those of the user namespace that was just made, and go with the next program anyway; root's
//! are cut to what installing and building as root needs.

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, set_capabilities,
};

/// What the command may keep of what it has: files of all owners, and being any user. Nothing over the machine.
pub(super) fn kept() -> CapabilitySet {
    if !rustix::process::geteuid().is_root() {
        return CapabilitySet::empty();
    }
    CapabilitySet::CHOWN
        | CapabilitySet::DAC_OVERRIDE
        | CapabilitySet::FOWNER
        | CapabilitySet::FSETID
        | CapabilitySet::KILL
        | CapabilitySet::SETUID
        | CapabilitySet::SETGID
        | CapabilitySet::NET_BIND_SERVICE
}

pub(super) fn drop_all_but(kept: CapabilitySet) -> Result<(), Errno> {
    cut_bounding_set(kept)?;
    clear_ambient_capability_set()?;
    let permitted = capabilities(None)?.permitted & kept;
    let inheritable = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: permitted, permitted, inheritable })
}

/// No program can give back what is not in this set. A process without the right to cut it loses nothing by that: without
/// new privileges no program adds to what is permitted.
fn cut_bounding_set(kept: CapabilitySet) -> Result<(), Errno> {
    for number in 0..u64::BITS {
        if kept.bits() & (1 << number) != 0 {
            continue;
        }
        // SAFETY: takes no pointer.
        if unsafe { libc::prctl(libc::PR_CAPBSET_DROP, number, 0, 0, 0) } == 0 {
            continue;
        }
        return match super::last_errno() {
            // The first number that this kernel does not know.
            Errno::INVAL | Errno::PERM => Ok(()),
            errno => Err(errno),
        };
    }
    Ok(())
}
