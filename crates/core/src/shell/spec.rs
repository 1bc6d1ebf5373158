//! How a shell is begun: as a program that nobody has to see a file for, with its integration read last.
//!
//! The script is in one variable of the environment; a bootstrap takes it out and gives it to the interactive shell on a
//! descriptor (or, for zsh, which reads names only, in a directory that is gone before the user's own files are read). So
//! the secret in it is in no argument list, and in the environment of nothing that the shell starts.

use super::{Kind, ShellMeta};
use crate::id::TerminalId;
use crate::spec::{OnOwnerExit, Size, Spec};
use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::hash::BuildHasher;
use std::path::Path;

/// The variable that carries the script to the bootstrap.
const VARIABLE: &str = "WHARF_SHELL_RC";
/// Stands for the secret in the scripts.
const NONCE: &str = "@NONCE@";

/// What an agent's shell should have in its environment: a capable terminal, and no pager unless one is called by name.
/// Editors stay the user's own, since in a shell that remembers they can be used.
pub const PRESETS: [(&str, &str); 8] = [
    ("TERM", "xterm-256color"),
    // Programs that find it would print colours that nobody sees.
    ("COLORTERM", ""),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("AWS_PAGER", ""),
];

/// What makes a terminal a shell that remembers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Integration {
    pub(crate) meta: ShellMeta,
    /// The number of the last command of the shell that this one takes the place of.
    pub(crate) after: u64,
}

/// The spec of a shell: to be judged, then opened. `program` is the shell's file.
#[must_use]
pub fn spec(kind: Kind, program: &Path, name: &str, seat: &str, size: Size) -> Spec {
    let meta = ShellMeta { kind, nonce: nonce(), name: name.to_owned(), seat: seat.to_owned() };
    let mut spec = Spec::argv(program, ["-i"]).pty(size).on_owner_exit(OnOwnerExit::Keep);
    spec.shell = Some(Integration { meta, after: 0 });
    spec
}

/// 128 bits that nobody can guess.
fn nonce() -> String {
    // The system's randomness does not fail once it has begun; the library's is seeded from it.
    let own =
        || u128::from(RandomState::new().hash_one(0)) << 64 | u128::from(RandomState::new().hash_one(1));
    let bits = TerminalId::random().map_or_else(|_| own(), |id| id.to_bits());
    format!("{bits:032x}")
}

impl Integration {
    /// The variable with its value.
    pub(crate) fn variable(&self) -> String {
        format!("{VARIABLE}=__wharf_n={}\n{}", self.after, script(&self.meta))
    }

    /// What is executed: the shell, with the bootstrap as its line.
    pub(crate) fn argv(&self, program: &Path) -> Vec<OsString> {
        let options: &[&str] = match self.meta.kind {
            // Privileged only so far that it reads no file and no function from the environment.
            Kind::Bash => &["-p", "-c", include_str!("integration/boot.bash")],
            Kind::Zsh => &["-f", "-c", include_str!("integration/boot.zsh")],
            Kind::Sh => &["-c", include_str!("integration/boot.sh")],
        };
        let program = OsString::from(program);
        let options = options.iter().map(OsString::from);
        std::iter::once(program.clone()).chain(options).chain([program]).collect()
    }
}

/// The integration of a shell, with its secret.
pub(super) fn script(meta: &ShellMeta) -> String {
    let script = match meta.kind {
        Kind::Bash => include_str!("integration/bash.bash"),
        Kind::Zsh => include_str!("integration/zsh.zsh"),
        Kind::Sh => include_str!("integration/posix.sh"),
    };
    let lines = script.lines().filter(|line| !line.trim_start().starts_with('#') && !line.is_empty());
    lines.map(|line| line.replace(NONCE, &meta.nonce) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_is_in_the_script_alone_and_another_each_time() {
        for kind in [Kind::Bash, Kind::Zsh, Kind::Sh] {
            let of = |name| spec(kind, Path::new("/bin/x"), name, "", Size::default()).shell.unwrap();
            let (one, two) = (of("a"), of("a"));
            assert_ne!(one.meta.nonce, two.meta.nonce);
            assert!(one.variable().contains(&one.meta.nonce) && !one.variable().contains(NONCE));
            assert!(
                one.argv(Path::new("/bin/x")).iter().all(|w| !w.to_string_lossy().contains(&one.meta.nonce))
            );
            // The kernel takes no longer string.
            assert!(one.variable().len() < 128 * 1024);
        }
    }
}
