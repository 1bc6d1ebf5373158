//! The grant: a spec that may be started, with everything looked up that could change between decision and start.
//!
//! The working directory is open, the program is an absolute path. There are two ways to a grant: [`unrestricted`], which
//! checks that a spec makes sense and forbids nothing, and a [policy](crate::policy).

use crate::policy::{Basis, Extra, Facts, OPEN};
use crate::spec::{Command, Spec, SpecIo, is_name, merge};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{CString, OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use wharf_shim::confine::{Confine, Keeper};
use wharf_shim::plan::{Io, Limits, PipeInput, Plan};

/// A spec that may be started. Can only be made by judging one.
#[derive(Debug)]
pub struct Grant {
    pub(crate) spec: Spec,
    pub(crate) program: CString,
    pub(crate) argv: Vec<CString>,
    /// The same as text.
    pub(crate) words: Vec<OsString>,
    pub(crate) env: Vec<CString>,
    /// Names of the variables; their values are nobody's business.
    pub(crate) names: Vec<OsString>,
    pub(crate) cwd: OwnedFd,
    pub(crate) facts: Facts,
    /// What the policy says of the sandbox, one thing each.
    pub(crate) terms: Vec<String>,
    /// The sandbox; none for `open`.
    pub(crate) confine: Option<Confine>,
    /// What that was drawn up from, if others may enter it, too.
    pub(crate) basis: Option<Basis>,
    /// What the sandbox should hold and does not on this machine.
    pub(crate) missing: Vec<Extra>,
    /// What is in force, in one line; empty for `open`.
    pub(crate) note: String,
}

/// What is wrong with a spec.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// There is no command.
    #[error("the command is empty")]
    Empty,
    /// An argument or a variable holds a NUL byte, which no program can be given.
    #[error("{what} contains a NUL byte")]
    Nul {
        /// Which part.
        what: &'static str,
    },
    /// A variable's name is empty or contains `=`.
    #[error("{name:?} is not a name for an environment variable")]
    BadName {
        /// The name.
        name: OsString,
    },
    /// The working directory is not an absolute path.
    #[error("the working directory {path} is not absolute")]
    RelativeCwd {
        /// What was asked for.
        path: PathBuf,
    },
    /// The working directory cannot be used.
    #[error("the working directory {path} cannot be used: {}", std::io::Error::from_raw_os_error(*errno))]
    BadCwd {
        /// What was asked for.
        path: PathBuf,
        /// What the system said.
        errno: i32,
    },
    /// No such program.
    #[error("no program named {program:?} was found")]
    NotFound {
        /// What was looked for.
        program: OsString,
    },
    /// There is such a file and it cannot be executed.
    #[error("{path} is not an executable program")]
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
}

impl SpecError {
    /// A stable word for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty => "empty_command",
            Self::Nul { .. } => "nul_byte",
            Self::BadName { .. } => "bad_env_name",
            Self::RelativeCwd { .. } | Self::BadCwd { .. } => "bad_cwd",
            Self::NotFound { .. } => "not_found",
            Self::NotExecutable { .. } => "not_executable",
        }
    }
}

/// Grants whatever makes sense.
pub fn unrestricted(spec: Spec) -> Result<Grant, SpecError> {
    let cwd = open_cwd(&spec.cwd)?;
    let env = merge([&spec.inherited, &spec.preset, &spec.env]);
    prepare(spec, cwd, env)
}

