//! What an agent has been told of a terminal, so that it is told nothing twice.
//!
//! Pure. Lines that may still change are remembered as they were told: the next answer begins with the first that is
//! different now.

use wharf_core::shell::Lines;

/// Of one terminal.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The command that all of this is about.
    command: u64,
    /// Lines that were told and cannot change, and their bytes with newlines.
    finished: u64,
    bytes: u64,
    /// The lines after those, as they were told.
    open: Vec<String>,
    /// Whether its end was told.
    over: bool,
}

/// What is new.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct News {
    /// The number of the first line.
    pub(super) first: u64,
    pub(super) lines: Vec<String>,
    /// Bytes, with newlines, of the lines before.
    pub(super) bytes_before: u64,
    /// Bytes of the output that are gone for good.
    pub(super) dropped: u64,
}

/// Whether more may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Running,
    Over,
}

impl Told {
    /// The first line that has to be looked at for news of a command.
    pub(super) fn from(&self, command: u64) -> u64 {
        if self.command == command { self.finished + 1 } else { 1 }
    }

    /// Whether anything was told of it.
    pub(super) fn has_begun(&self, command: u64) -> bool {
        self.command == command
    }

    /// Whether everything was told of it.
    pub(super) fn is_over(&self, command: u64) -> bool {
        self.command == command && self.over
    }

    /// What is new in these lines, which begin with [`Told::from`]. Nothing is remembered.
    pub(super) fn news(&self, command: u64, lines: &Lines) -> News {
        let open: &[String] = if self.command == command { &self.open } else { &[] };
        let same = open.iter().zip(&lines.lines).take_while(|(told, now)| told == now).count();
        // Lines that have vanished are no news; their place is told again with what comes next.
        let before = if self.command == command { self.bytes } else { 0 };
        let bytes_before = before + bytes(&lines.lines[..same]);
        let (first, dropped) = (lines.first + same as u64, lines.dropped);
        News { first, lines: lines.lines[same..].to_vec(), bytes_before, dropped }
    }

    /// They were told.
    pub(super) fn tell(&mut self, command: u64, lines: &Lines, stage: Stage) {
        let before = if self.command == command { self.bytes } else { 0 };
        let (finished, open) = lines.lines.split_at(lines.finished.min(lines.lines.len()));
        self.command = command;
        self.bytes = before + bytes(finished);
        self.finished = lines.first.saturating_sub(1) + finished.len() as u64;
        self.open = open.to_vec();
        self.over = stage == Stage::Over;
    }
}

fn bytes(lines: &[String]) -> u64 {
    lines.iter().map(|line| line.len() as u64 + 1).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(first: u64, texts: &[&str], finished: usize) -> Lines {
        let lines = texts.iter().map(|text| (*text).to_owned()).collect();
        Lines { first, lines, finished, dropped: 0 }
    }

    #[test]
    fn a_line_is_told_once_unless_it_changes() {
        let mut told = Told::default();
        let first = lines(1, &["a", "b", "10 %"], 2);
        assert_eq!(told.news(7, &first).lines, ["a", "b", "10 %"]);
        told.tell(7, &first, Stage::Running);
        assert_eq!(told.from(7), 3);
        let same = told.news(7, &lines(3, &["10 %"], 0));
        assert_eq!((same.first, same.lines.len(), same.bytes_before), (4, 0, 9));
        let changed = told.news(7, &lines(3, &["20 %", "c"], 1));
        assert_eq!(
            (changed.first, changed.lines, changed.bytes_before),
            (3, vec!["20 %".into(), "c".into()], 4)
        );
    }

    #[test]
    fn the_next_command_begins_at_its_first_line() {
        let mut told = Told::default();
        told.tell(1, &lines(1, &["a"], 1), Stage::Over);
        assert!(told.is_over(1) && !told.is_over(2));
        assert_eq!((told.from(1), told.from(2)), (2, 1));
        let news = told.news(2, &lines(1, &["b"], 1));
        assert_eq!((news.first, news.bytes_before), (1, 0));
    }
}
