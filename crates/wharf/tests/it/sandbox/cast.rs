//! As whom the attempts are made, and what that user may be kept from having.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use super::ground::PYTHON;
use crate::harness::{Done, finish};
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// An ordinary user that every machine has, and who owns nothing.
const NOBODY: u32 = 65534;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    Root,
    /// Whoever runs the tests; if that is root, the user nobody.
    Ordinary,
}

/// What the user may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surroundings {
    Usual,
    /// No user namespace, and for root no mount namespace either.
    NoNamespaces,
    /// The calls and the capabilities of a container, with everything else of the host.
    Container,
}

impl Surroundings {
    /// What runs a program in there.
    fn launcher(self) -> Option<&'static str> {
        match self {
            Self::Usual => None,
            Self::NoNamespaces => Some(include_str!("attempts/without.py")),
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
            Surroundings::Usual | Surroundings::NoNamespaces => become_other.chain(launch).collect(),
        };
        let mut words = words.iter().map(OsStr::new).chain([program.as_ref()]);
        #[expect(clippy::disallowed_methods, reason = "tests start programs")]
        let mut command = Command::new(words.next().unwrap());
        command.args(words);
        command
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
