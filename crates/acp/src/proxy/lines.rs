//! A stream as the lines it is made of, byte for byte.
//!
//! A message is a line, whatever is in it; what a line means is none of this module's business. Nothing is taken off: a
//! line keeps its newline and whatever came before it, and the last one may have none. A line that is longer than
//! anybody needs is given out in pieces as it comes, so that memory has a bound whatever the other side sends.

use std::io;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

/// Longer lines are not messages that we would look into. Peers drop messages from half of this on.
pub(crate) const LONGEST: usize = 64 << 20;
/// What is asked of the other side at once: a pipe holds no more.
const AT_ONCE: usize = 64 << 10;

/// Something of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A whole line with its newline; without one only at the end of the stream.
    Line(Vec<u8>),
    /// A part of a line that is too long, with more of it to come.
    Part(Vec<u8>),
    /// The rest of such a line.
    Rest(Vec<u8>),
}

/// Reads lines.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    longest: usize,
    /// Whether a part of the present line was given out.
    broken: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(from: R) -> Self {
        Self::with_longest(from, LONGEST)
    }

    fn with_longest(from: R, longest: usize) -> Self {
        Self { from: BufReader::with_capacity(AT_ONCE, from), line: Vec::new(), longest, broken: false }
    }

    /// The next piece; nothing at the end. Dropped while it waits, it loses nothing.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Piece>> {
        // What is already known to be too long need not be collected.
        let most = if self.broken { AT_ONCE.min(self.longest) } else { self.longest };
        let room = most - self.line.len();
        (&mut self.from).take(room as u64).read_until(b'\n', &mut self.line).await?;
        if self.line.last() == Some(&b'\n') {
            return Ok(Some(self.whole()));
        }
        if self.line.len() == most {
            self.broken = true;
            return Ok(Some(Piece::Part(std::mem::take(&mut self.line))));
        }
        Ok(self.last())
    }

    /// The line that has just become complete. The next one starts with no memory at all, however long this was.
    fn whole(&mut self) -> Piece {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.broken) { Piece::Rest(line) } else { Piece::Line(line) }
    }

    fn last(&mut self) -> Option<Piece> {
        (self.broken || !self.line.is_empty()).then(|| self.whole())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    async fn all(bytes: &[u8], longest: usize) -> Vec<Piece> {
        let mut lines = Lines::with_longest(bytes, longest);
        let mut pieces = Vec::new();
        while let Some(piece) = lines.next().await.unwrap() {
            pieces.push(piece);
        }
        pieces
    }

    fn line(text: &str) -> Piece {
        Piece::Line(text.into())
    }

    #[tokio::test]
    async fn lines_keep_every_byte_and_the_last_may_lack_its_newline() {
        assert_eq!(all(b"", 9).await, []);
        assert_eq!(all(b"\n\r\n a \n", 9).await, [line("\n"), line("\r\n"), line(" a \n")]);
        assert_eq!(all(b"a\nb", 9).await, [line("a\n"), line("b")]);
    }

    #[tokio::test]
    async fn a_line_of_just_the_longest_length_is_whole_and_one_more_byte_breaks_it() {
        assert_eq!(all(b"123\n5\n", 4).await, [line("123\n"), line("5\n")]);
        let broken = [Piece::Part(b"1234".into()), Piece::Rest(b"\n".into()), line("5\n")];
        assert_eq!(all(b"1234\n5\n", 4).await, broken);
    }

    #[tokio::test]
    async fn a_broken_line_at_the_end_of_the_stream_is_finished() {
        assert_eq!(all(b"12345", 4).await, [Piece::Part(b"1234".into()), Piece::Rest(b"5".into())]);
        assert_eq!(all(b"1234", 4).await, [Piece::Part(b"1234".into()), Piece::Rest(Vec::new())]);
    }

    #[tokio::test]
    async fn a_giant_line_leaves_no_memory_behind() {
        let mut giant = vec![b'x'; 1 << 20];
        giant.extend_from_slice(b"\nsmall\n");
        let mut lines = Lines::new(giant.as_slice());
        lines.next().await.unwrap();
        assert_eq!(lines.line.capacity(), 0);
        assert_eq!(lines.next().await.unwrap(), Some(line("small\n")));
    }

    proptest! {
        #[test]
        fn pieces_put_together_are_the_stream(bytes in "[ab\n]{0,64}", longest in 1_usize..9) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let pieces = runtime.block_on(all(bytes.as_bytes(), longest));
            let together: Vec<u8> = pieces.into_iter().flat_map(|piece| match piece {
                Piece::Line(bytes) | Piece::Part(bytes) | Piece::Rest(bytes) => bytes,
            }).collect();
            prop_assert_eq!(together, bytes.into_bytes());
        }
    }
}
