//! Characters that nobody sees, made visible where they do not belong.
//!
//! Whoever reads a text, a person or a model, is to read what is there. Some characters reverse the direction of what
//! follows; others repeat the whole alphabet without being seen, which models read all the same. These are named, as in
//! `⟨U+202E⟩`. Many are ordinary in some language, though: joiners in Persian, Hindi and emoji, breaks between words in
//! Thai and Khmer, variants of ideographs in Japanese names. Where they are ordinary they stay as they are, so that
//! ordinary text in any language is unchanged.
//!
//! What surprises: no more than two such in a row are ordinary anywhere. More of them are a code.

use std::borrow::Cow;
use std::fmt::Write;

/// The emoji of a flag and a joiner follow each other; a third is never needed.
const MOST_IN_A_ROW: usize = 2;

/// A black flag.
const FLAG: char = '\u{1f3f4}';
/// What makes it the flag of England, Scotland or Wales: the only flags that are written with tags.
const REGIONS: [&str; 3] = [
    "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// The text with everything in it to be seen. Controls of ASCII are left to whoever knows what they do there.
#[must_use]
pub fn reveal(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.chars().any(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 64);
    let (mut before, mut in_a_row, mut rest) = (None, 0, text);
    while let Some(next) = rest.chars().next() {
        rest = &rest[next.len_utf8()..];
        in_a_row = if is_unseen(next) { in_a_row + 1 } else { 0 };
        let around = Around { before, after: rest.chars().next(), text };
        if in_a_row == 0 || (in_a_row <= MOST_IN_A_ROW && is_ordinary(next, &around)) {
            shown.push(next);
        } else {
            let _ = write!(shown, "⟨U+{:04X}⟩", u32::from(next));
        }
        if next == FLAG
            && let Some(region) = REGIONS.iter().find(|region| rest.starts_with(**region))
        {
            shown.push_str(region);
            rest = &rest[region.len()..];
        }
        before = Some(next);
    }
    Cow::Owned(shown)
}

/// Where a character stands.
struct Around<'a> {
    before: Option<char>,
    after: Option<char>,
    text: &'a str,
}

