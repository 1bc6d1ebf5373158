//! Which sequences make a terminal say something.

/// Strings that sequences can carry.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Osc,
    Dcs,
    #[default]
    Other,
}

/// wharf's own marks, and the clipboard.
const NEVER: [&[u8]; 2] = [b"6973", b"52"];
/// Modes in which a terminal reports by itself: focus, colour scheme, size.
const REPORTING: [&str; 3] = ["1004", "2031", "2048"];

/// Whether a control sequence, without its introducer, asks for an answer.
pub(super) fn asks(body: &[u8]) -> bool {
    let Some((last, rest)) = body.split_last() else { return false };
    let parameters = rest.iter().position(|b| !(0x30..=0x3f).contains(b)).unwrap_or(rest.len());
    let (parameters, between) = rest.split_at(parameters);
    match (parameters.first(), between, last) {
        // Kind, in three generations.
        (_, b"", b'c') => true,
        // State, cursor. With `>` it switches something off.
        (first, b"", b'n') => first != Some(&b'>'),
        // Settings of the line, from the days of lines.
        (None | Some(b'0' | b'1'), b"", b'x') => true,
        // Whether a mode is on.
        (_, b"$", b'p') => true,
        // Name and version.
        (Some(b'>'), b"", b'q') => true,
        // Which encodings of the keyboard are on.
        (Some(b'?'), b"", b'u' | b'm' | b'S') => true,
        // Reports of the window; the others move or resize it.
        (Some(b'0'..=b'9'), b"", b't') => reports_window(parameters),
        // Checksum of a part of the screen, state of the presentation, of the terminal.
        (_, b"*", b'y') | (_, b"$", b'w' | b'u') => true,
        _ => false,
    }
}

fn reports_window(parameters: &[u8]) -> bool {
    let first = parameters.split(|b| *b == b';').next().unwrap_or_default();
    matches!(first, b"11" | b"13" | b"14" | b"15" | b"16" | b"18" | b"19" | b"20" | b"21")
}

/// Whether a string is not to pass: it asks something, or is of no business to a terminal.
pub(super) fn is_held_back(kind: Kind, body: &[u8]) -> bool {
    match kind {
        Kind::Osc => {
            let mut fields = body.split(|b| *b == b';');
            let number = fields.next().unwrap_or_default();
            NEVER.contains(&number) || fields.any(|field| field == b"?" || field.ends_with(b"=?"))
        }
        // Settings and capabilities; and what a multiplexer would hand on unseen.
        Kind::Dcs => body.starts_with(b"$q") || body.starts_with(b"+q") || body.starts_with(b"tmux;"),
        Kind::Other => true,
    }
}

/// A whole control sequence, without the modes in it that make a terminal report by itself.
pub(super) fn without_reports(sequence: &[u8]) -> Vec<u8> {
    let [0x1b, b'[', b'?', numbers @ .., b'h'] = sequence else { return sequence.to_vec() };
    let numbers = String::from_utf8_lossy(numbers);
    if !numbers.split(';').any(is_reporting) {
        return sequence.to_vec();
    }
    let left: Vec<&str> = numbers.split(';').filter(|number| !is_reporting(number)).collect();
    if left.is_empty() { Vec::new() } else { format!("\x1b[?{}h", left.join(";")).into_bytes() }
}

fn is_reporting(number: &str) -> bool {
    REPORTING.contains(&number.trim_start_matches('0'))
}
