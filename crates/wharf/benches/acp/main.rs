//! What an agent's terminals cost over the protocol, through `wharf acp` and in a client of the usual kind:
//! `cargo xtask bench acp`.
//!
//! The same agent, this program itself, talks to every host over its standard streams and measures by its own clock, so
//! that only the host differs. All hosts run all the time and take turns of a few cycles; what slows the machine slows all
//! of them. A cycle is create → wait → output → release, and every output is compared byte for byte. Nothing is judged
//! here: numbers are for people.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

mod agent;
mod cycle;
mod floor;
mod side;
mod wire;
mod work;

use floor::Floor;
use side::Side;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;
use work::{TURNS, Tally, Turn};

/// What a benchmark comes back with: it has printed what it found, or could not be run.
type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// How often each host has its turn.
const ROUNDS: usize = 25;
/// The first rounds fill caches and thread pools, and let the compiler of a script's engine do its work.
const WARM_UP: usize = 6;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        [agent::WORD, socket] => agent::run(socket),
        [] => run(ROUNDS),
        [rounds] => rounds.parse().map_err(Into::into).and_then(run),
        other => Err(format!("what is `{}`?", other.join(" ")).into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// One who does the work, and what came of all its turns of each kind.
struct Contender {
    name: &'static str,
    does: Does,
    tallies: [Vec<Tally>; TURNS.len()],
}

enum Does {
    /// Spawns and reads, without any protocol: what no host can undercut.
    Floor(Floor),
    Host(Side),
}

impl Contender {
    fn new(name: &'static str, does: Does) -> Self {
        Self { name, does, tallies: Default::default() }
    }

    fn take(&mut self, turn: Turn) -> Outcome<Tally> {
        match &mut self.does {
            Does::Floor(floor) => floor.take(turn),
            Does::Host(side) => side.take(turn),
        }
    }
}

fn run(rounds: usize) -> Outcome {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let mut contenders = [
        Contender::new("spawned by the agent itself", Does::Floor(Floor)),
        Contender::new("wharf acp --sandbox open", Does::Host(Side::wharf(dir.path(), "open")?)),
        Contender::new("wharf acp, in its sandbox", Does::Host(Side::wharf(dir.path(), "workspace")?)),
        Contender::new("child_process, as usual", Does::Host(Side::peer(dir.path(), &["--usual"])?)),
        Contender::new("child_process, waiting for output", Does::Host(Side::peer(dir.path(), &[])?)),
    ];
    let count = contenders.len();
    for round in 0..WARM_UP + rounds {
        for (kind, turn) in TURNS.into_iter().enumerate() {
            for place in 0..count {
                let contender = &mut contenders[(round + place) % count];
                let tally = contender.take(turn)?;
                if round >= WARM_UP {
                    contender.tallies[kind].push(tally);
                }
            }
        }
    }
    for (kind, turn) in TURNS.iter().enumerate() {
        print(&contenders, kind, *turn, rounds);
    }
    Ok(())
}

fn print(contenders: &[Contender], kind: usize, turn: Turn, rounds: usize) {
    println!("\n{turn}; {rounds} turns of {}", turn.count);
    let median = |contender: &Contender| work::median(&contender.tallies[kind]);
    let ours = contenders.get(1).map(median).unwrap_or_default();
    for contender in contenders {
        let (time, wrong) =
            (median(contender), contender.tallies[kind].iter().map(|t| t.wrong).sum::<usize>());
        let rate = 1.0 / time.as_secs_f64();
        print!("  {:<34} {:>9} a cycle   {rate:>6.0} a second", contender.name, ms(time));
        println!("   {:>5.2}× wharf's time   {wrong} incomplete", time.as_secs_f64() / ours.as_secs_f64());
    }
}

/// In milliseconds with three decimals.
fn ms(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}
