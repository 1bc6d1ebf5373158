//! From the arguments of `wharf run` to a spec.

use crate::cli::Run;
use crate::interact;
use crate::place::Place;
use crate::report::Failure;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use wharf_core::shell::PRESETS;
use wharf_core::{OnOwnerExit, Spec};

/// What was asked for.
pub(crate) fn spec(args: &Run, place: &Place) -> Result<Spec, Failure> {
    let (inherited, named) = (inherited(args, place), named(args, place)?);
    let all: Vec<_> = named.iter().chain(&inherited).cloned().collect();
    let mut spec = command(args, &all)?.inherit(inherited).envs(named);
    spec =
        spec.cwd(place.directory(args.cwd.as_deref())?).keep(args.keep).grace(args.grace).origin("wharf run");
    if args.pty {
        // A terminal has a type. Where ours says none, nobody sits at one; the command's is what an agent's would be.
        if !args.clear_env && all.iter().all(|(name, value)| name != "TERM" || value.is_empty()) {
            spec = spec.preset(PRESETS.into_iter().filter(|(name, _)| *name == "TERM"));
        }
        spec = spec.pty(args.size.or_else(interact::window).unwrap_or_default());
    } else if args.stdin {
        spec = spec.with_input();
    }
    if let Some(limit) = args.timeout {
        spec = spec.time_limit(limit);
    }
    if let Some(limit) = args.idle_timeout {
        spec = spec.idle_limit(limit);
    }
    if let Some(limit) = args.max_output {
        spec = spec.output_limit(limit);
    }
    spec = limited(spec, args);
    // Somebody reads what it prints, through us: as with any pipe, nothing is lost if that takes time.
    if !args.detach && !args.json && !args.pty {
        spec = spec.wait_for_owner();
    }
    Ok(spec.on_owner_exit(if args.detach { OnOwnerExit::Keep } else { OnOwnerExit::Kill }))
}

/// What it may use of the machine.
fn limited(mut spec: Spec, args: &Run) -> Spec {
    if let Some(limit) = args.max_processes {
        spec = spec.process_limit(limit);
    }
    if let Some(limit) = args.max_memory {
        spec = spec.memory_limit(limit);
    }
    if let Some(limit) = args.max_cpu {
        spec = spec.cpu_limit(limit);
    }
    if let Some(limit) = args.max_file_size {
        spec = spec.file_size_limit(limit);
    }
    if let Some(limit) = args.max_open_files {
        spec = spec.open_files_limit(limit);
    }
    spec
}

fn command(args: &Run, environment: &[(OsString, OsString)]) -> Result<Spec, Failure> {
    if let Some(line) = &args.shell {
        return Ok(Spec::shell_line(shell(environment), line));
    }
    let (program, rest) = args.command.split_first().ok_or_else(|| Failure::usage("there is no command"))?;
    Ok(Spec::argv(program, rest))
}

/// Bash if there is one, because that is what lines are written for; else what every system has.
pub(crate) fn shell(environment: &[(OsString, OsString)]) -> &'static str {
    let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
    let path = path.unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
    if std::env::split_paths(path).any(|dir| dir.join("bash").is_file()) { "bash" } else { "sh" }
}

/// Ours, unless it is not wanted.
fn inherited(args: &Run, place: &Place) -> Vec<(OsString, OsString)> {
    if args.clear_env { Vec::new() } else { place.environment() }
}

/// What was asked for by name.
fn named(args: &Run, place: &Place) -> Result<Vec<(OsString, OsString)>, Failure> {
    let mut pairs = Vec::new();
    for asked in &args.env {
        let bytes = asked.as_bytes();
        let (name, value) = match bytes.iter().position(|b| *b == b'=') {
            Some(at) => {
                (OsStr::from_bytes(&bytes[..at]), Some(OsStr::from_bytes(&bytes[at + 1..]).to_owned()))
            }
            None => (asked.as_os_str(), place.variable(asked)),
        };
        let value = value.ok_or_else(|| {
            Failure::usage(format!("the variable {name:?} is not set here"))
                .hint("--env NAME=VALUE gives it a value")
        })?;
        pairs.push((name.to_owned(), value));
    }
    Ok(pairs)
}
