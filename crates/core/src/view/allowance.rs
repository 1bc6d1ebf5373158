//! How often characters may be repeated, in proportion to what is printed.
//!
//! `ESC [ 512 b` is seven bytes and costs an emulator as much as 512. Programs that paint with it print other things too,
//! and many more screens than are shown at once are saved up for them; a program that prints nothing else gets a few
//! characters for each byte. Goes by offsets alone, so that it does not matter in which pieces the bytes came.

/// Earned with each byte that is printed. A mebibyte of repetitions is then painted in a twentieth of a second.
const PER_BYTE: u64 = 2;
/// No more is saved up: some thirty screens of 24 rows and 80 columns.
const MOST: u64 = 64 * 1024;

/// What may be repeated.
#[derive(Debug, Clone)]
pub(super) struct Allowance {
    left: u64,
    /// Everything before this offset has been counted.
    upto: u64,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { left: MOST, upto: 0 }
    }
}

impl Allowance {
    /// Output has come to that offset.
    pub(super) fn earn(&mut self, offset: u64) {
        let earned = offset.saturating_sub(self.upto).saturating_mul(PER_BYTE);
        self.left = self.left.saturating_add(earned).min(MOST);
        self.upto = offset;
    }

    /// Takes so many, or as many as there are.
    pub(super) fn take(&mut self, wanted: u16) -> u16 {
        let given = u16::try_from(self.left).map_or(wanted, |left| left.min(wanted));
        self.left -= u64::from(given);
        given
    }
}
