//! Which sequences an emulator may see, and in which form.
//!
//! Knows what the emulator does with each; has no state but for what repetitions may cost. Whatever destroys what was shown (`ESC [ 3 J`, `ESC c`, a
//! change of the column mode), holds things that are no text (titles, links, the clipboard, colours) or counts higher
//! than a screen is dropped, or replaced by what comes closest to it.

use super::allowance::Allowance;

/// What becomes of a sequence.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Pass,
    Drop,
    Replace(Vec<u8>),
}

/// The emulator repeats a character as often as it is told, one at a time. Hardly a row is longer.
const MAX_REPEAT: u16 = 512;
/// Moves by tab stops look through the row each time.
const MAX_TABS: u16 = 64;
/// Questions for colours that are answered have no more.
const MAX_COLOUR: usize = 64;

/// All that `ESC c` sets back, and the screen cleared in the way that keeps what was on it: attributes, the normal
/// screen, scroll region, origin, wrapping, insertion, cursor, keys, paste, mouse, character sets, tab stops.
const RESET: &[u8] =
    b"\x1b[m\x1b[r\x1b[?1;6;1000;1002;1003;1006;1049;2004l\x1b[?7;25h\x1b[4l\x1b>\x1b(B\x1b)B\x0f\x1b[?5W\x1b[2J\x1b[H";

/// Judges one whole sequence, from its `ESC` on.
pub(super) fn judge(sequence: &[u8], repeats: &mut Allowance) -> Verdict {
    // Controls within a sequence are obeyed at once by terminals, other bytes are ignored.
    if sequence[1..].iter().any(|byte| !(0x20..0x7f).contains(byte)) && sequence.get(1) != Some(&b']') {
        return judge_mixed(sequence, repeats);
    }
    match sequence {
        [_, b'c'] => Verdict::Replace(RESET.to_vec()),
        // Fills the screen with the letter E.
        [_, b'#', b'8'] => Verdict::Drop,
        [_, b'[', inner @ .., last] => judge_control(inner, *last, repeats),
        [_, b']', text @ ..] => judge_command(text),
        [_, b'P' | b'X' | b'^' | b'_', ..] => Verdict::Drop,
        _ => Verdict::Pass,
    }
}

fn judge_mixed(sequence: &[u8], repeats: &mut Allowance) -> Verdict {
    if let [_, b'P' | b'X' | b'^' | b'_', ..] = sequence {
        return Verdict::Drop;
    }
    let controls = sequence[1..].iter().filter(|&&byte| byte < 0x20);
    let mut bytes: Vec<u8> = controls.copied().collect();
    let rest = sequence[1..].iter().filter(|byte| (0x20..0x7f).contains(*byte));
    let clean: Vec<u8> = std::iter::once(0x1b).chain(rest.copied()).collect();
    match judge(&clean, repeats) {
        Verdict::Pass => bytes.extend_from_slice(&clean),
        Verdict::Drop => {}
        Verdict::Replace(other) => bytes.extend_from_slice(&other),
    }
    Verdict::Replace(bytes)
}

fn judge_control(inner: &[u8], last: u8, repeats: &mut Allowance) -> Verdict {
    match (last, inner) {
        (b'm', _) => Verdict::Pass,
        (b'b', _) => judge_repeat(inner, repeats),
        (b'I' | b'Z', _) => clamp(inner, last, MAX_TABS),
        (b'J', _) if first_number(inner) == 3 => Verdict::Drop,
        (b'h' | b'l', [b'?', modes @ ..]) => judge_modes(modes, last),
        // Of the window's operations, questions for its size.
        (b't', _) if !matches!(first_number(inner), 14 | 16 | 18 | 19) => Verdict::Drop,
        _ => Verdict::Pass,
    }
}

/// As often as there is still something to pay with.
fn judge_repeat(inner: &[u8], repeats: &mut Allowance) -> Verdict {
    let wanted = first_number(inner).max(1);
    match repeats.take(wanted.min(MAX_REPEAT)) {
        given if given == wanted => Verdict::Pass,
        0 => Verdict::Drop,
        given => Verdict::Replace(format!("\x1b[{given}b").into_bytes()),
    }
}

fn first_number(inner: &[u8]) -> u16 {
    let digits = inner.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |number: u16, digit| number.saturating_mul(10).saturating_add(u16::from(digit - b'0')))
}

