//! The last so many bytes of text, cut between characters.

use super::Decoder;

/// Whether more bytes may come after those that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// The command may print more: an incomplete character at the end is held back.
    Open,
    /// Nothing follows: an incomplete character at the end is invalid.
    Ended,
}

/// The text of `bytes`, at most `limit` bytes of it, the newest. True if something was left out.
///
/// The limit is on the text, not on the bytes: an invalid byte becomes three. `bytes` must begin at a place where a
/// character may begin, or be preceded by something that was left out already.
#[must_use]
pub fn tail(bytes: &[u8], limit: usize, end: Tail) -> (String, bool) {
    let mut decoder = Decoder::new();
    let mut text = decoder.push(bytes);
    if end == Tail::Ended {
        text += &decoder.finish();
    }
    if text.len() <= limit {
        return (text, false);
    }
    let mut from = text.len() - limit;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    (text.split_off(from), true)
}

/// Bytes at the start of `bytes` that belong to a character whose beginning was left out.
#[must_use]
pub fn orphans(bytes: &[u8]) -> usize {
    let is_continuation = |b: &&u8| **b & 0b1100_0000 == 0b1000_0000;
    bytes.iter().take(3).take_while(is_continuation).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_cut_is_between_characters_and_never_above_the_limit() {
        for (text, limit, cut) in [
            ("abc", 3, ("abc", false)),
            ("abc", 2, ("bc", true)),
            ("é", 1, ("", true)),
            ("aé", 2, ("é", true)),
            ("€uro", 4, ("uro", true)),
            ("€uro", 6, ("€uro", false)),
            ("abc", 0, ("", true)),
            ("", 0, ("", false)),
        ] {
            let (kept, left_out) = tail(text.as_bytes(), limit, Tail::Ended);
            assert_eq!((kept.as_str(), left_out), cut, "{text:?} to {limit}");
        }
    }

    #[test]
    fn the_limit_counts_the_marks_of_invalid_bytes() {
        let (text, left_out) = tail(&[0xff; 10], 10, Tail::Ended);
        assert_eq!((text.as_str(), left_out), ("\u{fffd}\u{fffd}\u{fffd}", true));
    }

    proptest! {
        #[test]
        fn never_above_the_limit_and_always_the_end_of_the_whole(
            bytes in proptest::collection::vec(any::<u8>(), 0..400),
            limit in 0usize..400,
        ) {
            let whole = String::from_utf8_lossy(&bytes).into_owned();
            let (text, left_out) = tail(&bytes, limit, Tail::Ended);
            prop_assert!(text.len() <= limit);
            prop_assert!(whole.ends_with(&text));
            prop_assert_eq!(left_out, text.len() < whole.len());
            prop_assert!(whole.len() - text.len() < 4 || limit < whole.len());
            prop_assert!(!left_out || text.len() + 4 > limit, "no more is left out than a character needs");
        }

        #[test]
        fn while_nothing_is_left_out_each_answer_begins_the_next(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let mut before = String::new();
            for upto in 0..=bytes.len() {
                let (text, left_out) = tail(&bytes[..upto], 10_000, Tail::Open);
                prop_assert!(!left_out);
                prop_assert!(text.starts_with(&before), "{:?} then {:?}", before, text);
                before = text;
            }
            let (text, _) = tail(&bytes, 10_000, Tail::Ended);
            prop_assert!(text.starts_with(&before));
        }
    }
}
