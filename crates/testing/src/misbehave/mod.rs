//! The behaviours, one per file, named for what they do.

mod closes_its_output;
mod comet;
mod counts_input;
mod creates_terminal;
mod dies_by;
mod double_forks;
mod echoes_lines;
mod embeds_terminal;
mod exits_with;
mod floods;
mod forks_tree;
mod guards_program;
mod holds_output;
mod ignores_term;
mod leaves_its_first_thread;
mod lists_descriptors;
mod prints_numbered_lines;
mod reads_terminal;
mod releases_terminal;
mod starts_threads;
mod stays;
mod stops_itself;
mod takes_statuses;
mod tries_to_connect;
mod uses_resources;
mod waits_for_terminal;
mod writes_every_byte;
mod writes_in_pieces;

use std::io::Write;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// No behaviour lasts longer.
const LONGEST: Duration = Duration::from_secs(100);

pub(crate) fn run(name: &str, args: &[String]) -> ExitCode {
    match name {
        "closes-its-output" => closes_its_output::run(args),
        "comet" => comet::run(args),
        "counts-input" => counts_input::run(),
        "creates-terminal" => creates_terminal::run(args),
        "dies-by" => dies_by::run(args),
        "double-forks" => double_forks::run(args),
        "double-forks-middle" => double_forks::middle(),
        "double-forks-daemon" => double_forks::daemon(),
        "echoes-lines" => echoes_lines::run(),
        "embeds-terminal" => embeds_terminal::run(args),
        "exits-with" => exits_with::run(args),
        "floods" => floods::run(),
        "forks-tree" => forks_tree::run(args),
        "guards-program" => guards_program::run(args),
        "holds-output" => holds_output::run(args),
        "ignores-term" => ignores_term::run(),
        "leaves-its-first-thread" => leaves_its_first_thread::run(),
        "leaves-its-first-thread-child" => leaves_its_first_thread::child(),
        "lists-descriptors" => lists_descriptors::run(),
        "prints-numbered-lines" => prints_numbered_lines::run(args),
        "reads-terminal" => reads_terminal::run(args),
        "releases-terminal" => releases_terminal::run(args),
        "starts-threads" => starts_threads::run(args),
        "stays" => stays::run(args),
        "stops-itself" => stops_itself::run(),
        "takes-statuses" => takes_statuses::run(args),
        "tries-to-connect" => tries_to_connect::run(args),
        "uses-resources" => uses_resources::run(args),
        "waits-for-terminal" => waits_for_terminal::run(args),
        "writes-every-byte" => writes_every_byte::run(),
        "writes-in-pieces" => writes_in_pieces::run(args),
        name => unknown(name),
    }
}

pub(crate) fn unknown(name: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "wharf-misbehave: no behaviour named {name:?}");
    ExitCode::from(2)
}

/// Prints a line at once.
fn say(line: &str) {
    let mut out = std::io::stdout();
    let _ = out.write_all(format!("{line}\n").as_bytes());
    let _ = out.flush();
}

/// Does nothing for as long as any behaviour may last.
fn stay() {
    wait(LONGEST);
}

fn wait(time: Duration) {
    let until = Instant::now() + time;
    while let Some(left) = until.checked_duration_since(Instant::now()) {
        std::thread::park_timeout(left);
    }
}

/// This program again, with another behaviour.
fn again(args: &[&str]) -> Command {
    let mut command = command(std::env::current_exe().unwrap().to_str().unwrap());
    command.args(args);
    command
}

fn command(program: &str) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "starting processes in odd ways is what this program is for"
    )]
    Command::new(program)
}

/// This program again with TERM and HUP ignored, which is inherited through exec.
fn deaf(args: &[&str]) -> Command {
    let mut shell = command("/bin/sh");
    let own = std::env::current_exe().unwrap();
    shell.args(["-c", r#"trap "" TERM HUP; exec "$0" "$@""#]).arg(own).args(args);
    shell
}

/// Standard input, output and error lead nowhere from now on.
fn close_standard() {
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC;
    let null = rustix::fs::open(c"/dev/null", flags, rustix::fs::Mode::empty()).unwrap();
    rustix::stdio::dup2_stdin(&null).unwrap();
    rustix::stdio::dup2_stdout(&null).unwrap();
    rustix::stdio::dup2_stderr(&null).unwrap();
}

fn number<T: std::str::FromStr>(args: &[String], at: usize) -> T {
    args.get(at).and_then(|text| text.parse().ok()).expect("a number is missing")
}
