//! The command line: what may be said, and the help for it.

mod agent;

pub(crate) use agent::{Acp, Mcp};

use crate::amount;
use crate::detach_key::DetachKey;
use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use wharf_core::Size;

const AFTER: &str = "\
Examples:
  wharf demo                           see it work, without an agent of your own
  wharf run -- cargo test              run it here, exit with its status
  wharf run -d -- ./server             leave it running, print its id
  wharf ls                             what runs and what ran
  wharf logs -f 4k2p                   its output; any unique beginning of an id will do
  wharf sh                             a shell that stays; an agent's, if it has one here
  wharf acp -- my-agent                give an agent terminals, in front of it in an editor's settings
  wharf mcp                            give a model shells, as an MCP server in a client's settings

Exit codes:
  the command's own, or 128+N if signal N ended it; 124 if a time limit did
  125 wharf itself failed, 126 the command cannot be executed, 127 it was not found
  1 the terminal refused, 2 wrong usage, 3 no such terminal

Environment:
  WHARF_STATE_DIR   where everything is kept, instead of the XDG directories
  WHARF_KEEP_FOR    how long ended terminals stay (default 7d)
  WHARF_KEEP_TOTAL  how much disk space they may use together (default 1G)";

/// Runs commands, keeps every byte they print, knows exactly how they ended, and leaves nothing behind
#[derive(Debug, Parser)]
#[command(name = "wharf", version, after_help = AFTER, max_term_width = 100)]
#[command(disable_help_subcommand = true, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Run(Run),
    Ls(Ls),
    Logs(Logs),
    Wait(Wait),
    Kill(Kill),
    Send(Send),
    Attach(Attach),
    Sh(Sh),
    Rm(Rm),
    Acp(Acp),
    Mcp(Mcp),
    Policy(Policy),
    Demo(Demo),
    /// The agent of `wharf demo`
    #[command(name = "__demo-agent", hide = true)]
    DemoAgent,
    Doctor(Doctor),
    Completions(Completions),
}

const AFTER_RUN: &str = "\
Examples:
  wharf run --timeout 10m -- make -j8
  wharf run -c 'grep -r TODO src | wc -l'
  wharf run --pty -- bash                       a shell, as you know it
  wharf run --json -- cargo test                one record when it is over

A command whose output is read more slowly than it prints waits, as it would at the end of a pipe.
Standard output and standard error come as one stream, in order.
What the command leaves running is ended with it, unless you say --detach.
Ctrl-C is passed on to the command; a second one ends everything at once; a third just leaves.
Durations: 500ms, 30s, 5m, 2h, or seconds. Sizes: 64K, 10M, 1G, or bytes.";

