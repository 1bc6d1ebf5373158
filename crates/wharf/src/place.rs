//! Where this program was started: environment, home, directories, its own file. Read here and nowhere else.

use crate::amount;
use crate::owed;
use crate::report::Failure;
use crate::temporary;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use wharf_core::policy::{Audit, without_dots};
use wharf_core::{Dirs, Holder, Retention, Spares, Store, TerminalId};
use wharf_shim::journal::file::{self, Access};

/// What the surroundings say.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) dirs: Dirs,
    pub(crate) holder: Holder,
    pub(crate) retention: Retention,
}

impl Place {
    /// This one.
    pub(crate) fn here() -> Result<Self, Failure> {
        Ok(Self { dirs: dirs()?, holder: holder()?, retention: retention()? })
    }

    /// The store of this place.
    pub(crate) fn store(&self) -> Result<Store, Failure> {
        Store::open(self.dirs.clone(), self.holder.clone()).map_err(|error| self.explain(error.into()))
    }

    /// Inside a sandbox wharf's own files are hidden, which is nobody's mistake.
    fn explain(&self, failure: Failure) -> Failure {
        let inside = self.variable(OsStr::new(wharf_shim::tree::lost::VARIABLE));
        let confined = std::fs::read_to_string("/proc/self/status")
            .is_ok_and(|status| status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"));
        match inside.filter(|_| confined) {
            Some(terminal) => Failure::new(format!(
                "this is inside a sandbox of wharf, in its terminal {}, and wharf's own files are hidden here",
                terminal.to_string_lossy()
            ))
            .hint("run it outside, or ask the person to"),
            None => failure,
        }
    }

    /// The same for a program that creates one terminal after the other: the next is always ready.
    pub(crate) fn store_for_many(&self) -> Result<Store, Failure> {
        let store = Store::open_with(self.dirs.clone(), self.holder.clone(), Spares::One)
            .map_err(|error| self.explain(error.into()))?;
        let state = &self.dirs.state;
        // Said at once, and not with the first command.
        rustix::fs::access(state, rustix::fs::Access::WRITE_OK)
            .map_err(|errno| Failure::cannot_write(state, &errno.into()))?;
        Ok(store)
    }

    /// Removes what has been kept long enough. Nobody asked for it, so nobody hears if it fails.
    pub(crate) fn tidy(&self, store: &Store) {
        owed::settle(self, store);
        let _ = store.tidy(&self.retention);
        temporary::remove_orphans(&self.dirs.state);
    }

    /// As [`Place::tidy`], unless somebody did so within the last minute: looking at every terminal there is would be
    /// most of the work of a short command.
    pub(crate) fn tidy_now_and_then(&self, store: &Store) {
        let stamp = self.dirs.state.join("tidied");
        let last = std::fs::symlink_metadata(&stamp).and_then(|meta| meta.modified()).ok();
        // A time in the future is a clock that was put back; then it is not known when the last time was.
        if last.and_then(|last| last.elapsed().ok()).is_some_and(|age| age < BETWEEN_TIDYING) {
            return;
        }
        let _ = file::open(&stamp, Access::Make).map(|file| file.set_modified(SystemTime::now()));
        self.tidy(store);
    }

    /// The environment, as a command gets it.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
        std::env::vars_os().collect()
    }

    /// One variable of it.
    pub(crate) fn variable(&self, name: &OsStr) -> Option<OsString> {
        #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
        std::env::var_os(name)
    }

    /// A directory from here.
    pub(crate) fn directory(&self, given: Option<&Path>) -> Result<PathBuf, Failure> {
        let here = std::env::current_dir()
            .map_err(|error| Failure::new(format!("the current directory cannot be used: {error}")))?;
        Ok(given.map_or_else(|| here.clone(), |dir| here.join(dir)))
    }

    /// The files of this program and of the shim.
    pub(crate) fn programs(&self) -> Vec<PathBuf> {
        let shim = match &self.holder {
            Holder::Process(path) => Some(path.clone()),
            Holder::Thread => None,
        };
        std::env::current_exe().ok().into_iter().chain(shim).collect()
    }

    /// The record of what was run.
    pub(crate) fn audit(&self) -> Result<Audit, Failure> {
        Ok(Audit::open(self.dirs.state.join("audit.jsonl"))?)
    }

    /// Removes what a terminal that is gone had besides its journal: its temporary files.
    pub(crate) fn forget(&self, id: &TerminalId) {
        temporary::remove_of_terminal(&self.dirs.state, id.as_str());
    }

    /// The home directory, if there is one.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        absolute("HOME")
    }

    /// Where wharf's configuration is.
    pub(crate) fn config(&self) -> Result<PathBuf, Failure> {
        let config = absolute("XDG_CONFIG_HOME").or_else(|| Some(self.home()?.join(".config")));
        config.map(|dir| dir.join("wharf")).ok_or_else(|| {
            Failure::new("there is no home directory to look for a policy in")
                .hint("set HOME or XDG_CONFIG_HOME")
        })
    }

    /// Whether terminals are held by this program itself, for want of `wharf-shim`.
    pub(crate) fn is_own_shim(&self) -> bool {
        !matches!(&self.holder, Holder::Process(path) if path.ends_with(SHIM))
    }
}

const BETWEEN_TIDYING: Duration = Duration::from_secs(60);
const SHIM: &str = "wharf-shim";

fn read(name: impl AsRef<OsStr>) -> Option<OsString> {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// A directory from the environment. Relative ones are to be ignored, says the XDG specification.
fn absolute(name: &str) -> Option<PathBuf> {
    read(name).map(PathBuf::from).filter(|path| path.is_absolute()).map(|path| without_dots(&path))
}

fn dirs() -> Result<Dirs, Failure> {
    if let Some(dir) = read("WHARF_STATE_DIR") {
        let dir = std::path::absolute(dir)?;
        return Ok(Dirs::under(dir));
    }
    let state = absolute("XDG_STATE_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".local/state")))
        .map(|dir| dir.join("wharf"))
        .ok_or_else(|| {
            Failure::new("there is no home directory to keep terminals in")
                .hint("set HOME, or WHARF_STATE_DIR to a directory of yours")
        })?;
    Ok(Dirs::under(state))
}

/// `wharf-shim` beside this program, or else this program, which is one when called by that name.
fn holder() -> Result<Holder, Failure> {
    let own = std::env::current_exe().ok().filter(|path| path.is_file());
    let beside = own.as_ref().and_then(|own| Some(own.parent()?.join(SHIM)));
    if let Some(shim) = beside.filter(|path| path.is_file()) {
        return Ok(Holder::Process(shim));
    }
    // If the file was replaced or removed since, the kernel still knows it by this name.
    Ok(Holder::Process(own.unwrap_or_else(|| PathBuf::from("/proc/self/exe"))))
}

fn retention() -> Result<Retention, Failure> {
    let mut retention = Retention::default();
    if let Some(age) = setting("WHARF_KEEP_FOR", amount::duration)? {
        retention.age = age;
    }
    if let Some(total) = setting("WHARF_KEEP_TOTAL", amount::size)? {
        retention.total = total;
    }
    Ok(retention)
}

fn setting<T>(name: &str, parse: impl Fn(&str) -> Result<T, &'static str>) -> Result<Option<T>, Failure> {
    let Some(value) = read(name) else { return Ok(None) };
    let parsed = parse(&value.to_string_lossy());
    parsed.map(Some).map_err(|wrong| Failure::usage(format!("{name} is {value:?}")).hint(wrong))
}
