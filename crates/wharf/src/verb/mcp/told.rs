//! What an agent has been told of a terminal, so that it is told nothing twice.
//!
//! Pure. Lines that may still change are remembered as they were told: the next answer begins with the first that is
//! different now. Who tells goes over the lines once and holds no more of them than is shown.

use super::answer::Job;
use wharf_core::shape::{Budget, Shaped, Shaper};
use wharf_core::shell::{Part, Place};

/// Of one terminal.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    /// The command that all of this is about.
    command: u64,
    /// After the lines that were told and cannot change.
    place: Place,
    /// The lines after those, as they were told.
    open: Vec<String>,
    /// Whether its end was told.
    over: bool,
    /// Background jobs, as they were told.
    jobs: Vec<Job>,
}

/// What is new.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct News {
    /// As much of it as may be shown.
    pub(super) shaped: Shaped,
    /// All lines and bytes of the output, with what was told before.
    pub(super) total: Place,
    /// Bytes of the output that are gone for good.
    pub(super) dropped: u64,
    /// Background jobs that are new or stand otherwise than was told.
    pub(super) begun: Vec<Job>,
    /// Background jobs that were told of and are no more.
    pub(super) ended: Vec<Job>,
}

/// What is to be told of a command.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) command: u64,
    pub(super) stage: Stage,
    pub(super) budget: Budget,
    /// The background jobs that there are now.
    pub(super) jobs: Vec<Job>,
}

/// Whether more may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Running,
    Over,
}

impl Told {
    /// From where on there may be news of a command.
    pub(super) fn place(&self, command: u64) -> Place {
        if self.command == command { self.place } else { Place::START }
    }

    /// The command that was told of last, and the first of its lines that may be news.
    pub(super) fn last(&self) -> (u64, u64) {
        (self.command, self.place.line)
    }

    /// Whether anything was told of it.
    pub(super) fn has_begun(&self, command: u64) -> bool {
        self.command == command
    }

    /// Whether everything was told of it.
    pub(super) fn is_over(&self, command: u64) -> bool {
        self.command == command && self.over
    }

    /// The lines from [`Told::place`] on, as they were told.
    pub(super) fn open(&self, command: u64) -> &[String] {
        if self.command == command { &self.open } else { &[] }
    }

    /// Begins to tell of a command. Nothing is remembered here.
    pub(super) fn teller(&self, subject: Subject) -> Teller {
        let Subject { command, stage, budget, jobs } = subject;
        let place = self.place(command);
        let known = self.open(command).to_vec();
        let begun = jobs.iter().filter(|job| !self.jobs.contains(job)).cloned().collect();
        let is_gone = |job: &&Job| !jobs.iter().any(|now| now.pid == job.pid);
        let ended = self.jobs.iter().filter(is_gone).cloned().collect();
        let next = Self { command, place, open: Vec::new(), over: stage == Stage::Over, jobs };
        Teller { budget, known, same: 0, at: place, next, shaper: None, jobs: (begun, ended) }
    }
}

/// Goes over lines, beginning with [`Told::place`], and finds what is new.
#[derive(Debug)]
pub(super) struct Teller {
    budget: Budget,
    /// The lines from the first on, as they were told, and how many are the same now.
    known: Vec<String>,
    same: usize,
    /// Before the next line.
    at: Place,
    /// What will have been told.
    next: Told,
    /// Once there is something new.
    shaper: Option<Shaper>,
    /// Those that are new, and those that are no more.
    jobs: (Vec<Job>, Vec<Job>),
}

impl Teller {
    pub(super) fn take(&mut self, part: Part<'_>) {
        match part {
            Part::Lines(line, times) => {
                // Lines that have vanished are no news; their place is told again with what comes next.
                let known = if self.shaper.is_none() { &self.known[self.same..] } else { &[] };
                let same = known.iter().take_while(|known| *known == line.text).count().min(clamp(times));
                self.same += same;
                self.at.pass(line.text, same as u64);
                let new = times - same as u64;
                if new > 0 {
                    self.shaper().lines(line.text, new);
                    self.at.pass(line.text, new);
                }
                if line.is_finished {
                    self.next.place.pass(line.text, times);
                } else {
                    self.next.open.extend((0..times).map(|_| line.text.to_owned()));
                }
            }
            Part::Gap { lines, bytes } => {
                self.shaper().skip(lines, bytes);
                for place in [&mut self.at, &mut self.next.place] {
                    place.line += lines;
                    place.bytes += bytes;
                }
            }
        }
    }

    fn shaper(&mut self) -> &mut Shaper {
        let (budget, first) = (self.budget, self.at.line);
        self.shaper.get_or_insert_with(|| Shaper::new(budget, first))
    }

    /// The news, and what will have been told with them.
    pub(super) fn finish(mut self, dropped: u64) -> (News, Told) {
        self.shaper();
        let shaped = self.shaper.map(Shaper::finish).unwrap_or_default();
        let (begun, ended) = self.jobs;
        (News { shaped, total: self.at, dropped, begun, ended }, self.next)
    }
}

