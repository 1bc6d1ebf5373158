//! Names that prove by themselves that they were given out here, and in which session.
//!
//! A released terminal may be released again, for ever; remembering every name that was ever given out would grow for ever
//! too. So half of a name is random and the other half is a keyed hash of the first and the session: it can be checked
//! without being remembered, and guessed by nobody.

use agent_client_protocol::v1::schema::SessionId;
use std::hash::{BuildHasher, RandomState};
use std::io;
use wharf_core::TerminalId;

#[derive(Debug, Default)]
pub(super) struct Issued {
    /// Random for each host.
    key: RandomState,
}

impl Issued {
    pub(super) fn issue(&self, session: &SessionId) -> io::Result<TerminalId> {
        let random = (TerminalId::random()?.to_bits() & u128::from(u64::MAX)) as u64;
        Ok(self.name(session, random))
    }

    pub(super) fn is_ours(&self, session: &SessionId, id: &TerminalId) -> bool {
        let random = (id.to_bits() & u128::from(u64::MAX)) as u64;
        self.name(session, random) == *id
    }

    fn name(&self, session: &SessionId, random: u64) -> TerminalId {
        let tag = self.key.hash_one((random, &*session.0));
        TerminalId::from_bits(u128::from(random) | u128::from(tag) << 64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_known_again_in_its_session_and_host_only() {
        let (issued, other) = (Issued::default(), Issued::default());
        let (one, two) = (SessionId::new("one"), SessionId::new("two"));
        let id = issued.issue(&one).unwrap();
        assert!(issued.is_ours(&one, &id));
        assert!(!issued.is_ours(&two, &id));
        assert!(!other.is_ours(&one, &id));
        assert!(!issued.is_ours(&one, &TerminalId::random().unwrap()));
        assert_ne!(issued.issue(&one).unwrap(), id);
    }
}
