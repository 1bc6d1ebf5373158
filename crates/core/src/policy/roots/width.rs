//! How wide a root may be. A root is what commands may write; one that holds a home, the system or wharf's own policy
//! would be a sandbox in name only.

use super::super::places::Places;
use std::path::{Path, PathBuf};

/// A directory that is too much to give away.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("commands cannot write in {path}: {why}; choose the directory of a project")]
pub(crate) struct TooWide {
    pub(crate) path: PathBuf,
    pub(crate) why: Wide,
}

impl TooWide {
    /// Whether it is everybody's temporary directory, in whose place commands have one of their own.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.why, Wide::Shared(_))
    }
}

/// What is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Wide {
    #[error("it is the whole system")]
    Everything,
    #[error("it is or contains the home directory {0}")]
    Home(PathBuf),
    #[error("it is or contains wharf's own {0}, which decides what commands may do")]
    Contains(PathBuf),
    #[error("it lies in {0}, which is hidden from commands")]
    Hidden(PathBuf),
    #[error("{0} belongs to the system")]
    System(PathBuf),
    #[error("{0} is shared with everybody, and commands get one of their own in its place")]
    Shared(PathBuf),
}

/// Of the system with everything in it.
const SYSTEM: &[&str] = &[
    "/bin", "/boot", "/dev", "/efi", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/sbin", "/sys",
];

/// Of the system, while projects may well lie in them.
const SYSTEM_TOP: &[&str] = &[
    "/home",
    "/media",
    "/mnt",
    "/nix",
    "/nix/store",
    "/opt",
    "/root",
    "/run",
    "/run/user",
    "/snap",
    "/srv",
    "/usr",
    "/usr/bin",
    "/usr/include",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/local",
    "/usr/local/bin",
    "/usr/local/lib",
    "/usr/local/sbin",
    "/usr/local/share",
    "/usr/sbin",
    "/usr/share",
    "/usr/src",
    "/var",
    "/var/backups",
    "/var/cache",
    "/var/lib",
    "/var/log",
    "/var/mail",
    "/var/opt",
    "/var/spool",
    "/var/www",
];

/// Temporary directories, which each command has for itself.
const SHARED: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];

/// `path` is real; the places may be written with links, so they are looked at both ways.
pub(crate) fn check(path: &Path, places: &Places) -> Result<(), TooWide> {
    why(path, places).map_or(Ok(()), |why| Err(TooWide { path: path.to_owned(), why }))
}

fn why(path: &Path, places: &Places) -> Option<Wide> {
    if path == Path::new("/") {
        return Some(Wide::Everything);
    }
    if let Some(home) = places.names_of_home().iter().find(|home| home.starts_with(path)) {
        return Some(Wide::Home(home.clone()));
    }
    if let Some(own) = places.spelled_own().iter().find(|own| own.starts_with(path)) {
        return Some(Wide::Contains(own.clone()));
    }
    if let Some(hidden) = places.spelled_secrets().holding(path) {
        return Some(Wide::Hidden(hidden.to_owned()));
    }
    let is = |known: &&&str| path == Path::new(**known);
    if let Some(shared) = SHARED.iter().find(is) {
        return Some(Wide::Shared(PathBuf::from(shared)));
    }
    // Below it are directories of people, whatever is above it.
    if path.starts_with("/dev/shm") {
        return None;
    }
    let inside = |known: &&&str| path.starts_with(known);
    let system = SYSTEM.iter().find(inside).or_else(|| SYSTEM_TOP.iter().find(is));
    system.map(|system| Wide::System(PathBuf::from(system)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(path: &str, places: &Places) -> &'static str {
        match check(Path::new(path), places).map_err(|wide| wide.why) {
            Ok(()) => "fine",
            Err(Wide::Everything) => "everything",
            Err(Wide::Home(_)) => "home",
            Err(Wide::Contains(_)) => "wharf",
            Err(Wide::Hidden(_)) => "hidden",
            Err(Wide::System(_)) => "system",
            Err(Wide::Shared(_)) => "shared",
        }
    }

    #[test]
    fn a_root_holds_no_home_no_system_and_nothing_of_wharfs() {
        let places = Places {
            home: Some("/users/u".into()),
            state: "/users/u/.local/state/wharf".into(),
            config: "/users/u/.config/wharf".into(),
            policy: Some("/srv/policies/p.toml".into()),
            ..Places::default()
        };
        let cases = [
            ("/", "everything"),
            ("/users", "home"),
            ("/users/u", "home"),
            ("/users/u2", "fine"),
            ("/users/u/project", "fine"),
            ("/users/u/.config", "wharf"),
            ("/users/u/.config/wharf", "wharf"),
            ("/users/u/.config/wharf/x", "hidden"),
            ("/users/u/.config/nvim", "fine"),
            ("/users/u/.local", "wharf"),
            ("/users/u/.local/state/wharf/terminals", "hidden"),
            ("/run", "system"),
            ("/run/user/1000/x", "hidden"),
            ("/srv/policies", "wharf"),
            ("/srv", "wharf"),
            ("/srv/www", "fine"),
            ("/users/u/.ssh", "hidden"),
            ("/users/u/.ssh/x", "hidden"),
            ("/etc", "system"),
            ("/etc/nginx", "system"),
            ("/etcetera", "fine"),
            ("/usr", "system"),
            ("/usr/src", "system"),
            ("/usr/src/project", "fine"),
            ("/var", "system"),
            ("/var/lib", "system"),
            ("/var/lib/jenkins/workspace", "fine"),
            ("/dev", "system"),
            ("/dev/pts", "system"),
            ("/dev/shm", "shared"),
            ("/dev/shm/project", "fine"),
            ("/proc/self", "system"),
            ("/sys/fs/cgroup", "system"),
            ("/tmp", "shared"),
            ("/tmp/project", "fine"),
            ("/var/tmp", "shared"),
            ("/opt", "system"),
            ("/opt/project", "fine"),
            ("/work", "fine"),
        ];
        for (path, expected) in cases {
            assert_eq!(verdict(path, &places), expected, "{path}");
        }
    }

    #[test]
    fn a_home_behind_a_link_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap().join("var/users/u");
        std::fs::create_dir_all(&real).unwrap();
        let home = dir.path().join("home");
        std::os::unix::fs::symlink(real.parent().unwrap(), &home).unwrap();
        let places = Places { home: Some(home.join("u")), ..Places::default() };
        assert_eq!(verdict(real.to_str().unwrap(), &places), "home");
        assert_eq!(verdict(real.parent().unwrap().to_str().unwrap(), &places), "home");
        std::fs::create_dir(real.join("project")).unwrap();
        assert_eq!(verdict(real.join("project").to_str().unwrap(), &places), "fine");
        let refusal = check(&real, &places).unwrap_err().to_string();
        assert!(
            refusal.contains("home") && refusal.contains("choose the directory of a project"),
            "{refusal}"
        );
    }
}
