//! Whether anything of a terminal lives.

use wharf_core::{Look, Phase};

/// A holder stays for a moment after the end of its command, to finish; that alone is no life. It stays on if
/// descendants are there, and the end says whether any were.
pub(crate) fn is_alive(look: &Look) -> bool {
    match &look.phase {
        Phase::Starting | Phase::Running { .. } => true,
        Phase::Ended(ended) => look.held && ended.left > 0,
        Phase::NotStarted => false,
    }
}
