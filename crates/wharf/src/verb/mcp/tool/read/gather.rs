//! What is made of lines as they pass: no more is held than is shown.

use super::answer::Shown;
use super::part::{Left, Of, Part, piece};
use super::search::Search;
use crate::verb::mcp::refusal::Refusal;
use std::collections::VecDeque;
use wharf_core::shape::{Budget, Shaper};

/// All ways to read lines.
#[derive(Debug)]
pub(super) enum Gather {
    /// Both ends, the middle cut out.
    Whole(Box<Whole>),
    /// As many as fit, from the first on.
    First(First),
    /// As many as fit, up to the last.
    Last(Last),
    /// A piece of one line.
    Column(Column),
    /// Those that match.
    Search(Box<Search>),
}

impl Gather {
    pub(super) fn take(&mut self, number: u64, line: &str) {
        match self {
            Self::Whole(whole) => whole.take(number, line),
            Self::First(first) => first.take(number, line),
            Self::Last(last) => last.take(number, line),
            Self::Column(column) => column.take(number, line),
            Self::Search(search) => search.take(number, line),
        }
    }

    pub(super) fn finish(self) -> Result<Part, Refusal> {
        match self {
            Self::Whole(whole) => Ok(whole.finish()),
            Self::First(first) => Ok(first.finish()),
            Self::Last(last) => Ok(last.finish()),
            Self::Column(column) => column.finish(),
            Self::Search(search) => Ok(search.finish()),
        }
    }
}

fn stretch(shown: &mut Option<Shown>, number: u64) {
    shown.get_or_insert(Shown { from_line: number, to_line: number }).to_line = number;
}

#[derive(Debug)]
pub(super) struct Whole {
    of: Of,
    budget: Budget,
    /// From the first line on, which need not have the first number.
    shaper: Option<Shaper>,
    shown: Option<Shown>,
}

impl Whole {
    pub(super) fn new(of: Of, budget: Budget) -> Self {
        Self { of, budget, shaper: None, shown: None }
    }

    fn take(&mut self, number: u64, line: &str) {
        stretch(&mut self.shown, number);
        self.shaper.get_or_insert_with(|| Shaper::new(self.budget, number)).lines(line, 1);
    }

    fn finish(self) -> Part {
        let shaped = self.shaper.map(Shaper::finish).unwrap_or_default();
        let omitted = self.of.omitted(&shaped.omitted);
        Part { text: shaped.text, shown: self.shown, omitted, ..Part::default() }
    }
}

#[derive(Debug)]
pub(super) struct First {
    of: Of,
    budget: Budget,
    /// Each with its newline, and how many.
    text: String,
    rows: usize,
    shown: Option<Shown>,
    left: Left,
    /// A first line that is longer than everything that may be shown.
    long: Option<Part>,
}

impl First {
    pub(super) fn new(of: Of, budget: Budget) -> Self {
        Self { of, budget, text: String::new(), rows: 0, shown: None, left: Left::default(), long: None }
    }

    fn take(&mut self, number: u64, line: &str) {
        let has_room = self.text.len() + line.len() < self.budget.bytes && self.rows < self.budget.lines;
        if self.left.is_empty() && has_room {
            self.text.extend([line, "\n"]);
            self.rows += 1;
            return stretch(&mut self.shown, number);
        }
        if self.shown.is_none() && self.long.is_none() {
            self.long = Some(piece(&self.of, number, line, 1, self.budget));
        }
        self.left.add(number, line.len());
    }

    fn finish(mut self) -> Part {
        if let Some(long) = self.long {
            return long;
        }
        self.text.pop();
        Part { text: self.text, shown: self.shown, omitted: self.left.omitted(&self.of), ..Part::default() }
    }
}

#[derive(Debug)]
pub(super) struct Last {
    of: Of,
    budget: Budget,
    kept: VecDeque<(u64, String)>,
    bytes: usize,
    left: Left,
    /// The newest line, if it is longer than everything that may be shown, and how long it is.
    long: Option<(u64, usize, Part)>,
}

impl Last {
    pub(super) fn new(of: Of, budget: Budget) -> Self {
        Self { of, budget, kept: VecDeque::new(), bytes: 0, left: Left::default(), long: None }
    }

    fn take(&mut self, number: u64, line: &str) {
        if let Some((number, length, _)) = self.long.take() {
            self.left.add(number, length);
        }
        self.bytes += line.len() + 1;
        while (self.bytes > self.budget.bytes || self.kept.len() >= self.budget.lines)
            && let Some((number, line)) = self.kept.pop_front()
        {
            self.bytes -= line.len() + 1;
            self.left.add(number, line.len());
        }
        if self.bytes > self.budget.bytes {
            self.bytes = 0;
            self.long = Some((number, line.len(), piece(&self.of, number, line, 1, self.budget)));
        } else {
            self.kept.push_back((number, line.to_owned()));
        }
    }