/// Nothing is seen of it by itself.
#[must_use]
pub fn is_unseen(c: char) -> bool {
    match c {
        '\0'..='\u{7e}' => false,
        '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// Whether an unseen character does there what it is for.
fn is_ordinary(c: char, around: &Around<'_>) -> bool {
    let next_to = |is: fn(char) -> bool| around.before.is_some_and(is) || around.after.is_some_and(is);
    match c {
        // Joiners, and the variants of emoji, mathematical signs and ideographs.
        '\u{34f}' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' => true,
        // A place to break a word at.
        '\u{ad}' => around.before.is_some_and(is_letter) && around.after.is_some_and(is_letter),
        '\u{200b}' => next_to(is_unspaced),
        // Marks of a direction, where the text has both anyway.
        '\u{61c}' | '\u{200e}' | '\u{200f}' => around.text.chars().any(is_leftward),
        '\u{180b}'..='\u{180f}' => around.before.is_some_and(is_mongolian),
        '\u{e0100}'..='\u{e01ef}' => around.before.is_some_and(is_ideograph),
        _ => false,
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic()
}

/// Of scripts that have no space between words: Thai, Lao, Tibetan, Burmese, Khmer, Tai.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{1950}'..='\u{19ff}'
        | '\u{1a20}'..='\u{1aaf}' | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aadf}')
}

/// Of scripts that are written from right to left.
fn is_leftward(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{61b}' | '\u{61d}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

fn is_mongolian(c: char) -> bool {
    matches!(c, '\u{1800}'..='\u{180a}' | '\u{1810}'..='\u{18af}')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As it is written where it is written.
    const ORDINARY: &[&str] = &[
        "plain \t text",
        "größe é 日本語 한국어 Ελληνικά",
        // Joiners: Persian, Hindi, Malayalam, German.
        "می\u{200c}خواهم",
        "क\u{94d}\u{200d}ष",
        "ന\u{d4d}\u{200d}",
        "Auf\u{200c}lage",
        // Emoji: a family, an eye in a bubble, a keycap, a heart, flags.
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
        "\u{1f441}\u{fe0f}\u{200d}\u{1f5e8}\u{fe0f}",
        "1\u{fe0f}\u{20e3} \u{2764}\u{fe0f} \u{2764}\u{fe0e} \u{1f1e9}\u{1f1ea}",
        "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
        // Hebrew and Arabic with marks of direction.
        "שלום C++\u{200e}, עולם",
        "\u{200f}(مرحبا)\u{200f} 12\u{61c}%",
        // Words in Khmer and Thai, a name in Japanese, Mongolian, a word that may be broken.
        "សួស្តី\u{200b}ពិភពលោក",
        "ภาษา\u{200b}ไทย",
        "\u{845b}\u{e0100}飾区",
        "\u{182a}\u{180b} \u{1828}\u{180e}\u{1820}",
        "Donau\u{ad}dampf\u{ad}schiff",
        // Icons of fonts, braille, no-break spaces.
        "\u{e0b0} \u{f115} \u{2800}\u{28ff} a\u{a0}b\u{3000}c",
    ];

    const HIDING: &[(&str, &str)] = &[
        ("rm \u{202e}txt.exe", "rm ⟨U+202E⟩txt.exe"),
        ("/* \u{2066}*/ if x \u{2069}", "/* ⟨U+2066⟩*/ if x ⟨U+2069⟩"),
        ("a\u{200b}b\u{feff}c\u{2060}d\u{2064}", "a⟨U+200B⟩b⟨U+FEFF⟩c⟨U+2060⟩d⟨U+2064⟩"),
        ("x\u{e0068}\u{e0069}", "x⟨U+E0068⟩⟨U+E0069⟩"),
        // Not even behind a flag.
        ("\u{1f3f4}\u{e0068}\u{e0069}\u{e007f}", "\u{1f3f4}⟨U+E0068⟩⟨U+E0069⟩⟨U+E007F⟩"),
        // Bytes behind an emoji, one for each variant.
        ("\u{1f600}\u{e0158}\u{e0155}", "\u{1f600}⟨U+E0158⟩⟨U+E0155⟩"),
        ("\u{845b}\u{e0158}\u{e0155}", "\u{845b}\u{e0158}⟨U+E0155⟩"),
        ("a\u{200e}b\u{200f}c\u{61c}", "a⟨U+200E⟩b⟨U+200F⟩c⟨U+061C⟩"),
        ("\u{200c}\u{200d}\u{200c}\u{200d}", "\u{200c}\u{200d}⟨U+200C⟩⟨U+200D⟩"),
        ("ls\u{ad}; -\u{ad}rf", "ls⟨U+00AD⟩; -⟨U+00AD⟩rf"),
        ("a\u{9b}6n\u{85}\u{7f}é", "a⟨U+009B⟩6n⟨U+0085⟩⟨U+007F⟩é"),
        ("a\u{2028}b\u{fff9}c", "a⟨U+2028⟩b⟨U+FFF9⟩c"),
    ];

    #[test]
    fn ordinary_text_in_any_language_is_unchanged() {
        for text in ORDINARY {
            assert_eq!(reveal(text), *text, "{}", text.escape_unicode());
        }
    }

    #[test]
    fn what_hides_is_named() {
        for (text, shown) in HIDING {
            assert_eq!(reveal(text), *shown, "{}", text.escape_unicode());
        }
    }

    proptest! {
        #[test]
        fn nothing_else_is_changed_and_nothing_hides_for_long(
            text in "[a-z\u{5d0}\u{4e00}\u{ad}\u{200b}-\u{200f}\u{202a}-\u{202e}\u{e0020}-\u{e01ef}]{0,40}",
        ) {
            let shown = reveal(&text);
            let in_a_row = shown.split(|c| !is_unseen(c)).map(|run| run.chars().count()).max();
            prop_assert!(in_a_row <= Some(MOST_IN_A_ROW));
            // Names have none of these letters.
            let seen = |text: &str| {
                text.chars().filter(|c| matches!(c, 'a'..='z' | '\u{5d0}' | '\u{4e00}')).collect::<String>()
            };
            prop_assert_eq!(seen(&shown), seen(&text));
        }
    }
}
