//! What a terminal has besides its journal while it runs: in the file system, and of the sandbox that it shares.

use super::fault::Fault;
use super::layer::Layers;
use super::placeholder::Placeholders;
use super::{Confine, Provision};
use rustix::io::Errno;

/// Everything of one terminal.
#[derive(Debug)]
pub(crate) struct Standing {
    /// A sandbox that others enter, too, is kept by each of them: what its layers write to is in use until the last ends.
    pub(super) provision: Provision,
    pub(super) placeholders: Placeholders,
    pub(super) layers: Layers,
}

impl Standing {
    /// Of what needs nothing.
    pub(crate) fn none() -> Self {
        let (placeholders, layers) = (Placeholders::default(), Layers::default());
        Self { provision: Provision::Own, placeholders, layers }
    }

    /// Makes what is missing, and takes what others use too. What stands already has all that it needs.
    pub(crate) fn make(confine: Option<&Confine>, provision: Provision) -> Result<Self, (Fault, Errno)> {
        let confine = confine.filter(|_| !matches!(provision, Provision::Join(_)));
        let layers = confine.map(Layers::take).transpose()?.unwrap_or_default();
        let placeholders = confine.map(Placeholders::make).transpose()?.unwrap_or_default();
        Ok(Self { provision, placeholders, layers })
    }

    /// Removes what nobody else uses, when nothing of the terminal is left.
    pub(crate) fn remove(self) {
        self.placeholders.remove();
        self.layers.give_back();
    }
}
