//! The key that leaves a terminal without ending it, found in what is typed.
//!
//! Programs may switch the keyboard to newer encodings in which a control key is an escape sequence; a shell that does
//! so must not lock its user in, so all three spellings of the key are known.

/// A key pressed together with Ctrl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DetachKey {
    /// Without Ctrl, in lower case.
    letter: u8,
}

impl DetachKey {
    /// `ctrl-]`, `C-]` and `^]` are the same.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let lower = text.to_ascii_lowercase();
        let bare = ["ctrl-", "ctrl+", "c-", "^"].into_iter().find_map(|prefix| lower.strip_prefix(prefix));
        match bare.map(str::as_bytes) {
            // Return, tab, line feed and escape are such keys too, and nobody could type without them.
            Some([b'm' | b'i' | b'j' | b'[']) => Err("that key is needed for typing".to_owned()),
            Some([letter @ (b'a'..=b'z' | b'\\' | b']' | b'^' | b'_')]) => Ok(Self { letter: *letter }),
            _ => Err("write a key like ctrl-] or ctrl-a".to_owned()),
        }
    }

    /// Where it begins in what was typed.
    pub(crate) fn find(self, typed: &[u8]) -> Option<usize> {
        let control = [self.letter.to_ascii_uppercase() & 0x1f];
        let kitty = format!("\x1b[{};5u", self.letter);
        let xterm = format!("\x1b[27;5;{}~", self.letter);
        [&control[..], kitty.as_bytes(), xterm.as_bytes()]
            .into_iter()
            .filter_map(|key| typed.windows(key.len()).position(|part| part == key))
            .min()
    }
}

impl std::fmt::Display for DetachKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ctrl-{}", char::from(self.letter.to_ascii_uppercase()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_spelled_in_several_ways() {
        for text in ["ctrl-]", "Ctrl-]", "C-]", "^]", "ctrl+]"] {
            assert_eq!(DetachKey::parse(text), Ok(DetachKey { letter: b']' }), "{text}");
        }
        for text in ["", "]", "ctrl-", "ctrl-ab", "ctrl-m", "^[", "alt-a"] {
            assert!(DetachKey::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn it_is_found_in_every_encoding() {
        let key = DetachKey { letter: b']' };
        for (typed, at) in [
            (&b"abc"[..], None),
            (b"]", None),
            (b"\x1d", Some(0)),
            (b"ls\x1dpwd", Some(2)),
            (b"a\x1b[93;5u", Some(1)),
            (b"\x1b[27;5;93~", Some(0)),
            (b"\x1b[93u", None),
        ] {
            assert_eq!(key.find(typed), at, "{typed:?}");
        }
    }
}