/// Run a command and show its output; exits with its status
#[derive(Debug, Args)]
#[command(after_help = AFTER_RUN, override_usage = "wharf run [OPTIONS] [--] COMMAND [ARGUMENT]...\n       wharf run [OPTIONS] -c LINE")]
pub(crate) struct Run {
    /// Run it on a terminal of its own instead of a pipe; interactive if you are on one
    #[arg(long)]
    pub(crate) pty: bool,
    /// Size of that terminal, if not that of yours
    #[arg(long, value_name = "COLSxROWS", requires = "pty", value_parser = amount::screen)]
    pub(crate) size: Option<Size>,
    /// End it after this time (exit code 124)
    #[arg(long, value_name = "DURATION", value_parser = amount::duration)]
    pub(crate) timeout: Option<Duration>,
    /// End it after this time without output and input (exit code 124)
    #[arg(long, value_name = "DURATION", value_parser = amount::duration)]
    pub(crate) idle_timeout: Option<Duration>,
    /// How long it may take to end when asked, before it is killed
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = amount::duration)]
    pub(crate) grace: Duration,
    /// Start it in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Set a variable; with a name alone, pass on yours
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) env: Vec<OsString>,
    /// Pass on no variables but those named with --env
    #[arg(long)]
    pub(crate) clear_env: bool,
    /// Bytes of output to keep; the oldest are dropped beyond it
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = amount::size)]
    pub(crate) keep: u64,
    /// End it when it has printed more than this; what it prints until it is gone is kept too
    #[arg(long, value_name = "SIZE", value_parser = amount::size)]
    pub(crate) max_output: Option<u64>,
    /// End it when it has more processes than this at the same time; threads count
    #[arg(long, value_name = "NUMBER")]
    pub(crate) max_processes: Option<u32>,
    /// End it when its processes together use more memory than this
    #[arg(long, value_name = "SIZE", value_parser = amount::size)]
    pub(crate) max_memory: Option<u64>,
    /// End it when its processes together have used this much processor time
    #[arg(long, value_name = "DURATION", value_parser = amount::duration)]
    pub(crate) max_cpu: Option<Duration>,
    /// Let no file grow beyond this; a process that tries is ended with SIGXFSZ
    #[arg(long, value_name = "SIZE", value_parser = amount::size)]
    pub(crate) max_file_size: Option<u64>,
    /// Let no process have more descriptors open than this
    #[arg(long, value_name = "NUMBER")]
    pub(crate) max_open_files: Option<u64>,
    /// Pass on standard input; without it the command reads end of file. With --detach: leave it open for `wharf send`
    #[arg(short = 'i', long)]
    pub(crate) stdin: bool,
    /// Leave it running and print its id
    #[arg(short, long)]
    pub(crate) detach: bool,
    /// Forget it when it is over
    #[arg(long, conflicts_with = "detach")]
    pub(crate) rm: bool,
    /// Show no output; print one record when it is over
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// Run this line in a shell (bash if there is one, else sh)
    #[arg(short = 'c', long, value_name = "LINE", conflicts_with = "command")]
    pub(crate) shell: Option<OsString>,
    /// The command and its arguments; no shell reads them
    #[arg(value_name = "COMMAND", trailing_var_arg = true, required_unless_present = "shell")]
    pub(crate) command: Vec<OsString>,
}

/// What may be done, if not what is usual.
#[derive(Debug, Default, Args)]
pub(crate) struct Choice {
    /// The sandbox: open, workspace, locked, or a profile of the policy
    #[arg(long, value_name = "NAME")]
    pub(crate) sandbox: Option<String>,
    /// The policy, if not the file in wharf's configuration directory
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
}

/// List terminals: those that run, then those that ended last
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  wharf ls --json | jq -r '.[] | select(.state == \"running\") | .id'")]
pub(crate) struct Ls {
    /// All that are kept, not only the ten that ended last
    #[arg(short, long)]
    pub(crate) all: bool,
    /// Print records
    #[arg(long)]
    pub(crate) json: bool,
}

const AFTER_LOGS: &str = "\
Examples:
  wharf logs -f 4k2p
  wharf logs --tail 20 4k2p
  wharf logs --from 1048576 4k2p > rest.log

To a pipe or a file the bytes go as they are, but for the marks that wharf itself keeps in a shell's \
output: they hold its secret. On a terminal only text and colours are shown, because output may \
contain sequences that do things to it; --raw shows everything.";

/// Show what a terminal printed
#[derive(Debug, Args)]
#[command(after_help = AFTER_LOGS)]
pub(crate) struct Logs {
    /// Its id, or a unique beginning of it
    pub(crate) id: String,
    /// Go on until nothing of it is left that could print
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Begin at this byte; -N begins N bytes before the end
    #[arg(long, value_name = "OFFSET", allow_negative_numbers = true, conflicts_with = "tail")]
    pub(crate) from: Option<i64>,
    /// Begin with the last N lines
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) tail: Option<u64>,
    /// Everything as it is, also on a terminal
    #[arg(long)]
    pub(crate) raw: bool,
}

