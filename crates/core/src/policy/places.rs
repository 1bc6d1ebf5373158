//! The places of a person and a machine that policy has to know: home, wharf's own directories, what the environment has
//! moved. Given by the front end; nothing is looked up here.

use super::account::Homes;
use super::alias::Mounts;
use super::below::Below;
use super::caches::{self, Caches};
use super::confinement::Drawn;
use super::existing::{Listings, Tree, find};
use super::machine::Machine;
use super::secrets;
use crate::store::{Dirs, Holder};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Where things are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The person's home, if there is one.
    pub home: Option<PathBuf>,
    /// Those that accounts have, wherever `home` is.
    pub homes: Homes,
    /// Wharf's journals and sockets.
    pub state: PathBuf,
    /// Wharf's configuration, the policy among it.
    pub config: PathBuf,
    /// The file of the policy, if it is not in the configuration.
    pub policy: Option<PathBuf>,
    /// Wharf's own environment, of which only locations are used.
    pub environment: Vec<(OsString, OsString)>,
    /// Files of wharf's own programs: whoever could replace them would run outside every sandbox.
    pub programs: Vec<PathBuf>,
    /// What follows from all that, found out once.
    pub known: Known,
}

/// Lists that are long to make and never change. Empty to begin with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    secrets: OnceLock<Vec<PathBuf>>,
    hidden: OnceLock<Tree>,
    spelled: OnceLock<Tree>,
    real_own: OnceLock<Vec<PathBuf>>,
    real_home: OnceLock<Option<PathBuf>>,
    real_homes: OnceLock<Vec<(PathBuf, PathBuf)>>,
    names_of_home: OnceLock<Vec<PathBuf>>,
    caches: OnceLock<Caches>,
    machine: OnceLock<Machine>,
    below: Remembered<Below>,
    listings: Remembered<Listings>,
    drawn: Remembered<Drawn>,
}

/// What is only remembered makes no difference between two places.
#[derive(Debug, Default)]
struct Remembered<T>(Arc<T>);

impl<T> Clone for Remembered<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> PartialEq for Remembered<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Remembered<T> {}

impl Places {
    /// As an environment tells them, for a program that keeps its terminals there: `HOME`, and `XDG_CONFIG_HOME` or
    /// `~/.config` for wharf's configuration.
    #[must_use]
    pub fn of(
        dirs: &Dirs,
        holder: &Holder,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        let mut places = Self { environment: environment.into_iter().collect(), ..Self::default() };
        let directory =
            |name| places.variable(name).map(Path::new).filter(|path| path.is_absolute()).map(without_dots);
        let home = directory("HOME");
        let config = directory("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
        let shim = match holder {
            Holder::Process(path) => Some(path.clone()),
            Holder::Thread => None,
        };
        places.config = config.unwrap_or_else(|| dirs.state.join("config")).join("wharf");
        places.home = home;
        places.homes = Homes::find();
        places.state = dirs.state.clone();
        places.programs = std::env::current_exe().ok().into_iter().chain(shim).collect();
        places
    }

    /// What is hidden, whether it exists or not.
    pub(crate) fn secrets(&self) -> &[PathBuf] {
        self.known.secrets.get_or_init(|| secrets::secrets(self))
    }

    /// The same with wharf's own, to be looked for.
    pub(crate) fn hidden(&self) -> &Tree {
        self.known.hidden.get_or_init(|| {
            let own: Vec<PathBuf> = self.own().map(Path::to_owned).collect();
            let all: Vec<PathBuf> = self.secrets().iter().cloned().chain(own).collect();
            let real: Vec<PathBuf> = all.iter().map(|path| self.really(path)).collect();
            let other_names: Vec<PathBuf> = Mounts::read().other_names(&real).collect();
            Tree::new(all.iter().chain(&other_names))
        })
    }

    /// Where something in a home really is, if only the way to the home leads elsewhere.
    fn really(&self, path: &Path) -> PathBuf {
        let below = |(written, real): &(PathBuf, PathBuf)| Some(real.join(path.strip_prefix(written).ok()?));
        self.real_homes().iter().find_map(below).unwrap_or_else(|| path.to_owned())
    }

    /// Every home as it is written and as it really is.
    fn real_homes(&self) -> &[(PathBuf, PathBuf)] {
        self.known.real_homes.get_or_init(|| {
            let homes = self.home.as_deref().into_iter().chain(self.homes.all());
            homes.filter_map(|home| Some((home.to_owned(), find(home)?.real))).collect()
        })
    }

    /// Every name of the person's own homes.
    pub(crate) fn names_of_home(&self) -> &[PathBuf] {
        self.known.names_of_home.get_or_init(|| {
            let mut names: Vec<PathBuf> = self.home.iter().flat_map(|home| spellings(home)).collect();
            names.extend(Mounts::read().other_names(&names.clone()).filter(|name| self.is_home(name)));
            names
        })
    }

    /// Whether a name leads to the home, and not to a part of it.
    fn is_home(&self, name: &Path) -> bool {
        let is = |path: &Path| find(path).map(|found| found.is);
        self.home.as_deref().and_then(is).is_some_and(|home| is(name) == Some(home))
    }

    /// What is hidden as it is written, and as it really is where it exists.
    pub(crate) fn spelled_secrets(&self) -> &Tree {
        self.known.spelled.get_or_init(|| {
            let real: Vec<PathBuf> =
                self.hidden().look(|_| false).into_iter().map(|found| found.real).collect();
            Tree::new(self.secrets().iter().chain(&real))
        })
    }

    /// The home as it really is, if there is one.
    pub(crate) fn real_home(&self) -> Option<&Path> {
        let real = || Some(find(self.home.as_deref()?)?.real);
        self.known.real_home.get_or_init(real).as_deref()
    }

    /// Wharf's own, likewise.
    pub(crate) fn spelled_own(&self) -> &[PathBuf] {
        self.known.real_own.get_or_init(|| self.own().flat_map(spellings).collect())
    }

    /// Tool caches, whether they exist or not.
    pub(crate) fn caches(&self) -> &Caches {
        self.known.caches.get_or_init(|| caches::caches(self))
    }

    /// What is remembered of projects inside projects.
    pub(super) fn below(&self) -> Arc<Below> {
        self.known.below.0.clone()
    }

    /// Views that were drawn up before.
    pub(super) fn drawn(&self) -> &Drawn {
        &self.known.drawn.0
    }

    /// What is remembered of what directories held.
    pub(super) fn listings(&self) -> &Listings {
        &self.known.listings.0
    }

    /// What the machine offers to hold a sandbox with.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        self.known.machine.get_or_init(|| Machine::probe(&self.state))
    }

