//! What can be known of a word before it is run, and whether it could be a given text.
//!
//! A word of an argv is known. A word of a shell line may hold variables, substitutions and patterns, whose text nobody
//! knows before the shell does: each is a gap in its shape. Questions about shapes are answered for the strictest
//! reading: if some filling of the gaps would be the text asked for, the answer is yes.

/// The bytes of a word; `None` is a gap of any length.
pub(super) type Shape = Vec<Option<u8>>;

/// How many words one written word becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Count {
    /// Exactly one.
    One,
    /// Any number, each of this shape: patterns for file names, braces.
    Pattern,
    /// Any number, cut somewhere in the gaps: a variable without quotes.
    Split,
}

/// One word as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) shape: Shape,
    pub(super) count: Count,
}

impl Word {
    pub(super) fn known(bytes: &[u8]) -> Word {
        Word { shape: bytes.iter().copied().map(Some).collect(), count: Count::One }
    }

    /// Any number of words of which nothing is known.
    pub(super) fn anything() -> Word {
        Word { shape: vec![None], count: Count::Split }
    }

    /// One word of which nothing is known.
    pub(super) fn something() -> Word {
        Word { shape: vec![None], count: Count::One }
    }

    /// The text, if all of it is known.
    pub(super) fn text(&self) -> Option<Vec<u8>> {
        if self.count != Count::One {
            return None;
        }
        self.shape.iter().copied().collect()
    }

    /// As a text for a shell: a variable stands in each gap.
    pub(super) fn with_variables(&self) -> Word {
        let shape = self.shape.iter().flat_map(|byte| match byte {
            Some(byte) => vec![Some(*byte)],
            None => vec![Some(b'$'), Some(b'1')],
        });
        Word { shape: shape.collect(), count: Count::One }
    }

    /// What is known before the first gap.
    pub(super) fn start(&self) -> Vec<u8> {
        self.shape.iter().map_while(|byte| *byte).collect()
    }

    /// Whether it has a subscript that bash would run a command for, where the word names a variable or is a number.
    pub(super) fn has_live_subscript(&self) -> bool {
        let open = self.shape.iter().position(|byte| *byte == Some(b'['));
        let behind = open.map_or(&[][..], |open| &self.shape[open..]);
        behind.contains(&Some(b'`')) || behind.windows(2).any(|pair| pair == [Some(b'$'), Some(b'(')])
    }

