//! Text for people: numbers, durations, columns; and the way it gets out.

use crate::harmless::Harmless;
use serde::Serialize;
use std::io::{self, Write};
use std::time::Duration;
use wharf_core::{Cause, Ended, Limit, Lost, Outcome, is_unseen, reveal};

/// Prints with colours where there is a terminal, without where there is none. Names that others have given do nothing to it,
/// and everything in them is to be seen.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(safe(text).as_bytes())?;
    out.flush()
}

/// As [`print()`], on standard error. If that cannot be written there is nowhere to say so.
pub(crate) fn eprint(text: &str) {
    let _ = anstream::stderr().lock().write_all(safe(text).as_bytes());
}

/// Text and colours.
fn safe(text: &str) -> String {
    // First what is not seen, so that controls of eight bits are named and not dropped.
    String::from_utf8_lossy(&Harmless::default().pass(reveal(text).as_bytes())).into_owned()
}

/// One record on one line.
pub(crate) fn print_json(record: &impl Serialize) -> io::Result<()> {
    let line = escaped(&serde_json::to_string(record)?) + "\n";
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.flush()
}

/// The same JSON with everything escaped that a terminal would obey or nobody would see.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unseen(c) {
            let mut units = [0; 2];
            text.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            text.push(c);
        }
    }
    text
}

/// `0.4s`, `12s`, `3m12s`, `2h05m`, `4d03h`.
pub(crate) fn duration(d: Duration) -> String {
    let seconds = d.as_secs();
    match seconds {
        0 if d.subsec_millis() < 100 && !d.is_zero() => format!("{}ms", d.as_millis().max(1)),
        0..=9 if d.subsec_millis() >= 100 => format!("{}.{}s", seconds, d.subsec_millis() / 100),
        0..=59 => format!("{seconds}s"),
        60..=3599 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3600..=86_399 => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// `812`, `1.2K`, `34M`.
pub(crate) fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut unit = "";
    for next in ["K", "M", "G", "T", "P", "E"] {
        if value < 1000.0 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    if unit.is_empty() || value >= 9.95 { format!("{value:.0}{unit}") } else { format!("{value:.1}{unit}") }
}

/// `12,345`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 process`, `3 processes`.
pub(crate) fn processes(number: u32) -> String {
    match number {
        1 => "1 process".to_owned(),
        n => format!("{n} processes"),
    }
}

/// Text that stays on its line and does nothing else either, at most so many characters of it. What cannot be seen is named.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t'..='\r' => line.push(' '),
            '\0'..='\x1f' => line += &format!("⟨U+{:04X}⟩", u32::from(c)),
            plain => line.push(plain),
        }
    }
    let mut shown: String = reveal(&line).chars().take(most.saturating_add(1)).collect();
    if shown.chars().count() > most {
        shown = shown.chars().take(most.saturating_sub(1)).collect();
        shown.push('…');
    }
    shown
}

/// What became of a command, in a word or two.
pub(crate) fn outcome(ended: &Ended) -> String {
    match ended.cause {
        Cause::TimeLimit => "timed out".to_owned(),
        Cause::IdleLimit => "idle".to_owned(),
        Cause::OutputLimit => "too much output".to_owned(),
        Cause::MemoryLimit => "out of memory".to_owned(),
        Cause::ProcessLimit => "too many processes".to_owned(),
        Cause::CpuLimit => "out of CPU time".to_owned(),
        Cause::FileSizeLimit => "file too large".to_owned(),
        _ => status(ended),
    }
}

/// How its process ended, whatever brought that about.
pub(crate) fn status(ended: &Ended) -> String {
    match ended.outcome {
        Outcome::Code(code) => format!("exit {code}"),
        Outcome::Signal(number) => wharf_core::signal::name(number),
        Outcome::Lost(_) => "lost".to_owned(),
    }
}

