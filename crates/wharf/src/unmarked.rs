//! A shell's output without the marks that wharf's integration prints in it, byte for byte otherwise.
//!
//! Each mark holds the shell's secret, with which anybody could make wharf believe that a command has begun or ended. So
//! marks are left out as a whole, and the secret is covered up wherever else it may stand, for instance because a
//! terminal has echoed it. Sequences that only look like marks are output, and pass.
//!
//! What surprises: output may be asked for from the middle of a mark on. What stands before is then read too, and not
//! shown.

/// What stands before the secret in a mark.
const PREFIX: &[u8] = b"\x1b]6973;";
const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
/// A mark is shorter; a longer one is none.
const LONGEST: usize = 64 * 1024;
/// As much before the first byte wanted is looked at as a mark is usually long.
pub(crate) const BEFORE: u64 = 16 * 1024;

/// The filter between two pieces of output.
#[derive(Debug)]
pub(crate) struct Unmarked {
    secret: Vec<u8>,
    /// What may be the beginning of a mark, or of the secret.
    held: Vec<u8>,
    /// So many of those were not asked for.
    unwanted: usize,
    /// In a mark, behind its secret; how long it is by now.
    inside: Option<usize>,
}

impl Unmarked {
    pub(crate) fn new(secret: &str) -> Self {
        Self { secret: secret.as_bytes().to_vec(), held: Vec::new(), unwanted: 0, inside: None }
    }

    /// What stands before that which is wanted.
    pub(crate) fn skip(&mut self, bytes: &[u8]) {
        self.pass(bytes);
        self.unwanted = self.held.len();
    }

    /// Bytes are missing here: what had begun before cannot be continued.
    pub(crate) fn forget(&mut self) {
        self.held.clear();
        (self.unwanted, self.inside) = (0, None);
    }

    /// What may be shown of the next piece.
    pub(crate) fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let (mut shown, mut at) = (Vec::with_capacity(all.len()), 0);
        while at < all.len() {
            if let Some(length) = self.inside {
                match end(&all[at..]) {
                    End::At(end) if length + end <= LONGEST => (self.inside, at) = (None, at + end),
                    End::None if length + all.len() - at <= LONGEST => {
                        (self.inside, at) = (Some(length + all.len() - at), all.len());
                    }
                    // Its end comes with the next byte.
                    End::Open if length < LONGEST => break,
                    _ => self.inside = None,
                }
                continue;
            }
            let found = all[at..].windows(self.secret.len()).position(|window| window == self.secret);
            let Some(found) = found.map(|found| at + found) else {
                let keep = at + self.undecided(&all[at..]);
                shown.extend_from_slice(&all[at.max(self.unwanted).min(keep)..keep]);
                at = keep;
                break;
            };
            let mark = all[at..found].ends_with(PREFIX);
            let text = if mark { found - PREFIX.len() } else { found };
            shown.extend_from_slice(&all[at.max(self.unwanted).min(text)..text]);
            at = found + self.secret.len();
            if mark {
                self.inside = Some(0);
            } else {
                shown.extend(std::iter::repeat_n(b'*', at - found.max(self.unwanted).min(at)));
            }
        }
        self.held = all.split_off(at);
        self.unwanted = self.unwanted.saturating_sub(at);
        shown
    }

    /// What is left when nothing more comes: not the half of a secret.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        let is_secret = self.inside.is_some() || held.len() > PREFIX.len() || self.secret.starts_with(&held);
        if is_secret { Vec::new() } else { held[self.unwanted.min(held.len())..].to_vec() }
    }

    /// How much of it is surely no beginning of a mark or of the secret.
    fn undecided(&self, bytes: &[u8]) -> usize {
        let begins = |tail: &[u8]| {
            let (prefix, secret) = tail.split_at(tail.len().min(PREFIX.len()));
            PREFIX.starts_with(prefix) && self.secret.starts_with(secret) || self.secret.starts_with(tail)
        };
        let longest = PREFIX.len() + self.secret.len() - 1;
        let from = bytes.len().saturating_sub(longest);
        (from..bytes.len()).find(|at| begins(&bytes[*at..])).unwrap_or(bytes.len())
    }
}