fn clamp(inner: &[u8], last: u8, most: u16) -> Verdict {
    if first_number(inner) <= most {
        return Verdict::Pass;
    }
    Verdict::Replace(format!("\x1b[{most}{}", char::from(last)).into_bytes())
}

/// Without the column mode, which clears everything, and with older names of the alternate screen said in the one way
/// that the emulator knows.
fn judge_modes(modes: &[u8], last: u8) -> Verdict {
    let numbers = || modes.split(|&byte| byte == b';').map(first_number);
    if !numbers().any(|mode| matches!(mode, 3 | 47 | 1047)) {
        return Verdict::Pass;
    }
    let kept = numbers().filter(|&mode| mode != 3);
    let kept: Vec<String> =
        kept.map(|mode| if matches!(mode, 47 | 1047) { 1049 } else { mode }.to_string()).collect();
    if kept.is_empty() {
        return Verdict::Drop;
    }
    Verdict::Replace(format!("\x1b[?{}{}", kept.join(";"), char::from(last)).into_bytes())
}

/// Of the commands to the terminal's surroundings, only questions for colours pass. Colours that are set make no
/// difference to text.
fn judge_command(text: &[u8]) -> Verdict {
    let text = text.strip_suffix(b"\x07").or_else(|| text.strip_suffix(b"\x1b\\")).unwrap_or(text);
    let known = [&b"4;"[..], b"10;", b"11;", b"12;"].iter().any(|start| text.starts_with(start));
    let asks = text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b';' | b'?'));
    if known && asks && text.len() <= MAX_COLOUR { Verdict::Pass } else { Verdict::Drop }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str) -> Verdict {
        judge(text.as_bytes(), &mut Allowance::default())
    }

    fn replaced(text: &str) -> Verdict {
        Verdict::Replace(text.as_bytes().to_vec())
    }

    #[test]
    fn what_destroys_history_is_dropped_or_softened() {
        assert_eq!(judged("\x1b[3J"), Verdict::Drop);
        assert_eq!(judged("\x1b[003J"), Verdict::Drop);
        assert_eq!(judged("\x1b[2J"), Verdict::Pass);
        assert_eq!(judged("\x1b[?3h"), Verdict::Drop);
        assert_eq!(judged("\x1b[?3;4l"), replaced("\x1b[?4l"));
        assert_eq!(judged("\x1b#8"), Verdict::Drop);
        assert_eq!(judged("\x1bc"), Verdict::Replace(RESET.to_vec()));
    }

    #[test]
    fn counts_are_bounded() {
        assert_eq!(judged("\x1b[65535b"), replaced("\x1b[512b"));
        assert_eq!(judged("\x1b[99999999999999Z"), replaced("\x1b[64Z"));
        assert_eq!(judged("\x1b[80b"), Verdict::Pass);
    }

    #[test]
    fn only_questions_reach_the_emulator_from_commands_to_the_surroundings() {
        for dropped in
            ["0;title\x07", "52;c;aGk=\x07", "8;;http://x\x1b\\", "4;1;#fff\x07", "11;rgb:0/0/0\x07", ""]
        {
            assert_eq!(judged(&format!("\x1b]{dropped}")), Verdict::Drop, "{dropped:?}");
        }
        for passed in ["11;?\x07", "10;?\x1b\\", "4;12;?\x07"] {
            assert_eq!(judged(&format!("\x1b]{passed}")), Verdict::Pass, "{passed:?}");
        }
        assert_eq!(judged("\x1b[22;0t"), Verdict::Drop);
        assert_eq!(judged("\x1b[18t"), Verdict::Pass);
        assert_eq!(judged("\x1bPq#0~\x1b\\"), Verdict::Drop);
    }

    #[test]
    fn controls_within_a_sequence_are_obeyed_before_it() {
        assert_eq!(judged("\x1b[3\r\n1m"), replaced("\r\n\x1b[31m"));
        assert_eq!(judged("\x1b[3\nJ"), replaced("\n"));
        // What a terminal ignores between `ESC` and `c` must not hide the reset.
        assert_eq!(judged("\x1b\u{e9}c"), Verdict::Replace(RESET.to_vec()));
    }

    #[test]
    fn older_names_of_the_alternate_screen_are_known() {
        assert_eq!(judged("\x1b[?47h"), replaced("\x1b[?1049h"));
        assert_eq!(judged("\x1b[?1;1047l"), replaced("\x1b[?1;1049l"));
    }
}
