//! Processor time of processes that are gone, and that nobody has waited for.
//!
//! When a parent waits for a child, the kernel adds what the child has used to the parent's account. A parent that ignores
//! SIGCHLD never waits, and then it is in no account. So what each process had used is remembered from one look to the next;
//! of one that is gone, it is counted here if its parent's account has not grown by it. That is seen by the faults, of
//! which every process has some, and not by the time, of which a short one has less than a tick.
//!
//! What comes and goes between two looks is never seen. But whoever is found running, and was not there before, stands for
//! the time since the look before: of ten that run for a tenth of that time each, one is found. So the count is right on
//! average, and an estimate.

use super::time;
use crate::tree::Identity;
use crate::tree::proc::{self, Process};
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

/// The most that one who was found running stands for, and the part of the limit: one chance alone ends nobody.
const MOST: Duration = Duration::from_millis(100);
const PART: u32 = 10;

/// Who waits for those whose parent is not in the tree.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reaper {
    /// This process, which keeps its own account of them.
    This,
    /// Some other process, whose account says nothing.
    Stranger,
}

/// Those who were there at the last look, and what is counted of those before.
#[derive(Debug)]
pub(super) struct Unwaited {
    seen: BTreeMap<Identity, Seen>,
    at: Instant,
    lost: Duration,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    parent: i32,
    spent: u64,
    faults: u64,
    waited_faults: u64,
    /// What is lost if nobody waits for it.
    stands_for: Duration,
}

/// Children of one parent that are gone.
#[derive(Debug, Default)]
struct Gone {
    faults: u64,
    stand_for: Duration,
}

impl Unwaited {
    /// Of a tree that begins now.
    pub(super) fn new() -> Self {
        Self { seen: BTreeMap::new(), at: Instant::now(), lost: Duration::ZERO }
    }

    /// Whether anybody was gone without having been waited for.
    pub(super) fn has_lost(&self) -> bool {
        !self.lost.is_zero()
    }

    /// The time of all that are gone and in nobody's account. Adds to the list whoever is there and was passed over.
    pub(super) fn count(&mut self, all: &mut Vec<Process>, reaper: Reaper, limit: Duration) -> Duration {
        let now = Instant::now();
        let since = now - std::mem::replace(&mut self.at, now);
        let sample = since.min(MOST).min(limit / PART);
        let before = std::mem::take(&mut self.seen);
        for (parent, gone) in gone(&before, all) {
            if is_lost(parent, &gone, &before, reaper) {
                self.lost += gone.stand_for;
            }
        }
        let seen = |process: &Process| Seen::new(process, before.get(&process.identity()), sample);
        self.seen = all.iter().map(|process| (process.identity(), seen(process))).collect();
        self.lost
    }
}

impl Seen {
    fn new(process: &Process, before: Option<&Self>, sample: Duration) -> Self {
        let stands_for = match before {
            Some(before) => before.stands_for + time(process.spent.saturating_sub(before.spent)),
            None if process.state == 'R' => time(process.spent).max(share(process.pid, sample)),
            None => time(process.spent),
        };
        let &Process { parent, spent, faults, waited_faults, .. } = process;
        Self { parent, spent, faults, waited_faults, stands_for }
    }
}

/// Those who were there and are not, by their parents.
fn gone(before: &BTreeMap<Identity, Seen>, all: &mut Vec<Process>) -> BTreeMap<i32, Gone> {
    let mut gone: BTreeMap<i32, Gone> = BTreeMap::new();
    let there: std::collections::BTreeSet<Identity> = all.iter().map(Process::identity).collect();
    for (identity, seen) in before.iter().filter(|(identity, _)| !there.contains(identity)) {
        // The kernel's lists of children pass over somebody now and then, if others end while they are made.
        match proc::look(identity.0).filter(|process| process.identity() == *identity) {
            Some(process) => all.push(process),
            None => {
                let gone = gone.entry(seen.parent).or_default();
                gone.faults += seen.faults;
                gone.stand_for += seen.stands_for;
            }
        }
    }
    gone
}

