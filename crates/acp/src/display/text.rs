//! Bytes of a terminal → text for people who have no terminal to show them on.
//!
//! Pure. What a terminal would do to one line is done (carriage returns, erasing, backspace), so that a progress bar is
//! its last state; whatever else a sequence would do is left out. The text goes into a code fence, which the output
//! itself can never close.

use super::journal::{Newest, Standing};
use std::fmt::Write as _;
use wharf_core::{Cause, Ended, Limit, Lost, Outcome, Tail, tail};

/// Said in the place of a terminal that cannot be shown.
pub(super) const GONE: &str = "[output no longer available]";

/// Output as Markdown: how much is not shown, the text, and how the terminal stands.
pub(super) fn markdown(newest: &Newest) -> String {
    let end = if newest.standing.is_over() { Tail::Ended } else { Tail::Open };
    let (decoded, _) = tail(&newest.bytes, usize::MAX, end);
    let text = plain(&decoded);
    let mut shown = String::with_capacity(text.len() + 64);
    if newest.at > 0 {
        // Writing to a string cannot fail.
        let _ = writeln!(shown, "[{} earlier bytes not shown]\n", newest.at);
    }
    if !text.is_empty() {
        shown.push_str(&fenced(&text));
        shown.push('\n');
    }
    shown.push_str(&status(&newest.standing));
    shown
}

/// How a terminal stands, in words.
pub(super) fn status(standing: &Standing) -> String {
    match standing {
        Standing::Running => "running".to_owned(),
        Standing::Ended(ended) => end(ended),
        Standing::NeverRan => "never started".to_owned(),
        Standing::Unreadable => GONE.to_owned(),
    }
}

fn end(ended: &Ended) -> String {
    let outcome = match (ended.outcome, ended.signal()) {
        (Outcome::Code(code), _) => format!("exit code {code}"),
        (Outcome::Signal(_), Some(name)) => format!("killed by {name}"),
        (Outcome::Signal(number), None) => format!("killed by signal {number}"),
        (Outcome::Lost(Lost::HolderDied), _) => "lost: the process that held it died".to_owned(),
        (Outcome::Lost(Lost::Reboot), _) => "lost: the machine was restarted".to_owned(),
        (Outcome::Lost(Lost::StatusTaken), _) => "ended, with a status that nobody saw".to_owned(),
    };
    if let Some(limit) = ended.limit {
        return format!("{outcome} ({})", passed(limit));
    }
    match ended.cause {
        Cause::Exited | Cause::Killed | Cause::Lost => outcome,
        Cause::TimeLimit => format!("{outcome} (time limit)"),
        Cause::IdleLimit => format!("{outcome} (idle limit)"),
        Cause::OutputLimit => format!("{outcome} (output limit)"),
        Cause::MemoryLimit => format!("{outcome} (memory limit)"),
        Cause::ProcessLimit => format!("{outcome} (process limit)"),
        Cause::CpuLimit => format!("{outcome} (CPU time limit)"),
        Cause::FileSizeLimit => format!("{outcome} (file size limit)"),
        Cause::OwnerGone => format!("{outcome} (its owner went away)"),
    }
}

/// A limit and its value.
fn passed(limit: Limit) -> String {
    match limit {
        Limit::Time(time) => format!("time limit of {time:?}"),
        Limit::Idle(time) => format!("idle limit of {time:?}"),
        Limit::Output(bytes) => format!("output limit of {bytes} bytes"),
        Limit::Processes(number) => format!("limit of {number} processes"),
        Limit::Memory(bytes) => format!("memory limit of {bytes} bytes"),
        Limit::Cpu(time) => format!("CPU time limit of {time:?}"),
        Limit::FileSize(bytes) => format!("file size limit of {bytes} bytes"),
    }
}

/// Text in a code fence that is longer than any run of backticks in it.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{newline}{fence}")
}

/// Text without escape sequences and controls, each line as a terminal would show it at last.
fn plain(text: &str) -> String {
    let mut page = Page::default();
    let mut state = State::Text;
    for c in text.chars() {
        state = state.take(c, &mut page);
    }
    page.finish()
}

/// Where in an escape sequence the text is.
#[derive(Debug)]
enum State {
    Text,
    /// After ESC, and possibly intermediate characters.
    Escape,
    /// After CSI, with the first parameter so far.
    Csi(Parameter),
    /// In the payload of an OSC, which ends with the line at the latest: else one that is never closed hides the rest.
    Title,
    /// In the payload of a DCS, SOS, PM or APC, which may have several lines; so many of them so far. One that is never
    /// closed is given up, or it would hide the rest too.
    Payload(usize),
}

/// The first parameter of a control sequence; with anything but digits before the final character it is none.
#[derive(Debug, Clone, Copy)]
enum Parameter {
    Number(usize),
    Other,
}

