//! The lines of the newest command's output, as it is printed.
//!
//! No more of a long output is held in memory than its end ([`TAIL`]) and, since the last answer, its beginning
//! ([`HEAD`]); what lies between is counted, exactly, and rendered again by [`replay`](super::replay) when somebody asks
//! for it. What surprises: the beginning is made of lines that leave the end, so that it costs nothing until then.

use super::{Line, Part, Place};
use crate::spec::Size;
use crate::view::Stream;
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// What the finished lines at the end may cost.
const TAIL: usize = 4 << 20;
/// What of them stays once they were told.
const HELD: usize = 256 << 10;
/// The same at the beginning: more than the largest answer shows of it, however short its lines are.
const HEAD: usize = 1 << 20;
/// What a line costs besides its bytes.
const EACH: usize = 64;

/// An output as it is rendered.
#[derive(Debug)]
pub(super) struct Render {
    stream: Stream,
    head: Head,
    /// All that has left the tail, whether the head has it or not.
    gone: Place,
    tail: Runs,
    most: usize,
    /// Bytes that were never seen, because the journal had let them go before.
    dropped: u64,
}

/// Lines of which those that repeat the one before are only counted.
#[derive(Debug, Default)]
struct Runs {
    runs: VecDeque<(String, u64)>,
    lines: u64,
    cost: usize,
}

/// The first lines from one on, as far as there is room.
#[derive(Debug)]
struct Head {
    from: u64,
    runs: Runs,
    most: usize,
    is_full: bool,
}

/// Whether more can be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Open,
    Over,
}

/// What is called for each part, until it breaks off.
type Each<'a> = &'a mut dyn FnMut(Part<'_>) -> ControlFlow<()>;

impl Render {
    pub(super) fn new(size: Size) -> Self {
        Self::within(size, HEAD, TAIL)
    }

    fn within(size: Size, head: usize, tail: usize) -> Self {
        Self {
            stream: Stream::new(size),
            head: Head { from: 1, runs: Runs::default(), most: head, is_full: false },
            gone: Place::START,
            tail: Runs::default(),
            most: tail,
            dropped: 0,
        }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.stream.feed(bytes);
        for line in self.stream.take_finished() {
            self.tail.push(line, 1);
        }
        // One line stays, however long: the end of an output says most.
        while self.tail.cost > self.most && self.tail.runs.len() > 1 {
            let Some((text, times)) = self.tail.pop() else { break };
            let first = self.gone.line;
            self.gone.pass(&text, times);
            self.head.take(first, text, times);
        }
    }

    /// So many bytes will never be fed.
    pub(super) fn lose(&mut self, bytes: u64) {
        self.dropped += bytes;
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.stream.resize(size);
    }

    /// All of it was told: what is held of it is counted, and read from the journal by whoever asks for it again.
    fn release(&mut self) {
        while self.tail.cost > HELD
            && let Some((text, times)) = self.tail.pop()
        {
            self.gone.pass(&text, times);
        }
        self.tail.runs.shrink_to_fit();
    }

    /// Everything before that line was told: from there on the beginning is kept.
    pub(super) fn keep_from(&mut self, line: u64) {
        if line > self.lines() {
            self.release();
        }
        // What has left already cannot be had back; the head may still have it.
        if line > self.head.from && line >= self.gone.line {
            self.head = Head { from: line, runs: Runs::default(), is_full: false, ..self.head };
        }
    }

    /// The number of the first line of the tail.
    pub(super) fn first(&self) -> u64 {
        self.gone.line
    }

    /// The number of the first line that may still change.
    pub(super) fn first_open(&self) -> u64 {
        self.gone.line + self.tail.lines
    }

    pub(super) fn open_lines(&self) -> Vec<String> {
        self.stream.open_lines()
    }

    /// How many lines there are.
    pub(super) fn lines(&self) -> u64 {
        self.first_open() - 1 + self.stream.open_lines().len() as u64
    }

    /// Goes over everything from that place on. What is not held is a gap, of which the size is known.
    pub(super) fn each(&self, from: Place, end: End, each: Each<'_>) -> ControlFlow<()> {
        let mut at = from;
        if at.line < self.gone.line {
            if at.line >= self.head.from {
                self.head.runs.each(self.head.from, &mut at, each)?;
            }
            if at.line < self.gone.line {
                let (lines, bytes) = (self.gone.line - at.line, self.gone.bytes.saturating_sub(at.bytes));
                each(Part::Gap { lines, bytes })?;
                at.line = self.gone.line;
            }
        }
        self.tail.each(self.gone.line, &mut at, each)?;
        let first = self.first_open();
        // Of an output that is over nothing can change.
        let is_finished = end == End::Over;
        for (number, text) in
            (first..).zip(&self.stream.open_lines()).filter(|(number, _)| *number >= at.line)
        {
            each(Part::Lines(Line { number, text, is_finished }, 1))?;
        }
        ControlFlow::Continue(())
    }
}

impl Runs {
    fn push(&mut self, line: String, times: u64) {
        self.lines += times;
        match self.runs.back_mut() {
            Some((same, count)) if *same == line => *count += times,
            _ => {
                self.cost += line.len() + EACH;
                self.runs.push_back((line, times));
            }
        }
    }

    fn pop(&mut self) -> Option<(String, u64)> {
        let (line, times) = self.runs.pop_front()?;
        self.lines -= times;
        self.cost -= line.len() + EACH;
        Some((line, times))
    }

    /// From that place on, which moves along, of lines that begin with number `first`.
    fn each(&self, first: u64, at: &mut Place, each: Each<'_>) -> ControlFlow<()> {
        let mut next = first;
        for (text, times) in &self.runs {
            let number = next.max(at.line);
            next += times;
            if next <= number {
                continue;
            }
            let times = next - number;
            each(Part::Lines(Line { number, text, is_finished: true }, times))?;
            at.pass(text, times);
        }
        ControlFlow::Continue(())
    }
}

impl Head {
    /// What has left the tail, beginning with number `first`.
    fn take(&mut self, first: u64, line: String, times: u64) {
        let next = self.from + self.runs.lines;
        if self.is_full || first + times <= next {
            return;
        }
        self.is_full = first > next || self.runs.cost + line.len() + EACH > self.most;
        if !self.is_full {
            self.runs.push(line, first + times - next);
        }
    }
}

#[cfg(test)]
mod tests;