/// What a spec comes to in that directory, with that environment. Whoever calls this has judged both.
pub(crate) fn prepare(spec: Spec, cwd: OwnedFd, env: Vec<(OsString, OsString)>) -> Result<Grant, SpecError> {
    let (program, args) = match &spec.command {
        Command::Argv { program, args } => (program.clone(), args.clone()),
        Command::ShellLine { shell, line } => (shell.clone(), vec![OsString::from("-c"), line.clone()]),
    };
    if program.is_empty() {
        return Err(SpecError::Empty);
    }
    let path = env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
    let found = find(&program, path, &spec.cwd)?;
    let words: Vec<OsString> = std::iter::once(program).chain(args).collect();
    Ok(Grant {
        argv: words.iter().map(|arg| c_string(arg, "an argument")).collect::<Result<_, _>>()?,
        words,
        program: c_string(found.as_os_str(), "the command")?,
        env: environment(&env)?,
        names: env.into_iter().map(|(name, _)| name).collect(),
        facts: Facts::default(),
        terms: Vec::new(),
        confine: None,
        basis: None,
        missing: Vec::new(),
        note: String::new(),
        cwd,
        spec,
    })
}

/// The directory that will be entered, whatever its name means later.
pub(crate) fn open_cwd(path: &Path) -> Result<OwnedFd, SpecError> {
    if !path.is_absolute() {
        return Err(SpecError::RelativeCwd { path: path.to_owned() });
    }
    c_string(path.as_os_str(), "the working directory")?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
        .map_err(|errno: Errno| SpecError::BadCwd { path: path.to_owned(), errno: errno.raw_os_error() })
}

/// What the C library searches when there is no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The file that a name means: itself if it contains a slash, else the first in `PATH` that can be executed.
/// Relative names are looked up from where the command will start.
fn find(program: &OsStr, path: Option<&OsStr>, cwd: &Path) -> Result<PathBuf, SpecError> {
    if program.as_bytes().contains(&b'/') {
        let file = cwd.join(program);
        return match kind_of(&file) {
            Kind::Executable => Ok(file),
            Kind::Other => Err(SpecError::NotExecutable { path: file }),
            Kind::Missing => Err(SpecError::NotFound { program: program.to_owned() }),
        };
    }
    let path = path.unwrap_or(OsStr::new(DEFAULT_PATH));
    let mut refused = None;
    for dir in path.as_bytes().split(|b| *b == b':') {
        let dir = if dir.is_empty() { b"." } else { dir };
        let file = cwd.join(OsStr::from_bytes(dir)).join(program);
        match kind_of(&file) {
            Kind::Executable => return Ok(file),
            Kind::Other => refused = refused.or(Some(file)),
            Kind::Missing => {}
        }
    }
    Err(match refused {
        Some(path) => SpecError::NotExecutable { path },
        None => SpecError::NotFound { program: program.to_owned() },
    })
}

enum Kind {
    Executable,
    Other,
    Missing,
}

fn kind_of(file: &Path) -> Kind {
    match std::fs::metadata(file) {
        Ok(meta) if meta.is_file() && meta.permissions().mode() & 0o111 != 0 => Kind::Executable,
        Ok(_) => Kind::Other,
        Err(_) => Kind::Missing,
    }
}

fn environment(env: &[(OsString, OsString)]) -> Result<Vec<CString>, SpecError> {
    let pair = |(name, value): &(OsString, OsString)| {
        if !is_name(name) {
            return Err(SpecError::BadName { name: name.clone() });
        }
        let pair = [name.as_bytes(), b"=", value.as_bytes()].concat();
        c_string(&OsString::from_vec(pair), "an environment variable")
    };
    env.iter().map(pair).collect()
}

fn c_string(text: &OsStr, what: &'static str) -> Result<CString, SpecError> {
    CString::new(text.as_bytes()).map_err(|_| SpecError::Nul { what })
}

impl Grant {
    /// Of a shell that takes the place of another: its commands are counted on from that number, so that none is mistaken
    /// for one of the other's.
    #[must_use]
    pub fn after(mut self, last: u64) -> Self {
        if let Some(shell) = &mut self.spec.shell {
            shell.after = last;
        }
        self
    }

    /// What decided that it may be started.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The sandbox it will run in; `open` if it has none.
    #[must_use]
    pub fn sandbox(&self) -> &str {
        self.confine.as_ref().map_or(OPEN, |confine| &confine.name)
    }

