//! `wharf completions`.

use crate::cli::{Cli, Completions};
use crate::exit_code::{self, Code};
use crate::report::Failure;
use clap::CommandFactory;
use std::io::Write;

pub(crate) fn run(args: &Completions) -> Result<Code, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "wharf", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(exit_code::DONE)
}
