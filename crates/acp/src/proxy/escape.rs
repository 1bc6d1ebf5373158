//! Text as the inside of a JSON string.
//!
//! A command's output may be megabytes of short lines. Eight bytes are looked at in one step, and what needs no escape is
//! copied with them.

/// Every byte the same.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Appends `text` without quotes around it.
pub(super) fn escape(text: &str, out: &mut Vec<u8>) {
    let mut rest = text.as_bytes();
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        let plain = plain(u64::from_le_bytes(*word));
        out.extend_from_slice(word);
        rest = after;
        if let Some(byte) = word.get(plain) {
            out.truncate(out.len() - (word.len() - plain));
            push(*byte, out);
            // What came after it in the word is looked at again.
            let again = word.len() - plain - 1;
            rest = &text.as_bytes()[text.len() - after.len() - again..];
        }
    }
    for byte in rest {
        push(*byte, out);
    }
}

/// How many bytes of the word, from the first on, stand for themselves.
fn plain(word: u64) -> usize {
    // The subtraction borrows from a byte that is less, and only then from the ones after it: the first mark is exact.
    let below = |word: u64, limit: u8| word.wrapping_sub(each(limit)) & !word & each(0x80);
    let marks = below(word, b' ') | below(word ^ each(b'"'), 1) | below(word ^ each(b'\\'), 1);
    marks.trailing_zeros() as usize / 8
}

fn push(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'\n' => out.extend_from_slice(b"\\n"),
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'\t' => out.extend_from_slice(b"\\t"),
        b'\r' => out.extend_from_slice(b"\\r"),
        0x08 => out.extend_from_slice(b"\\b"),
        0x0c => out.extend_from_slice(b"\\f"),
        0..0x20 => {
            let hex = |digit: u8| b"0123456789abcdef"[usize::from(digit)];
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', hex(byte >> 4), hex(byte & 15)]);
        }
        _ => out.push(byte),
    }
}

/// Bytes of a text in JSON, as far as escapes of two characters go, which nearly all are. Megabytes that have to be moved
/// because there was too little room for them cost more than counting.
pub(super) fn expected_len(text: &str) -> usize {
    // In small sums without branches: so the compiler looks at many bytes in one step.
    let escapes = |bytes: &[u8]| {
        bytes.iter().map(|byte| u8::from(*byte < b' ' || *byte == b'"' || *byte == b'\\')).sum::<u8>()
    };
    text.len() + text.as_bytes().chunks(128).map(|bytes| usize::from(escapes(bytes))).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quoted(text: &str) -> String {
        let mut out = vec![b'"'];
        escape(text, &mut out);
        out.push(b'"');
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_character_is_escaped_as_serde_json_does_wherever_it_is_in_a_word() {
        for character in (0..0x100).filter_map(char::from_u32) {
            for place in 0..17 {
                let text = format!("{}{character}{}", "a".repeat(place), "é\u{1}".repeat(17 - place));
                assert_eq!(quoted(&text), serde_json::to_string(&text).unwrap(), "{text:?}");
            }
        }
    }

    #[test]
    fn the_length_of_usual_text_in_json_is_known_beforehand() {
        for text in ["", "\n", "a\tb\r\n", "\"\\\"", &"é\n".repeat(999), &"\n".repeat(1000)] {
            assert_eq!(expected_len(text) + 2, quoted(text).len(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_escaped_as_serde_json_does(text in "(\\PC|[\\x00-\\x22\\\\\\x7f]){0,60}") {
            prop_assert_eq!(quoted(&text), serde_json::to_string(&text).unwrap());
        }
    }
}
