//! What of a long output is shown: both ends, more of the last, and an exact account of what is not.
//!
//! Lines go in one by one and are never all held: whatever comes, a [`Shaper`] needs about twice its budget. It knows
//! nothing of where lines come from or how the rest can be read; whoever knows that says it in [`Shaper::finish_with`].
//! What surprises: long lines are cut only once everything together does not fit, so a fitting text is never touched; and
//! repeated lines are folded in any case, which is not an omission, since all is said.

mod cut;
mod ends;
mod note;
mod rows;
#[cfg(test)]
mod tests;

use cut::Limit;
use ends::Ends;

/// How much may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Bytes of text. Less than [`Budget::LEAST`] counts as that.
    pub bytes: usize,
    /// Lines of text, notes included. Less than [`Budget::FEWEST`] counts as that.
    pub lines: usize,
}

impl Budget {
    /// Below that, little but notes would be shown.
    pub const LEAST: usize = 1024;
    /// The same in lines.
    pub const FEWEST: usize = 10;
}

impl Default for Budget {
    fn default() -> Self {
        Self { bytes: 16 * 1024, lines: 1000 }
    }
}

/// Takes lines and keeps no more of them than can be shown.
#[derive(Debug, Clone)]
pub struct Shaper {
    ends: Ends,
    /// The newest line and how often it was repeated; it may go on.
    run: Option<(String, u64)>,
    first_line: u64,
    lines: u64,
    bytes: u64,
}

/// What is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shaped {
    /// The lines, joined; folded repetitions and what was left out are said in lines in brackets of their own.
    pub text: String,
    /// The number of the first line that was given.
    pub first_line: u64,
    /// How many lines there were.
    pub lines: u64,
    /// How many bytes, with a newline for each line.
    pub bytes: u64,
    /// What was left out, if anything was, in order. Whole lines are left out at one place only.
    pub omitted: Vec<Omitted>,
    /// Repetitions that are said instead of shown, in order.
    pub folded: Vec<Folded>,
}

/// A run of identical lines of which one is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Folded {
    /// The number of the one that is shown.
    pub line: u64,
    /// How many more there were after it.
    pub times: u64,
}

/// Something that is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Omitted {
    /// Whole lines.
    Lines {
        /// Number of the first.
        from: u64,
        /// Number of the last.
        to: u64,
        /// Their bytes, with a newline for each.
        bytes: u64,
    },
    /// The middle of one very long line.
    Part {
        /// Its number.
        line: u64,
        /// The first character that is not shown, from 1.
        column: u64,
        /// How many characters.
        chars: u64,
    },
}

impl Shaper {
    /// `first_line` is the number of the first line that will be given.
    #[must_use]
    pub fn new(budget: Budget, first_line: u64) -> Self {
        let ends = Ends::new(Limit::of(budget));
        Self { ends, run: None, first_line, lines: 0, bytes: 0 }
    }

    /// The next line, without its newline. One with newlines in it is several lines.
    pub fn line(&mut self, line: &str) {
        line.split('\n').for_each(|line| self.take(line));
    }

    /// The next line, without its newline, so many times. It has none in it.
    pub fn lines(&mut self, line: &str, times: u64) {
        let Some(more) = times.checked_sub(1) else { return };
        self.take(line);
        match &mut self.run {
            Some((_, repeated)) => {
                *repeated += more;
                self.lines += more;
                self.bytes += more * (line.len() as u64 + 1);
            }
            None => (0..more).for_each(|_| self.take(line)),
        }
    }

    /// Lines that are known by their number and their bytes, with newlines, and nothing else. They are left out, and with
    /// them whatever does not fit on either side.
    pub fn skip(&mut self, lines: u64, bytes: u64) {
        if lines == 0 {
            return;
        }
        self.settle();
        self.run = None;
        self.lines += lines;
        self.bytes += bytes;
        self.ends.skip(lines, bytes);
    }

    fn take(&mut self, line: &str) {
        self.lines += 1;
        self.bytes += line.len() as u64 + 1;
        match &mut self.run {
            Some((same, times)) if same == line => *times += 1,
            // Too long to be kept for comparing besides all that is shown.
            _ if line.len() > self.ends.budget() / 2 => {
                self.settle();
                self.run = None;
                self.ends.push(line, 0);
            }
            _ => {
                self.settle();
                let (same, times) = self.run.get_or_insert_default();
                same.clear();
                same.push_str(line);
                *times = 0;
            }
        }
    }

    /// The run is over.
    fn settle(&mut self) {
        if let Some((line, times)) = &self.run {
            self.ends.push(line, *times);
        }
    }

    /// All of it. Notes say what was left out, not how to read it.
    #[must_use]
    pub fn finish(self) -> Shaped {
        self.finish_with(|_| None)
    }

    /// All of it. `call` says how to read what was left out, which is told in the same brackets. The budget holds for
    /// the calls, too: one that is longer than a quarter of it is not told.
    #[must_use]
    pub fn finish_with(mut self, call: impl Fn(&Omitted) -> Option<String>) -> Shaped {
        self.settle();
        let Self { ends, first_line, lines, bytes, .. } = self;
        let blank = Shaped { first_line, lines, bytes, ..Shaped::default() };
        ends.finish(blank, &call)
    }

    /// What it takes of memory.
    #[cfg(test)]
    fn held(&self) -> usize {
        self.ends.held() + self.run.as_ref().map_or(0, |(line, _)| line.capacity())
    }
}
