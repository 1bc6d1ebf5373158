//! Frames on a byte stream: a length, then that many bytes.
//!
//! The buffer grows only with bytes that really arrived, so a peer that announces four gigabytes costs nothing.

use super::value::DecodeError;

/// The longest frame a control socket takes: an input chunk with room to spare.
/// Longer input is sent in pieces, which is also what gives back-pressure its grain.
pub const MAX_FRAME: usize = 128 * 1024;

/// The longest frame a launch socket takes: the kernel's own limit on arguments and environment
/// is a quarter of the stack limit, 2 MiB by default and 6 MiB at most in the usual configurations.
pub const MAX_PLAN: usize = 16 * 1024 * 1024;

/// Puts a length before `body`.
#[must_use]
pub fn frame(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + 4);
    out.extend_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(body);
    out
}

/// Collects bytes and gives frames back.
#[derive(Debug)]
pub struct Deframer {
    bytes: Vec<u8>,
    taken: usize,
    max: usize,
}

impl Deframer {
    /// For a stream whose frames are at most `max` bytes long.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Self { bytes: Vec::new(), taken: 0, max }
    }

    /// Adds bytes that arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.taken > 0 {
            self.bytes.drain(..self.taken);
            self.taken = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole frame, if one is there. A frame that is announced too long is an error for good.
    pub fn next_frame(&mut self) -> Result<Option<&[u8]>, DecodeError> {
        let rest = &self.bytes[self.taken..];
        let Some((head, body)) = rest.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let len = u32::from_le_bytes(*head) as usize;
        if len > self.max {
            return Err(DecodeError::Long);
        }
        if body.len() < len {
            return Ok(None);
        }
        self.taken += 4 + len;
        Ok(Some(&self.bytes[self.taken - len..self.taken]))
    }

    /// Bytes held that were not yet given back as frames.
    #[must_use]
    pub fn held(&self) -> usize {
        self.bytes.len() - self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn frames_come_back_whole_however_the_stream_is_cut(
            bodies in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 0..12),
            cut in 1usize..64,
        ) {
            let stream: Vec<u8> = bodies.iter().flat_map(|b| frame(b)).collect();
            let mut deframer = Deframer::new(MAX_FRAME);
            let mut got = Vec::new();
            for piece in stream.chunks(cut) {
                deframer.push(piece);
                while let Some(body) = deframer.next_frame().unwrap() {
                    got.push(body.to_vec());
                }
            }
            prop_assert_eq!(got, bodies);
            prop_assert_eq!(deframer.held(), 0);
        }
    }

    #[test]
    fn a_frame_announced_too_long_is_refused_before_its_bytes_arrive() {
        let mut deframer = Deframer::new(MAX_FRAME);
        deframer.push(&u32::MAX.to_le_bytes());
        assert_eq!(deframer.next_frame(), Err(DecodeError::Long));
    }
}
