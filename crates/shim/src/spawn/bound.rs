//! The bounds that the kernel keeps for each process by itself: the size of a file, the number of descriptors.
//!
//! Worked out before the fork, set between fork and exec. They can only be lower than what the holder was given, never
//! higher. `RLIMIT_NPROC` is not among them on purpose: it counts all processes of the user, whatever terminal or
//! desktop they belong to, so a bound that lets this command live can still be met by another program of the same
//! user; and it does not bind root at all.

use crate::plan::Resources;
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What is set in the child.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    file_size: Option<Rlimit>,
    open_files: Option<Rlimit>,
}

impl Bounds {
    pub(super) fn of(resources: &Resources) -> Self {
        Self {
            file_size: resources.file_size.map(|most| lowered(getrlimit(Resource::Fsize), most)),
            open_files: resources.open_files.map(|most| lowered(getrlimit(Resource::Nofile), most)),
        }
    }

    /// Bare system calls only. Comes last: what was opened before stays open, and nothing has to be opened after.
    pub(super) fn set(&self) -> Result<(), Errno> {
        for (resource, bound) in [(Resource::Fsize, &self.file_size), (Resource::Nofile, &self.open_files)] {
            if let Some(bound) = bound {
                setrlimit(resource, *bound)?;
            }
        }
        Ok(())
    }
}

/// Both halves, so that the command cannot take back what was taken from it.
fn lowered(now: Rlimit, most: u64) -> Rlimit {
    let least = |half: Option<u64>| Some(half.map_or(most, |half| half.min(most)));
    Rlimit { current: least(now.current), maximum: least(now.maximum) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_lowers_both_halves_and_raises_neither() {
        let now = Rlimit { current: Some(1024), maximum: None };
        assert_eq!(lowered(now, 100), Rlimit { current: Some(100), maximum: Some(100) });
        assert_eq!(lowered(now, 4096), Rlimit { current: Some(1024), maximum: Some(4096) });
        let low = Rlimit { current: Some(10), maximum: Some(20) };
        assert_eq!(lowered(low, 1000), low);
    }
}