/// Wait until a command has ended; exits with its status
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  id=$(wharf run -d -- make) && wharf wait $id && echo built")]
pub(crate) struct Wait {
    /// Its id, or a unique beginning of it
    pub(crate) id: String,
    /// Print how it ended, with its output, as one record
    #[arg(long)]
    pub(crate) json: bool,
}

const AFTER_KILL: &str = "\
Examples:
  wharf kill 4k2p
  wharf kill --grace 0 4k2p
  wharf kill -s HUP 4k2p               only send a signal

Ending means all of it: SIGTERM, the grace, then SIGKILL to every process that came of the command.";

/// End a command and everything it started
#[derive(Debug, Args)]
#[command(after_help = AFTER_KILL)]
pub(crate) struct Kill {
    /// Ids, or unique beginnings of them
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// How long it may take to end when asked, if not what it was started with
    #[arg(long, value_name = "DURATION", value_parser = amount::duration)]
    pub(crate) grace: Option<Duration>,
    /// Only send this signal to what is in the foreground
    #[arg(short, long, value_name = "SIGNAL", conflicts_with = "grace", value_parser = amount::signal)]
    pub(crate) signal: Option<i32>,
    /// Print records
    #[arg(long)]
    pub(crate) json: bool,
}

const AFTER_SEND: &str = "\
Examples:
  wharf send 4k2p yes --enter
  wharf send 4k2p --stdin --eof < answers.txt";

/// Type something into a terminal
#[derive(Debug, Args)]
#[command(after_help = AFTER_SEND)]
pub(crate) struct Send {
    /// Its id, or a unique beginning of it
    pub(crate) id: String,
    /// What to type; several words are joined by spaces
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<OsString>,
    /// Then press Enter
    #[arg(long)]
    pub(crate) enter: bool,
    /// Send standard input
    #[arg(long, conflicts_with_all = ["text", "enter"])]
    pub(crate) stdin: bool,
    /// Then say that no more will come (Ctrl-D on a PTY)
    #[arg(long)]
    pub(crate) eof: bool,
}

const AFTER_ATTACH: &str = "\
Examples:
  wharf attach 4k2p
  wharf attach --detach-key ctrl-a 4k2p

You see what is on its screen and type into it. The detach key leaves it running. \
If it ends while you are there, the exit code is the command's. A command that is not on a PTY can only be watched.";

/// Take over a terminal's screen and keyboard
#[derive(Debug, Args)]
#[command(after_help = AFTER_ATTACH)]
pub(crate) struct Attach {
    /// Its id, or a unique beginning of it
    pub(crate) id: String,
    /// The key that leaves it
    #[arg(long, value_name = "KEY", default_value = "ctrl-]", value_parser = DetachKey::parse)]
    pub(crate) detach_key: DetachKey,
}

const AFTER_SH: &str = "\
Examples:
  wharf sh                        the shell `default` of this project, or a new one
  wharf sh --watch build          only look on
  wharf sh --list                 the shells of this project, agents' too

You see what is on its screen. Looking on takes nothing; the first key that you type in an agent's shell takes it over: \
the agent is told, and types nothing until you leave. The detach key leaves it running. \
A shell that you open is yours alone: no agent gets it, and it is not sandboxed unless you say --sandbox.";

/// Open a shell that stays, or join one, an agent's for instance
#[derive(Debug, Args)]
#[command(after_help = AFTER_SH)]
pub(crate) struct Sh {
    /// Its name, or an id or the beginning of one
    #[arg(value_name = "NAME", default_value = "default")]
    pub(crate) name: String,
    /// Only look on: nothing that you type arrives, and its size stays
    #[arg(long, conflicts_with_all = ["list", "shell", "cwd", "sandbox", "policy"])]
    pub(crate) watch: bool,
    /// List the shells of this project instead
    #[arg(long)]
    pub(crate) list: bool,
    /// For a new one: bash, zsh or sh, or the file of one; yours if not said
    #[arg(long, value_name = "SHELL")]
    pub(crate) shell: Option<OsString>,
    /// For a new one: start it in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// The key that leaves it
    #[arg(long, value_name = "KEY", default_value = "ctrl-]", value_parser = DetachKey::parse)]
    pub(crate) detach_key: DetachKey,
}

