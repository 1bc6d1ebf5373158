//! What this machine offers to hold a sandbox with, and what a profile gets of it.
//!
//! Three things are guaranteed wherever a command runs in a sandbox: it writes only where it may, it does not read
//! secrets, it gains no privilege. Mounts of its own hold the first two, Landlock does from version 2 on, and either will do;
//! seccomp and `no_new_privs` hold the third. Everything else is an [`Extra`]: held where it can be.
//!
//! What surprises: Landlock's version 1 is of no use. It refuses to move files between directories whatever its rules
//! say, and git does that. Where there is no other, mounts must do without it.

use super::profile::{Namespaces, Network, Terms, UnixSockets, Use};
use std::fmt;
use std::path::Path;
use std::sync::OnceLock;
use wharf_shim::confine::{OwnNet, OwnUser};
use wharf_shim::probe::{self, Obstacle};

/// The first version of Landlock that lets files be moved, and the Linux that brought it.
pub const LANDLOCK_NEEDED: (u32, &str) = (2, "5.19");
/// The first that keeps signals and abstract sockets in.
pub const LANDLOCK_SCOPES: (u32, &str) = (6, "6.12");

/// What was found by trying.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Mounts of its own, for a command of this user.
    pub mounts: Result<(), Obstacle>,
    /// Landlock's version; 0 where there is none.
    pub landlock: u32,
    /// Filters on system calls.
    pub filters: Result<(), String>,
    /// Whether mounts can be made without a user namespace, as root may.
    pub as_root: bool,
    /// Directories that are written in layers, which mounts alone do not give.
    pub layers: Result<(), Obstacle>,
    /// Whether a network of its own can be had besides mounts, once somebody has asked.
    pub network: OnceLock<bool>,
    /// Whether Landlock alone keeps a command in, once somebody has asked.
    pub rules: OnceLock<bool>,
}

/// What a sandbox is held by here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// Mounts of its own, with Landlock unless that is 0.
    Mounts {
        /// The version that is used.
        landlock: u32,
    },
    /// Landlock alone.
    Rules {
        /// The version that is used.
        landlock: u32,
    },
}

/// Something that a sandbox holds where the machine lets it, and is no guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Extra {
    /// Hooks of git, and settings of editors and agents, inside a writable root.
    ProtectedNames,
    /// Modes, owners and times of files outside the writable places.
    FileAttributes,
    /// Signals to processes outside.
    Signals,
    /// Sockets of other programs that have no path.
    AbstractSockets,
    /// Sockets with a path, of its own.
    UnixSockets,
    /// The user's inotify instances.
    Watches,
    /// A loopback of its own.
    Loopback,
}

impl Extra {
    const ALL: [Self; 7] = [
        Self::ProtectedNames,
        Self::FileAttributes,
        Self::Signals,
        Self::AbstractSockets,
        Self::UnixSockets,
        Self::Watches,
        Self::Loopback,
    ];

    /// By its word.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|extra| extra.code() == code)
    }

    /// A stable word.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::ProtectedNames => "protected_names",
            Self::FileAttributes => "file_attributes",
            Self::Signals => "signals",
            Self::AbstractSockets => "abstract_sockets",
            Self::UnixSockets => "unix_sockets",
            Self::Watches => "inotify_instances",
            Self::Loopback => "own_loopback",
        }
    }

    /// What it means that it is missing.
    #[must_use]
    pub fn missing(self) -> &'static str {
        match self {
            Self::ProtectedNames => "git hooks in the project can be changed",
            Self::FileAttributes => "modes and times of files elsewhere can be changed",
            Self::Signals => "processes outside can be signalled",
            Self::AbstractSockets => "abstract sockets of other programs can be reached",
            Self::UnixSockets => "Unix sockets cannot be opened",
            Self::Watches => "inotify instances are not limited",
            Self::Loopback => "there is no loopback network, and no other",
        }
    }
}

impl Machine {
    /// Finds out, in processes of their own. What is written in layers would be kept in the state directory.
    #[must_use]
    pub fn probe(state: &Path) -> Self {
        let landlock = probe::landlock_version();
        let mounts = probe::own_mounts(OwnNet::No, own_user(landlock));
        Self {
            layers: mounts.and_then(|()| probe::layers(state, own_user(landlock))),
            mounts,
            landlock,
            filters: probe::seccomp().map(|_| ()),
            as_root: may_mount(),
            network: OnceLock::new(),
            rules: OnceLock::new(),
        }
    }

    fn rules_hold(&self, landlock: u32) -> bool {
        *self.rules.get_or_init(|| probe::rules_keep_in(landlock))
    }

    fn own_network(&self) -> bool {
        *self.network.get_or_init(|| probe::own_mounts(OwnNet::Loopback, OwnUser::IfNeeded).is_ok())
    }

    /// What a sandbox is held by where the choice is free.
    pub fn means(&self) -> Result<Means, Unable> {
        self.choose(Namespaces::Auto)
    }

    pub(super) fn choose(&self, namespaces: Namespaces) -> Result<Means, Unable> {
        let landlock = if self.landlock < LANDLOCK_NEEDED.0 { 0 } else { self.landlock };
        let mounts = namespaces == Namespaces::Auto && self.mounts.is_ok();
        match (mounts, landlock) {
            _ if self.filters.is_err() => Err(Unable(self.clone())),
            (true, landlock) => Ok(Means::Mounts { landlock }),
            (false, 0) => Err(Unable(self.clone())),
            (false, landlock) if !self.rules_hold(landlock) => Err(Unable(self.clone())),
            (false, landlock) => Ok(Means::Rules { landlock }),
        }
    }