    /// As if the machine were this one.
    #[cfg(test)]
    pub(crate) fn on(&mut self, machine: Machine) {
        self.known.machine = OnceLock::from(machine);
    }

    /// Wharf's own directories and files, in which no command may write and which none may read.
    pub(crate) fn own(&self) -> impl Iterator<Item = &Path> {
        let given = [Some(&self.state), Some(&self.config), self.policy.as_ref()];
        given.into_iter().flatten().map(PathBuf::as_path).filter(|path| path.is_absolute())
    }

    /// Where a variable says that something is: an absolute path, and narrow enough to mean one thing.
    pub(crate) fn located(&self, name: &str) -> Option<PathBuf> {
        self.all_located(name).into_iter().next()
    }

    /// The same for a list with colons, such as `GOPATH`.
    pub(crate) fn all_located(&self, name: &str) -> Vec<PathBuf> {
        let value = self.variable(name).map_or(&b""[..], OsStrExt::as_bytes);
        let paths = value.split(|byte| *byte == b':').map(|path| Path::new(OsStr::from_bytes(path)));
        paths.map(without_dots).filter(|path| self.is_narrow(path)).collect()
    }

    /// Where a variable says, or else in a usual place under home, which other variables can have moved. Nowhere else if
    /// there is no usual one.
    pub(crate) fn moved(&self, name: &str, usual: &str) -> Option<PathBuf> {
        let around = [("XDG_CACHE_HOME", ".cache"), ("XDG_DATA_HOME", ".local/share")];
        let below = |(moved, around)| {
            let rest = Path::new(usual).strip_prefix(around).ok()?;
            Some(self.located(moved)?.join(rest))
        };
        let place = || around.into_iter().find_map(below).or_else(|| Some(self.home.as_ref()?.join(usual)));
        self.located(name).or_else(|| if usual.is_empty() { None } else { place() })
    }

    /// The directories in which programs are looked up.
    pub(crate) fn search(&self) -> Vec<PathBuf> {
        let value = self.variable("PATH").map_or(&b""[..], OsStrExt::as_bytes);
        let paths = value.split(|byte| *byte == b':').map(|path| PathBuf::from(OsStr::from_bytes(path)));
        paths.filter(|path| path.is_absolute()).collect()
    }

