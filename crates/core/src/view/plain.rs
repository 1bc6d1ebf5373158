//! Lines of plain text, which most output consists of. They need no emulator to know what becomes of them.

/// Longer lines take the long way, where they are bounded.
const MAX: usize = 64 * 1024;

/// How many lines at the beginning are plain: printable ASCII and tabs, ended by `\r\n`; and how long they are.
pub(super) fn lines(bytes: &[u8]) -> (usize, usize) {
    let (mut count, mut length) = (0, 0);
    loop {
        let rest = &bytes[length..];
        let end = after_line(&rest[..rest.len().min(MAX)]);
        match &rest[..end] {
            [line @ .., b'\r', b'\n'] if is_plain(line) => length += end,
            _ => return (count, length),
        }
        count += 1;
    }
}

/// Where the first line ends, with its line feed.
pub(super) fn after_line(bytes: &[u8]) -> usize {
    memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1)
}

/// Where the last lines begin, so many of them, in text that ends with a line feed.
pub(super) fn last_lines(bytes: &[u8], count: usize) -> usize {
    memchr::memrchr_iter(b'\n', bytes).nth(count).map_or(0, |at| at + 1)
}

fn is_plain(line: &[u8]) -> bool {
    // Without an early end, so that many bytes are looked at together.
    line.iter().fold(true, |plain, &byte| plain & ((byte.wrapping_sub(b' ') < 0x5f) | (byte == b'\t')))
}
