//! Bytes that arrive in pieces → text.

/// The mark for bytes that are no character.
const REPLACEMENT: char = '\u{FFFD}';

/// Turns pieces of bytes into pieces of text. However the bytes are cut, the text is the same.
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    /// The beginning of a character whose rest has not come; at most three bytes.
    held: Vec<u8>,
}

impl Decoder {
    /// At the start of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The text of `bytes`, without a character that is not complete yet.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let joined;
        let bytes = if self.held.is_empty() {
            bytes
        } else {
            joined = [std::mem::take(&mut self.held).as_slice(), bytes].concat();
            &joined
        };
        // Nearly always. Checked many bytes at a time, which the pieces below are not.
        if let Ok(text) = std::str::from_utf8(bytes) {
            return text.to_owned();
        }
        let mut text = String::with_capacity(bytes.len());
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let is_last = chunks.peek().is_none();
            match chunk.invalid() {
                [] => {}
                invalid if is_last && may_go_on(invalid) => self.held = invalid.to_vec(),
                _ => text.push(REPLACEMENT),
            }
        }
        text
    }

    /// How many bytes are held back.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Nothing more will come: what was held back is no character.
    pub fn finish(&mut self) -> String {
        match std::mem::take(&mut self.held).is_empty() {
            true => String::new(),
            false => REPLACEMENT.to_string(),
        }
    }
}

/// Whether bytes that end a stream could be the beginning of a character.
fn may_go_on(bytes: &[u8]) -> bool {
    matches!(std::str::from_utf8(bytes), Err(error) if error.valid_up_to() == 0 && error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(bytes: &[u8]) -> String {
        let mut decoder = Decoder::new();
        let text = decoder.push(bytes);
        text + &decoder.finish()
    }

    #[test]
    fn invalid_bytes_are_marked_once_each() {
        for (bytes, text) in [
            (&b"a\xffb"[..], "a\u{fffd}b"),
            (b"\xe2\x82", "\u{fffd}"),
            (b"\xe2\x82(", "\u{fffd}("),
            (b"\xf0\x9f\x98\x80", "😀"),
            (b"\xc3\xa9\xc3", "é\u{fffd}"),
            (b"\xed\xa0\x80", "\u{fffd}\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(whole(bytes), text, "{bytes:?}");
        }
    }

    #[test]
    fn an_incomplete_character_is_held_back_until_it_is_complete() {
        let mut decoder = Decoder::new();
        assert_eq!(decoder.push("€".as_bytes().split_at(2).0), "");
        assert_eq!(decoder.held(), 2);
        assert_eq!(decoder.push("€".as_bytes().split_at(2).1), "€");
    }

    proptest! {
        #[test]
        fn the_text_does_not_depend_on_how_the_bytes_were_cut(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            cut in 1usize..7,
        ) {
            let mut decoder = Decoder::new();
            let mut text = String::new();
            for piece in bytes.chunks(cut) {
                text += &decoder.push(piece);
            }
            text += &decoder.finish();
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn valid_text_comes_back_as_it_was(original in "\\PC{0,80}", cut in 1usize..5) {
            let mut decoder = Decoder::new();
            let text: String = original.as_bytes().chunks(cut).map(|piece| decoder.push(piece)).collect();
            prop_assert_eq!(decoder.held(), 0);
            prop_assert_eq!(text, original);
        }
    }
}