/// The same in a sentence.
pub(crate) fn sentence(ended: &Ended) -> String {
    let after = format!("after {}", duration(ended.lasted));
    match ended.outcome {
        Outcome::Code(code) => format!("ended with exit code {code} {after}{}", because(ended)),
        Outcome::Signal(number) => {
            format!("ended by {} {after}{}", wharf_core::signal::name(number), because(ended))
        }
        Outcome::Lost(Lost::HolderDied) => "lost: the process that held it was killed".to_owned(),
        Outcome::Lost(Lost::Reboot) => "lost: the machine was started anew".to_owned(),
        Outcome::Lost(Lost::StatusTaken) => "lost: the program that held it took the status".to_owned(),
    }
}

/// A limit and its value.
pub(crate) fn limit(limit: Limit) -> String {
    match limit {
        Limit::Time(time) => format!("time limit of {}", duration(time)),
        Limit::Idle(time) => format!("idle limit of {}", duration(time)),
        Limit::Output(bytes) => format!("output limit of {} bytes", count(bytes)),
        Limit::Processes(number) => format!("limit of {} processes", count(number)),
        Limit::Memory(bytes) => format!("memory limit of {} bytes", count(bytes)),
        Limit::Cpu(time) => format!("CPU time limit of {}", duration(time)),
        Limit::FileSize(bytes) => format!("file size limit of {} bytes", count(bytes)),
    }
}

fn because(ended: &Ended) -> String {
    if let Some(passed) = ended.limit {
        return format!(" ({})", limit(passed));
    }
    match ended.cause {
        Cause::Exited | Cause::Lost => String::new(),
        Cause::Killed if ended.author.is_empty() => " (killed)".to_owned(),
        Cause::Killed => format!(" (killed by {})", one_line(&ended.author, 40)),
        Cause::TimeLimit => " (time limit)".to_owned(),
        Cause::IdleLimit => " (idle limit)".to_owned(),
        Cause::OutputLimit => " (output limit)".to_owned(),
        Cause::OwnerGone => " (its owner went away)".to_owned(),
        Cause::MemoryLimit => " (memory limit)".to_owned(),
        Cause::ProcessLimit => " (process limit)".to_owned(),
        Cause::CpuLimit => " (CPU time limit)".to_owned(),
        Cause::FileSizeLimit => " (file size limit)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        for (millis, text) in [
            (0, "0s"),
            (3, "3ms"),
            (400, "0.4s"),
            (1000, "1s"),
            (2340, "2.3s"),
            (12_900, "12s"),
            (192_000, "3m12s"),
            (7_500_000, "2h05m"),
            (356_400_000, "4d03h"),
        ] {
            assert_eq!(duration(Duration::from_millis(millis)), text);
        }
    }

    #[test]
    fn numbers_are_readable() {
        for (bytes, text) in
            [(0, "0"), (812, "812"), (1024, "1.0K"), (1 << 20, "1.0M"), (34 << 20, "34M"), (u64::MAX, "16E")]
        {
            assert_eq!(size(bytes), text);
        }
        for (number, text) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (12_345, "12,345"), (1_234_567, "1,234,567")]
        {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn what_is_printed_is_text_and_colours() {
        assert_eq!(safe("\x1b[31mred\x1b[0m\n\tx\r\n"), "\x1b[31mred\x1b[0m\n\tx\r\n");
        assert_eq!(safe("a\x1b]52;c;eA==\x07b\x1b[6n\u{9b}6n\u{202e}"), "ab⟨U+009B⟩6n⟨U+202E⟩");
        assert_eq!(safe("größe \u{1f468}\u{200d}\u{1f469}"), "größe \u{1f468}\u{200d}\u{1f469}");
    }

    #[test]
    fn json_means_the_same_and_hides_nothing() {
        let text = "a\u{9b}6n\u{202e}\u{e0041}\u{7f} ü \u{1f600}\u{fe0f}";
        let json = escaped(&serde_json::to_string(text).unwrap());
        assert!(!json.chars().any(is_unseen), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn a_command_stays_on_its_line() {
        assert_eq!(one_line("a\nb\x1b[2Jc", 80), "a b⟨U+001B⟩[2Jc");
        assert_eq!(one_line("rm \u{202e}txt\u{9b}6n", 80), "rm ⟨U+202E⟩txt⟨U+009B⟩6n");
        assert_eq!(one_line("abcdef", 6), "abcdef");
        assert_eq!(one_line("abcdefg", 6), "abcde…");
    }
}
