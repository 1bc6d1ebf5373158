//! Lines that match, each with its number, and those around them.
//!
//! What does not fit is left out from a match on, and matches are counted to the end. A first match that does not fit with
//! the lines around it is shown without them: who searches wants to see something.

use super::answer::Shown;
use super::part::{Left, Of, Part};
use crate::verb::mcp::hint;
use regex::Regex;
use serde_json::json;
use std::collections::VecDeque;
use wharf_core::shape::Budget;

/// A match in a line of a megabyte is no reason to show the megabyte.
const LONGEST: usize = 2000;

#[derive(Debug)]
pub(super) struct Search {
    of: Of,
    budget: Budget,
    pattern: Regex,
    /// Lines around each match.
    context: u64,
    /// Rows, each with its newline, and how many.
    text: String,
    rows: usize,
    shown: Option<Shown>,
    /// The newest lines that are not shown, as they would be, and their bytes.
    before: (VecDeque<(u64, String)>, usize),
    /// So many lines are still shown.
    after: u64,
    is_full: bool,
    /// Some lines around the last match are missing.
    is_cut: bool,
    /// From the first match on that is not shown.
    left: Left,
    matches: u64,
    matches_shown: u64,
}

impl Search {
    pub(super) fn new(of: Of, budget: Budget, pattern: Regex, context: u64) -> Self {
        let (text, before) = Default::default();
        Self {
            of,
            budget,
            pattern,
            context,
            text,
            rows: 0,
            shown: None,
            before,
            after: 0,
            is_full: false,
            is_cut: false,
            left: Left::default(),
            matches: 0,
            matches_shown: 0,
        }
    }

    pub(super) fn take(&mut self, number: u64, line: &str) {
        let is_match = self.pattern.is_match(line);
        self.matches += u64::from(is_match);
        if is_match && !self.is_full {
            self.hit(number, line);
        } else if is_match || !self.left.is_empty() {
            self.left.add(number, line.len());
        } else if self.after > 0 && !self.is_full {
            self.after -= 1;
            let row = row(number, '-', line);
            self.is_full = !self.fits(row.len(), 1);
            self.is_cut = self.is_full;
            if !self.is_full {
                self.show(number, &row);
            }
        } else if self.context > 0 && !self.is_full {
            self.wait(number, row(number, '-', line));
        }
    }

    /// Kept in case that a match follows.
    fn wait(&mut self, number: u64, row: String) {
        let (rows, bytes) = &mut self.before;
        *bytes += row.len();
        rows.push_back((number, row));
        // More than can be shown need not be kept, whatever was asked for.
        let most = usize::try_from(self.context).unwrap_or(usize::MAX).min(self.budget.lines);
        while rows.len() > most || *bytes > self.budget.bytes {
            let Some((_, row)) = rows.pop_front() else { break };
            *bytes -= row.len();
        }
    }

    fn hit(&mut self, number: u64, line: &str) {
        let mut row = row(number, ':', line);
        let (before, bytes) = std::mem::take(&mut self.before);
        let first = before.front().map_or(number, |(first, _)| *first);
        let is_apart = self.context > 0 && self.shown.is_some_and(|shown| shown.to_line + 1 < first);
        let rule = if is_apart { "--\n" } else { "" };
        if self.fits(rule.len() + bytes + row.len(), usize::from(is_apart) + before.len() + 1) {
            self.text.push_str(rule);
            self.rows += usize::from(is_apart);
            before.iter().for_each(|(number, row)| self.show(*number, row));
        } else if self.matches == 1 {
            self.is_full = true;
            self.is_cut = self.context > 0;
            row.truncate(row.floor_char_boundary(self.budget.bytes));
        } else {
            self.is_full = true;
            return self.left.add(number, line.len());
        }
        self.show(number, &row);
        // What is said to be shown begins with a match.
        if self.matches == 1 {
            self.shown = Some(Shown { from_line: number, to_line: number });
        }
        self.matches_shown += 1;
        self.after = self.context;
    }

    /// The last newline will not be shown.
    fn fits(&self, bytes: usize, rows: usize) -> bool {
        self.text.len() + bytes <= self.budget.bytes + 1 && self.rows + rows <= self.budget.lines
    }

    fn show(&mut self, number: u64, row: &str) {
        self.text.push_str(row);
        self.rows += 1;
        self.shown.get_or_insert(Shown { from_line: number, to_line: number }).to_line = number;
    }

