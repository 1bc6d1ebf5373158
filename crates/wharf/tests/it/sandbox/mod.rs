//! Sandboxes, proved from inside: every way out is really tried, and ordinary work is really done.
//!
//! The same attempts are made in the open first. There they succeed, so that it is known that they test something.

mod cache;
mod cast;
mod escape;
mod ground;
mod home;
mod job;
mod kept;
mod left;
mod table;
mod week;
mod work;

/// The profiles, by the names that `--sandbox` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// No sandbox.
    Open,
    Workspace,
    Locked,
    /// Of [`POLICY`]: as `workspace`, with nothing but path rules and the call filter.
    Bare,
    /// Of [`POLICY`]: as `workspace`, with a loopback of its own.
    Loopback,
    /// Of [`POLICY`]: as `workspace`, and what git may want to change stays as it is, too, and what does not exist.
    Strict,
}

impl Profile {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Workspace => "workspace",
            Self::Locked => "locked",
            Self::Bare => "bare",
            Self::Loopback => "loopback",
            Self::Strict => "strict",
        }
    }

    /// What `wharf run` is told. Nothing for `open`, which is what a person gets.
    pub(crate) fn flags(self, policy: &str) -> Vec<String> {
        let flags = match self {
            Self::Open => vec![],
            Self::Workspace | Self::Locked => vec!["--sandbox", self.name()],
            Self::Bare | Self::Loopback | Self::Strict => vec!["--policy", policy, "--sandbox", self.name()],
        };
        flags.into_iter().map(str::to_owned).collect()
    }
}

/// A policy file with the profiles that are not built in.
pub(crate) const POLICY: &str = r#"version = 1

[profile.bare]
base = "workspace"
protect = []
namespaces = "never"

[profile.loopback]
base = "workspace"
network = "loopback"

[profile.strict]
protection = "strict"
"#;
