//! Bytes that are not text, made visible: a byte must not vanish without a trace.
//!
//! The emulator drops NUL and most other controls, and also lone bytes of the range that were controls before UTF-8.
//! Here they become U+FFFD, as does everything that is not UTF-8. Characters may be cut between two pieces.

/// What stands for a byte that cannot be shown.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// Whether controls that a terminal ignores are to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ignored {
    /// As a terminal has it: on a screen they take no room.
    Dropped,
    /// As U+FFFD.
    Shown,
}

/// Makes any bytes into UTF-8.
#[derive(Debug)]
pub(super) struct Cleaner {
    ignored: Ignored,
    /// The beginning of a character whose rest has not come yet.
    cut: Vec<u8>,
}

impl Cleaner {
    pub(super) fn new(ignored: Ignored) -> Self {
        Self { ignored, cut: Vec::with_capacity(4) }
    }

    /// Nothing is left over from before.
    pub(super) fn is_empty(&self) -> bool {
        self.cut.is_empty()
    }

    pub(super) fn feed(&mut self, bytes: &[u8], each: &mut dyn FnMut(&[u8])) {
        let mut rest = self.complete(bytes, each);
        while !rest.is_empty() {
            let Err(error) = std::str::from_utf8(rest) else { return self.show(rest, each) };
            let (valid, after) = rest.split_at(error.valid_up_to());
            self.show(valid, each);
            let Some(length) = error.error_len() else { return self.cut.extend_from_slice(after) };
            each(REPLACEMENT);
            rest = &after[length..];
        }
    }

    /// Finishes the character that was cut; gives what comes after it.
    fn complete<'a>(&mut self, bytes: &'a [u8], each: &mut dyn FnMut(&[u8])) -> &'a [u8] {
        let mut rest = bytes;
        while let (false, [next, after @ ..]) = (self.cut.is_empty(), rest) {
            self.cut.push(*next);
            match std::str::from_utf8(&self.cut) {
                Ok(_) => {
                    let whole = std::mem::take(&mut self.cut);
                    self.show(&whole, each);
                }
                Err(error) if error.error_len().is_none() => {}
                Err(_) => {
                    // Only the byte that was just added can be wrong: it is looked at again by itself.
                    self.cut.clear();
                    each(REPLACEMENT);
                    return rest;
                }
            }
            rest = after;
        }
        rest
    }

    /// `valid` is UTF-8.
    fn show(&self, valid: &[u8], each: &mut dyn FnMut(&[u8])) {
        let mut rest = valid;
        while let Some(at) = rest.iter().position(|&byte| may_vanish(byte)) {
            let length = if rest[at] == 0xc2 { 2 } else { 1 };
            let vanishes = match rest[at] {
                0xc2 => rest[at + 1] <= 0x9f,
                _ => self.ignored == Ignored::Shown,
            };
            let upto = if vanishes { at } else { at + length };
            if upto > 0 {
                each(&rest[..upto]);
            }
            if vanishes {
                each(REPLACEMENT);
            }
            rest = &rest[at + length..];
        }
        if !rest.is_empty() {
            each(rest);
        }
    }
}

/// A control that the emulator ignores, or the first byte of such a one in UTF-8. A bell may ring unseen, and shifts
/// between character sets are obeyed.
fn may_vanish(byte: u8) -> bool {
    matches!(byte, 0x00..=0x06 | 0x10..=0x1a | 0x1c..=0x1f | 0x7f | 0xc2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(bytes: &[u8], size: usize, ignored: Ignored) -> String {
        let (mut cleaner, mut text) = (Cleaner::new(ignored), Vec::new());
        for piece in bytes.chunks(size) {
            cleaner.feed(piece, &mut |part| text.extend_from_slice(part));
        }
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn every_byte_that_is_no_text_leaves_a_trace_however_it_is_cut() {
        let bytes = b"A\xff\xfe\x80B\x00C\x01\xe2\x82D\xc2\x85E\xc2\xa0F\xf0\x9f\x98\x80G\x7f";
        let expected =
            "A\u{fffd}\u{fffd}\u{fffd}B\u{fffd}C\u{fffd}\u{fffd}D\u{fffd}E\u{a0}F\u{1f600}G\u{fffd}";
        for size in [1, 2, 3, 100] {
            assert_eq!(cleaned(bytes, size, Ignored::Shown), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn a_screen_ignores_what_terminals_ignore() {
        assert_eq!(cleaned(b"a\0b\xffc", 100, Ignored::Dropped), "a\0b\u{fffd}c");
    }
}
