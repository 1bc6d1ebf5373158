//! What may be said to the verbs that serve agents: `acp` and `mcp`.

use super::Choice;
use crate::verb::mcp_config::Client;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

const AFTER_ACP: &str = "\
Examples:
  wharf acp -- my-agent --acp                     where an editor's settings name the agent
  wharf acp --log ~/agent.log -- npx some-agent   with an account of what it ran
  wharf acp --record casts -- my-agent            and a film of each command: asciinema play casts/*.cast

Put it in front of the agent in your editor's settings. The agent then has terminals whether your editor does or \
not: real ones that keep every byte, end with everything they started, and are shown in the editor as they run. \
All other messages pass unchanged. While it runs, `wharf ls` and `wharf logs` show what the agent does.
It ends when the editor or the agent does, and takes the agent and all its terminals with it; the exit code is the agent's.";

/// Run an agent (ACP) for an editor, and host its terminals
#[derive(Debug, Args)]
#[command(after_help = AFTER_ACP, override_usage = "wharf acp [OPTIONS] [--] AGENT [ARGUMENT]...\n       wharf acp [OPTIONS] --conductor")]
pub(crate) struct Acp {
    /// Host terminals always, or only if the editor has none of its own
    #[arg(long, value_name = "WHEN", default_value = "always")]
    pub(crate) terminals: When,
    /// Append a record of everything that was run to this file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Record every terminal into this directory, as asciinema casts
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// Be a component of a conductor's chain, which starts the agent itself
    #[arg(long, conflicts_with = "agent")]
    pub(crate) conductor: bool,
    /// The agent and its arguments; no shell reads them
    #[arg(value_name = "AGENT", trailing_var_arg = true, required_unless_present = "conductor")]
    pub(crate) agent: Vec<OsString>,
}

/// Whose terminals the agent gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Always,
    Missing,
}

impl From<When> for wharf_acp::Hosting {
    fn from(when: When) -> Self {
        match when {
            When::Always => Self::Always,
            When::Missing => Self::Missing,
        }
    }
}

const AFTER_MCP: &str = "\
Examples:
  wharf mcp                            where a client's settings name its MCP servers
  wharf mcp --sandbox open             with every right that you have
  wharf mcp --as review                terminals shared by all who say the same name here

The client's model gets terminals that remember: directory, variables, jobs and everything that was printed. \
They outlive the client and this program; whoever comes back to the same project with the same client finds its own. \
While they are there, `wharf ls` and `wharf logs` show them.";

/// Give a model (MCP) shells that remember, over standard input and output
#[derive(Debug, Args)]
#[command(after_help = AFTER_MCP)]
pub(crate) struct Mcp {
    /// Share the terminals of all who say this name in this project, instead of having some for this client alone
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// The shell, if not yours: bash, zsh or a POSIX sh
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) shell: Option<PathBuf>,
    /// The project, if not the current directory
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// For programs: answers as structured content besides the text, with output schemas
    #[arg(long)]
    pub(crate) structured: bool,
    /// Print what to paste into a client's settings, and do nothing else
    #[arg(long, value_name = "CLIENT")]
    pub(crate) print_config: Option<Client>,
}
