//! As whom the attempts are made, and what that user may be kept from having.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use super::ground::PYTHON;
use crate::harness::{Done, finish};
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// An ordinary user that every machine has, and who owns nothing.
const NOBODY: u32 = 65534;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    Root,
    /// Whoever runs the tests; if that is root, the user nobody.
    Ordinary,
}

/// The class of machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surroundings {
    /// This one.
    Usual,
    /// No user namespace, and for root no mount namespace either.
    NoNamespaces,
    /// Landlock of no later version than this.
    Landlock(u32),
    /// Both.
    OnlyLandlock(u32),
    /// The calls and the capabilities of a container, with everything else of the host.
    Container,
    /// Mounts, and no layers.
    NoLayers,
}

impl Surroundings {
    /// Whether that user can have mounts of their own there.
    pub(crate) fn has_namespaces(self, user: User) -> bool {
        static ROOT: OnceLock<bool> = OnceLock::new();
        static ORDINARY: OnceLock<bool> = OnceLock::new();
        match (self, user) {
            (Self::NoNamespaces | Self::OnlyLandlock(_) | Self::Container, _) => false,
            (_, User::Root) => *ROOT.get_or_init(|| user.can(&["unshare", "--mount", "true"])),
            (_, User::Ordinary) => *ORDINARY
                .get_or_init(|| user.can(&["unshare", "--user", "--map-root-user", "--mount", "true"])),
        }
    }

    /// What wharf may use of Landlock there.
    pub(crate) fn landlock(self) -> u32 {
        let kernels = wharf_shim::probe::landlock_version();
        match self {
            Self::Usual | Self::NoNamespaces | Self::NoLayers | Self::Container => kernels,
            Self::Landlock(version) | Self::OnlyLandlock(version) => kernels.min(version),
        }
    }

    /// What runs a program in there.
    fn launcher(self) -> Option<&'static str> {
        match self {
            Self::Usual | Self::Landlock(_) | Self::NoLayers => None,
            Self::NoNamespaces | Self::OnlyLandlock(_) => Some(include_str!("attempts/without.py")),
            Self::Container => Some(include_str!("attempts/container.py")),
        }
    }
}

impl User {
    /// Why this machine cannot show anything about this user.
    pub(crate) fn missing(self) -> Option<&'static str> {
        (self == Self::Root && !is_root()).then_some("the tests are not run as root")
    }

    /// The user and group to become, if that is another one.
    pub(crate) fn other(self) -> Option<u32> {
        (self == Self::Ordinary && is_root()).then_some(NOBODY)
    }

    /// Whether a program succeeds as this user.
    fn can(self, words: &[&str]) -> bool {
        let mut command = self.command(Surroundings::Usual, words[0]);
        command.args(&words[1..]).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }

    /// Gives this user what root made for it.
    pub(crate) fn own(self, path: &Path) {
        if let Some(id) = self.other() {
            std::os::unix::fs::chown(path, Some(id), Some(id)).unwrap();
        }
    }

    /// A program as this user, with nothing else said yet.
    pub(crate) fn command(self, surroundings: Surroundings, program: impl AsRef<OsStr>) -> Command {
        let launch = surroundings.launcher().map(|script| [PYTHON, "-c", script].map(str::to_owned));
        let become_other = self.other().map(|id| {
            let (user, group) = (format!("--reuid={id}"), format!("--regid={id}"));
            ["setpriv", &user, &group, "--clear-groups", "--"].map(str::to_owned)
        });
        let (launch, become_other) = (launch.into_iter().flatten(), become_other.into_iter().flatten());
        let words: Vec<String> = match surroundings {
            // A container is entered as root, who becomes another in there.
            Surroundings::Container => launch.chain(become_other).collect(),
            _ => become_other.chain(launch).collect(),
        };
        let mut words = words.iter().map(OsStr::new).chain([program.as_ref()]);
        #[expect(clippy::disallowed_methods, reason = "tests start programs")]
        let mut command = Command::new(words.next().unwrap());
        command.args(words);
        command
    }

    /// The ordinary user's way in, and root's where the tests are run by root.
    pub(crate) fn all() -> Vec<Self> {
        [Self::Root, Self::Ordinary].into_iter().filter(|user| user.missing().is_none()).collect()
    }
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// What a program prints and how it ends, as this user.
fn done(user: User, surroundings: Surroundings, words: &[&str]) -> Done {
    let mut command = user.command(surroundings, words[0]);
    finish(command.args(&words[1..]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

#[test]
fn in_a_container_ordinary_programs_run_and_namespaces_are_refused() {
    for user in [User::Root, User::Ordinary].into_iter().filter(|user| user.missing().is_none()) {
        let contained = |words: &[&str]| done(user, Surroundings::Container, words);
        assert_eq!(contained(&["echo", "plain"]).out, "plain\n", "{user:?}");
        for kind in ["--user", "--mount", "--net"] {
            let refused = contained(&["unshare", kind, "true"]);
            assert!(refused.err.contains("Operation not permitted"), "{user:?} {kind}: {refused:?}");
        }
        let clone3 = "import ctypes; c = ctypes.CDLL(None, use_errno=True); c.syscall(435, None, 0); print(ctypes.get_errno())";
        assert_eq!(contained(&[PYTHON, "-c", clone3]).out, "38\n", "{user:?}");
        // Path rules are as everywhere.
        let version = [PYTHON, "-c", "import ctypes; print(ctypes.CDLL(None).syscall(444, None, 0, 1))"];
        assert_eq!(contained(&version).out, done(user, Surroundings::Usual, &version).out, "{user:?}");
        if is_root() {
            let bound = contained(&["grep", "CapBnd", "/proc/self/status"]);
            assert_eq!(bound.out, "CapBnd:\t00000000a80425fb\n", "{user:?}");
        }
    }
}
