//! Text of others as people see it: what is shown is what is there.
//!
//! Whoever writes a command may want it to look like another one. So whatever cannot be seen, changes the direction of
//! what follows, or pushes the rest out of sight is named between `⟨` and `⟩`; these two are named themselves, so that
//! no text can look as if something in it had been named. Knows nothing of commands.

/// More spaces in a row than this are counted instead of shown: nobody scrolls that far to the right.
const SPACES: usize = 16;
/// More ends of lines in a row than this are counted too.
const NEWLINES: usize = 3;

/// What stands where a line of the text ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Newline {
    /// Its name: the text stays on one line.
    Named,
    /// A sign, and the line ends.
    Broken,
}

/// The text with everything visible.
pub(super) fn visible(bytes: &[u8], newline: Newline) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text(chunk.valid(), newline, &mut shown);
        for byte in chunk.invalid() {
            shown.push_str(&format!("⟨byte {byte:02X}⟩"));
        }
    }
    shown
}

fn text(text: &str, newline: Newline, shown: &mut String) {
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        let mut count = 1;
        if matches!(next, ' ' | '\n') {
            while rest.next_if_eq(&next).is_some() {
                count += 1;
            }
        }
        match next {
            ' ' if count > SPACES => shown.push_str(&format!("⟨{count} spaces⟩")),
            ' ' => shown.extend(std::iter::repeat_n(' ', count)),
            '\n' => newlines(count, newline, shown),
            '\t' => shown.push_str("⟨tab⟩"),
            '\r' => shown.push_str("⟨carriage return⟩"),
            '\u{1b}' => shown.push_str("⟨escape⟩"),
            hidden if is_hidden(hidden) => shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(hidden))),
            plain => shown.push(plain),
        }
    }
}

fn newlines(count: usize, newline: Newline, shown: &mut String) {
    match (newline, count) {
        (Newline::Broken, ..=NEWLINES) => shown.extend(std::iter::repeat_n("⏎\n", count)),
        (Newline::Broken, _) => shown.push_str(&format!("⟨{count} newlines⟩\n")),
        (Newline::Named, 1) => shown.push_str("⟨newline⟩"),
        (Newline::Named, _) => shown.push_str(&format!("⟨{count} newlines⟩")),
    }
}

/// Whether a character is not seen as itself by everybody.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        // Our own signs.
        || matches!(c, '⟨' | '⟩' | '⏎')
        // Spaces that are none to a shell.
        || (c.is_whitespace() && c != ' ')
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            // Zero width, and the direction of what follows.
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffd}'
            // For private use: whatever a font makes of it.
            | '\u{e000}'..='\u{f8ff}'
            // Tags and variants, which repeat the whole alphabet without being seen; private planes.
            | '\u{e0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_cannot_be_seen_is_named() {
        for (bytes, expected) in [
            (&b"ls -la 'a b'"[..], "ls -la 'a b'"),
            ("größe é 日本 🚢".as_bytes(), "größe é 日本 🚢"),
            (b"a\tb\rc\x1b[8md\x07", "a⟨tab⟩b⟨carriage return⟩c⟨escape⟩[8md⟨U+0007⟩"),
            ("rm \u{202e}txt.exe".as_bytes(), "rm ⟨U+202E⟩txt.exe"),
            ("a\u{200b}b\u{feff}c\u{ad}d\u{e0061}".as_bytes(), "a⟨U+200B⟩b⟨U+FEFF⟩c⟨U+00AD⟩d⟨U+E0061⟩"),
            ("a\u{a0}b\u{3000}c\u{2028}d\u{85}e".as_bytes(), "a⟨U+00A0⟩b⟨U+3000⟩c⟨U+2028⟩d⟨U+0085⟩e"),
            (b"a\xffb\xe2\x82", "a⟨byte FF⟩b⟨byte E2⟩⟨byte 82⟩"),
            ("⟨newline⟩".as_bytes(), "⟨U+27E8⟩newline⟨U+27E9⟩"),
            (b"a\nb", "a⟨newline⟩b"),
            (b"a\n\nb", "a⟨2 newlines⟩b"),
        ] {
            assert_eq!(visible(bytes, Newline::Named), expected);
        }
    }

    #[test]
    fn nothing_is_pushed_out_of_sight() {
        let far = format!("ls{}; rm -rf ~{}x", " ".repeat(300), "\n".repeat(200));
        assert_eq!(visible(far.as_bytes(), Newline::Broken), "ls⟨300 spaces⟩; rm -rf ~⟨200 newlines⟩\nx");
        assert_eq!(visible(b"a\nb\n", Newline::Broken), "a⏎\nb⏎\n");
    }

    proptest! {
        /// Different bytes never look the same.
        #[test]
        fn it_can_be_read_back(
            pieces in proptest::collection::vec(proptest::sample::select(vec![
                "a", " ", "\n", "\t", "⟨", "⟩", "⏎", "17 spaces", "newline", "\u{202e}", "U+202E", "\\n", "\r",
            ]), 0..40),
            byte in proptest::option::of(0x80_u8..),
        ) {
            let mut bytes = pieces.concat().into_bytes();
            bytes.extend(byte);
            for newline in [Newline::Named, Newline::Broken] {
                let shown = visible(&bytes, newline);
                prop_assert!(shown.chars().all(|c| !c.is_control() || c == '\n' && newline == Newline::Broken));
                prop_assert_eq!(back(&shown), bytes.clone(), "{}", shown);
            }
        }
    }

    fn back(shown: &str) -> Vec<u8> {
        let (mut bytes, mut rest) = (Vec::new(), shown);
        while let Some(next) = rest.chars().next() {
            rest = &rest[next.len_utf8()..];
            if next != '⟨' {
                // The sign, not the break after it, is the newline.
                let meant = if next == '⏎' { "\n".to_owned() } else { next.to_string() };
                bytes.extend(meant.bytes().filter(|_| next != '\n'));
                continue;
            }
            let (name, after) = rest.split_once('⟩').unwrap();
            rest = after;
            match name.split_once(' ') {
                _ if name.starts_with("U+") => {
                    let code = u32::from_str_radix(&name[2..], 16).unwrap();
                    bytes.extend(char::from_u32(code).unwrap().to_string().bytes());
                }
                Some(("byte", hex)) => bytes.push(u8::from_str_radix(hex, 16).unwrap()),
                Some(("carriage", _)) => bytes.push(b'\r'),
                Some((count, "spaces")) => bytes.extend(vec![b' '; count.parse().unwrap()]),
                Some((count, _)) => bytes.extend(vec![b'\n'; count.parse().unwrap()]),
                None => bytes.push(if name == "tab" { b'\t' } else { b'\n' }),
            }
        }
        bytes
    }
}
