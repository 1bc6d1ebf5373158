//! Rows of text that can be taken off again at the front.
//!
//! The text is one ring of bytes, and only what is not plain (folded, cut) has an entry beside it: a structure for each
//! line would take many times the room of short lines.

use super::cut::Cut;
use std::collections::VecDeque;
use std::io::BufRead;

#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    text: VecDeque<u8>,
    /// Items that are not plain, by the offset of their first byte.
    folds: VecDeque<(u64, u64)>,
    cuts: VecDeque<(u64, Cut)>,
    /// Offset of the first byte that is still here.
    start: u64,
    items: usize,
    /// Lines of text: an item has two if it is folded.
    rows: usize,
}

/// One line and its repetitions.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Item {
    /// As it is shown, without newline and without the note on repetitions.
    pub(super) row: String,
    pub(super) times: u64,
    pub(super) cut: Option<Cut>,
}

/// How much of the original something stands for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Weight {
    pub(super) lines: u64,
    pub(super) bytes: u64,
}

impl std::ops::AddAssign for Weight {
    fn add_assign(&mut self, other: Self) {
        self.lines += other.lines;
        self.bytes += other.bytes;
    }
}

impl Rows {
    /// Bytes of text.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn items(&self) -> usize {
        self.items
    }

    /// Lines of text.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// `fold` is the note on `times` repetitions, with its newline.
    pub(super) fn push(&mut self, row: &str, cut: Option<Cut>, times: u64, fold: Option<&str>, most: usize) {
        let at = self.start + self.text.len() as u64;
        let fold_len = fold.map_or(0, str::len);
        self.reserve(row.len() + 1 + fold_len, most);
        for part in [row, "\n", fold.unwrap_or_default()] {
            self.text.extend(part.as_bytes());
        }
        self.items += 1;
        self.rows += 1 + usize::from(fold.is_some());
        if let Some(cut) = cut {
            self.cuts.push_back((at, cut));
        }
        if fold.is_some() {
            self.folds.push_back((at, times));
        }
    }

    /// Grows by doubling, but not past what will ever be needed.
    fn reserve(&mut self, more: usize, most: usize) {
        let need = self.text.len() + more;
        if need > self.text.capacity() {
            let size = (2 * self.text.capacity()).min(most).max(need);
            self.text.reserve_exact(size - self.text.len());
        }
    }

    /// Takes the first item off, into the one that is given, if there is any.
    pub(super) fn pop(&mut self, item: &mut Item) -> bool {
        let Some(end) = self.row_end(0) else { return false };
        let row: Vec<u8> = self.text.range(..end).copied().collect();
        item.row = String::from_utf8(row).unwrap_or_default();
        (item.times, item.cut) = self.discard(end);
        true
    }

    /// Lets the first item go and says what it stood for.
    pub(super) fn drop_first(&mut self) -> Weight {
        let Some(end) = self.row_end(0) else { return Weight::default() };
        let (times, cut) = self.discard(end);
        let lines = times + 1;
        Weight { lines, bytes: lines * (cut.map_or(end as u64, |cut| cut.bytes) + 1) }
    }

    fn discard(&mut self, end: usize) -> (u64, Option<Cut>) {
        let start = self.start;
        let cut = take_at(&mut self.cuts, start);
        let times = take_at(&mut self.folds, start).unwrap_or_default();
        let mut bytes = end + 1;
        if times > 0 {
            bytes = self.row_end(bytes).map_or(bytes, |end| end + 1);
        }
        self.text.drain(..bytes);
        self.start += bytes as u64;
        self.items -= 1;
        self.rows -= 1 + usize::from(times > 0);
        (times, cut)
    }

    /// Each item, with its note on repetitions (and its newline) if it has one.
    pub(super) fn each(&mut self, mut item: impl FnMut(&str, Option<Cut>, Option<(u64, &str)>)) {
        // Only whole rows are ever put in or taken out, so it is always valid.
        let text = std::str::from_utf8(self.text.make_contiguous()).unwrap_or_default();
        let (mut folds, mut cuts) = (self.folds.iter().peekable(), self.cuts.iter().peekable());
        let mut at = self.start;
        let mut rows = text.split_inclusive('\n');
        while let Some(row) = rows.next() {
            let cut = cuts.next_if(|(start, _)| *start == at).map(|(_, cut)| *cut);
            let times = folds.next_if(|(start, _)| *start == at).map(|(_, times)| *times);
            let fold = times.and_then(|times| Some((times, rows.next()?)));
            at += (row.len() + fold.map_or(0, |(_, note)| note.len())) as u64;
            item(row.trim_end_matches('\n'), cut, fold);
        }
    }

    /// Gives back what is not needed.
    pub(super) fn shrink(&mut self, most: usize) {
        self.text.shrink_to(most);
    }

    /// The offset of the next newline.
    fn row_end(&self, from: usize) -> Option<usize> {
        let (front, back) = self.text.as_slices();
        let in_front = front.get(from..).and_then(newline);
        let skipped = from.saturating_sub(front.len());
        let in_back = || back.get(skipped..).and_then(newline).map(|at| front.len() + skipped + at);
        in_front.map(|at| from + at).or_else(in_back)
    }

    /// What they take of memory.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.text.capacity()
            + self.folds.capacity() * size_of::<(u64, u64)>()
            + self.cuts.capacity() * size_of::<(u64, Cut)>()
    }
}

/// The entry for that offset, which can only be the first.
fn take_at<T>(entries: &mut VecDeque<(u64, T)>, start: u64) -> Option<T> {
    let is_here = entries.front().is_some_and(|(at, _)| *at == start);
    if is_here { entries.pop_front().map(|(_, entry)| entry) } else { None }
}

/// Where the first newline is. By way of a reader, since that looks at many bytes at once.
fn newline(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    let at = rest.skip_until(b'\n').ok()?.checked_sub(1)?;
    // Without one, it has read to the end.
    (bytes[at] == b'\n').then_some(at)
}