/// Whether children of this parent are in no account. Looked at after they are gone: by then it is in the account, if it
/// ever will be. Of a parent that is gone too nothing is known, and its own parent will have it all.
fn is_lost(parent: i32, gone: &Gone, before: &BTreeMap<Identity, Seen>, reaper: Reaper) -> bool {
    let known = before.range((parent, 0)..=(parent, u64::MAX)).next();
    match (known, reaper) {
        (Some((identity, seen)), _) => proc::look(parent)
            .filter(|process| process.identity() == *identity)
            .is_some_and(|now| now.waited_faults.saturating_sub(seen.waited_faults) < gone.faults),
        (None, Reaper::This) => false,
        (None, Reaper::Stranger) => true,
    }
}

/// How much of that time a process has had that wants to run: others want to as well.
fn share(pid: i32, of: Duration) -> Duration {
    let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    let mut numbers = text.split_ascii_whitespace().map_while(|number| number.parse::<u64>().ok());
    let (ran, waited) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    match u32::try_from(ran.saturating_mul(1000) / ran.saturating_add(waited).max(1)) {
        Ok(thousandths) if ran > 0 => of * thousandths / 1000,
        // A kernel without such statistics, or one who has only just come.
        _ => of,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::proc::NOBODY;

    const LIMIT: Duration = Duration::from_secs(10);

    fn me() -> Process {
        proc::look(std::process::id().cast_signed()).unwrap()
    }

    /// A number that no process has.
    fn child(parent: i32, ticks: u64) -> Process {
        Process { pid: i32::MAX, parent, ticks, spent: 30, faults: 10, ..NOBODY }
    }

    /// What is counted of a child that was seen and then was not.
    fn count_of(parent: &Process, child: Process, reaper: Reaper) -> Duration {
        let mut unwaited = Unwaited::new();
        let family = [parent.clone(), child];
        assert_eq!(unwaited.count(&mut family.to_vec(), reaper, LIMIT), Duration::ZERO);
        let later = Process { spent: 50, ..family[1].clone() };
        assert_eq!(unwaited.count(&mut vec![me(), later], reaper, LIMIT), Duration::ZERO);
        let counted = unwaited.count(&mut vec![me()], reaper, LIMIT);
        assert_eq!(unwaited.has_lost(), !counted.is_zero());
        assert_eq!(unwaited.count(&mut vec![me()], reaper, LIMIT), counted, "once");
        counted
    }

    #[test]
    fn who_is_gone_counts_with_what_it_had_used_unless_it_was_waited_for() {
        let me = me();
        assert_eq!(count_of(&me, child(me.pid, 1), Reaper::This), time(50));
        // As if this process had waited for somebody in the meantime.
        let mut unwaited = Unwaited::new();
        let waited_faults = me.waited_faults.wrapping_sub(10);
        unwaited.seen.insert(me.identity(), Seen { waited_faults, ..Seen::new(&me, None, MOST) });
        unwaited.seen.insert((i32::MAX, 1), Seen::new(&child(me.pid, 1), None, MOST));
        let expected = if me.waited_faults < 10 { time(30) } else { Duration::ZERO };
        assert_eq!(unwaited.count(&mut vec![me], Reaper::This, LIMIT), expected);
    }

    #[test]
    fn whose_parent_is_not_in_the_tree_is_in_the_account_of_this_process_or_in_none() {
        let outside = child(i32::MAX - 1, 1);
        assert_eq!(count_of(&me(), outside.clone(), Reaper::This), Duration::ZERO);
        assert_eq!(count_of(&me(), outside, Reaper::Stranger), time(50));
    }

    #[test]
    fn who_is_found_running_stands_for_those_who_were_not_found() {
        let mut running = child(1, 1);
        (running.state, running.spent) = ('R', 0);
        assert_eq!(Seen::new(&running, None, MOST).stands_for, MOST);
        let asleep = Process { state: 'S', ..running.clone() };
        assert_eq!(Seen::new(&asleep, None, MOST).stands_for, Duration::ZERO);
        let again = Seen::new(&running, None, MOST);
        assert_eq!(Seen::new(&running, Some(&again), MOST).stands_for, MOST, "only the first time");
    }

    #[test]
    fn who_was_only_passed_over_is_put_back_into_the_list() {
        let mut unwaited = Unwaited::new();
        unwaited.count(&mut vec![me()], Reaper::Stranger, LIMIT);
        let mut nobody = Vec::new();
        assert_eq!(unwaited.count(&mut nobody, Reaper::Stranger, LIMIT), Duration::ZERO);
        assert_eq!(nobody.len(), 1);
    }
}