/// Lines of a payload. Pictures come in one.
const MOST_LINES: usize = 3;

const ESC: char = '\u{1b}';
const BEL: char = '\u{7}';
const CAN: char = '\u{18}';
const SUB: char = '\u{1a}';
const ST: char = '\u{9c}';

impl State {
    fn take(self, c: char, page: &mut Page) -> Self {
        match (self, c) {
            (_, ESC) => Self::Escape,
            (_, CAN | SUB) => Self::Text,
            (Self::Text, '\u{9b}') | (Self::Escape, '[') => Self::Csi(Parameter::Number(0)),
            (Self::Text, '\u{9d}') | (Self::Escape, ']') => Self::Title,
            (Self::Text, '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}')
            | (Self::Escape, 'P' | 'X' | '^' | '_') => Self::Payload(0),
            (Self::Title | Self::Payload(_), BEL | ST) => Self::Text,
            (Self::Title, '\n') | (Self::Text, _) => {
                page.take(c);
                Self::Text
            }
            (Self::Title, _) => Self::Title,
            (Self::Payload(MOST_LINES), '\n') => Self::Text.take(c, page),
            (Self::Payload(lines), '\n') => Self::Payload(lines + 1),
            (Self::Payload(lines), _) => Self::Payload(lines),
            (Self::Escape, ' '..='/') => Self::Escape,
            (Self::Escape, '0'..='~') => Self::Text,
            (Self::Csi(parameter), ' '..='?') => Self::Csi(parameter.take(c)),
            (Self::Csi(parameter), '@'..='~') => {
                page.control(c, parameter);
                Self::Text
            }
            // Whatever cannot stand in a sequence ends it.
            (Self::Escape | Self::Csi(_), _) => Self::Text.take(c, page),
        }
    }
}

impl Parameter {
    fn take(self, c: char) -> Self {
        match (self, c.to_digit(10)) {
            (Self::Number(number), Some(digit)) => {
                Self::Number(number.saturating_mul(10).saturating_add(digit as usize))
            }
            _ => Self::Other,
        }
    }
}

/// Finished lines, and the one that the cursor is in.
#[derive(Debug, Default)]
struct Page {
    lines: String,
    line: Vec<char>,
    column: usize,
}

impl Page {
    fn take(&mut self, c: char) {
        match c {
            '\n' => self.end_line(),
            '\r' => self.column = 0,
            '\u{8}' => self.column = self.column.saturating_sub(1),
            '\t' => self.put(c),
            c if c.is_control() => {}
            c => self.put(c),
        }
    }

    fn put(&mut self, c: char) {
        match self.line.get_mut(self.column) {
            Some(old) => *old = c,
            None => self.line.push(c),
        }
        self.column += 1;
    }

    /// What progress bars are made of. The cursor never goes beyond what is written, so that nothing grows by it.
    fn control(&mut self, last: char, parameter: Parameter) {
        let Parameter::Number(number) = parameter else { return };
        let steps = number.max(1);
        match (last, number) {
            ('K', 0) => self.line.truncate(self.column),
            ('K', 1) => self.line.iter_mut().take(self.column.saturating_add(1)).for_each(|c| *c = ' '),
            ('K', 2) => self.line.iter_mut().for_each(|c| *c = ' '),
            ('G', _) => self.column = (steps - 1).min(self.line.len()),
            ('C', _) => self.column = self.column.saturating_add(steps).min(self.line.len()),
            ('D', _) => self.column = self.column.saturating_sub(steps),
            _ => {}
        }
    }

    fn end_line(&mut self) {
        self.lines.extend(self.line.drain(..));
        self.lines.push('\n');
        self.column = 0;
    }

