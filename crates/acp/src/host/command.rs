//! From a request to a spec: what `command` and `args` mean, where it starts, with which environment.

use super::{Settings, environment, refusal};
use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::CreateTerminalRequest;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use wharf_core::Spec;

/// Where bash is, on systems that have it.
const SHELLS: [&str; 3] = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

pub(super) fn spec(
    settings: &Settings,
    request: &CreateTerminalRequest,
    session_cwd: PathBuf,
) -> Result<Spec, Error> {
    if request.command.trim().is_empty() {
        return Err(refusal::invalid("the command is empty"));
    }
    let cwd = request.cwd.clone().unwrap_or(session_cwd);
    let spec = if !request.args.is_empty() {
        Spec::argv(&request.command, &request.args)
    } else if names_a_program(&request.command, &cwd) {
        if is_bare_script(&cwd.join(&request.command)) {
            Spec::argv(shell(settings), [&request.command])
        } else {
            Spec::argv(&request.command, [""; 0])
        }
    } else {
        Spec::shell_line(shell(settings), &request.command)
    };
    Ok(spec
        .cwd(cwd)
        .inherit(settings.environment.iter().cloned())
        .preset(environment::DEFAULTS)
        .envs(request.env.iter().map(|variable| (&variable.name, &variable.value)))
        .grace(settings.grace)
        .origin(settings.agent.clone())
        .session(request.session_id.to_string()))
}

/// Agents send whole lines as the command. A path is the exception: it may hold spaces, and is meant as it is.
fn names_a_program(command: &str, cwd: &Path) -> bool {
    let is_program = |path: &Path| {
        std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    command.contains('/') && is_program(&cwd.join(command))
}

/// Text that does not say what reads it: the kernel refuses it, and every shell reads it itself.
fn is_bare_script(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(128).read_to_end(&mut start));
    read.is_ok() && !start.starts_with(b"#!") && !start.contains(&0)
}

/// Bash if there is one, because that is what lines are written for; else what every system has.
fn shell(settings: &Settings) -> PathBuf {
    let found = || SHELLS.iter().map(PathBuf::from).find(|path| path.is_file());
    settings.shell.clone().or_else(found).unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

/// What was asked for: words, or a line alone.
pub(super) fn words(request: &CreateTerminalRequest) -> Vec<String> {
    std::iter::once(&request.command).chain(&request.args).cloned().collect()
}