fn clamp(times: u64) -> usize {
    usize::try_from(times).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wharf_core::shell::Line;

    /// Tells of lines that begin where it was told to, so many of which are final.
    fn tell(told: &Told, command: u64, texts: &[&str], finished: usize) -> (News, Told) {
        let mut teller = told.teller(subject(command, Stage::Running, &[]));
        for (at, text) in texts.iter().enumerate() {
            let number = told.place(command).line + at as u64;
            teller.take(Part::Lines(Line { number, text, is_finished: at < finished }, 1));
        }
        teller.finish(0)
    }

    fn subject(command: u64, stage: Stage, jobs: &[Job]) -> Subject {
        Subject { command, stage, budget: Budget::default(), jobs: jobs.to_vec() }
    }

    #[test]
    fn a_background_job_is_told_when_it_changes() {
        let job = |pid, state| Job { pid, command: "sleep 100".to_owned(), state };
        let tell = |told: &Told, jobs: &[Job]| {
            let (news, told) = told.teller(subject(1, Stage::Over, jobs)).finish(0);
            (news.begun, news.ended, told)
        };
        let (one, stopped, two) = (job(7, "running"), job(7, "stopped"), job(8, "running"));
        let (begun, ended, told) = tell(&Told::default(), std::slice::from_ref(&one));
        assert_eq!((begun, ended), (vec![one.clone()], vec![]));
        let (begun, ended, told) = tell(&told, std::slice::from_ref(&one));
        assert_eq!((begun, ended), (vec![], vec![]));
        let (begun, ended, told) = tell(&told, &[stopped.clone(), two.clone()]);
        assert_eq!((begun, ended), (vec![stopped.clone(), two], vec![]));
        let (begun, ended, _) = tell(&told, &[job(8, "running")]);
        assert_eq!((begun, ended), (vec![], vec![stopped]));
    }

    #[test]
    fn a_line_is_told_once_unless_it_changes() {
        let (news, told) = tell(&Told::default(), 7, &["a", "b", "10 %"], 2);
        assert_eq!((news.shaped.text.as_str(), news.total), ("a\nb\n10 %", Place { line: 4, bytes: 9 }));
        assert_eq!(told.place(7), Place { line: 3, bytes: 4 });
        let (same, _) = tell(&told, 7, &["10 %"], 0);
        assert_eq!((same.shaped.text.as_str(), same.total), ("", Place { line: 4, bytes: 9 }));
        let (changed, told) = tell(&told, 7, &["20 %", "c"], 1);
        assert_eq!((changed.shaped.text.as_str(), changed.shaped.first_line), ("20 %\nc", 3));
        assert_eq!(
            (changed.total, told.place(7)),
            (Place { line: 5, bytes: 11 }, Place { line: 4, bytes: 9 })
        );
        // All that was open has vanished.
        let (nothing, told) = tell(&told, 7, &[], 0);
        assert_eq!((nothing.shaped.text.as_str(), nothing.total.line), ("", 4));
        assert_eq!(tell(&told, 7, &["c"], 0).0.shaped.text, "c");
    }

    #[test]
    fn what_is_not_remembered_is_told_again() {
        let told = Told::default();
        let (first, remembered) = tell(&told, 1, &["a"], 1);
        assert_eq!(tell(&told, 1, &["a"], 1).0, first);
        assert_eq!(tell(&remembered, 1, &[], 0).0.shaped.text, "");
    }

    #[test]
    fn the_next_command_begins_at_its_first_line() {
        let mut teller = Told::default().teller(subject(1, Stage::Over, &[]));
        teller.take(Part::Lines(Line { number: 1, text: "a", is_finished: true }, 1));
        let (_, told) = teller.finish(0);
        assert!(told.is_over(1) && !told.is_over(2));
        assert_eq!((told.place(1).line, told.place(2)), (2, Place::START));
        let (news, _) = tell(&told, 2, &["b"], 1);
        assert_eq!((news.shaped.first_line, news.total), (1, Place { line: 2, bytes: 2 }));
    }

    #[test]
    fn a_gap_counts_and_what_was_told_before_it_does_not_count_again() {
        let (_, told) = tell(&Told::default(), 1, &["a", "b", "c"], 1);
        let mut teller = told.teller(subject(1, Stage::Running, &[]));
        let line = |number, text, is_finished| Line { number, text, is_finished };
        // Two are as they were told; the run goes on beyond them.
        teller.take(Part::Lines(line(2, "b", true), 1));
        teller.take(Part::Lines(line(3, "c", true), 3));
        teller.take(Part::Gap { lines: 10, bytes: 100 });
        teller.take(Part::Lines(line(16, "z", false), 1));
        let (news, told) = teller.finish(0);
        assert_eq!(news.shaped.text, "c\nc\n[… lines 6–15 omitted (100 bytes)]\nz");
        assert_eq!((news.shaped.first_line, news.total), (4, Place { line: 17, bytes: 112 }));
        assert_eq!((told.place(1), told.open(1)), (Place { line: 16, bytes: 110 }, &["z".to_owned()][..]));
    }
}
