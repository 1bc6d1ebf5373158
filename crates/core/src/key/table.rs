//! The keys that have names of their own, and what xterm sends for them.

/// A key of that name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) sends: Sends,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sends {
    /// These; others with Control. Shift changes nothing.
    Bytes { plain: &'static [u8], ctrl: &'static [u8] },
    /// `ESC [ A`, in application cursor mode `ESC O A`, with modifiers `ESC [ 1 ; 5 A`.
    Cursor(char),
    /// `ESC O P` in any mode, with modifiers `ESC [ 1 ; 5 P`.
    Function(char),
    /// `ESC [ 5 ~`, with modifiers `ESC [ 5 ; 2 ~`.
    Tilde(u8),
    /// A character, in application keypad mode `ESC O p`.
    Pad { plain: u8, letter: char },
}

const fn bytes(plain: &'static [u8], ctrl: &'static [u8]) -> Sends {
    Sends::Bytes { plain, ctrl }
}

const fn pad(plain: u8, letter: char) -> Sends {
    Sends::Pad { plain, letter }
}

const fn entry(name: &'static str, sends: Sends) -> Entry {
    Entry { name, sends }
}

/// Names that tmux has besides, and whose they are.
const ALIASES: [(&str, &str); 4] =
    [("PageUp", "PPage"), ("PgUp", "PPage"), ("PageDown", "NPage"), ("PgDn", "NPage")];

static ENTRIES: [Entry; 44] = [
    entry("Up", Sends::Cursor('A')),
    entry("Down", Sends::Cursor('B')),
    entry("Right", Sends::Cursor('C')),
    entry("Left", Sends::Cursor('D')),
    // tmux sends `ESC [ 1 ~` and `ESC [ 4 ~`, as its own TERM says; a shell here has xterm's.
    entry("Home", Sends::Cursor('H')),
    entry("End", Sends::Cursor('F')),
    entry("IC", Sends::Tilde(2)),
    entry("DC", Sends::Tilde(3)),
    entry("PPage", Sends::Tilde(5)),
    entry("NPage", Sends::Tilde(6)),
    // tmux has nothing for the first three with Control; terminals send the same as without.
    entry("Enter", bytes(b"\r", b"\r")),
    entry("Escape", bytes(b"\x1b", b"\x1b")),
    entry("Tab", bytes(b"\t", b"\t")),
    entry("BTab", bytes(b"\x1b[Z", b"\x1b[Z")),
    entry("Space", bytes(b" ", b"\0")),
    entry("BSpace", bytes(b"\x7f", b"\x08")),
    entry("F1", Sends::Function('P')),
    entry("F2", Sends::Function('Q')),
    entry("F3", Sends::Function('R')),
    entry("F4", Sends::Function('S')),
    entry("F5", Sends::Tilde(15)),
    entry("F6", Sends::Tilde(17)),
    entry("F7", Sends::Tilde(18)),
    entry("F8", Sends::Tilde(19)),
    entry("F9", Sends::Tilde(20)),
    entry("F10", Sends::Tilde(21)),
    entry("F11", Sends::Tilde(23)),
    entry("F12", Sends::Tilde(24)),
    entry("KP/", pad(b'/', 'o')),
    entry("KP*", pad(b'*', 'j')),
    entry("KP-", pad(b'-', 'm')),
    entry("KP+", pad(b'+', 'k')),
    entry("KP.", pad(b'.', 'n')),
    entry("KP0", pad(b'0', 'p')),
    entry("KP1", pad(b'1', 'q')),
    entry("KP2", pad(b'2', 'r')),
    entry("KP3", pad(b'3', 's')),
    entry("KP4", pad(b'4', 't')),
    entry("KP5", pad(b'5', 'u')),
    entry("KP6", pad(b'6', 'v')),
    entry("KP7", pad(b'7', 'w')),
    entry("KP8", pad(b'8', 'x')),
    entry("KP9", pad(b'9', 'y')),
    // tmux sends a line feed, terminals what Enter sends.
    entry("KPEnter", pad(b'\r', 'M')),
];

/// The key of exactly that name.
pub(super) fn named(name: &str) -> Option<&'static Entry> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name);
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// The key whose name differs in nothing but case.
pub(super) fn named_in_any_case(name: &str) -> Option<&'static Entry> {
    let alias = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
    let name = alias.map_or(name, |(_, name)| name);
    ENTRIES.iter().find(|entry| entry.name.eq_ignore_ascii_case(name))
}
