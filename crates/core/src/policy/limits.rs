//! How much one terminal may use. What a request asks for can only be less.

use crate::spec::Spec;
use std::collections::BTreeMap;
use std::time::Duration;

/// Limits for one terminal, and for how many there are. What is `None` has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// From its start.
    pub time: Option<Duration>,
    /// Without output and without input.
    pub idle: Option<Duration>,
    /// Bytes printed.
    pub output: Option<u64>,
    /// Processes at the same time.
    pub processes: Option<u32>,
    /// Bytes of memory, of all its processes together.
    pub memory: Option<u64>,
    /// Processor time, of all its processes together.
    pub cpu: Option<Duration>,
    /// Bytes of any one file it writes.
    pub file_size: Option<u64>,
    /// Open files of any one process.
    pub open_files: Option<u64>,
    /// Terminals at the same time.
    pub terminals: Option<usize>,
}

/// The lesser of two, where there are two.
fn lesser<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

impl Limits {
    /// Whatever is less, of each.
    #[must_use]
    pub fn lowered_by(self, other: Self) -> Self {
        Self {
            time: lesser(self.time, other.time),
            idle: lesser(self.idle, other.idle),
            output: lesser(self.output, other.output),
            processes: lesser(self.processes, other.processes),
            memory: lesser(self.memory, other.memory),
            cpu: lesser(self.cpu, other.cpu),
            file_size: lesser(self.file_size, other.file_size),
            open_files: lesser(self.open_files, other.open_files),
            terminals: lesser(self.terminals, other.terminals),
        }
    }

    /// Each that is set, by name and in words.
    #[must_use]
    pub fn named(&self) -> BTreeMap<String, String> {
        let time = |name: &str, time: Option<Duration>| Some((name.to_owned(), format!("{:?}", time?)));
        let count = |name: &str, count: Option<u64>| Some((name.to_owned(), count?.to_string()));
        [
            time("time", self.time),
            time("idle", self.idle),
            count("output", self.output),
            count("processes", self.processes.map(u64::from)),
            count("memory", self.memory),
            time("cpu", self.cpu),
            count("file_size", self.file_size),
            count("open_files", self.open_files),
            count("terminals", self.terminals.map(|count| count as u64)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// A request under these limits.
    pub(super) fn bind(&self, spec: &mut Spec) {
        spec.time_limit = lesser(spec.time_limit, self.time);
        spec.idle_limit = lesser(spec.idle_limit, self.idle);
        spec.output_limit = lesser(spec.output_limit, self.output);
        let resources = &mut spec.resources;
        resources.processes = lesser(resources.processes, self.processes);
        resources.memory = lesser(resources.memory, self.memory);
        resources.cpu = lesser(resources.cpu, self.cpu);
        resources.file_size = lesser(resources.file_size, self.file_size);
        resources.open_files = lesser(resources.open_files, self.open_files);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_can_lower_a_limit_and_never_raise_it() {
        let policy = Limits { time: Some(Duration::from_secs(60)), output: Some(100), ..Limits::default() };
        let none: [&str; 0] = [];
        let bound = |spec: Spec| {
            let mut spec = spec;
            policy.bind(&mut spec);
            (spec.time_limit.map(|time| time.as_secs()), spec.output_limit)
        };
        assert_eq!(bound(Spec::argv("x", none)), (Some(60), Some(100)));
        assert_eq!(
            bound(Spec::argv("x", none).time_limit(Duration::from_secs(5)).output_limit(7)),
            (Some(5), Some(7))
        );
        let more = Spec::argv("x", none).time_limit(Duration::from_secs(500)).output_limit(u64::MAX);
        assert_eq!(bound(more), (Some(60), Some(100)));
    }
}
