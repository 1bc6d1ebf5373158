//! What is new in the newest text, when old text may have been dropped from its front.
//!
//! The protocol has no offsets: each answer is the newest so many bytes. While nothing was dropped, an answer begins with the
//! one before it. Afterwards the two overlap somewhere, or not at all if more was printed than is kept. The longest overlap is
//! taken, so that nothing is given twice; for output that repeats itself this may pass over repetitions nobody could count.

/// An overlap shorter than this may be chance, a line end for example: then nobody knows whether something is missing.
const CERTAIN: usize = 16;

/// The end of `new` that `old` does not have, and whether something before it may be missing.
pub(super) fn unseen<'a>(
    old: &str,
    old_truncated: bool,
    new: &'a str,
    new_truncated: bool,
) -> (&'a str, bool) {
    if let Some(rest) = new.strip_prefix(old)
        && (old_truncated || !new_truncated)
    {
        return (rest, new_truncated && repeats(old));
    }
    if !new_truncated {
        // Not what the protocol says: a client that shows a screen may write over what was there.
        return (&new[common_prefix(old, new)..], true);
    }
    // A cut between characters can leave a little more room than the last one did.
    if old_truncated && let Some(at) = new.rfind(old) {
        return (&new[at + old.len()..], repeats(old));
    }
    let overlap = longest_overlap(old.as_bytes(), new.as_bytes());
    (&new[overlap..], overlap < CERTAIN || repeats(&new[..overlap]))
}

/// Whether a text that is found again may be a later repetition of it.
fn repeats(text: &str) -> bool {
    borders(text.as_bytes()).last().is_some_and(|&border| border >= CERTAIN)
}

fn common_prefix(old: &str, new: &str) -> usize {
    let same = |(a, b): &(char, char)| a == b;
    old.chars().zip(new.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum()
}

/// How long the longest beginning of `new` is that ends `old`. Linear in both (Knuth, Morris, Pratt). Both are text, so the
/// answer is a place between characters.
fn longest_overlap(old: &[u8], new: &[u8]) -> usize {
    // Only that much of the old can matter, and only that much of the new.
    let old = &old[old.len().saturating_sub(new.len())..];
    let pattern = &new[..old.len()];
    let borders = borders(pattern);
    let mut matched = 0;
    for byte in old {
        matched = extend(pattern, &borders, matched, *byte);
    }
    matched
}

/// For each beginning of the pattern, how much of it also ends it.
fn borders(pattern: &[u8]) -> Vec<usize> {
    let mut borders = vec![0; pattern.len()];
    for at in 1..pattern.len() {
        borders[at] = extend(pattern, &borders, borders[at - 1], pattern[at]);
    }
    borders
}

fn extend(pattern: &[u8], borders: &[usize], mut matched: usize, byte: u8) -> usize {
    while matched > 0 && pattern.get(matched) != Some(&byte) {
        matched = borders[matched - 1];
    }
    if pattern.get(matched) == Some(&byte) { matched + 1 } else { matched }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_new_is_found_with_and_without_truncation() {
        for (old, new, truncated, expected) in [
            ("", "abc", (false, false), ("abc", false)),
            ("abc", "abc", (false, false), ("", false)),
            ("abc", "abcdef", (false, false), ("def", false)),
            ("0123456789abcdefghij", "456789abcdefghijk", (false, true), ("k", false)),
            ("0123456789abcdefghij", "456789abcdefghijk", (true, true), ("k", false)),
            // One more character fits than before.
            ("456789abcdefghij", "3456789abcdefghijk", (true, true), ("k", false)),
            // Nothing in common: something is missing.
            ("0123456789abcdefghij", "ABCDEFGHIJKLMNOPQRST", (true, true), ("ABCDEFGHIJKLMNOPQRST", true)),
            // One line end in common: nobody knows.
            ("0123456789abcdefghi\n", "\nBCDEFGHIJKLMNOPQRST", (true, true), ("BCDEFGHIJKLMNOPQRST", true)),
            // A screen that was written over.
            ("abc\n\n\n", "abc\ndef\n\n", (false, false), ("def\n\n", true)),
            // The same again and again: nobody can count it.
            ("ééééééééééé", "éééééééééééü", (true, true), ("ü", true)),
            ("", "tail", (false, true), ("tail", true)),
        ] {
            let found = unseen(old, truncated.0, new, truncated.1);
            assert_eq!(found, expected, "{old:?} -> {new:?} {truncated:?}");
        }
    }

    #[test]
    fn an_overlap_that_repeats_itself_is_not_certain() {
        let (few, many) = ("y\n".repeat(100), "y\n".repeat(200));
        assert_eq!(unseen(&few, false, &many, true), (&many[few.len()..], true));
        assert_eq!(unseen(&many, true, &many, true), ("", true));
    }

    proptest! {
        #[test]
        fn pieces_of_a_stream_without_repetition_make_the_stream_again_or_say_what_is_missing(
            steps in proptest::collection::vec(0usize..60, 1..30),
            limit in 40usize..120,
        ) {
            // Numbered lines with characters of two bytes: no long stretch occurs twice.
            let stream: String = (100_000u32..100_400).map(|n| format!("é{n}\n")).collect();
            let (mut printed, mut seen, mut followed, mut missed) = (0, (String::new(), false), String::new(), false);
            for step in steps {
                printed = stream.ceil_char_boundary(printed + step);
                let from = stream.ceil_char_boundary(printed.saturating_sub(limit));
                let now = (stream[from..printed].to_owned(), from > 0);
                let (text, may_miss) = unseen(&seen.0, seen.1, &now.0, now.1);
                missed |= may_miss;
                followed.push_str(text);
                seen = now;
            }
            if missed {
                prop_assert!(followed.len() <= printed);
            } else {
                prop_assert_eq!(followed, &stream[..printed]);
            }
        }
    }
}