    /// Has what stands in for protected files that do not exist kept by this front end, instead of coming and going with
    /// each command.
    pub fn keep_standing(&self, keeper: &mut Keeper) {
        if let Some(confine) = &self.confine {
            keeper.keep(confine);
        }
    }

    /// The file that is executed.
    pub(crate) fn program_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(self.program.as_bytes()))
    }

    /// The plan for the holder, in a terminal of that id.
    pub(crate) fn plan(&self, id: &str) -> Result<Plan, SpecError> {
        let spec = &self.spec;
        let mut env = self.env.clone();
        // By this a process knows its terminal, and by this it is found again if its holder dies.
        let name = format!("{}=", wharf_shim::tree::lost::VARIABLE);
        env.retain(|pair| !pair.as_bytes().starts_with(name.as_bytes()));
        env.push(c_string(OsStr::new(&(name + id)), "the terminal's id")?);
        let mut argv = self.argv.clone();
        // After everything was judged: what was judged is the shell, and this only how it is begun.
        if let Some(shell) = &spec.shell {
            let words = shell.argv(self.program_path());
            argv = words.iter().map(|word| c_string(word, "an argument")).collect::<Result<_, _>>()?;
            env.push(c_string(OsStr::new(&shell.variable()), "an environment variable")?);
        }
        Ok(Plan {
            id: id.to_owned(),
            program: self.program.clone(),
            argv,
            env,
            io: match spec.io {
                SpecIo::Plain => Io::Pipe(PipeInput::Empty),
                SpecIo::PlainWithInput => Io::Pipe(PipeInput::Open),
                SpecIo::Pty(size) => Io::Pty(size),
            },
            limits: Limits {
                time: spec.time_limit,
                idle: spec.idle_limit,
                output: spec.output_limit,
                keep: spec.keep,
            },
            grace: spec.grace,
            on_owner_exit: spec.on_owner_exit,
            backlog: spec.backlog,
            confine: self.confine.clone(),
            resources: spec.resources,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(spec: Spec) -> &'static str {
        unrestricted(spec).map(|_| "granted").unwrap_or_else(|error| error.code())
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let none: [&str; 0] = [];
        let sh = || Spec::argv("/bin/sh", none);
        assert_eq!(code(sh()), "granted");
        assert_eq!(code(Spec::argv("", none)), "empty_command");
        assert_eq!(code(Spec::argv("/bin/sh", ["a\0b"])), "nul_byte");
        assert_eq!(code(sh().env("A=B", "c")), "bad_env_name");
        assert_eq!(code(sh().env("", "c")), "bad_env_name");
        assert_eq!(code(sh().env("A", "c\0")), "nul_byte");
        assert_eq!(code(sh().cwd("relative")), "bad_cwd");
        assert_eq!(code(sh().cwd("/no/such/place")), "bad_cwd");
        assert_eq!(code(sh().cwd("/etc/passwd")), "bad_cwd");
        assert_eq!(code(Spec::argv("no-such-program-here", none)), "not_found");
        assert_eq!(code(Spec::argv("/no/such/program", none)), "not_found");
        assert_eq!(code(Spec::argv("/etc/passwd", none)), "not_executable");
        assert_eq!(code(Spec::argv("/etc", none)), "not_executable");
        assert_eq!(code(Spec::argv("passwd", none).env("PATH", "/etc")), "not_executable");
    }

    #[test]
    fn a_name_is_looked_up_in_the_commands_own_path() {
        let none: [&str; 0] = [];
        assert_eq!(code(Spec::argv("sh", none).env("PATH", "/nowhere")), "not_found");
        assert_eq!(code(Spec::argv("sh", none).env("PATH", "/nowhere:/bin")), "granted");
        assert_eq!(code(Spec::argv("sh", none).cwd("/bin").env("PATH", "")), "granted");
    }
}
