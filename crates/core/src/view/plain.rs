//! Plain text, which most output consists of. It needs no emulator to know what becomes of it.

/// Longer lines take the long way, where they are bounded.
const MAX: usize = 64 * 1024;

/// Plain lines at the beginning of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Lines {
    /// How long they are.
    pub(super) length: usize,
    /// How many rows of a screen they take at least.
    pub(super) rows: usize,
}

/// The lines at the beginning that are plain: printable ASCII and tabs, ended by `\r\n`. On a screen of so many columns.
pub(super) fn lines(bytes: &[u8], columns: usize) -> Lines {
    let mut found = Lines::default();
    loop {
        let rest = &bytes[found.length..];
        let end = after_line(&rest[..rest.len().min(MAX)]);
        match &rest[..end] {
            [line @ .., b'\r', b'\n'] if is_plain(line) => found.rows += rows(line.len(), columns),
            _ => return found,
        }
        found.length += end;
    }
}

/// How many printable characters of ASCII are at the beginning.
pub(super) fn run(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.wrapping_sub(b' ') < 0x5f).count()
}

/// A line takes a row at least, and each character of it a cell.
fn rows(length: usize, columns: usize) -> usize {
    length.div_ceil(columns.max(1)).max(1)
}

/// Where the first line ends, with its line feed.
pub(super) fn after_line(bytes: &[u8]) -> usize {
    memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1)
}

/// Where the last lines begin that take so many rows, in plain lines.
pub(super) fn last_rows(bytes: &[u8], needed: usize, columns: usize) -> usize {
    let (mut at, mut taken) = (bytes.len(), 0);
    while at > 0 && taken < needed {
        let start = memchr::memrchr(b'\n', &bytes[..at - 1]).map_or(0, |newline| newline + 1);
        taken += rows(at - start - 2, columns);
        at = start;
    }
    at
}

fn is_plain(line: &[u8]) -> bool {
    // Without an early end, so that many bytes are looked at together.
    line.iter().fold(true, |plain, &byte| plain & ((byte.wrapping_sub(b' ') < 0x5f) | (byte == b'\t')))
}
