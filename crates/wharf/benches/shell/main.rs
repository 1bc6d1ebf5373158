//! What a shell that remembers costs an agent, in wharf and in the tmux-based way: `cargo xtask bench shell`.
//!
//! All contenders run all the time and take turns, each in a directory of its own with an empty home; what slows the
//! machine slows all of them. The floor is bash at the end of a pipe with a marker after each command: no terminal, no
//! waiting for input, nothing kept. Every answer is looked at. Nothing is judged here: numbers are for people.
//!
//! Arguments: how many rounds, and the names of the contenders if not all of them are to run.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

mod core;
mod floor;
mod mcp;
mod memory;
mod peer;
mod place;
mod report;
mod side;
mod venv;
mod work;

use place::Place;
use report::Figures;
use side::{Contender, Side};
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;
use work::{QUICK, Work};

/// What a benchmark comes back with: it has printed what it found, or could not be run.
type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// How often each contender has its turn.
const ROUNDS: usize = 30;
/// The first rounds fill caches and thread pools.
const WARM_UP: usize = 3;
/// The same for what takes long.
const LONG_ROUNDS: usize = 3;
/// Terminals that are weighed.
const WEIGHED: usize = 10;
/// Terminals that work at once.
const CROWD: usize = 100;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let rounds = args.iter().find_map(|arg| arg.parse().ok()).unwrap_or(ROUNDS);
    let only: Vec<&str> =
        args.iter().map(String::as_str).filter(|arg| arg.parse::<usize>().is_err()).collect();
    match run(rounds, &only) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(rounds: usize, only: &[&str]) -> Outcome {
    let mut contenders = contenders(only)?;
    for contender in &mut contenders {
        contender.side.open(&names(0..1))?;
    }
    quick(&mut contenders, rounds)?;
    // Before this process has held large outputs.
    weigh(&mut contenders)?;
    for work in [Work::Lines, Work::Megabytes] {
        long(&mut contenders, work)?;
    }
    crowd(&mut contenders)
}

/// Wharf's own come second and third: ratios are to `wharf mcp`.
fn contenders(only: &[&str]) -> Outcome<Vec<Contender>> {
    type Make = fn(&Place) -> Outcome<Box<dyn Side>>;
    let all: [(&str, &'static str, Make); 6] = [
        ("floor", "bash at the end of a pipe", floor::start),
        ("core", "wharf-core, in this process", core::start),
        ("mcp", "wharf mcp", mcp::start),
        ("openhands", "OpenHands' terminal tool", peer::open_hands),
        ("libtmux", "libtmux, looking every 0.1 s", peer::libtmux),
        ("libtmux-busy", "libtmux, looking all the time", peer::busy_libtmux),
    ];
    if let Some(unknown) = only.iter().find(|name| all.iter().all(|(known, ..)| known != *name)) {
        return Err(format!("there is no contender `{unknown}`").into());
    }
    let chosen = all.into_iter().filter(|(name, ..)| only.is_empty() || only.contains(name));
    chosen.map(|(_, name, make)| Contender::new(name, make)).collect()
}

fn names(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

fn quick(contenders: &mut [Contender], rounds: usize) -> Outcome {
    let mut figures = QUICK.map(|_| Figures::for_each(contenders));
    let count = contenders.len();
    for round in 0..WARM_UP + rounds {
        for (work, figures) in QUICK.into_iter().zip(&mut figures) {
            for place in 0..count {
                let at = (round + place) % count;
                let time = contenders[at].take(work)?;
                if round >= WARM_UP {
                    figures.add(at, time);
                }
            }
        }
    }
    for (work, figures) in QUICK.into_iter().zip(figures) {
        figures.print(&format!("{work}; {rounds} turns"), contenders, |_| String::new());
    }
    Ok(())
}

/// Large outputs: how long until the answer, and how much of it can be got.
fn long(contenders: &mut [Contender], work: Work) -> Outcome {
    let mut figures = Figures::for_each(contenders);
    let mut got = vec![0; contenders.len()];
    for _ in 0..LONG_ROUNDS {
        for (at, contender) in contenders.iter_mut().enumerate() {
            figures.add(at, contender.take(work)?);
            let rest = contender.side.rest("0")?;
            got[at] = work.count_lines(&rest);
        }
    }
    let all = work.lines();
    figures.print(&format!("{work}; {LONG_ROUNDS} turns"), contenders, |at| {
        format!("   {} of {all} lines can be got", got[at])
    });
    Ok(())
}

fn weigh(contenders: &mut [Contender]) -> Outcome {
    println!("\nmemory (PSS) of one more terminal with its shell; the mean of {WEIGHED}");
    for contender in contenders {
        let before = contender.memory();
        contender.side.open(&names(1..1 + WEIGHED))?;
        let each = contender.memory().saturating_sub(before) / WEIGHED as u64;
        println!("  {:<34} {each:>7} KB", contender.name);
    }
    Ok(())
}

fn crowd(contenders: &mut [Contender]) -> Outcome {
    println!("\n`echo here` in {CROWD} terminals at once; the best of {LONG_ROUNDS}");
    for contender in contenders {
        let begin = Instant::now();
        contender.side.open(&names(1 + WEIGHED..CROWD))?;
        let opened = begin.elapsed() / u32::try_from(CROWD - 1 - WEIGHED)?;
        let mut best = None;
        let mut wrong = 0;
        for _ in 0..LONG_ROUNDS {
            let begin = Instant::now();
            let answers = contender.side.run(&names(0..CROWD), "echo here")?;
            let time = begin.elapsed();
            best = Some(best.map_or(time, |best| time.min(best)));
            wrong += answers.iter().filter(|answer| !answer.output.starts_with("here")).count();
        }
        let best = report::ms(best.unwrap_or_default());
        println!(
            "  {:<34} {best:>13}   opened in {} each   {wrong} wrong",
            contender.name,
            report::ms(opened)
        );
    }
    Ok(())
}
