//! Background jobs, from the kernel: the groups among a shell's children that do not have the terminal.

use super::Job;
use std::collections::BTreeMap;
use std::fs;
use wharf_shim::tree::proc::{self, Process};

/// More children than this are not looked at.
const ENOUGH: usize = 4096;
/// Of a command line, this much is told.
const LONGEST: usize = 200;

/// Ticks after which a copy of the shell is a part of it that goes on, and not one about to execute its program.
const SETTLED: u64 = 10;

/// The jobs of the shell with that process, besides the group in the foreground.
pub(super) fn background(shell: i32) -> Vec<Job> {
    let family = proc::below(shell, ENOUGH).unwrap_or_default();
    // As after most commands.
    if family.is_empty() {
        return Vec::new();
    }
    let Some(own) = proc::look(shell) else { return Vec::new() };
    let foreground = foreground(shell);
    let mut leaders: BTreeMap<i32, &Process> = BTreeMap::new();
    for process in &family {
        let elsewhere = process.group != own.group && Some(process.group) != foreground;
        if process.parent == shell && elsewhere && !process.is_zombie() {
            leaders.entry(process.group).or_insert(process);
        }
    }
    let itself = job(&own).command;
    let has_children = |pid: i32| family.iter().any(|process| process.parent == pid);
    let up = up();
    let mut jobs: Vec<Job> = leaders
        .into_values()
        .map(|process| {
            let mut job = job(process);
            let age = up.saturating_sub(process.ticks);
            job.is_settling = job.command == itself && age < SETTLED;
            job
        })
        .collect();
    // zsh sets a copy of itself aside for what comes after a command that was stopped, which only waits.
    if itself.contains("zsh") && jobs.iter().any(|job| job.state == "stopped" && job.command != itself) {
        jobs.retain(|job| job.command != itself || has_children(job.pid));
    }
    jobs
}

/// Whether a process lives and is the shell's child.
pub(super) fn is_below(shell: i32, pid: i32) -> bool {
    proc::look(pid).is_some_and(|process| process.parent == shell && !process.is_zombie())
}

fn job(process: &Process) -> Job {
    let command = fs::read(format!("/proc/{}/cmdline", process.pid)).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).trim_end_matches('\0').replace('\0', " ");
    let command = command.chars().take(LONGEST).collect();
    let state = if matches!(process.state, 'T' | 't') { "stopped" } else { "running" };
    Job { pid: process.pid, command, state, is_settling: false }
}

/// Ticks since the machine was started, a hundred in a second, as processes have their beginnings in.
fn up() -> u64 {
    let text = fs::read_to_string("/proc/uptime").unwrap_or_default();
    let digits: String = text.chars().take_while(|c| *c != ' ').filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// The group that has the terminal of a process.
fn foreground(shell: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{shell}/stat")).ok()?;
    // After the name: state, parent, group, session, terminal, foreground group.
    let group: i32 = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(5)?.parse().ok()?;
    (group > 0).then_some(group)
}
