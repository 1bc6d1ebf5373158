//! What a sandbox was drawn up from and does not say itself. While both are equal, the same one would be made again, so a
//! command can enter the one that stands.

use crate::policy::existing::{Listing, Listings};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use wharf_shim::confine::{Identity, Rule};

/// All of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Basis {
    /// Of directories of which it shows what is in them, or has rules for that; nothing for one that may change unnoticed.
    listings: Vec<Option<Listing>>,
    /// What is hidden by its name, whatever that leads to. A mount goes with what it is on.
    hidden: Vec<Identity>,
}

impl Basis {
    pub(super) fn listed(&mut self, listing: Option<Listing>) {
        self.listings.push(listing);
    }

    pub(super) fn hidden(&mut self, is: Identity) {
        self.hidden.push(is);
    }

    /// The other rules say themselves what they are for.
    pub(super) fn look_around<'a>(&mut self, rules: &'a [Rule], listings: &Listings) {
        let named = rules.iter().filter(|rule| rule.is.is_none());
        let path = |rule: &'a Rule| Path::new(OsStr::from_bytes(rule.path.to_bytes()));
        let parents: BTreeSet<&Path> = named.filter_map(|rule| path(rule).parent()).collect();
        self.listings.extend(parents.into_iter().map(|parent| listings.of(parent)));
    }

    /// The same, if it will be known of everything in it whether it has changed.
    pub(super) fn known(self) -> Option<Self> {
        self.listings.iter().all(Option::is_some).then_some(self)
    }
}