    pub(super) fn finish(mut self) -> Part {
        self.text.truncate(self.text.trim_end_matches('\n').len());
        let mut notice = Vec::new();
        if self.matches == 0 {
            notice.push("no line matches".to_owned());
        }
        if self.is_cut {
            notice.push(
                "not all lines around the last match that is shown fit; max_bytes allows more".to_owned(),
            );
        }
        let mut omitted = self.left.omitted(&self.of);
        if let Some(omitted) = &mut omitted {
            // The same search, from the first match that is not shown.
            let rest = json!({
                "search": self.pattern.as_str(), "context": self.context, "from_line": omitted.from_line,
            });
            let call = hint::read(&self.of.name, self.of.command, rest);
            let more = self.matches - self.matches_shown;
            omitted.read = format!("{call} ({more} more matches)");
        }
        Part { text: self.text, shown: self.shown, matches: Some(self.matches), omitted, notice }
    }
}

fn row(number: u64, mark: char, line: &str) -> String {
    if line.len() <= LONGEST {
        return format!("{number}{mark} {line}\n");
    }
    let begin = &line[..line.floor_char_boundary(LONGEST)];
    format!("{number}{mark} {begin}… ({} bytes; column shows more)\n", line.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(lines: &[String], pattern: &str, context: u64, bytes: usize) -> Part {
        let of = Of { name: "t".to_owned(), command: 1 };
        let mut search =
            Search::new(of, Budget { bytes, ..Budget::default() }, Regex::new(pattern).unwrap(), context);
        (1..).zip(lines).for_each(|(number, line)| search.take(number, line));
        search.finish()
    }

    fn numbered(count: usize) -> Vec<String> {
        (1..=count).map(|number| number.to_string()).collect()
    }

    #[test]
    fn matches_that_are_near_share_the_lines_between_them() {
        let found = search(&numbered(40), "^(5|7|20)$", 2, 1024);
        let rows: Vec<_> = found.text.lines().collect();
        assert_eq!(rows[..7], ["3- 3", "4- 4", "5: 5", "6- 6", "7: 7", "8- 8", "9- 9"]);
        assert_eq!(rows[7..], ["--", "18- 18", "19- 19", "20: 20", "21- 21", "22- 22"]);
        assert_eq!(
            (found.matches, found.shown.unwrap().from_line, found.shown.unwrap().to_line),
            (Some(3), 5, 22)
        );
        assert!(found.omitted.is_none() && found.notice.is_empty());
    }

    #[test]
    fn a_first_match_is_shown_however_long_it_is_or_the_lines_around_it_are() {
        let found = search(&["x".repeat(5000), "y".to_owned()], "x", 1, 1024);
        assert_eq!((found.text.len(), found.matches), (1024, Some(1)));
        let mut lines = vec!["-".repeat(700); 3];
        lines.push("x".to_owned());
        let found = search(&lines, "x", u64::MAX, 1024);
        assert!(found.text.ends_with("\n4: x"), "as much before it as fits: {}", found.text);
    }

    #[test]
    fn what_is_left_out_begins_with_a_match() {
        let found = search(&numbered(5000), "7$", 1, 1024);
        let left = found.omitted.unwrap();
        assert_eq!(found.matches, Some(500));
        assert!(left.from_line % 10 == 7 && left.to_line == 5000, "{left:?}");
        let shown = (left.from_line - 7) / 10;
        assert!(left.read.ends_with(&format!("({} more matches)", 500 - shown)), "{left:?}");
        assert_eq!(left.bytes, (left.from_line..=5000).map(|n| n.to_string().len() as u64 + 1).sum::<u64>());
    }

    #[test]
    fn matches_are_shown_or_left_out_and_the_budget_holds() {
        for case in 0..400usize {
            // Lines of all lengths, every few of which match, from one case to the next otherwise.
            let line = |n: usize| {
                format!("{}{n}", ["a", "b", "c"][n * (case + 1) % 3].repeat(1 + n * 37 * case % 90))
            };
            let lines: Vec<String> = (0..case % 80).map(line).collect();
            let (context, bytes) = (case as u64 % 5, 1024 + case * 5);
            let found = search(&lines, "^a", context, bytes);
            assert!(found.text.len() <= bytes, "case {case}");
            let from = found.omitted.as_ref().map_or(u64::MAX, |left| left.from_line);
            for (number, line) in (1..).zip(&lines).filter(|(_, line)| line.starts_with('a')) {
                let row = format!("{number}: {line}");
                assert_eq!(found.text.lines().any(|shown| shown == row), number < from, "case {case}: {row}");
            }
        }
    }
}