    /// The address of a Unix socket in a variable: a plain path, `unix:///path` or D-Bus's `unix:path=/path,…`.
    pub(crate) fn socket(&self, name: &str) -> Option<PathBuf> {
        let value = self.variable(name)?.as_bytes();
        let value =
            value.strip_prefix(b"unix:path=").or_else(|| value.strip_prefix(b"unix://")).unwrap_or(value);
        let end = value.iter().position(|byte| matches!(byte, b',' | b';')).unwrap_or(value.len());
        Some(without_dots(Path::new(OsStr::from_bytes(&value[..end])))).filter(|path| self.is_narrow(path))
    }

    fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
    }

    /// Hiding or opening `/` or a whole home because of a stray variable would make every command useless, or free.
    fn is_narrow(&self, path: &Path) -> bool {
        let plain = path.components().all(|part| part != Component::ParentDir);
        let depth = path.components().count();
        path.is_absolute()
            && plain
            && depth > 2
            && !self.home.as_ref().is_some_and(|home| home.starts_with(path))
    }
}

/// Without `..`, by which no two names can be compared: what is before one is found as the kernel finds it.
#[must_use]
pub fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain = plain.canonicalize().unwrap_or(plain);
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

/// As it is written, and as it really is if it exists.
pub(crate) fn spellings(path: &Path) -> Vec<PathBuf> {
    let real = path.symlink_metadata().and_then(|_| path.canonicalize()).ok();
    let written = path.to_owned();
    std::iter::once(written).chain(real.filter(|real| real != path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(environment: &[(&str, &str)]) -> Places {
        let environment = environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Places { home: Some("/users/u".into()), environment, ..Places::default() }
    }

    #[test]
    fn a_name_with_dots_is_the_place_that_it_leads_to() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("real/below")).unwrap();
        std::os::unix::fs::symlink(base.join("real/below"), base.join("link")).unwrap();
        for (written, plain) in [("real/../real", "real"), ("link/../file", "real/file"), ("no/../x", "x")] {
            assert_eq!(without_dots(&base.join(written)), base.join(plain), "{written}");
        }
        assert_eq!(without_dots(Path::new("/../../a//b/.")), Path::new("/a/b"));
    }

    #[test]
    fn a_variable_moves_a_place_unless_it_is_wide_or_relative() {
        let moved = |value| places(&[("CARGO_HOME", value)]).moved("CARGO_HOME", ".cargo").unwrap();
        assert_eq!(moved("/opt/cargo"), Path::new("/opt/cargo"));
        for value in ["", "relative", "/", "/opt", "/users", "/users/u", "/users/u/../..", "//"] {
            assert_eq!(moved(value), Path::new("/users/u/.cargo"), "{value}");
        }
        assert_eq!(places(&[]).moved("CARGO_HOME", ".cargo").unwrap(), Path::new("/users/u/.cargo"));
        assert_eq!(Places::default().moved("CARGO_HOME", ".cargo"), None);
        let elsewhere = places(&[("XDG_CACHE_HOME", "/data/cache")]);
        assert_eq!(elsewhere.moved("", ".cache/pip").unwrap(), Path::new("/data/cache/pip"));
        assert_eq!(elsewhere.moved("GOMODCACHE", ""), None);
    }

    #[test]
    fn lists_and_sockets_are_read_in_all_their_spellings() {
        let given = places(&[
            ("GOPATH", "/a/go:relative::/b/go"),
            ("PATH", "/bin::.:/users/u/bin"),
            ("SSH_AUTH_SOCK", "/users/u/agent/sock"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/srv/bus/1,guid=0"),
            ("DOCKER_HOST", "unix:///users/u/.docker/run/docker.sock"),
            ("OTHER", "tcp://127.0.0.1:2375"),
        ]);
        assert_eq!(given.all_located("GOPATH"), [Path::new("/a/go"), Path::new("/b/go")]);
        assert_eq!(given.search(), [Path::new("/bin"), Path::new("/users/u/bin")]);
        assert_eq!(given.socket("SSH_AUTH_SOCK").unwrap(), Path::new("/users/u/agent/sock"));
        assert_eq!(given.socket("DBUS_SESSION_BUS_ADDRESS").unwrap(), Path::new("/srv/bus/1"));
        assert_eq!(given.socket("DOCKER_HOST").unwrap(), Path::new("/users/u/.docker/run/docker.sock"));
        assert_eq!(given.socket("OTHER"), None);
        assert_eq!(given.socket("MISSING"), None);
    }
}