/// Where a mark ends.
enum End {
    /// Before this byte.
    At(usize),
    /// It may, with the next byte.
    Open,
    None,
}

/// A bell or a string terminator belongs to it; any other control ends it too, since none stands in a mark.
fn end(bytes: &[u8]) -> End {
    let Some(at) = bytes.iter().position(|byte| *byte < 0x20) else { return End::None };
    match (bytes[at], bytes.get(at + 1)) {
        (BEL, _) => End::At(at + 1),
        (ESC, Some(b'\\')) => End::At(at + 2),
        (ESC, None) => End::Open,
        _ => End::At(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "5ec4e7";
    const TABLE: &[(&str, &str)] = &[
        ("plain\r\n\u{1b}[31mred\u{1b}[m", "plain\r\n\u{1b}[31mred\u{1b}[m"),
        ("a\u{1b}]6973;5ec4e7;A;1;x\u{7}b", "ab"),
        ("a\u{1b}]6973;5ec4e7;A;1;x\u{1b}\\b", "ab"),
        ("a\u{1b}]6973;5ec4e7;A\u{7}\u{1b}]6973;5ec4e7;B\u{7}b", "ab"),
        // Those of others are output.
        ("a\u{1b}]6973;other;A\u{7}b", "a\u{1b}]6973;other;A\u{7}b"),
        ("a\u{1b}]0;title\u{7}b\u{1b}]697", "a\u{1b}]0;title\u{7}b\u{1b}]697"),
        // One that is broken off ends where something else begins.
        ("a\u{1b}]6973;5ec4e7;A\u{1b}[31mb", "a\u{1b}[31mb"),
        ("a\u{1b}]6973;5ec4e7;A\nb", "a\nb"),
        ("nonce=5ec4e7;", "nonce=******;"),
        ("55ec4e7", "5******"),
        ("\u{1b}]6973;5ec4", ""),
        ("x 5ec", "x "),
        ("a\u{1b}]6973;5ec4e7;A;1", "a"),
    ];

    #[test]
    fn marks_are_left_out_and_the_secret_is_covered_up_however_the_bytes_are_cut() {
        for (bytes, expect) in TABLE {
            for cut in 0..=bytes.len() {
                let mut filter = Unmarked::new(SECRET);
                let mut shown = filter.pass(&bytes.as_bytes()[..cut]);
                shown.extend(filter.pass(&bytes.as_bytes()[cut..]));
                shown.extend(filter.finish());
                assert_eq!(String::from_utf8_lossy(&shown), *expect, "{bytes:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn from_the_middle_of_a_mark_on_nothing_of_it_is_shown() {
        let bytes = b"old\x1b]6973;5ec4e7;A;1\x07new";
        for from in 0..=bytes.len() {
            let mut filter = Unmarked::new(SECRET);
            filter.skip(&bytes[..from]);
            let mut shown = filter.pass(&bytes[from..]);
            shown.extend(filter.finish());
            let expect = format!("{}{}", &"old"[from.min(3)..], &"new"[from.clamp(21, 24) - 21..]);
            assert_eq!(String::from_utf8_lossy(&shown), expect, "from {from}");
        }
    }

    #[test]
    fn what_is_too_long_to_be_a_mark_is_output_again() {
        let mut filter = Unmarked::new(SECRET);
        assert_eq!(filter.pass(b"a\x1b]6973;5ec4e7;"), b"a");
        let mut shown = 0;
        for _ in 0..200 {
            shown += filter.pass(&[b'x'; 1000]).len();
        }
        assert!(shown >= 200_000 - LONGEST - 1000, "{shown}");
        assert!(filter.held.is_empty());
    }
}