    fn finish(self) -> Part {
        if let Some((.., long)) = self.long {
            return long;
        }
        let mut shown = None;
        self.kept.iter().for_each(|(number, _)| stretch(&mut shown, *number));
        let text = self.kept.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>().join("\n");
        Part { text, shown, omitted: self.left.omitted(&self.of), ..Part::default() }
    }
}

#[derive(Debug)]
pub(super) struct Column {
    of: Of,
    budget: Budget,
    column: u64,
    found: Option<Part>,
    lines: u64,
}

impl Column {
    pub(super) fn new(of: Of, budget: Budget, column: u64) -> Self {
        Self { of, budget, column, found: None, lines: 0 }
    }

    fn take(&mut self, number: u64, line: &str) {
        self.lines += 1;
        if self.lines == 1 {
            self.found = Some(piece(&self.of, number, line, self.column, self.budget));
        }
    }

    fn finish(self) -> Result<Part, Refusal> {
        match (self.lines, self.found) {
            (1, Some(part)) => Ok(part),
            _ => {
                let text = "column is for one line that is there: say the same from_line and to_line.";
                Err(Refusal::new("invalid", text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wharf_core::shape::Omitted;

    fn of() -> Of {
        Of { name: "t".to_owned(), command: 1 }
    }

    fn fed(mut gather: Gather, lines: &[String]) -> Part {
        (1..).zip(lines).for_each(|(number, line)| gather.take(number, line));
        gather.finish().unwrap()
    }

    /// Shown and left out are all, at one end or the other.
    #[test]
    fn a_page_and_what_is_left_out_are_all_lines() {
        let budget = Budget { bytes: 1024, ..Budget::default() };
        for length in [0, 1, 60, 500, 1022, 1023] {
            let lines: Vec<String> = (0..40).map(|n| format!("{n:0>length$}")).collect();
            let bytes = |lines: &[String]| lines.iter().map(|line| line.len() as u64 + 1).sum();
            let first = fed(Gather::First(First::new(of(), budget)), &lines);
            let last = fed(Gather::Last(Last::new(of(), budget)), &lines);
            let count = |part: &Part| {
                let shown = part.shown.unwrap();
                usize::try_from(shown.to_line - shown.from_line + 1).unwrap()
            };
            let (n, m) = (count(&first), count(&last));
            assert_eq!(first.text, lines[..n].join("\n"));
            assert_eq!(last.text, lines[40 - m..].join("\n"));
            assert!(n == 40 || bytes(&lines[..=n]) > 1024, "{length}: as many as fit");
            assert!(m == 40 || bytes(&lines[39 - m..]) > 1024, "{length}: as many as fit");
            let left =
                |part: &Part| part.omitted.as_ref().map(|left| (left.from_line, left.to_line, left.bytes));
            let (n64, m64) = (n as u64, m as u64);
            assert_eq!(left(&first), (n < 40).then(|| (n64 + 1, 40, bytes(&lines[n..]))));
            assert_eq!(left(&last), (m < 40).then(|| (1, 40 - m64, bytes(&lines[..40 - m]))));
        }
    }

    #[test]
    fn a_line_longer_than_everything_is_begun() {
        let budget = Budget { bytes: 1024, ..Budget::default() };
        let lines = ["é".repeat(1000), "short".to_owned(), "ü".repeat(1000)];
        let first = fed(Gather::First(First::new(of(), budget)), &lines);
        let last = fed(Gather::Last(Last::new(of(), budget)), &lines);
        for (part, line, letter) in [(first, 1, "é"), (last, 3, "ü")] {
            assert_eq!((part.text, part.shown.unwrap().from_line), (letter.repeat(512), line));
            let rest = of().omitted(&[Omitted::Part { line, column: 513, chars: 488 }]).unwrap();
            assert_eq!(part.omitted.unwrap().read, rest.read);
        }
        let last = fed(Gather::Last(Last::new(of(), budget)), &lines[..2]);
        assert_eq!((last.text.as_str(), last.omitted.unwrap().bytes), ("short", 2001));
    }

    #[test]
    fn a_column_is_of_one_line() {
        let column = || Gather::Column(Column::new(of(), Budget::default(), 3));
        assert_eq!(fed(column(), &["äbcd".to_owned()]).text, "cd");
        let mut two = column();
        [(1, "a"), (2, "b")].into_iter().for_each(|(number, line)| two.take(number, line));
        assert!(two.finish().is_err() && column().finish().is_err());
    }
}
