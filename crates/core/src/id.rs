//! Names of terminals: 128 random bits, so that knowing one says nothing about another.

use rustix::rand::{GetRandomFlags, getrandom};
use std::fmt;

/// Letters and digits that people do not mistake for each other.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 26 characters of 5 bits hold 128.
const LEN: usize = 26;

/// The name of one terminal, for ever.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TerminalId(String);

impl TerminalId {
    /// A new one.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; 16];
        let mut filled = 0;
        while filled < bytes.len() {
            filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
        }
        Ok(Self::from_bits(u128::from_le_bytes(bytes)))
    }

    /// The name made of these bits. They should be hard to guess.
    #[must_use]
    pub fn from_bits(mut bits: u128) -> Self {
        let digit = |_| {
            let digit = ALPHABET[(bits & 31) as usize];
            bits >>= 5;
            char::from(digit)
        };
        Self((0..LEN).map(digit).collect())
    }

    /// The bits it was made of.
    #[must_use]
    pub fn to_bits(&self) -> u128 {
        let digits = self.0.bytes().rev().filter_map(|b| ALPHABET.iter().position(|known| *known == b));
        // The last character has two bits to spare; they fall out at the top.
        digits.fold(0, |bits, digit| (bits << 5) | digit as u128)
    }

    /// A text as an id; `None` if no terminal can have that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let sound = text.len() == LEN && text.bytes().all(|b| ALPHABET.contains(&b));
        sound.then(|| Self(text.to_owned()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first eight characters, enough for people on one machine.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0[..8]
    }
}

impl fmt::Display for TerminalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_parsed_back_and_nothing_else_is() {
        let id = TerminalId::random().unwrap();
        assert_eq!(TerminalId::parse(id.as_str()), Some(id.clone()));
        assert_ne!(TerminalId::random().unwrap(), id);
        assert_eq!(TerminalId::from_bits(id.to_bits()), id);
        assert_eq!(TerminalId::from_bits(u128::MAX).to_bits(), u128::MAX);
        for text in ["", ".", "..", "../../../etc/passwd/aaaaaaaa", "ABCDEFGHABCDEFGHABCDEFGHAB"] {
            assert_eq!(TerminalId::parse(text), None, "{text}");
        }
    }
}
