//! What somebody probably meant by a name that is not a key's.
//!
//! Only a suggestion, never acted upon. A word that means nothing as a key gets none: most such names are commands.

use super::{Base, Held, Key, only, table};

/// What keys are called elsewhere, in lower case and without spaces, dashes and underscores.
const WORDS: [(&str, &str); 35] = [
    ("esc", "Escape"),
    ("return", "Enter"),
    ("ret", "Enter"),
    ("cr", "Enter"),
    ("newline", "Enter"),
    ("backspace", "BSpace"),
    ("bspc", "BSpace"),
    ("bs", "BSpace"),
    ("delete", "DC"),
    ("del", "DC"),
    ("insert", "IC"),
    ("ins", "IC"),
    ("spacebar", "Space"),
    ("spc", "Space"),
    ("backtab", "BTab"),
    ("shifttab", "BTab"),
    ("pgdown", "PgDn"),
    ("pagedn", "PgDn"),
    ("pgdwn", "PgDn"),
    ("nextpage", "NPage"),
    ("prevpage", "PPage"),
    ("previouspage", "PPage"),
    ("uparrow", "Up"),
    ("arrowup", "Up"),
    ("cursorup", "Up"),
    ("downarrow", "Down"),
    ("arrowdown", "Down"),
    ("cursordown", "Down"),
    ("leftarrow", "Left"),
    ("arrowleft", "Left"),
    ("cursorleft", "Left"),
    ("rightarrow", "Right"),
    ("arrowright", "Right"),
    ("cursorright", "Right"),
    ("kpenter", "KPEnter"),
];

const CTRL: [&str; 5] = ["ctrl", "control", "ctl", "ctr", "c"];
const META: [&str; 5] = ["meta", "alt", "option", "opt", "m"];
const SHIFT: [&str; 3] = ["shift", "shft", "s"];

pub(super) fn meant(name: &str) -> Option<Key> {
    let name = bare(name.trim());
    if let Some(rest) = name.strip_prefix('^') {
        return key(Base::Char(only(rest)?), Held { ctrl: true, ..Held::default() });
    }
    let (held, rest) = modifiers(name);
    let base = base(rest)?;
    // A word such as `a` or `7` is text.
    if held == Held::default() && matches!(base, Base::Char(_)) {
        return None;
    }
    key(base, held)
}

/// Without the brackets of vim (`<C-c>`) and others (`{ENTER}`, `[Enter]`).
fn bare(name: &str) -> &str {
    [('<', '>'), ('{', '}'), ('[', ']')]
        .into_iter()
        .find_map(|(open, close)| name.strip_prefix(open)?.strip_suffix(close))
        .filter(|inner| !inner.is_empty())
        .unwrap_or(name)
}

/// The modifiers in front, each with a dash, a plus or blanks after it.
fn modifiers(name: &str) -> (Held, &str) {
    let (mut held, mut rest) = (Held::default(), name);
    while let Some((word, after)) = rest.split_once(['-', '+', ' ', '_']) {
        let after = after.trim_start();
        let word = word.trim_end();
        let is = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
        let modifier = match () {
            () if after.is_empty() => break,
            () if is(&CTRL) => &mut held.ctrl,
            () if is(&META) => &mut held.meta,
            () if is(&SHIFT) => &mut held.shift,
            () => break,
        };
        *modifier = true;
        // `Ctrl + C`.
        rest = after.strip_prefix('+').map(str::trim_start).filter(|rest| !rest.is_empty()).unwrap_or(after);
    }
    (held, rest)
}

fn base(word: &str) -> Option<Base> {
    if let Some(c) = only(word) {
        return Some(Base::Char(c));
    }
    let plain: String = word.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).collect();
    let plain = plain.to_ascii_lowercase();
    let name = WORDS.iter().find(|(word, _)| *word == plain).map_or(plain.as_str(), |(_, name)| name);
    table::named_in_any_case(name).map(Base::Named)
}

/// `Ctrl-Shift-C` has no bytes of its own: then the one without Shift is.
fn key(base: Base, held: Held) -> Option<Key> {
    let base = match base {
        Base::Char(c) if held.ctrl => Base::Char(c.to_ascii_lowercase()),
        base => base,
    };
    Key::new(base, held).or_else(|| Key::new(base, Held { shift: false, ..held }))
}