/// Forget terminals; one that still runs is ended first
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  wharf rm 4k2p\n  wharf rm --ended")]
pub(crate) struct Rm {
    /// Ids, or unique beginnings of them
    #[arg(value_name = "ID", required_unless_present = "ended")]
    pub(crate) ids: Vec<String>,
    /// All that have ended
    #[arg(long, conflicts_with = "ids")]
    pub(crate) ended: bool,
}

const AFTER_POLICY: &str = "\
Examples:
  wharf policy init > ~/.config/wharf/policy.toml
  wharf policy check -- git push --force
  wharf policy check -c 'make && git push'

Agents' commands run in the sandbox `workspace` unless the policy or `wharf acp --sandbox` says otherwise. \
The sandbox is the boundary; rules are a convenience and a record.";

/// Tell what agents may run, where, and with what limits
#[derive(Debug, Args)]
#[command(after_help = AFTER_POLICY)]
pub(crate) struct Policy {
    #[command(subcommand)]
    pub(crate) verb: PolicyVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyVerb {
    Check(Check),
    Show(Show),
    /// Print a policy file with every key explained
    Init,
}

/// Say what an agent's command would get: exits with 0 if it is allowed, else 1
#[derive(Debug, Args)]
#[command(
    override_usage = "wharf policy check [OPTIONS] [--] COMMAND [ARGUMENT]...\n       wharf policy check [OPTIONS] -c LINE"
)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// Where it would start; the current directory is the session's
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// A line for a shell
    #[arg(short = 'c', long, value_name = "LINE", conflicts_with = "command")]
    pub(crate) shell: Option<OsString>,
    /// The command and its arguments
    #[arg(value_name = "COMMAND", trailing_var_arg = true, required_unless_present = "shell")]
    pub(crate) command: Vec<OsString>,
}

/// Show the policy that is in force in the current directory
#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) choice: Choice,
}

const AFTER_DEMO: &str = "\
Example:
  wharf demo

An agent that is part of this program runs five commands: a build, tests that fail, a server that has to be ended with \
its children, a flood, and a crash. They run for real, and so does everything between you and them. \
It takes about ten seconds and exits with 0 if nothing is left behind.";

/// See it work: an example agent through `wharf acp`
#[derive(Debug, Args)]
#[command(after_help = AFTER_DEMO)]
pub(crate) struct Demo {}

/// Tell what this machine offers, and what each missing thing costs
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  wharf doctor\n\nExits with 1 if wharf cannot work here; missing extras are no failure."
)]
pub(crate) struct Doctor {
    /// Print records
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  wharf completions bash > ~/.local/share/bash-completion/completions/wharf"
)]
pub(crate) struct Completions {
    /// Which shell
    pub(crate) shell: clap_complete::Shell,
}

impl Cli {
    /// Whether a program reads what is printed, so that failures are to be records too.
    pub(crate) fn wants_json(&self) -> bool {
        match &self.verb {
            Verb::Run(args) => args.json,
            Verb::Ls(args) => args.json,
            Verb::Wait(args) => args.json,
            Verb::Kill(args) => args.json,
            Verb::Doctor(args) => args.json,
            Verb::Demo(_)
            | Verb::DemoAgent
            | Verb::Logs(_)
            | Verb::Send(_)
            | Verb::Attach(_)
            | Verb::Sh(_)
            | Verb::Rm(_)
            | Verb::Acp(_)
            | Verb::Mcp(_)
            | Verb::Policy(_)
            | Verb::Completions(_) => false,
        }
    }
}
