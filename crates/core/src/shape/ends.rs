//! The beginning and the end of an output, and how much there was in between.

use super::cut::{Cut, Limit};
use super::rows::{Item, Rows, Weight};
use super::{Folded, Omitted, Shaped, note};

#[derive(Debug, Clone)]
pub(super) struct Ends {
    limit: Limit,
    stage: Stage,
    head: Rows,
    /// While everything fits, all of it.
    tail: Rows,
    gap: Weight,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Everything fits so far and is as it was given.
    Whole,
    /// It does not: long lines are cut. What comes goes to the head, as long as there is room.
    Head,
    /// What comes goes to the tail, and pushes out what has been there longest.
    Tail,
}

type Say<'a> = &'a dyn Fn(&Omitted) -> Option<String>;

impl Ends {
    pub(super) fn new(limit: Limit) -> Self {
        let (head, tail, gap) = Default::default();
        Self { limit, stage: Stage::Whole, head, tail, gap }
    }

    pub(super) fn budget(&self) -> usize {
        self.limit.budget
    }

    /// A line and how often it was repeated.
    pub(super) fn push(&mut self, line: &str, times: u64) {
        if self.stage == Stage::Whole {
            let (size, rows) = match note::fold(line, times) {
                Some(fold) => (line.len() + 1 + fold.len(), 2),
                // So few that the product is small.
                None => ((times as usize + 1) * (line.len() + 1), times as usize + 1),
            };
            // The last newline will not be shown.
            if self.tail.len() + size <= self.limit.budget + 1 && self.tail.rows() + rows <= self.limit.rows {
                return self.put(line, None, times);
            }
            self.crowd();
        }
        let (row, cut) = self.limit.cut(line);
        self.put(&row, cut, times);
    }

    /// From here on not everything fits: all that there is so far is put in once more, long lines cut.
    fn crowd(&mut self) {
        self.stage = Stage::Head;
        let mut item = Item::default();
        let mut all = std::mem::take(&mut self.tail);
        while all.pop(&mut item) {
            let (row, cut) = self.limit.cut(&item.row);
            let fold = note::fold(&row, item.times);
            self.put_one(&row, cut, item.times, fold.as_deref());
        }
        self.tail.shrink(self.limit.budget - self.head.len());
    }

    /// A gap. What is not in the head by now is part of it.
    pub(super) fn skip(&mut self, lines: u64, bytes: u64) {
        if self.stage == Stage::Whole {
            self.crowd();
        }
        self.stage = Stage::Tail;
        while self.tail.items() > 0 {
            self.gap += self.tail.drop_first();
        }
        self.gap += Weight { lines, bytes };
    }

    fn put(&mut self, row: &str, cut: Option<Cut>, times: u64) {
        match note::fold(row, times) {
            Some(fold) => self.put_one(row, cut, times, Some(&fold)),
            None => (0..=times).for_each(|_| self.put_one(row, cut, 0, None)),
        }
    }

    fn put_one(&mut self, row: &str, cut: Option<Cut>, times: u64, fold: Option<&str>) {
        let (size, rows) = (row.len() + 1 + fold.map_or(0, str::len), 1 + usize::from(fold.is_some()));
        let limit = self.limit;
        let (most, most_rows) = match self.stage {
            Stage::Whole => (limit.budget + 1, limit.rows),
            Stage::Head
                if self.head.len() + size <= limit.head && self.head.rows() + rows <= limit.head_rows =>
            {
                return self.head.push(row, cut, times, fold, limit.head);
            }
            // One line says what is left out.
            Stage::Head | Stage::Tail => (limit.budget - self.head.len(), limit.rows - self.head.rows() - 1),
        };
        if self.stage == Stage::Head {
            self.stage = Stage::Tail;
        }
        while (self.tail.len() + size > most || self.tail.rows() + rows > most_rows) && self.tail.items() > 0
        {
            self.gap += self.tail.drop_first();
        }
        self.tail.push(row, cut, times, fold, most);
    }

    /// What is shown, made of the ends by as much as they must give way to the notes.
    pub(super) fn finish(mut self, blank: Shaped, say: Say<'_>) -> Shaped {
        loop {
            let shaped = self.page(blank.clone(), say);
            match shaped.text.len().checked_sub(self.limit.budget) {
                None | Some(0) => return shaped,
                Some(over) => self.shrink(over),
            }
        }
    }

    /// By at least that, or else by the least important thing there is.
    fn shrink(&mut self, over: usize) {
        let before = self.tail.len();
        while before - self.tail.len() < over && self.tail.items() > 1 {
            self.gap += self.tail.drop_first();
        }
        if self.tail.len() < before {
            return;
        }
        // Only with a tiny budget and long calls: the last line says more than the first ones.
        let side = if self.head.items() > 0 { &mut self.head } else { &mut self.tail };
        while side.items() > 0 {
            self.gap += side.drop_first();
        }
    }

    fn page(&mut self, shaped: Shaped, say: Say<'_>) -> Shaped {
        let mut page = Page { line: shaped.first_line, shaped, budget: self.limit.budget, say };
        self.head.each(|row, cut, fold| page.item(row, cut, fold));
        if self.gap.lines > 0 {
            page.gap(self.gap);
        }
        self.tail.each(|row, cut, fold| page.item(row, cut, fold));
        page.shaped.text.pop();
        page.shaped
    }

    /// What they take of memory.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.head.held() + self.tail.held()
    }
}

/// Writes what is shown.
struct Page<'a> {
    shaped: Shaped,
    /// The number of the next line.
    line: u64,
    budget: usize,
    say: Say<'a>,
}

impl Page<'_> {
    fn item(&mut self, row: &str, cut: Option<Cut>, fold: Option<(u64, &str)>) {
        let text = &mut self.shaped.text;
        match cut {
            None => text.push_str(row),
            Some(Cut { column, chars, call: at, .. }) => {
                let part = Omitted::Part { line: self.line, column, chars };
                text.push_str(&row[..at]);
                if let Some(call) = note::call(&part, self.budget, self.say) {
                    text.extend([": ", &call]);
                }
                text.push_str(&row[at..]);
                self.shaped.omitted.push(part);
            }
        }
        text.push('\n');
        if let Some((times, note)) = fold {
            text.push_str(note);
            self.shaped.folded.push(Folded { line: self.line, times });
            self.line += times;
        }
        self.line += 1;
    }

    fn gap(&mut self, gap: Weight) {
        let (from, to) = (self.line, self.line + gap.lines - 1);
        let lines = Omitted::Lines { from, to, bytes: gap.bytes };
        let call = note::call(&lines, self.budget, self.say);
        self.shaped.text.push_str(&note::lines(from, to, gap.bytes, call.as_deref()));
        self.shaped.omitted.push(lines);
        self.line = to + 1;
    }
}
