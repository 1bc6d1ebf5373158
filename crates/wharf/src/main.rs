//! `wharf`, the program: reads what was asked, does it, says how it went.

#![forbid(unsafe_code)]

mod amount;
mod asked;
mod cli;
mod detach_key;
mod emulation;
mod exit_code;
mod hang_up;
mod harmless;
mod interact;
mod json;
mod keyboard;
mod law;
mod life;
mod live;
mod modes;
mod output;
mod owed;
mod place;
mod quiet;
mod raw_mode;
mod report;
mod request;
mod sequence;
mod show;
mod stall;
mod surface;
mod unmarked;
mod utc;
mod verb;
mod which;

use clap::Parser;
use cli::{Cli, Verb};
use place::Place;
use report::Failure;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;
use tokio::runtime::Builder;
use wharf_core::policy::temporary;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(rest) = as_shim(&arguments) {
        let rest: Vec<&OsStr> = rest.iter().map(OsString::as_os_str).collect();
        return wharf_shim::main(&rest).into();
    }
    wharf_shim::signal::ignore_file_size();
    let cli = Cli::parse_from(arguments);
    let json = cli.wants_json();
    let code = match start(cli) {
        Ok(code) => code,
        Err(failure) => report::failed(&failure, json),
    };
    ExitCode::from(code)
}

/// The arguments for the shim, if that is what this was started as. It need not be installed: this program serves as
/// one when it is called by that name.
fn as_shim(arguments: &[OsString]) -> Option<&[OsString]> {
    let (name, rest) = arguments.split_first()?;
    if Path::new(name).file_name() == Some(OsStr::new("wharf-shim")) {
        return Some(rest);
    }
    rest.split_first().filter(|(first, _)| *first == "__shim").map(|(_, rest)| rest)
}

fn start(cli: Cli) -> Result<exit_code::Code, Failure> {
    let runtime = match cli.verb {
        // Rendering a flood in one terminal must not hold up the others.
        Verb::Mcp(_) => Builder::new_multi_thread().worker_threads(2).enable_all().build()?,
        _ => Builder::new_current_thread().enable_all().build()?,
    };
    let done = runtime.block_on(act(cli.verb));
    // Somebody may still be stuck writing to a pipe that nobody reads; that must not keep us.
    runtime.shutdown_background();
    done
}

async fn act(verb: Verb) -> Result<exit_code::Code, Failure> {
    match verb {
        Verb::Run(args) => verb::run::run(args, &Place::here()?).await,
        Verb::Ls(args) => verb::ls::run(&args, &Place::here()?).await,
        Verb::Logs(args) => verb::logs::run(&args, &Place::here()?).await,
        Verb::Wait(args) => verb::wait::run(&args, &Place::here()?).await,
        Verb::Kill(args) => verb::kill::run(&args, &Place::here()?).await,
        Verb::Send(args) => verb::send::run(&args, &Place::here()?).await,
        Verb::Attach(args) => verb::attach::run(&args, &Place::here()?).await,
        Verb::Sh(args) => verb::sh::run(&args, &Place::here()?).await,
        Verb::Rm(args) => verb::rm::run(&args, &Place::here()?).await,
        Verb::Demo(_) => verb::demo::run().await,
        Verb::DemoAgent => verb::demo::agent::run().await,
        Verb::Policy(args) => verb::policy::run(&args, &Place::here()?),
        Verb::Acp(args) => verb::acp::run(&args, &Place::here()?).await,
        Verb::Mcp(args) => verb::mcp::run(&args, &Place::here()?).await,
        Verb::Doctor(args) => verb::doctor::run(&args, &Place::here()?),
        Verb::Completions(args) => verb::completions::run(&args),
    }
}