    /// What a profile would have and does not get here, sorted.
    pub(super) fn missing(&self, terms: &Terms, means: Means) -> Vec<Extra> {
        let writes = terms.roots == Use::Write;
        let older = |landlock| landlock < LANDLOCK_SCOPES.0;
        let all = match means {
            Means::Mounts { landlock } => vec![
                (Extra::Signals, older(landlock)),
                (Extra::AbstractSockets, older(landlock)),
                (Extra::Watches, self.as_root && landlock != 0),
                (Extra::Loopback, terms.network == Network::Loopback && !self.own_network()),
            ],
            Means::Rules { landlock } => vec![
                (Extra::ProtectedNames, writes && terms.protects()),
                (Extra::FileAttributes, writes),
                (Extra::Signals, older(landlock)),
                (Extra::AbstractSockets, older(landlock) && terms.unix_sockets == UnixSockets::On),
                (Extra::UnixSockets, writes && terms.unix_sockets == UnixSockets::Auto),
                (Extra::Watches, writes),
                (Extra::Loopback, terms.network == Network::Loopback),
            ],
        };
        all.into_iter().filter_map(|(extra, missing)| missing.then_some(extra)).collect()
    }
}

/// Where Landlock does not keep root from looking into other processes, a user namespace does.
pub(super) fn own_user(landlock: u32) -> OwnUser {
    if landlock < LANDLOCK_NEEDED.0 { OwnUser::Always } else { OwnUser::IfNeeded }
}

/// What the commands of an agent can expect on a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlook {
    /// The sandbox that they would run in.
    pub sandbox: String,
    /// What it is held by; nothing for `open`.
    pub held: Result<Option<Means>, Unable>,
    /// What it should hold and does not.
    pub missing: Vec<Extra>,
    /// Whether commands are refused for that.
    pub strict: bool,
}

impl Outlook {
    /// Whether commands run.
    #[must_use]
    pub fn runs(&self) -> bool {
        self.held.is_ok() && (!self.strict || self.missing.is_empty())
    }

    /// For a sandbox with these terms, or for `open`.
    pub(super) fn of(sandbox: &str, terms: Option<&Terms>, strict: bool, machine: &Machine) -> Self {
        let held = terms.map(|terms| machine.choose(terms.namespaces)).transpose();
        let missing = match (terms, &held) {
            (Some(terms), Ok(Some(means))) => machine.missing(terms, *means),
            _ => Vec::new(),
        };
        Self { sandbox: sandbox.to_owned(), held, missing, strict }
    }
}

impl fmt::Display for Means {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounts { landlock: 0 } => write!(f, "mounts and a user namespace of its own, and seccomp"),
            Self::Mounts { landlock } => {
                write!(f, "mounts of its own, Landlock (version {landlock}) and seccomp")
            }
            Self::Rules { landlock } => write!(f, "Landlock (version {landlock}) and seccomp"),
        }
    }
}

/// A machine that cannot hold what is guaranteed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unable(Machine);

impl fmt::Display for Unable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(machine) = self;
        if let Err(why) = &machine.filters {
            return write!(
                f,
                "this machine cannot confine a command: the kernel has no seccomp filters ({why})"
            );
        }
        let (version, linux) = LANDLOCK_NEEDED;
        let landlock = match machine.landlock {
            0 => "the kernel has no Landlock".to_owned(),
            _ if machine.rules.get() == Some(&false) => {
                "in this chroot Landlock's rules reach beyond the root directory".to_owned()
            }
            old => format!(
                "its Landlock is version {old}, and only from version {version} on (Linux {linux}) can files be moved"
            ),
        };
        let mounts = match &machine.mounts {
            Ok(()) => "the profile does without namespaces".to_owned(),
            Err(obstacle) => {
                format!("no mounts of its own can be had ({obstacle}; {})", cause().words)
            }
        };
        write!(f, "this machine cannot confine a command: {mounts}, and {landlock}")
    }
}

/// Why mounts cannot be had, and what helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// In words.
    pub words: String,
    /// What to do.
    pub remedy: Remedy,
}

/// What makes mounts possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// A profile for AppArmor, which names the program.
    AppArmor,
    /// A setting of the kernel.
    Sysctl(&'static str),
    /// Flags for whoever starts the container.
    Container,
    /// Nothing that is known.
    Unknown,
}

/// What keeps an ordinary program from having mounts of its own, as far as the machine tells.
#[must_use]
pub fn cause() -> Cause {
    let is = |path: &str, value: &str| std::fs::read_to_string(path).is_ok_and(|text| text.trim() == value);
    let contained =
        [Path::new("/.dockerenv"), Path::new("/run/.containerenv")].iter().any(|path| path.exists());
    let (words, remedy) = if is("/proc/sys/user/max_user_namespaces", "0") {
        ("user namespaces are switched off", Remedy::Sysctl("user.max_user_namespaces=15000"))
    } else if is("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        ("user namespaces are switched off", Remedy::Sysctl("kernel.unprivileged_userns_clone=1"))
    } else if is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
        ("AppArmor gives user namespaces only to programs with a profile", Remedy::AppArmor)
    } else if contained || is_filtered() {
        ("this container, or a filter on system calls, does not allow namespaces", Remedy::Container)
    } else {
        ("the kernel does not allow it", Remedy::Unknown)
    };
    Cause { words: words.to_owned(), remedy }
}

/// `CAP_SYS_ADMIN` among what is in force, from `capabilities(7)`.
fn may_mount() -> bool {
    const SYS_ADMIN: u64 = 1 << 21;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).is_some_and(|set| set & SYS_ADMIN != 0)
}

/// Whether system calls of this process are filtered, as in most containers.
fn is_filtered() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|text| text.contains("\nSeccomp:\t2"))
}
