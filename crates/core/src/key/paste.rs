//! Text as it is typed or pasted.

use crate::view::Modes;

const BEGIN: &str = "\x1b[200~";
const END: &str = "\x1b[201~";

/// Text as it is typed or, where the program has asked for it and it has several lines, pasted.
///
/// A newline becomes what Enter sends, all other control characters stay what they are. What would end the paste early
/// is taken out of it.
#[must_use]
pub fn typed(text: &str, modes: Modes) -> Vec<u8> {
    let keys = text.replace("\r\n", "\r").replace('\n', "\r");
    // A newline at the very end is an Enter, not a second line: pasted, nothing would be entered.
    let several = keys.trim_end_matches('\r').contains('\r');
    if !(modes.bracketed_paste && several) {
        return keys.into_bytes();
    }
    let mut pasted = keys;
    // Again, since taking one out may put another together.
    while pasted.contains(END) {
        pasted = pasted.replace(END, "");
    }
    [BEGIN, &pasted, END].concat().into_bytes()
}
