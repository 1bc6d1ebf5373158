//! What a terminal has in the file system besides its journal while it runs.

use super::Confine;
use super::fault::Fault;
use super::layer::Layers;
use super::placeholder::Placeholders;
use rustix::io::Errno;

/// Everything of one terminal.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    pub(super) placeholders: Placeholders,
    pub(super) layers: Layers,
}

impl Standing {
    /// Makes what is missing, and takes what others use too.
    pub(crate) fn make(confine: &Confine) -> Result<Self, (Fault, Errno)> {
        let layers = Layers::take(confine)?;
        Ok(Self { placeholders: Placeholders::make(confine)?, layers })
    }

    /// Removes what nobody else uses, when nothing of the terminal is left.
    pub(crate) fn remove(self) {
        self.placeholders.remove();
        self.layers.give_back();
    }
}
