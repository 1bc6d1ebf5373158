//! The wording of what is said in brackets.

use super::Omitted;

/// Bytes that a note on a cut line takes at most, without a call.
pub(super) const LONGEST_CUT: usize = 80;

/// Fewer than these are shown as they are, however long.
const FEWEST: u64 = 3;

pub(super) fn cut(column: u64, chars: u64) -> String {
    let s = if chars == 1 { "" } else { "s" };
    format!("[… {chars} character{s} from column {column} omitted]")
}

/// For the lines that are missing, with a newline.
pub(super) fn lines(from: u64, to: u64, bytes: u64, call: Option<&str>) -> String {
    let call = call.map(|call| format!(": {call}")).unwrap_or_default();
    if from == to {
        format!("[… line {from} omitted ({bytes} bytes){call}]\n")
    } else {
        format!("[… lines {from}–{to} omitted ({bytes} bytes){call}]\n")
    }
}

/// For that many repetitions of a row, with a newline, where it takes no more than half of their room: for less it is
/// not worth that they cannot be seen.
pub(super) fn fold(row: &str, times: u64) -> Option<String> {
    if times < FEWEST {
        return None;
    }
    let note = format!("[previous line repeated {times} times]\n");
    let room = times.saturating_mul(row.len() as u64 + 1);
    (room >= 2 * note.len() as u64).then_some(note)
}

/// How something can be read, unless that is longer than it may be or more than one line.
pub(super) fn call(
    omitted: &Omitted,
    budget: usize,
    say: &dyn Fn(&Omitted) -> Option<String>,
) -> Option<String> {
    say(omitted).filter(|call| call.len() <= budget / 4 && !call.is_empty() && !call.contains('\n'))
}