    /// For people: a gap is shown as `…`.
    pub(super) fn show(&self) -> String {
        let mut bytes = Vec::new();
        for byte in &self.shape {
            match byte {
                Some(byte) => bytes.push(*byte),
                None => bytes.extend_from_slice("…".as_bytes()),
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let is_plain = |c: char| c.is_alphanumeric() || "-_./=:@%+,…".contains(c);
        if !text.is_empty() && text.chars().all(is_plain) { text } else { format!("'{text}'") }
    }
}

/// What a list of words becomes, one atom for each place in the command.
#[derive(Debug)]
pub(super) enum Atom {
    One(Shape),
    /// Any number of words of this shape, also none.
    Many(Shape),
}

impl Atom {
    /// As an argument that may be an option: `None` if it may be any, and what is known of it if it is none.
    pub(super) fn text_of_option(&self) -> Option<Vec<u8>> {
        let (Atom::One(shape) | Atom::Many(shape)) = self;
        let start: Vec<u8> = shape.iter().map_while(|byte| *byte).collect();
        let is_open = start.len() < shape.len() && start.first().is_none_or(|first| *first == b'-');
        (!is_open).then_some(start)
    }
}

/// The words as the command could receive them.
pub(super) fn atoms(words: &[Word]) -> Vec<Atom> {
    let mut atoms = Vec::with_capacity(words.len());
    for word in words {
        match word.count {
            Count::One => atoms.push(Atom::One(word.shape.clone())),
            Count::Pattern => atoms.push(Atom::Many(word.shape.clone())),
            Count::Split => split(&word.shape, &mut atoms),
        }
    }
    atoms
}

/// A word that is cut in its gaps: what stands before the first gap begins the first word, what stands after the last
/// gap ends the last one, and between them may be any number of others.
fn split(shape: &Shape, atoms: &mut Vec<Atom>) {
    let (Some(first), Some(last)) =
        (shape.iter().position(Option::is_none), shape.iter().rposition(Option::is_none))
    else {
        return atoms.push(Atom::One(shape.clone()));
    };
    if first > 0 {
        atoms.push(Atom::One(shape[..=first].to_vec()));
        // The end may be a word of its own or the same word again; leaving it out covers both.
        atoms.push(Atom::Many(vec![None]));
    } else {
        atoms.push(Atom::Many(vec![None]));
        if last + 1 < shape.len() {
            atoms.push(Atom::One(shape[last..].to_vec()));
        }
    }
}

/// Whether some text has both shapes.
pub(super) fn may_equal(a: &[Option<u8>], b: &[Option<u8>]) -> bool {
    let (a, b) = trim(a, b);
    match (a, b) {
        (Some(a), Some(b)) => meet(a, b),
        _ => false,
    }
}

type Part<'s> = Option<&'s [Option<u8>]>;

/// Takes what both begin and end with away, so that the costly comparison is rare. `None` if they differ already.
fn trim<'s>(mut a: &'s [Option<u8>], mut b: &'s [Option<u8>]) -> (Part<'s>, Part<'s>) {
    while let ([Some(x), rest_a @ ..], [Some(y), rest_b @ ..]) = (a, b) {
        if x != y {
            return (None, None);
        }
        (a, b) = (rest_a, rest_b);
    }
    while let ([rest_a @ .., Some(x)], [rest_b @ .., Some(y)]) = (a, b) {
        if x != y {
            return (None, None);
        }
        (a, b) = (rest_a, rest_b);
    }
    (Some(a), Some(b))
}

/// One row of the table of all prefixes at a time: `row[j]` is whether `a[..i]` and `b[..j]` can be the same text.
fn meet(a: &[Option<u8>], b: &[Option<u8>]) -> bool {
    let mut row = vec![false; b.len() + 1];
    row[0] = true;
    for j in 0..b.len() {
        row[j + 1] = row[j] && b[j].is_none();
    }
    for x in a {
        let mut diagonal = row[0];
        row[0] = row[0] && x.is_none();
        for j in 0..b.len() {
            let above = row[j + 1];
            row[j + 1] = match (x, b[j]) {
                (Some(x), Some(y)) => diagonal && *x == y,
                (None, None) => diagonal || above || row[j],
                // A gap takes one more byte of the other side, or nothing.
                (None, Some(_)) => row[j] || above,
                (Some(_), None) => above || row[j],
            };
            diagonal = above;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Shape {
        text.bytes().map(|byte| (byte != b'*').then_some(byte)).collect()
    }

    #[test]
    fn two_shapes_meet_if_one_text_has_both() {
        for (a, b, meet) in [
            ("abc", "abc", true),
            ("abc", "abd", false),
            ("abc", "ab", false),
            ("*", "", true),
            ("*", "x", true),
            ("a*", "abc", true),
            ("a*", "bc", false),
            ("*c", "abc", true),
            ("a*c", "abd", false),
            ("a*c", "a*b*", true),
            ("a*c", "*d", false),
            ("*a*", "bab", true),
            ("*a*", "bbb", false),
            ("ab*", "*ba", true),
            ("", "", true),
            ("**", "", true),
            ("x**y", "xy", true),
        ] {
            assert_eq!(may_equal(&shape(a), &shape(b)), meet, "{a} and {b}");
            assert_eq!(may_equal(&shape(b), &shape(a)), meet, "{b} and {a}");
        }
    }
}
