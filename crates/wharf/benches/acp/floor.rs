//! The same work without a host: spawn, read to the end, wait.

use crate::Outcome;
use crate::work::{Tally, Turn, Work};
use std::process::{Command, Stdio};
use std::time::Instant;

#[derive(Debug)]
pub(crate) struct Floor;

impl Floor {
    /// One after the other, whatever the width: there is nobody to keep waiting.
    pub(crate) fn take(&mut self, turn: Turn) -> Outcome<Tally> {
        let (program, args) = match turn.work {
            Work::TrueInShell => ("/bin/sh", vec!["-c".to_owned(), "true".to_owned()]),
            work => work.command(),
        };
        let expected = turn.work.output();
        let mut wrong = 0;
        let begin = Instant::now();
        for _ in 0..turn.count {
            let output = plain(program).args(&args).stdin(Stdio::null()).output()?;
            wrong += usize::from(output.stdout != expected.as_bytes());
        }
        Ok(Tally { each: begin.elapsed() / u32::try_from(turn.count)?, wrong })
    }
}

/// A program started without wharf, to compare with or to be wharf itself.
#[expect(clippy::disallowed_methods, reason = "the comparison is with programs that wharf does not hold")]
pub(crate) fn plain(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}
