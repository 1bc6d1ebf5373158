//! As whom the attempts are made, and what that user may be kept from having.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use super::ground::PYTHON;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

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
    /// Mounts, and no layers.
    NoLayers,
}

impl Surroundings {
    pub(crate) fn has_namespaces(self) -> bool {
        matches!(self, Self::Usual | Self::Landlock(_) | Self::NoLayers)
    }

    /// What wharf may use of Landlock; of what it does without, nothing.
    pub(crate) fn landlock(self) -> u32 {
        match self {
            Self::Usual | Self::NoNamespaces | Self::NoLayers => u32::MAX,
            Self::Landlock(version) | Self::OnlyLandlock(version) => version,
        }
    }
}

/// Runs a program for which there are none.
const WITHOUT: &str = include_str!("attempts/without.py");

impl User {
    /// Why this machine cannot show anything about this user.
    pub(crate) fn missing(self) -> Option<&'static str> {
        (self == Self::Root && !is_root()).then_some("the tests are not run as root")
    }

    /// The user and group to become, if that is another one.
    pub(crate) fn other(self) -> Option<u32> {
        (self == Self::Ordinary && is_root()).then_some(NOBODY)
    }

    /// Gives this user what root made for it.
    pub(crate) fn own(self, path: &Path) {
        if let Some(id) = self.other() {
            std::os::unix::fs::chown(path, Some(id), Some(id)).unwrap();
        }
    }

    /// A program as this user, with nothing else said yet.
    pub(crate) fn command(self, surroundings: Surroundings, program: impl AsRef<OsStr>) -> Command {
        let mut words: Vec<String> = Vec::new();
        if let Some(id) = self.other() {
            let (user, group) = (format!("--reuid={id}"), format!("--regid={id}"));
            words.extend(["setpriv", &user, &group, "--clear-groups", "--"].map(str::to_owned));
        }
        if !surroundings.has_namespaces() {
            words.extend([PYTHON, "-c", WITHOUT].map(str::to_owned));
        }
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