    fn finish(mut self) -> String {
        self.lines.extend(self.line);
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    #[test]
    fn sequences_and_redraws_become_what_is_seen_at_last() {
        for (printed, seen) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("a\r\nb\r\n", "a\nb\n"),
            ("a\r\r\nb", "a\nb"),
            (" 10%\r 50%\r100%\n", "100%\n"),
            ("downloading\rdone\x1b[K\n", "done\n"),
            ("long line\r\x1b[2Kshort", "short    "),
            ("abc\r", "abc"),
            ("abc\rX\n", "Xbc\n"),
            ("ab\x08c", "ac"),
            ("one\x1b[1Gtwo\x1b[2D\x1b[0KX", "tX"),
            ("\x1b[1;31mred\x1b[0m plain", "red plain"),
            ("\x1b[?25lhidden\x1b[?25h", "hidden"),
            ("\x1b]0;title\x07text\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "textlink"),
            ("\x1b]0;never closed\nnext", "\nnext"),
            ("\x1bPsixel\nmore\x1b\\after", "after"),
            ("\x1bPnever\n1\n2\n3\nclosed", "\nclosed"),
            ("\x1b(Bcharset\x1b=keys\x1b7", "charsetkeys"),
            ("\u{9b}31mC1\u{9d}t\u{9c}x", "C1x"),
            ("bell\x07 null\0 del\x7f", "bell null del"),
            ("cut \x1b[3", "cut "),
            ("cancelled \x1b[3\x18m", "cancelled m"),
            ("broken \x1b[3\nm", "broken \nm"),
            ("\x1b[99999999999999999999Gx\x1b[999999999Cy", "xy"),
        ] {
            assert_eq!(plain(printed), seen, "{printed:?}");
        }
    }

    #[test]
    fn the_fence_is_longer_than_any_in_the_output() {
        for (text, shown) in [
            ("a", "```\na\n```"),
            ("a\n", "```\na\n```"),
            ("`x` and ```\n", "````\n`x` and ```\n````"),
            ("``````", "```````\n``````\n```````"),
        ] {
            assert_eq!(fenced(text), shown, "{text:?}");
        }
    }

    fn ended(outcome: Outcome, cause: Cause) -> Standing {
        Standing::Ended(Ended {
            outcome,
            cause,
            author: String::new(),
            at: 0,
            lasted: Duration::ZERO,
            cpu: (Duration::ZERO, Duration::ZERO),
            peak_memory: 0,
            bytes: 0,
            left: 0,
            holding: 0,
            limit: None,
            sandbox: String::new(),
        })
    }

    #[test]
    fn a_limit_is_said_with_its_value() {
        let Standing::Ended(mut ended) = ended(Outcome::Signal(9), Cause::MemoryLimit) else {
            unreachable!()
        };
        assert_eq!(end(&ended), "killed by SIGKILL (memory limit)");
        ended.limit = Some(Limit::Memory(4096));
        assert_eq!(end(&ended), "killed by SIGKILL (memory limit of 4096 bytes)");
        ended.limit = Some(Limit::Cpu(Duration::from_millis(1500)));
        assert_eq!(end(&ended), "killed by SIGKILL (CPU time limit of 1.5s)");
    }

    #[test]
    fn an_end_is_said_as_it_was() {
        for (standing, words) in [
            (Standing::Running, "running"),
            (ended(Outcome::Code(0), Cause::Exited), "exit code 0"),
            (ended(Outcome::Code(143), Cause::Killed), "exit code 143"),
            (ended(Outcome::Signal(9), Cause::Killed), "killed by SIGKILL"),
            (ended(Outcome::Signal(11), Cause::Exited), "killed by SIGSEGV"),
            (ended(Outcome::Signal(15), Cause::TimeLimit), "killed by SIGTERM (time limit)"),
            (ended(Outcome::Code(1), Cause::OutputLimit), "exit code 1 (output limit)"),
            (ended(Outcome::Lost(Lost::Reboot), Cause::Lost), "lost: the machine was restarted"),
            (Standing::NeverRan, "never started"),
            (Standing::Unreadable, GONE),
        ] {
            assert_eq!(status(&standing), words, "{standing:?}");
        }
    }

    #[test]
    fn what_is_not_shown_is_counted_and_no_output_needs_no_fence() {
        let shown = |at, bytes: &[u8], standing| markdown(&Newest { at, bytes: bytes.to_vec(), standing });
        assert_eq!(shown(0, b"", Standing::Running), "running");
        assert_eq!(
            shown(70, b"x\xe2\x82", ended(Outcome::Code(3), Cause::Exited)),
            "[70 earlier bytes not shown]\n\n```\nx\u{fffd}\n```\nexit code 3"
        );
        assert_eq!(shown(0, b"x\xe2\x82", Standing::Running), "```\nx\n```\nrunning");
    }

    proptest! {
        #[test]
        fn whatever_is_printed_the_text_is_harmless_and_bounded(
            bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(0x1b), Just(b'`'), Just(b'\r'), Just(b'[')], 0..300),
        ) {
            let newest = Newest { at: 0, bytes, standing: Standing::Running };
            let shown = markdown(&newest);
            prop_assert!(shown.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t')), "{shown:?}");
            // An invalid byte is shown as three, and the two fences are each at most a byte longer than the output.
            prop_assert!(shown.len() <= newest.bytes.len() * 5 + 64);
        }

        #[test]
        fn the_output_never_closes_its_fence(text in "[`a \n]{1,60}") {
            let shown = fenced(&text);
            let fence = shown.lines().next().unwrap().to_owned();
            let closing = shown.lines().skip(1).position(|line| line.trim_start().starts_with(&fence));
            prop_assert_eq!(closing, Some(shown.lines().count() - 2), "{}", shown);
        }
    }
}
